"""A dashboard beside another command, ``catchment dev`` or ``catchment demo``: a process that ends with that command,
however that ends.

The two are connected by a socket. The command sends what to show, the dashboard answers with its address once it is
served. Each of them reads the end of the stream when the other is gone.
"""

from __future__ import annotations

import ctypes
import json
import select
import signal
import socket
import subprocess
import sys
import time
from contextlib import suppress
from typing import TypedDict

from catchment.extras import DASHBOARD

MISSING = f"to see it in a browser: pip install 'catchment[{DASHBOARD.name}]'"
PR_SET_PDEATHSIG = 1


class Order(TypedDict):
    """Which database to show, None for the embedded server; the first port to try."""

    dsn: str | None
    port: int | None


class DashboardBeside:
    """The process, as its parent sees it. It has a separate session, so that Ctrl-C reaches only the parent."""

    def __init__(self, dsn: str | None, port: int | None) -> None:
        self.line, theirs = socket.socketpair()
        with theirs:
            self._process = subprocess.Popen(  # noqa: S603 - ourselves
                [sys.executable, "-m", "catchment.cli.beside_child", str(theirs.fileno())],
                pass_fds=[theirs.fileno()],
                stdin=subprocess.DEVNULL,
                start_new_session=True,
            )
        order: Order = {"dsn": dsn, "port": port}
        with suppress(OSError):  # it has gone
            self.line.sendall(json.dumps(order).encode() + b"\n")
        self._said = b""
        self.has_hung_up = False

    def address(self) -> str | None:
        """Its address; None as long as it has not said it."""
        while select.select([self.line], [], [], 0)[0] and not self.has_hung_up:
            data = b""
            with suppress(ConnectionResetError):
                data = self.line.recv(1 << 10)
            self._said += data
            self.has_hung_up = not data
        return self._said.decode().strip() if self._said.endswith(b"\n") else None

    def wait_for_address(self, seconds: float) -> str | None:
        """Its address; None if it has ended, or has not said it by then."""
        until = time.monotonic() + seconds
        while (address := self.address()) is None and not self.has_hung_up and time.monotonic() < until:
            select.select([self.line], [], [], 0.5)
        return address

    def stop(self) -> None:
        """End it at once: it has nothing that could be lost."""
        self._process.kill()
        self._process.wait()
        self.line.close()


def end_with_parent() -> None:
    """In a process that was just forked: end when the parent is gone, even if that is killed. Linux alone can."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGTERM)

"""The server of a data directory: what its files say about it, and the process itself."""

from __future__ import annotations

import ctypes
import os
import signal
import socket
import struct
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from urllib.parse import quote

import psutil

from catchment.store import data_directory
from catchment.store.data_directory import Programs
from catchment.store.pinned import pinned

# How a server is recognized as one that this package has started.
MARK = "cluster_name=catchment"
PORT = "5432"
ANSWER_LIMIT = timedelta(seconds=10)
PAUSE = timedelta(milliseconds=50)

_PROTOCOL = 196608  # 3.0
_SET_PARENT_DEATH_SIGNAL = 1  # of prctl, in Linux
_SESSIONS = """
select count(*) from pg_catalog.pg_stat_activity
 where backend_type in ('client backend', 'walsender') and pid <> pg_catalog.pg_backend_pid()
"""


@dataclass(frozen=True, slots=True)
class Server:
    """What a server says about itself in its folder. It may have died since."""

    pid: int
    status: str
    sockets: str = ""
    port: str = ""

    @property
    def dsn(self) -> str:
        return f"postgresql://postgres:@/postgres?host={quote(self.sockets)}&port={self.port}"

    @property
    def is_changing(self) -> bool:
        """Is it starting or stopping? A server that died in that state is not."""
        return self.status in ("starting", "stopping") and psutil.pid_exists(self.pid)

    def answers(self) -> bool:
        """Is it ready? The process may be another one that has the same number by now, and a server that is about to
        stop still accepts connections, so a session is requested."""
        if self.status != "ready":
            return False
        settings = b"user\0postgres\0database\0postgres\0\0"
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as client:
            client.settimeout(ANSWER_LIMIT.total_seconds())
            try:
                client.connect(f"{self.sockets}/.s.PGSQL.{self.port}")
                client.sendall(struct.pack("!ii", len(settings) + 8, _PROTOCOL) + settings)
                reply = client.recv(4096)
            except OSError:
                return False
        # An error is an answer too, such as that it has too many sessions, unless it starts or stops.
        return reply[:1] == b"R" or (reply[:1] == b"E" and b"C57P03\0" not in reply)


def read(where: Path) -> Server | None:
    """The server of this folder, if there is one or one has died there."""
    try:
        lines = [line.strip() for line in (where / "postmaster.pid").read_text().splitlines()]
    except FileNotFoundError:
        return None
    if not lines or not lines[0].isdigit():
        return None
    if len(lines) < 8:
        return Server(int(lines[0]), "starting")
    return Server(int(lines[0]), status=lines[7], sockets=lines[4], port=lines[3])


def is_ours(where: Path) -> bool:
    """Was the server of this folder started by this package?"""
    try:
        return MARK in (where / "postmaster.opts").read_text()
    except FileNotFoundError:
        return False


class Postmaster:
    """The process of a running server, whichever process started it. A reused process id is never mistaken for it."""

    def __init__(
        self, where: Path, sockets: str, process: psutil.Process, child: subprocess.Popen[bytes] | None = None
    ) -> None:
        self._where = where
        self._sockets = sockets
        self._process = process
        self._child = child

    @classmethod
    def launch(cls, where: Path, programs: Programs) -> Postmaster:
        """Start a server, which ends with this process where the system can do that. It is not ready yet."""
        if (where / "postmaster.pid").exists():
            _end_orphans(where)
        sockets = where if data_directory.can_have_socket(where) else data_directory.sockets_elsewhere(where)
        settings = ("-h", "", "-k", str(sockets), "-p", PORT, "-c", MARK, "-c", "client_connection_check_interval=5s")
        child = programs.start(where, "postgres", "-D", str(where), *settings, before=_ending_with_parent())
        return cls(where, str(sockets), psutil.Process(child.pid), child)

    @classmethod
    def adopt(cls, where: Path, server: Server) -> Postmaster | None:
        """A server of this package that runs already; None if it has ended."""
        with suppress(psutil.NoSuchProcess):
            process = psutil.Process(server.pid)
            if process.name().startswith("postgres") and is_ours(where) and server.answers():
                return cls(where, server.sockets, process)
        return None

    @property
    def pid(self) -> int:
        return self._process.pid

    def is_alive(self) -> bool:
        if self._child is not None:
            return self._child.poll() is None
        with suppress(psutil.NoSuchProcess):
            return self._process.is_running() and self._process.status() != psutil.STATUS_ZOMBIE
        return False

    def end(self, *ways: tuple[signal.Signals, timedelta]) -> None:
        """Ask the server to end, in each of these ways for the time given, until it does; then clean up after it."""
        for way, limit in ways:
            deadline = time.monotonic() + limit.total_seconds()
            with suppress(psutil.NoSuchProcess):
                if self.is_alive():
                    self._process.send_signal(way)
            while self.is_alive() and time.monotonic() < deadline:
                time.sleep(PAUSE.total_seconds())
        _end_orphans(self._where)
        data_directory.remove_sockets(self._sockets, PORT)


def count_sessions(dsn: str, programs: Programs) -> int:
    """How many sessions others have; 0 if the server does not say."""
    try:
        done = subprocess.run(  # noqa: S603 - the wheel's program, without a shell
            [programs.folder / "psql", "-XAtq", "-d", pinned(dsn), "-c", _SESSIONS],
            cwd="/",
            env={name: value for name, value in os.environ.items() if not name.startswith("PG")},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=ANSWER_LIMIT.total_seconds(),
            check=True,
        )
        return int(done.stdout)
    except (subprocess.SubprocessError, OSError, ValueError):
        return 0


def _ending_with_parent() -> Callable[[], None] | None:
    """For a child, before it becomes the server: it stops when the process that starts it ends in any way."""
    if sys.platform != "linux":
        return None
    prctl = ctypes.CDLL(None).prctl
    parent = os.getpid()

    def arrange() -> None:
        prctl(_SET_PARENT_DEATH_SIGNAL, int(signal.SIGINT))
        if os.getppid() != parent:
            os._exit(1)  # too late

    return arrange


def _end_orphans(where: Path) -> None:
    """End processes of a server that was killed. A busy one would continue until its statement has ended, and keep
    the next server from starting."""
    left = [process for process in psutil.process_iter() if _is_orphan(process, where)]
    for process in left:
        with suppress(psutil.Error):
            process.kill()
    psutil.wait_procs(left, timeout=ANSWER_LIMIT.total_seconds())


def _is_orphan(process: psutil.Process, where: Path) -> bool:
    try:
        if process.name() != "postgres" or process.cwd().removesuffix(" (deleted)") != str(where):
            return False
        parent = process.parent()
        # The server itself has another title, and its processes have it as their parent.
        return "".join(process.cmdline()[:1]).startswith("postgres:") and (
            parent is None or parent.name() != "postgres"
        )
    except psutil.Error:
        return False

"""The driver of a worker, seen from the worker: started when a call needs it, replaced when it has ended.

Nothing here waits for Ray. A call gets all messages; how long it listens is up to the call (``waiting``).
"""

from __future__ import annotations

import json
import os
import secrets
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from queue import SimpleQueue
from typing import Any

from catchment.extras import RAY
from catchment.runtime.log import FORMAT_VARIABLE, LEVEL_VARIABLE
from catchment.runtime.ray import output
from catchment.runtime.ray.settings import RaySettings
from catchment.runtime.ray.waiting import Heard
from catchment.task import tracing
from catchment.task.inside import task_fields

DRIVER = "catchment.runtime.ray.driver"
SLACK = 5.0
Hear = Callable[[Heard], None]


class RayCall:
    """A call that was sent. ``cancel`` asks for its end, which is heard of; ``end`` also forgets it."""

    def __init__(self, driver: _Driver, token: str) -> None:
        self._driver = driver
        self._token = token

    def cancel(self) -> None:
        self._driver.cancel(self._token)

    def end(self) -> None:
        """For a call that has been answered this does nothing."""
        self._driver.cancel(self._token, forget=True)


class RayLink:
    """The connection of one process to a cluster. Safe for several threads. Raises ``ExtraMissing`` without ray."""

    def __init__(self, settings: RaySettings) -> None:
        RAY.check()
        self.settings = settings
        self._lock = threading.Lock()
        self._driver: _Driver | None = None

    def start(self, name: str, call: Mapping[str, Any], resources: Mapping[str, Any], hear: Hear) -> RayCall:
        """Send a call. ``hear`` is called from a thread of the link, at once and in order."""
        with self._lock:
            if self._driver is None or self._driver.is_down:
                self._driver = _Driver(self.settings)
            return self._driver.start(name, call, resources, hear)

    def close(self) -> None:
        """End the driver, and with it what it runs."""
        with self._lock:
            if self._driver is not None:
                self._driver.kill()


def call_of(
    payload: str,
    *,
    path: str | None = None,
    function: str | None = None,
    limit: int = 0,
    set_up: str | None = None,
) -> dict[str, Any]:
    """A call of the command at ``path``, or of a ``function`` that takes a text and reports its progress."""
    # As JSON, whatever the format of the worker, which reads the lines: see ``output``.
    has_log = FORMAT_VARIABLE in os.environ
    return {
        "path": path,
        "function": function,
        "payload": payload,
        "limit": limit,
        "set_up": set_up,
        "task": task_fields(),
        "trace": tracing.current_trace(),
        "log": ["json", os.environ.get(LEVEL_VARIABLE, "info")] if has_log else None,
    }


class _Driver:
    """One driver process, with a thread that reads from it and one that writes."""

    def __init__(self, settings: RaySettings) -> None:
        self._settings = settings
        self._ours, self._theirs = socket.socketpair()
        self._lock = threading.Lock()
        self._hearing: dict[str, Hear] = {}
        self._outbox: SimpleQueue[bytes | None] = SimpleQueue()
        self._is_ready = False
        self._trouble: Heard | None = None
        self._child: subprocess.Popen[bytes] | None = None
        self.is_down = False
        # The system kills the child when the thread that started it ends, so this one lives as long as the child.
        threading.Thread(target=self._serve, name="catchment-ray-driver", daemon=True).start()
        threading.Thread(target=self._write, name="catchment-ray-calls", daemon=True).start()

    def start(self, name: str, call: Mapping[str, Any], resources: Mapping[str, Any], hear: Hear) -> RayCall:
        token = secrets.token_hex(8)
        with self._lock:
            if self.is_down:
                hear({"down": f"the connection to {self._settings.cluster} has ended"})
            else:
                self._hearing[token] = hear
                if self._is_ready:
                    hear({"ready": True})
                elif self._trouble is not None:
                    hear(self._trouble)
        self._send({"token": token, "name": name, "call": dict(call), "resources": dict(resources)})
        return RayCall(self, token)

    def cancel(self, token: str, *, forget: bool = False) -> None:
        with self._lock:
            if token not in self._hearing:
                return
            if forget:
                del self._hearing[token]
        self._send({"token": token, "cancel": True})

    def kill(self) -> None:
        with suppress(OSError):
            self._ours.shutdown(socket.SHUT_RDWR)
        if self._child is not None:
            self._child.kill()

    def _send(self, said: dict[str, Any]) -> None:
        self._outbox.put(json.dumps(said).encode() + b"\n")

    def _write(self) -> None:
        try:
            while (frame := self._outbox.get()) is not None:
                self._ours.sendall(frame)
        except OSError:  # it has ended, or has read only part of a call: the reader tells
            self.kill()

    def _serve(self) -> None:
        reason = "its driver has ended"
        try:
            self._child = self._spawn()
            # A driver that is silent is blocked by Ray, and will stay so.
            self._ours.settimeout(self._settings.ray_connect_seconds)
            connects_until = time.monotonic() + self._settings.ray_connect_seconds
            with self._ours.makefile("rb") as stream:
                while line := stream.readline():
                    said = json.loads(line)
                    if "unreachable" in said:
                        reason = said["unreachable"]
                        break
                    self._hear(said)
                    if not self._is_ready:
                        self._ours.settimeout(max(0.001, connects_until - time.monotonic()))
        except TimeoutError:
            reason = self._silence()
        except (OSError, ValueError) as error:
            reason = f"its driver cannot be used: {error}"
        self._go_down(reason)

    def _silence(self) -> str:
        if self._is_ready:
            return "its driver does not answer"
        trouble = "" if self._trouble is None else f": {self._trouble['trouble']}"
        return f"it did not answer within {self._settings.ray_connect_seconds:g} s{trouble}"

    def _spawn(self) -> subprocess.Popen[bytes]:
        path = os.pathsep.join(path or os.getcwd() for path in sys.path)
        number = str(self._theirs.fileno())
        try:
            child = subprocess.Popen(  # noqa: S603 - our own command line
                [sys.executable, "-m", DRIVER, number, str(os.getpid()), json.dumps(self._settings.to_driver())],
                pass_fds=[self._theirs.fileno()],
                env={
                    **output.DEFAULTS,
                    **os.environ,
                    **output.VARIABLES,
                    "PYTHONPATH": path,
                    "RAY_USAGE_STATS_ENABLED": "0",
                },
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
            )
        finally:
            self._theirs.close()
        threading.Thread(target=output.log, args=(child.stdout,), name="catchment-ray-output", daemon=True).start()
        return child

    def _hear(self, said: dict[str, Any]) -> None:
        token = said.get("token")
        with self._lock:
            if token is not None:
                hear = self._hearing.get(token)
                if "answer" in said or "gone" in said:
                    self._hearing.pop(token, None)
                if hear is not None:
                    hear(said)
            elif "ready" in said:
                self._is_ready = True
                self._ours.settimeout(self._settings.ray_silence_seconds + SLACK)
                for hear in self._hearing.values():
                    hear(said)
            elif "trouble" in said:
                self._trouble = said
                for hear in self._hearing.values():
                    hear(said)

    def _go_down(self, reason: str) -> None:
        with self._lock:
            self.is_down = True
            calls, self._hearing = self._hearing, {}
        cluster = self._settings.cluster
        text = f"the connection to {cluster} has ended" if self._is_ready else f"{cluster} cannot be used"
        for hear in calls.values():
            hear({"down": f"{text}: {reason}"})
        self._outbox.put(None)
        if self._child is not None:
            self._child.kill()
            self._child.wait()
        self._ours.close()

"""Answers the probes of whatever supervises a worker process, over HTTP, from its own threads.

``/healthz``: the event loop turns. If it fails, start the process again. ``/readyz``: the process is a registered
worker, the database answers, and it takes tasks. Neither asks the database anything.
"""

from __future__ import annotations

import asyncio
import json
import socket
import threading
import time
from collections.abc import Callable
from datetime import timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from catchment.errors import RequestRefused
from catchment.runtime.events import Events

# Seconds that a probe waits for the event loop. After that it says for how long the loop has been blocked.
TURN_SECONDS = 0.5
STOP_SECONDS = 10
# Seconds after which a client that sends no request is cut off.
REQUEST_SECONDS = 5


class Health:
    """What probes get as an answer. ``problems`` returns why the worker takes no tasks; called from any thread."""

    def __init__(
        self, loop: asyncio.AbstractEventLoop, *, stall_limit: timedelta, problems: Callable[[], list[str]]
    ) -> None:
        self._loop = loop
        self._stall_limit = stall_limit.total_seconds()
        self._problems = problems
        self._lock = threading.Lock()
        # Since when the loop owes us a turn.
        self._asked_at: float | None = None
        self._turned = threading.Event()

    def alive(self) -> tuple[bool, dict[str, Any]]:
        """Does the event loop turn? It is dead when it has been blocked for as long as the stall limit."""
        late = self._measure()
        is_alive = late < self._stall_limit
        return is_alive, {"alive": is_alive, "loop_blocked_seconds": round(late, 3)}

    def ready(self) -> tuple[bool, dict[str, Any]]:
        """Does the worker take tasks?"""
        problems = self._problems()
        return not problems, {"ready": not problems, "problems": problems}

    def _measure(self) -> float:
        """For how many seconds the loop has not turned; less than ``TURN_SECONDS`` when it does now."""
        with self._lock:
            if self._asked_at is None:
                self._asked_at = time.monotonic()
                self._turned.clear()
                try:
                    self._loop.call_soon_threadsafe(self._turn)
                except RuntimeError:  # the loop has ended, and the process ends
                    return 0.0
            asked_at = self._asked_at
        self._turned.wait(TURN_SECONDS)
        return 0.0 if self._asked_at != asked_at else time.monotonic() - asked_at

    def _turn(self) -> None:
        with self._lock:
            self._asked_at = None
        self._turned.set()


class _Server(ThreadingHTTPServer):
    daemon_threads = True


class _Server6(_Server):
    address_family = socket.AF_INET6


class HealthServer:
    """The port, from ``start`` to ``stop``. A probe needs a known port: one that is taken is refused."""

    def __init__(self, health: Health, events: Events, *, host: str, port: int) -> None:
        self._events = events
        self._host = host
        self._port = port

        class Handler(BaseHTTPRequestHandler):
            timeout = REQUEST_SECONDS

            def do_GET(self) -> None:
                answers = {"/healthz": health.alive, "/readyz": health.ready}
                answer = answers.get(self.path.partition("?")[0])
                is_good, said = (None, {"paths": [*answers]}) if answer is None else answer()
                body = json.dumps(said).encode() + b"\n"
                self.send_response(404 if is_good is None else 200 if is_good else 503)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                if self.command != "HEAD":
                    self.wfile.write(body)

            do_HEAD = do_GET

            def log_message(self, format: str, *args: Any) -> None:
                """Probes come every few seconds: nothing is logged."""

        self._handler = Handler

    def start(self) -> None:
        """Listen; raises ``RequestRefused`` when the address cannot be bound."""
        try:
            kind = _Server6 if ":" in self._host else _Server
            self._server = kind((self._host, self._port), self._handler)
        except (OSError, OverflowError) as error:
            raise RequestRefused(
                f"health cannot be served at {self._host}:{self._port}: {error}",
                hint="Change CATCHMENT_HEALTH_PORT or CATCHMENT_HEALTH_HOST; port 0 takes a free one.",
            ) from error
        self._thread = threading.Thread(target=self._server.serve_forever, name="catchment-health", daemon=True)
        self._thread.start()
        port = self._server.server_port
        host = f"[{self._host}]" if ":" in self._host else self._host
        self._events.emit(
            "health.listening",
            f"health at http://{host}:{port}/healthz and /readyz",
            host=self._host,
            port=port,
        )

    def stop(self) -> None:
        """Close the port."""
        self._server.shutdown()
        self._server.server_close()
        self._thread.join(timeout=STOP_SECONDS)

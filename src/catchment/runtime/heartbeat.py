"""Proof of life: a session lock and a lease, kept by a thread of its own so that no event loop can hold it up.

The thread also watches its socket: a cut connection is made again at once, well within the grace that others give. It
stops renewing the lease only when the event loop has been stuck for minutes: then others should take over.
"""

from __future__ import annotations

import os
import select
import threading
from collections.abc import Callable
from datetime import timedelta

import psycopg

from catchment.errors import ClaimLost, ServerUnavailable
from catchment.store import worker as store
from catchment.store.connect import connect

RECONNECT = timedelta(milliseconds=100)


class Heartbeat:
    """Holds the lock and renews the lease of one registered worker until stopped."""

    def __init__(
        self,
        dsn: str,
        identity: store.WorkerIdentity,
        lease: timedelta,
        *,
        on_dead: Callable[[], None],
        report: Callable[[], store.Capacity],
        is_alive: Callable[[], bool],
    ) -> None:
        self._dsn = dsn
        self._report = report
        self._is_alive = is_alive
        self._identity = identity
        self._lease = lease
        self._on_dead = on_dead
        self._wake_read, self._wake_write = os.pipe()
        self._stopping = False
        self._ready = threading.Event()
        self._thread = threading.Thread(target=self._run, name="catchment-heartbeat", daemon=True)

    def start(self) -> None:
        """Start the thread and wait until the lock is held."""
        self._thread.start()
        self._ready.wait(timeout=10)

    def stop(self) -> None:
        self._stopping = True
        os.write(self._wake_write, b".")
        self._thread.join(timeout=10)
        os.close(self._wake_read)
        os.close(self._wake_write)

    def _run(self) -> None:
        while not self._stopping:
            try:
                with connect(self._dsn, name="catchment heartbeat") as conn:
                    store.hold_worker_lock(conn, self._identity)
                    self._beat(conn)
            except ClaimLost:
                self._ready.set()
                self._on_dead()
                return
            except (psycopg.OperationalError, ServerUnavailable):
                self._pause(RECONNECT)

    def _beat(self, conn: psycopg.Connection[object]) -> None:
        while not self._stopping:
            if self._is_alive():
                store.heartbeat(conn, self._identity, self._lease, self._report())
            self._ready.set()
            # Readable before its time means the server has gone, or we are to stop.
            readable, _, _ = select.select([conn.fileno(), self._wake_read], [], [], self._lease.total_seconds() / 3)
            if conn.fileno() in readable:
                raise psycopg.OperationalError("the heartbeat connection was cut")

    def _pause(self, length: timedelta) -> None:
        select.select([self._wake_read], [], [], length.total_seconds())

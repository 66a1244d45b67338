"""Proof of life: a session lock and a lease, kept by a thread with its own event loop, so that no handler delays it.

It also watches its socket: a lost connection is made again at once, well within the grace of 500 ms. It stops renewing
the lease only when the worker's event loop has been blocked for minutes: then other workers should take over.
"""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from datetime import timedelta
from typing import Any

import psycopg
from psycopg import AsyncConnection

from catchment.errors import WorkerNotRegistered
from catchment.runtime.connection import Link, report_fault
from catchment.runtime.doorbell import wait_for
from catchment.runtime.events import Events
from catchment.runtime.reports import Reports
from catchment.store import worker as worker_store
from catchment.store.embedded import FolderGone

# A worker without its lock is declared dead after half a second.
LAST_PAUSE = 0.1
SHORTEST_BEAT = timedelta(seconds=1)
LONGEST_CALL = timedelta(seconds=10)
STOP_SECONDS = 2.0


class Heartbeat:
    """Holds the lock and renews the lease of one registered worker until stopped."""

    def __init__(
        self,
        dsn: str,
        identity: worker_store.WorkerIdentity,
        lease: timedelta,
        events: Events,
        *,
        on_dead: Callable[[], None],
        on_gone: Callable[[FolderGone], None],
        on_asked: Callable[[worker_store.Asked | None], None],
        on_call: Callable[[worker_store.Call], None],
        report: Callable[[], worker_store.Capacity],
        is_alive: Callable[[], bool],
    ) -> None:
        self._report = report
        self._is_alive = is_alive
        self._identity = identity
        self._lease = lease
        self._events = events
        self._reports = Reports()
        self._on_dead = on_dead
        self._on_gone = on_gone
        self._on_asked = on_asked
        self._on_call = on_call
        # When the database last answered, by the monotonic clock.
        self.beat_at: float | None = None
        self._asked: worker_store.Asked | None = None
        self._link = Link(
            dsn,
            "heartbeat",
            events,
            limit=min(max(lease / 3, SHORTEST_BEAT), LONGEST_CALL),
            on_gone=self._tell_gone,
            last_pause=LAST_PAUSE,
        )
        self._has_lock = False
        self._is_stopped = False
        self._is_rung = False
        self._loop: asyncio.AbstractEventLoop | None = None
        self._ready = threading.Event()
        self._thread = threading.Thread(target=self._run, name="catchment-heartbeat", daemon=True)

    @property
    def is_connected(self) -> bool:
        return self._link.is_connected

    def start(self) -> None:
        """Start the thread and wait until the lock is held."""
        self._thread.start()
        self._ready.wait(timeout=10)

    def stop(self) -> None:
        """Stop the thread; if a call hangs, the thread is left running."""
        self._is_stopped = True
        with suppress(RuntimeError):  # its loop may have ended already
            if self._loop is not None:
                self._loop.call_soon_threadsafe(self._stop)
        self._thread.join(timeout=STOP_SECONDS)

    def ring(self) -> None:
        """Beat now: there may be something new to read."""
        with suppress(RuntimeError):
            if self._loop is not None:
                self._loop.call_soon_threadsafe(self._ring)

    def _ring(self) -> None:
        self._is_rung = True
        self._woken.set()

    def _stop(self) -> None:
        self._stopping.set()
        self._woken.set()

    def _run(self) -> None:
        while not self._is_stopped:
            try:
                asyncio.run(self._beat_until_stopped())
                return
            except Exception as error:
                report_fault(self._events, self._reports, "heartbeat", error)
                time.sleep(LAST_PAUSE)

    async def _beat_until_stopped(self) -> None:
        self._stopping = asyncio.Event()
        self._woken = asyncio.Event()
        self._loop = asyncio.get_running_loop()
        if not self._is_stopped:
            await self._link.hold(self._serve, self._stopping)

    async def _serve(self, conn: AsyncConnection[Any]) -> None:
        self._has_lock = self._identity.lock_key is None
        while not self._stopping.is_set():
            await self._take_lock(conn)
            try:
                await self._beat(conn)
            except WorkerNotRegistered:
                self._ready.set()
                self._on_dead()
                return
            self._ready.set()
            await self._rest(conn)

    def _tell_gone(self, error: FolderGone) -> None:
        self._ready.set()
        self._on_gone(error)

    async def _beat(self, conn: AsyncConnection[Any]) -> None:
        if self._is_alive():
            with self._link.call():
                call = await worker_store.heartbeat(conn, self._identity, self._lease, self._report())
            self.beat_at = time.monotonic()
            if call.asked != self._asked:
                self._asked = call.asked
                self._on_asked(call.asked)
            self._on_call(call)

    async def _take_lock(self, conn: AsyncConnection[Any]) -> None:
        """Take the lock; if another session has it, try again at the next beat. Until then the lease is enough."""
        if not self._has_lock:
            with self._link.call():
                self._has_lock = await worker_store.hold_worker_lock(conn, self._identity)

    async def _rest(self, conn: AsyncConnection[Any]) -> None:
        """Wait for the next beat. If there is data on the socket, the server has closed it."""
        loop = asyncio.get_running_loop()
        fileno = conn.fileno()
        loop.add_reader(fileno, self._woken.set)
        try:
            await wait_for(self._woken, self._lease / 3)
        finally:
            loop.remove_reader(fileno)
        if self._woken.is_set() and not self._stopping.is_set():
            self._woken.clear()
            if self._is_rung:
                self._is_rung = False
                return
            raise psycopg.OperationalError("the heartbeat connection was cut")

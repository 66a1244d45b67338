"""Detects connections that hang during calls that have no time limit, because a handler may run for hours.

The server knows whether a session is active. If a session is idle while its client waits for an answer, the connection
between them hangs (a frozen proxy, a lost route). It is cut, and its part makes a new one.
"""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import Generator
from contextlib import contextmanager
from datetime import timedelta

import psycopg
from psycopg.pq import TransactionStatus

from catchment.errors import CatchmentError
from catchment.runtime.connection import LOST, AnyConnection, Call, cut
from catchment.runtime.doorbell import wait_for
from catchment.runtime.events import Events
from catchment.store import worker as worker_store
from catchment.store.connect import connect_async

# For a call whose handler has just timed out: how long its session must have been idle. The answer may be on its way.
AT_ONCE = timedelta(seconds=0.5)


class Pulse:
    """Watches connections, of any thread. When one has waited for ``patience``, the server is asked about its session.

    Without ``is_direct`` there is a pooler in between, and the session of a connection is not known.
    """

    def __init__(self, dsn: str, events: Events, *, patience: timedelta, is_direct: bool = True) -> None:
        self._dsn = dsn
        self._events = events
        self._patience = patience
        self._is_direct = is_direct
        self._lock = threading.Lock()
        self._watched: set[AnyConnection] = set()

    def add(self, conn: AnyConnection) -> None:
        """Watch a connection, until it is removed."""
        with self._lock:
            self._watched.add(conn)

    def remove(self, conn: AnyConnection) -> None:
        """Stop watching a connection. Call this before closing it: its file descriptor may be reused by another."""
        with self._lock:
            self._watched.discard(conn)

    @contextmanager
    def watch(self, conn: AnyConnection) -> Generator[None]:
        """Watch a connection while inside."""
        self.add(conn)
        try:
            yield
        finally:
            self.remove(conn)

    async def run(self, stopping: asyncio.Event) -> None:
        """Look twice per ``patience``; a connection that was waiting at two looks is suspected."""
        if not self._is_direct:
            return
        waiting: set[AnyConnection] = set()
        while not stopping.is_set():
            still = waiting & self._waiting()
            if still:
                await self._check(still, self._patience)
            waiting = self._waiting()
            await wait_for(stopping, self._patience / 2)

    async def hangs(self, conn: AnyConnection) -> bool:
        """Is this connection waiting for a session that does nothing? Then it is cut."""
        return self._is_direct and bool(await self._check({conn}, AT_ONCE))

    def _waiting(self) -> set[AnyConnection]:
        with self._lock:
            return {c for c in self._watched if c.pgconn.transaction_status == TransactionStatus.ACTIVE}

    async def _check(self, suspects: set[AnyConnection], idle_for: timedelta) -> set[AnyConnection]:
        """Ask the server about these, and cut those that hang."""
        try:
            conn = await connect_async(self._dsn, name="catchment pulse")
            try:
                pids = {s.pgconn.backend_pid: s for s in suspects if not s.closed}
                with Call(conn, self._patience.total_seconds()):
                    idle = await worker_store.waiting_backends(conn, list(pids), idle_for)
            finally:
                await conn.close()
        except (*LOST, psycopg.Error, CatchmentError):
            return set()  # the parts themselves detect a server that is down
        return self._cut({s for pid, s in pids.items() if pid in idle})

    def _cut(self, hanging: set[AnyConnection]) -> set[AnyConnection]:
        with self._lock:
            hanging = {c for c in hanging & self._watched if c.pgconn.transaction_status == TransactionStatus.ACTIVE}
            for conn in hanging:
                cut(conn)
        if hanging:
            self._events.emit(
                "connection.hung",
                f"{len(hanging)} connections hang: calls wait for idle sessions; the connections are cut",
                level=logging.WARNING,
                count=len(hanging),
            )
        return hanging

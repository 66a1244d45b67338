"""Rings the bell of a queue when the database says that something may be there. Only a hint: the table is the truth."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from datetime import timedelta
from typing import Any

from psycopg import AsyncConnection

from catchment.runtime.connection import Link
from catchment.runtime.events import Events
from catchment.store.notify import TASKS, listen
from catchment.store.worker import WorkerIdentity

TOP = "top "


class Listener:
    """Receives notifications. While its connection is down ``is_hearing`` is false, and fibers poll more often.

    After ``every`` without a notification, and when something was not heard that should have been, it checks the
    connection.
    """

    def __init__(
        self,
        dsn: str,
        identity: WorkerIdentity,
        *,
        on_queue: Callable[[str], None],
        on_cancel: Callable[[], None],
        on_request: Callable[[], None],
        on_top: Callable[[str], None],
        on_connect: Callable[[], None],
        events: Events,
        every: timedelta,
        limit: timedelta,
    ) -> None:
        self._link = Link(dsn, "listener", events, limit=limit)
        self._every = every
        self._identity = identity
        self._on_queue = on_queue
        self._on_cancel = on_cancel
        self._on_request = on_request
        self._on_top = on_top
        self._woken = asyncio.Event()
        self._on_connect = on_connect
        self.is_hearing = False

    def suspect(self) -> None:
        """Check the connection now: a notification may have been lost."""
        self._woken.set()

    async def run(self, stopping: asyncio.Event) -> None:
        await self._link.hold(self._serve, stopping)

    async def _serve(self, conn: AsyncConnection[Any]) -> None:
        try:
            async for heard in listen(conn, quiet=self._every, woken=self._woken):
                if heard is None and self.is_hearing:
                    with self._link.call():  # a connection that hangs would be silent too
                        await conn.execute("select")
                elif heard is None:
                    self.is_hearing = True
                    self._on_connect()
                elif heard.channel == TASKS:
                    self._on_queue(heard.payload)
                elif heard.payload == str(self._identity.worker_id):
                    self._on_cancel()
                elif heard.payload == f"{self._identity.worker_id} asked":
                    self._on_request()
                elif heard.payload.startswith(TOP):
                    self._on_top(heard.payload.removeprefix(TOP))
        finally:
            self.is_hearing = False

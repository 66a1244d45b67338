"""Compares what this worker holds with what the database says it holds, and hears of cancelled tasks.

A handler whose claim is gone is stopped. A claim that this process never heard of (the answer was lost on the way) is
given back: when it is seen twice, so that one whose answer is just coming is not.
"""

from __future__ import annotations

import asyncio
from datetime import timedelta
from typing import Any

from psycopg import AsyncConnection

from catchment.runtime.connection import hold_connection
from catchment.runtime.doorbell import Doorbell, wait_for
from catchment.runtime.events import Events
from catchment.runtime.executor import Executor
from catchment.runtime.held import Holdings, Stop
from catchment.store import attempt as store
from catchment.store.worker import WorkerIdentity


class Watcher:
    def __init__(
        self,
        dsn: str,
        identity: WorkerIdentity,
        holdings: Holdings,
        executor: Executor,
        events: Events,
        *,
        every: timedelta,
    ) -> None:
        self._dsn = dsn
        self._identity = identity
        self._holdings = holdings
        self._executor = executor
        self._events = events
        self._every = every
        self._strangers: dict[int, int] = {}
        self.bell = Doorbell()

    async def run(self, stopping: asyncio.Event) -> None:
        await hold_connection(self._dsn, "watcher", self._serve, stopping=stopping, events=self._events)

    async def _serve(self, conn: AsyncConnection[Any]) -> None:
        while True:
            rung = self.bell.listen()
            await self._compare(conn)
            await wait_for(rung, self._every)

    async def _compare(self, conn: AsyncConnection[Any]) -> None:
        before = list(self._holdings)
        said = await store.held_fences(conn, self._identity.worker_id)
        for held in before:
            fence, reason = said.get(held.id, (None, None))
            if fence != held.fence:
                self._executor.stop(held, Stop.LOST, "the claim was lost")
            elif reason is not None:
                self._executor.stop(held, Stop.CANCELLED, reason)
        strangers = {i: fence for i, (fence, _) in said.items() if self._holdings.get(i) is None}
        again = {i: fence for i, fence in strangers.items() if self._strangers.get(i) == fence}
        if again:
            await store.release(conn, list(again), list(again.values()))
            self._events.emit(
                "tasks.unheard_of", f"{len(again)} claims never arrived here: given back", count=len(again)
            )
        self._strangers = strangers

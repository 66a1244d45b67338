"""Compares what this worker holds with what the database says it holds, and finds cancelled tasks.

A handler whose claim is lost is stopped. A claim whose answer was lost with its connection is given back, but only
after a while: the answer may still arrive.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import psycopg
from psycopg import AsyncConnection

from catchment.runtime.connection import Link
from catchment.runtime.doorbell import Doorbell, wait_for
from catchment.runtime.events import Events
from catchment.runtime.executor import Executor
from catchment.runtime.held import Holdings, Stop
from catchment.store import attempt as attempt_store
from catchment.store.errors import Fault, fault_of
from catchment.store.worker import WorkerIdentity

# One in this many comparisons covers everything that the worker should hold.
THOROUGH = 10


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
        limit: timedelta,
        count_claims: Callable[[], int],
    ) -> None:
        self.link = Link(dsn, "watcher", events, limit=limit)
        self._identity = identity
        self._holdings = holdings
        self._executor = executor
        self._events = events
        self._every = every
        self._count_claims = count_claims
        # How many claims there had been at the last comparison of everything.
        self._compared = 0
        # Claims that never arrived here, by task and fence, and when they were first seen.
        self._strangers: dict[tuple[int, int], float] = {}
        self._suspicious_until = 0.0
        self._thorough_at = time.monotonic() + THOROUGH * every.total_seconds()
        self.bell = Doorbell()

    def suspect(self) -> None:
        """Compare everything for a while: a connection was lost, and possibly the answer to a claim."""
        self._suspicious_until = time.monotonic() + 4 * self._every.total_seconds()

    async def run(self, stopping: asyncio.Event) -> None:
        await self.link.hold(self._serve, stopping)

    async def _serve(self, conn: AsyncConnection[Any]) -> None:
        while True:
            rung = self.bell.listen()
            if not self._is_idle():
                await self._compare(conn)
            await wait_for(rung, self._every)

    def _is_idle(self) -> bool:
        """Nothing is held, and no claim can have been lost since everything was compared."""
        is_suspicious = time.monotonic() < self._suspicious_until or bool(self._strangers)
        is_done = self._compared == self._count_claims() or time.monotonic() < self._thorough_at
        return not len(self._holdings) and not is_suspicious and is_done

    async def _compare(self, conn: AsyncConnection[Any]) -> None:
        before = list(self._holdings)
        claims = self._count_claims()
        began = time.monotonic()
        # Asking for all of them reads the whole table, which is long where an old snapshot keeps its dead rows.
        is_thorough = began < self._suspicious_until or began >= self._thorough_at or bool(self._strangers)
        asked = None if is_thorough else [held.id for held in before]
        with self.link.call():
            said = await attempt_store.held_fences(conn, self._identity.worker_id, asked)
        if is_thorough:
            self._compared = claims
            ended = time.monotonic()
            self._thorough_at = ended + max(THOROUGH * self._every.total_seconds(), 20 * (ended - began))
        for held in before:
            fence, reason = said.get(held.id, (None, None))
            if fence != held.fence:
                self._executor.stop(held, Stop.LOST, "the claim was lost")
            elif reason is not None:
                self._executor.stop(held, Stop.CANCELLED, reason)
        if is_thorough:
            strangers = {(i, fence) for i, (fence, _) in said.items() if i not in self._holdings}
            await self._give_back_strangers(conn, strangers)

    async def _give_back_strangers(self, conn: AsyncConnection[Any], strangers: set[tuple[int, int]]) -> None:
        now = time.monotonic()
        self._strangers = {one: self._strangers.get(one, now) for one in strangers}
        # A cancel may cause two comparisons within a moment, so the time between them counts, not their number.
        since = now - self._every.total_seconds() * 0.9
        lost = [one for one, seen in self._strangers.items() if seen <= since]
        if lost:
            await self._release(conn, lost)
            self._events.emit("tasks.unheard_of", f"{len(lost)} claims never arrived here: given back", count=len(lost))

    async def _release(self, conn: AsyncConnection[Any], lost: list[tuple[int, int]]) -> None:
        """Give these back; if that is rejected, one by one."""
        try:
            with self.link.call():
                await attempt_store.release(conn, [i for i, _ in lost], [fence for _, fence in lost])
        except psycopg.Error as error:
            if fault_of(error) is Fault.LOST:
                raise
            if len(lost) > 1:
                for one in lost:
                    await self._release(conn, [one])
            else:
                self._events.emit(
                    "task.unrecorded",
                    f"task {lost[0][0]} cannot be given back: {str(error).strip()}",
                    level=logging.ERROR,
                    task_id=lost[0][0],
                )

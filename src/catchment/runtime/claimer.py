"""Claims tasks for Python handlers: whenever there is room and reason to believe that there is work.

While claims come back full it keeps claiming. When one falls short it marks itself asleep, looks once more, and waits
for the bell; an enqueue rings it. It looks by itself every now and then in case a ring is lost.
"""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Callable, Sequence
from datetime import timedelta
from typing import Any

from psycopg import AsyncConnection

from catchment.errors import WorkerNotRegistered
from catchment.runtime.before_hooks import BeforeHooks
from catchment.runtime.connection import Link
from catchment.runtime.doorbell import Doorbell, wait_for
from catchment.runtime.doze import Doze
from catchment.runtime.events import Events
from catchment.runtime.held import Held, Holdings
from catchment.runtime.intake import Intake
from catchment.runtime.limiter import Limiter
from catchment.runtime.metrics import Metrics
from catchment.runtime.options import WorkerOptions
from catchment.store import worker as worker_store

BOTH_TIERS = [0, 1]
RESTLESS = 5.0


class Claimer:
    def __init__(
        self,
        dsn: str,
        identity: worker_store.WorkerIdentity,
        queues: Sequence[str],
        options: WorkerOptions,
        *,
        holdings: Holdings,
        limiter: Limiter,
        metrics: Metrics,
        events: Events,
        hooks: BeforeHooks,
        bell: Doorbell,
        start: Callable[[list[Held]], None],
        is_hearing: Callable[[], bool],
        intake: Intake,
        on_loss: Callable[[], None],
        stopping: asyncio.Event,
    ) -> None:
        self.link = Link(dsn, "claimer", events, limit=options.call_timeout, on_loss=on_loss)
        self._identity = identity
        self._queues = list(queues)
        self._options = options
        self._holdings = holdings
        self._limiter = limiter
        self._metrics = metrics
        self._hooks = hooks
        self._bell = bell
        self._start = start
        self._is_hearing = is_hearing
        self._intake = intake
        self._stopping = stopping
        self._is_asleep = False
        self._restless_until = 0.0

    def be_restless(self) -> None:
        """A retry will be due soon, and nothing rings for that: look often for a while."""
        self._restless_until = time.monotonic() + RESTLESS
        self._bell.ring()

    async def run(self) -> None:
        await self.link.hold(self._serve, self._stopping)

    async def _serve(self, conn: AsyncConnection[Any]) -> None:
        self._is_asleep = False
        with self.link.call():
            await self._hooks.look(conn, self._queues)
        doze = Doze(self._options)
        while not self._stopping.is_set():
            if not self._intake.is_open:
                await self._intake.wait(self._stopping)
                continue
            rung = self._bell.listen()
            size = self._limiter.claim_size(len(self._holdings))
            if size == 0:
                await wait_for(rung, self._options.poll_interval)
                continue
            if self._is_asleep:
                with self.link.call():
                    await doze.before_look(conn)
            try:
                claimed = await self._claim(conn, size)
            except WorkerNotRegistered:  # the heartbeat will find out as well, and end this
                await wait_for(self._stopping, self._options.lease)
                continue
            if len(claimed) == size:
                await self._wake_up(conn)
            elif not self._is_asleep and self._is_hearing():
                await self._go_to_sleep(conn)
                doze = Doze(self._options)
            else:
                await wait_for(rung, self._pause(doze))

    async def _claim(self, conn: AsyncConnection[Any], size: int) -> list[Held]:
        began = time.perf_counter()
        held = len(self._holdings)
        with self.link.call():
            claimed = await self._hooks.claim(conn, self._identity.worker_id, self._queues, size)
        self._metrics.claimed(len(claimed), time.perf_counter() - began)
        payloads = sum(len(each.payload) for each in claimed)
        self._limiter.after_claim(size, len(claimed), ended=held - len(self._holdings), size=payloads)
        if claimed:
            self._start(claimed)
            if len(self._queues) > 1:
                self._queues.append(self._queues.pop(0))  # each queue is asked first in its turn
        return claimed

    def _pause(self, doze: Doze) -> timedelta:
        is_often = time.monotonic() < self._restless_until
        pause = self._options.poll_interval if is_often else doze.pause(hears=self._is_hearing())
        return pause * random.uniform(0.8, 1.0)  # noqa: S311 - jitter

    async def _go_to_sleep(self, conn: AsyncConnection[Any]) -> None:
        for queue in self._queues:
            with self.link.call():
                await worker_store.go_to_sleep(conn, self._identity, queue, BOTH_TIERS, kind="p")
        self._is_asleep = True

    async def _wake_up(self, conn: AsyncConnection[Any]) -> None:
        if self._is_asleep:
            for queue in self._queues:
                with self.link.call():
                    await worker_store.wake_up(conn, self._identity, queue, [*BOTH_TIERS, 2], kind="p")
            self._is_asleep = False

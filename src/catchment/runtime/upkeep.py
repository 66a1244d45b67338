"""The upkeep loop: what must happen although nobody calls for it. Never in the way of a claim."""

from __future__ import annotations

import asyncio
import logging
import random
from datetime import UTC, datetime, timedelta
from typing import Any

import psycopg
from psycopg import AsyncConnection

from catchment.errors import RequestRefused, ServerUnavailable
from catchment.model.schedule import next_time
from catchment.runtime.doorbell import wait_for
from catchment.runtime.events import Events
from catchment.store import worker as store
from catchment.store.connect import connect_async

AGE_EVERY_ROUNDS = 10


class Upkeep:
    def __init__(self, dsn: str, interval: timedelta, events: Events) -> None:
        self._dsn = dsn
        self._interval = interval
        self._events = events
        self._round = 0

    async def run(self, stopping: asyncio.Event) -> None:
        """One round per interval until stopped; a lost connection is made again."""
        while not stopping.is_set():
            try:
                conn = await connect_async(self._dsn, name="catchment upkeep")
                async with conn:
                    while not stopping.is_set():
                        await self.run_round(conn)
                        await wait_for(stopping, self._interval * random.uniform(0.9, 1.1))  # noqa: S311 - jitter
            except (psycopg.OperationalError, psycopg.InterfaceError, ServerUnavailable) as error:
                self._events.emit("upkeep.disconnected", f"upkeep: {error}", level=logging.WARNING)
                await wait_for(stopping, timedelta(milliseconds=200))

    async def run_round(self, conn: AsyncConnection[Any]) -> None:
        done = await store.upkeep(conn)
        if done.get("interrupted"):
            self._events.emit(
                "tasks.interrupted",
                f"took {done['interrupted']} tasks over from dead workers",
                level=logging.WARNING,
                count=done["interrupted"],
            )
        if done.get("schedules_due"):
            await self._fire_schedules(conn)
        self._round += 1
        if done and self._round % AGE_EVERY_ROUNDS == 0:
            await store.age_ready(conn)

    async def _fire_schedules(self, conn: AsyncConnection[Any]) -> None:
        for schedule in await store.due_schedules(conn):
            try:
                following = next_time(
                    datetime.now(UTC),
                    every=schedule.every,
                    cron=schedule.cron,
                    timezone=schedule.timezone,
                    previous=schedule.next_at,
                )
                task_id = await store.fire_schedule(conn, schedule.name, following)
            except (RequestRefused, psycopg.errors.RaiseException) as error:
                self._events.emit(
                    "schedule.broken",
                    f"schedule {schedule.name}: {error}",
                    level=logging.ERROR,
                    schedule=schedule.name,
                )
                continue
            if task_id is not None:
                self._events.emit(
                    "schedule.fired",
                    f"schedule {schedule.name}: task {task_id}, next at {following:%Y-%m-%d %H:%M:%S %Z}",
                    schedule=schedule.name,
                    id=task_id,
                )

"""Upkeep: what must happen although nobody calls for it, in a thread of its own: never in the way of a claim."""

from __future__ import annotations

import logging
import random
import threading
import time
from datetime import UTC, datetime, timedelta
from typing import Any

import psycopg
from psycopg import Connection

from catchment.errors import RequestRefused, ServerUnavailable
from catchment.model.schedule import next_time
from catchment.runtime.events import Events
from catchment.runtime.pulse import Pulse
from catchment.store import worker as store
from catchment.store.connect import connect

# Chores that read whole tables come this often, and never take more than a twentieth of the time.
CHORES_EVERY = 10.0
CHORES_SHARE = 20
FIRST_PAUSE = 0.2
STOP_SECONDS = 2.0
LAST_PAUSE = 5.0
VACUUM_EVERY = 4.0
VACUUM_AT_LEAST_EVERY = 600.0


class Upkeep:
    def __init__(self, dsn: str, interval: timedelta, events: Events, pulse: Pulse) -> None:
        self._dsn = dsn
        self._interval = interval
        self._events = events
        self._pulse = pulse
        # A process that has just started leaves the heavy things to those that have been here for a while.
        self._chores_at = time.monotonic() + CHORES_EVERY
        self._vacuum_from = time.monotonic() + VACUUM_EVERY
        self._pause = FIRST_PAUSE
        self._vacuumed: dict[str, tuple[float, float]] = {}
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._run, name="catchment-upkeep", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        """End after the round under way; one that takes long is left behind with its thread."""
        self._stopping.set()
        self._thread.join(timeout=STOP_SECONDS)

    def _run(self) -> None:
        """One round per interval until stopped; a lost connection is made again."""
        while not self._stopping.is_set():
            try:
                with connect(self._dsn, name="catchment upkeep") as conn, self._pulse.watch(conn):
                    while not self._stopping.is_set():
                        self.run_round(conn)
                        self._pause = FIRST_PAUSE
                        self._stopping.wait(self._interval.total_seconds() * random.uniform(0.9, 1.1))  # noqa: S311 - jitter
            except (psycopg.Error, ServerUnavailable) as error:
                self._events.emit("upkeep.disconnected", f"upkeep: {error}", level=logging.WARNING)
                self._stopping.wait(self._pause)
                self._pause = min(self._pause * 2, LAST_PAUSE)

    def run_round(self, conn: Connection[Any]) -> None:
        done = store.upkeep(conn)
        if done.get("interrupted"):
            self._events.emit(
                "tasks.interrupted",
                f"took {done['interrupted']} tasks over from dead workers",
                level=logging.WARNING,
                count=done["interrupted"],
            )
        if done.get("schedules_due"):
            self._fire_schedules(conn)
        self._vacuum(conn, done.get("bloated") or [])
        if done and time.monotonic() >= self._chores_at:
            self._do_chores(conn)

    def _do_chores(self, conn: Connection[Any]) -> None:
        began = time.monotonic()
        store.age_ready(conn)
        store.interrupt_orphans(conn)
        ended = time.monotonic()
        self._chores_at = ended + max(CHORES_EVERY, (ended - began) * CHORES_SHARE)

    def _vacuum(self, conn: Connection[Any], bloated: list[str]) -> None:
        """Clear dead rows out, ever more rarely where that does not help: an old snapshot may keep them."""
        self._vacuumed = {table: when for table, when in self._vacuumed.items() if table in bloated}
        for table in bloated:
            due, pause = self._vacuumed.get(table, (self._vacuum_from, VACUUM_EVERY))
            if time.monotonic() >= due:
                store.vacuum(conn, [table])
                self._vacuumed[table] = (time.monotonic() + pause, min(pause * 2, VACUUM_AT_LEAST_EVERY))

    def _fire_schedules(self, conn: Connection[Any]) -> None:
        for schedule in store.due_schedules(conn):
            try:
                following = next_time(
                    datetime.now(UTC),
                    every=schedule.every,
                    cron=schedule.cron,
                    timezone=schedule.timezone,
                    previous=schedule.next_at,
                )
                task_id = store.fire_schedule(conn, schedule.name, following)
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

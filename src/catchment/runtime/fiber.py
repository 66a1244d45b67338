"""A fiber: one connection that calls process_tasks on one queue, and sleeps when there is nothing to do.

A serial queue has one top fiber, which alone runs the top level, and child fibers, which run children and joins. The
top fiber of a queue without child fibers, and every fiber of a concurrent queue, does both.
"""

from __future__ import annotations

import asyncio
import logging
import random
from collections import Counter
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

import psycopg
from psycopg import AsyncConnection
from psycopg.errors import Diagnostic

from catchment.runtime.connection import Link, raise_if_cancelled
from catchment.runtime.doorbell import Doorbell, wait_for
from catchment.runtime.doze import Doze
from catchment.runtime.events import Events
from catchment.runtime.intake import Intake
from catchment.runtime.metrics import Metrics
from catchment.runtime.options import WorkerOptions
from catchment.runtime.pulse import Pulse
from catchment.runtime.words import end_words
from catchment.store import worker as worker_store

LEVELS = {"failed": logging.ERROR, "lost": logging.WARNING, "pending": logging.WARNING}


class Role(Enum):
    """What a fiber runs: (mode of process_tasks, tiers it sleeps on)."""

    TOP = ("top", [1])
    CHILD = ("child", [0])
    BOTH = (None, [0, 1])

    @property
    def mode(self) -> str | None:
        return self.value[0]

    @property
    def tiers(self) -> list[int]:
        return self.value[1]


@dataclass
class QueueState:
    """What the fibers of one queue share."""

    queue: worker_store.Queue
    bell: Doorbell = field(default_factory=Doorbell)
    # Rings when the top level of a serial queue may be free.
    top_bell: Doorbell = field(default_factory=Doorbell)
    sleepers: Counter[int] = field(default_factory=Counter[int])


@dataclass
class Shared:
    """What all fibers of a worker share."""

    dsn: str
    identity: worker_store.WorkerIdentity
    options: WorkerOptions
    events: Events
    stopping: asyncio.Event
    is_hearing: Callable[[], bool]
    metrics: Metrics
    pulse: Pulse
    intake: Intake

    @property
    def logs_starts(self) -> bool:
        """Is the start of each handler logged?"""
        return self.events.is_heard(logging.DEBUG)


class Fiber:
    def __init__(self, shared: Shared, state: QueueState, role: Role) -> None:
        self._shared = shared
        self._state = state
        self._role = role
        self._name = f"{state.queue.name}/{role.name.lower()}"
        # Asleep, and able to run what comes.
        self.is_free = False
        # In a call that may run tasks.
        self.is_running = False
        self.link = Link(
            shared.dsn,
            self._name,
            shared.events,
            limit=shared.options.call_timeout,
            settings=worker_store.FIBER_SETTINGS | (worker_store.LOG_STARTS if shared.logs_starts else {}),
        )

    async def run(self) -> None:
        """Serve until stopped."""
        shared = self._shared
        await self.link.hold(self._serve, shared.stopping)

    async def _serve(self, conn: AsyncConnection[Any]) -> None:
        if self._shared.logs_starts:
            conn.add_notice_handler(self._log_start)
        with self._shared.pulse.watch(conn):
            await self._serve_queue(conn)

    def _log_start(self, notice: Diagnostic) -> None:
        task = worker_store.started_task(notice)
        if task is not None:
            attempt = f", attempt {task['attempt']}" if task["attempt"] != 1 else ""
            self._shared.events.emit(
                "task.started",
                f"{self._name}: {task['command']} {task['task_id']} starts{attempt}",
                level=logging.DEBUG,
                task_id=task["task_id"],
                command=task["command"],
                queue=self._state.queue.name,
                attempt=task["attempt"],
                is_join=task["is_join"],
            )

    async def _serve_queue(self, conn: AsyncConnection[Any]) -> None:
        with self.link.call():
            await worker_store.prepare_fiber(conn, self._shared.identity)
        needs_top = self._role is not Role.CHILD and self._state.queue.is_serial
        is_top = False
        while not self._shared.stopping.is_set():
            if not self._shared.intake.is_open:
                if is_top:
                    with self.link.call():
                        await worker_store.leave_top(conn, self._shared.identity, self._state.queue.name)
                is_top = False
                await self._shared.intake.wait(self._shared.stopping)
                continue
            if needs_top and not is_top:
                is_top = await self._become_top(conn)
                continue
            if await self._process(conn):
                continue
            async with self._asleep(conn):
                self.is_free = True
                try:
                    await self._doze(conn)
                finally:
                    self.is_free = False

    async def _doze(self, conn: AsyncConnection[Any]) -> None:
        """Wait for the bell, and look every now and then."""
        doze = Doze(self._shared.options)
        while not self._shared.stopping.is_set() and self._shared.intake.is_open:
            rung = self._state.bell.listen()
            with self.link.call():
                await doze.before_look(conn)
            if await self._process(conn):
                return
            jitter = random.uniform(0.8, 1.0)  # noqa: S311 - jitter
            if await wait_for(rung, doze.pause(hears=self._shared.is_hearing()) * jitter):
                return

    async def _become_top(self, conn: AsyncConnection[Any]) -> bool:
        """Wait until no other live worker runs the top level of this queue; false if this one shall not either."""
        announced = False
        while not self._shared.stopping.is_set() and self._shared.intake.is_open:
            rung = self._state.top_bell.listen()
            with self.link.call():
                is_top = await worker_store.take_top(conn, self._shared.identity, [self._state.queue.name]) is None
            if is_top:
                self._shared.events.emit(
                    "queue.leading",
                    f"queue {self._state.queue.name} is serial: this worker starts its tasks",
                    queue=self._state.queue.name,
                )
                return True
            if not announced:
                self._shared.events.emit(
                    "queue.standby",
                    f"queue {self._state.queue.name} is serial: another worker starts its tasks; this one"
                    " takes over when that ends",
                    queue=self._state.queue.name,
                )
                announced = True
            await self._stand_by(rung)
        return False

    async def _stand_by(self, rung: asyncio.Event) -> None:
        """Wait until the top level may be free. While nothing can be heard, look again soon."""
        options = self._shared.options
        await wait_for(rung, options.idle_poll if self._shared.is_hearing() else options.standby_interval)

    async def _process(self, conn: AsyncConnection[Any]) -> bool:
        """One call; true when it ran anything."""
        if self._shared.stopping.is_set() or not self._shared.intake.is_open:
            return False
        options = self._shared.options
        self.is_running = True
        try:
            processed = await worker_store.process_tasks(
                conn,
                self._state.queue.name,
                self._role.mode,
                batch_size=options.batch_size,
                batch_time=options.batch_time,
            )
        except psycopg.errors.QueryCanceled as error:
            raise_if_cancelled(error)
            # A cancel that came between two tasks; the session releases what it held at the next call.
            return True
        finally:
            self.is_running = False
        for task in processed:
            self._shared.metrics.processed(task.command, self._state.queue.name, task.state, task.duration_ms / 1000)
            name = f"{self._name}: {task.command} {task.id}"
            self._shared.events.emit(
                "task.processed",
                end_words(
                    name,
                    task.state,
                    task.duration_ms,
                    is_join=task.is_join,
                    error=task.error,
                    failures=task.failures,
                    max_attempts=task.max_attempts,
                    again_in=task.again_in,
                ),
                level=LEVELS.get(task.state, logging.INFO),
                task_id=task.id,
                command=task.command,
                state=task.state,
                attempt=task.attempt,
                failures=task.failures,
                max_attempts=task.max_attempts,
                again_in=task.again_in,
                duration_ms=task.duration_ms,
                is_join=task.is_join,
                error=task.error,
                queue=self._state.queue.name,
            )
        return bool(processed)

    @asynccontextmanager
    async def _asleep(self, conn: AsyncConnection[Any]) -> AsyncGenerator[None]:
        """Ask for notifications while inside. The mark of a tier goes with the last fiber that slept on it."""
        sleepers = self._state.sleepers
        queue = self._state.queue.name
        with self.link.call():
            tiers = await worker_store.go_to_sleep(conn, self._shared.identity, queue, self._role.tiers)
        sleepers.update(tiers)
        try:
            yield
        finally:
            sleepers.subtract(tiers)
            awake = [tier for tier in tiers if sleepers[tier] == 0]
            if awake and not conn.broken:
                with self.link.call():
                    await worker_store.wake_up(conn, self._shared.identity, queue, awake)


def roles(queue: worker_store.Queue, concurrency: int) -> list[Role]:
    """The fibers of a queue: a top fiber and child fibers; a single fiber, or one of a concurrent queue, does both."""
    if not queue.is_serial or concurrency == 1:
        return [Role.BOTH] * concurrency
    return [Role.TOP] + [Role.CHILD] * (concurrency - 1)

"""Finds the queues that a worker serves, and starts the fibers of those with SQL handlers: at its start, when it begins
to listen, when it hears of a queue that it does not know, and every now and then: every 30 seconds while it cannot hear
of any."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable
from datetime import timedelta
from typing import Any, TypeVar

import psycopg
from psycopg import AsyncConnection

from catchment.errors import CatchmentError, QueueNotRegistered, SchemaMismatch
from catchment.runtime.connection import Call
from catchment.runtime.doorbell import wait_for
from catchment.runtime.events import Events
from catchment.runtime.fiber import Fiber, QueueState, Shared, roles
from catchment.runtime.left_work import LeftWork
from catchment.runtime.metrics import MOST_COMMANDS
from catchment.runtime.options import WorkerOptions
from catchment.runtime.reports import Reports
from catchment.store import migrate
from catchment.store import worker as worker_store
from catchment.store.connect import OURS, connect_async
from catchment.store.embedded import FolderGone
from catchment.store.worker import Queue
from catchment.task.commands import Commands

# A worker that is to stop when idle does so when it has found no work this often.
IDLE_ROUNDS = 3
IDLE_PAUSE = timedelta(milliseconds=300)
DEAF_PAUSE = timedelta(seconds=30)
# Every worker serves it, whatever queues it was given, from the first time that there is something in it: no
# connection is kept for what is rare.
BULK = "bulk_changes"

T = TypeVar("T")


class Discovery:
    """``news`` is set to make it look at once. ``on_misfit`` is called when the schema is no longer compatible with
    this version."""

    def __init__(
        self,
        dsn: str,
        options: WorkerOptions,
        events: Events,
        commands: Commands,
        reports: Reports,
        *,
        stopping: asyncio.Event,
        is_hearing: Callable[[], bool],
        on_misfit: Callable[[SchemaMismatch], None],
    ) -> None:
        self._dsn = dsn
        self._options = options
        self._events = events
        self._has_python = len(commands) > 0
        self._reports = reports
        self._left_work = LeftWork(events, commands, options.queues)
        self._stopping = stopping
        self._is_hearing = is_hearing
        self._looked_at = 0.0
        self._on_misfit = on_misfit
        self.news = asyncio.Event()
        self.states: dict[str, QueueState] = {}
        self.fibers: list[Fiber] = []
        # The queues and the capacity that the row of this worker has.
        self._recorded: tuple[list[str], int] = ([], 0)
        self._has_run = False

    async def begin(self) -> tuple[list[Queue], int]:
        """The queues and the capacity to register with. Raises ``QueueNotRegistered`` when the options name a queue
        that does not exist."""
        queues = await self._ask(self._own_queues)
        capacity = self._capacity_for([queue for queue in queues if queue.has_sql])
        self.states, self.fibers = {}, []
        self._recorded = [queue.name for queue in queues], capacity
        return queues, capacity

    async def run(self, shared: Shared, fibers: asyncio.TaskGroup, is_dead: asyncio.Event) -> None:
        """Look until the worker stops or is declared dead. One that is to stop when idle is stopped here."""
        self._has_run = True
        idle_rounds = 0
        while not self._stopping.is_set() and not is_dead.is_set():
            self.news.clear()
            self._looked_at = time.monotonic()
            is_idle = await self._try(lambda conn: self._look(conn, shared, fibers))
            idle_rounds = idle_rounds + 1 if is_idle else 0
            if self._options.stops_when_idle and idle_rounds >= IDLE_ROUNDS:
                await self._try(lambda conn: self._tell_left(conn, shared))
                self._stopping.set()
                return
            await wait_for(self.news, self._pause())

    def suspect(self) -> None:
        """Look soon, but not more often than without news: tasks are ready that perhaps no worker can run."""
        if time.monotonic() - self._looked_at > DEAF_PAUSE.total_seconds():
            self.news.set()

    def _pause(self) -> timedelta:
        if self._options.stops_when_idle:
            return IDLE_PAUSE
        return self._options.idle_poll if self._is_hearing() else DEAF_PAUSE

    async def _ask(self, look: Callable[[AsyncConnection[Any]], Awaitable[T]]) -> T:
        """The result of ``look``, called with a new connection."""
        conn = await connect_async(self._dsn, name="catchment worker", settings=OURS)
        try:
            with Call(conn, self._options.call_timeout.total_seconds()):
                return await look(conn)
        finally:
            await conn.close()

    async def _try(self, look: Callable[[AsyncConnection[Any]], Awaitable[bool]]) -> bool:
        """The same; false if that fails, which is logged."""
        try:
            seen = await self._ask(look)
        except FolderGone:
            return False  # the heartbeat finds out as well, and ends this
        except (psycopg.Error, CatchmentError) as error:
            text = self._reports.due("discovery", f"discovery: {str(error).strip()}")
            if text is not None:
                self._events.emit("connection.lost", text, level=logging.WARNING, part="discovery")
            return False
        self._reports.over("discovery")
        return seen

    async def _tell_left(self, conn: AsyncConnection[Any], shared: Shared) -> bool:
        await self._left_work.tell(conn, shared.identity, [queue.name for queue in await self._own_queues(conn)])
        return True

    async def _look(self, conn: AsyncConnection[Any], shared: Shared, fibers: asyncio.TaskGroup) -> bool:
        """Start the fibers of new queues; true when the worker is to stop when idle, and there is nothing to do."""
        misfit = await migrate.find_misfit(conn)
        if misfit is not None:
            self._on_misfit(misfit)
            return False
        queues = await self._own_queues(conn)
        names = [queue.name for queue in queues]
        new = [queue for queue in queues if queue.has_sql and queue.name not in self.states]
        # Recorded before a new queue is served, so that nobody reads that its tasks run without a worker.
        capacity = self._capacity_for([*(state.queue for state in self.states.values()), *new])
        if (names, capacity) != self._recorded:
            await worker_store.set_queues(conn, shared.identity, names, capacity=capacity)
            self._recorded = names, capacity
        if self._options.metrics_port is not None:
            shared.metrics.expect(await worker_store.list_sql_commands(conn, names, MOST_COMMANDS))
        for queue in new:
            self._start_queue(queue, shared, fibers)
        if self._options.stops_when_idle:
            return not await worker_store.has_work(conn, shared.identity, names)
        await self._left_work.warn(conn, names)
        return False

    def _start_queue(self, queue: Queue, shared: Shared, fibers: asyncio.TaskGroup) -> None:
        state = QueueState(queue)
        self.states[queue.name] = state
        for role in roles(queue, self._concurrency(queue)):
            fiber = Fiber(shared, state, role)
            self.fibers.append(fiber)
            fibers.create_task(fiber.run())

    async def _own_queues(self, conn: AsyncConnection[Any]) -> list[Queue]:
        queues = await worker_store.list_queues(conn)
        known = {queue.name: queue for queue in queues}
        if not self._has_run:
            self._check_concurrency([*known])
        named = self._options.queues or [name for name in known if name != BULK]
        for name in named:
            if name not in known:
                raise QueueNotRegistered(
                    f"unknown queue {name!r}; there are: {', '.join(known) or 'none'}",
                    hint="Register it in worker.queue_registry.",
                )
        if BULK in known and BULK not in named and await self._serves_bulks(conn):
            named = [*named, BULK]
        return [known[name] for name in named]

    async def _serves_bulks(self, conn: AsyncConnection[Any]) -> bool:
        """Behind a pooler there is no session that could run SQL handlers."""
        return BULK in self.states or (self._options.has_session_lock and await worker_store.has_bulk(conn))

    def _check_concurrency(self, known: list[str]) -> None:
        """Refuse a number of fibers for a queue that is not served here."""
        served = self._options.queues or known
        for name, number in self._options.concurrency.items():
            if name not in served:
                raise QueueNotRegistered(
                    f"--concurrency {name}={number} names a queue that this worker does not serve;"
                    f" it serves: {', '.join(served) or 'none'}",
                    hint="Register the queue in worker.queue_registry, name it with --queue too, or omit it here.",
                )

    def _concurrency(self, queue: Queue) -> int:
        return self._options.concurrency.get(queue.name, queue.concurrency)

    def _capacity_for(self, queues: list[Queue]) -> int:
        """How many tasks this worker runs at a time, with fibers for these queues."""
        return self._options.max_concurrent_tasks if self._has_python else sum(map(self._concurrency, queues))

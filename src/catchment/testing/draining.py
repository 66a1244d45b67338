"""``drain``: run everything that is runnable, of both kinds, inside the caller's own transaction.

What a test enqueued in its transaction nobody else can see, so nobody else can run it. Tasks are claimed and settled by
the engine itself, with all its rules; the test rolls back, and nothing has happened.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Generator
from contextlib import asynccontextmanager, contextmanager
from datetime import datetime
from typing import Any

import psycopg
from psycopg import AsyncConnection, Connection
from pydantic_core import to_json

from catchment.client.app import App
from catchment.errors import CancelRequested, CatchmentError, RequestRefused
from catchment.model.check import check_count
from catchment.model.state import TaskState
from catchment.model.task import TaskId
from catchment.runtime.held import Held
from catchment.store import attempt as attempt_store
from catchment.store import registry, rehearsal
from catchment.store.attempt import Ending
from catchment.store.foreign.of_psycopg import PsycopgAsyncSender
from catchment.store.handler_connection import AsyncHandlerConnection, HandlerConnection
from catchment.task.attempt import Attempt
from catchment.task.child import Child
from catchment.task.failure import describe_error
from catchment.testing.borrow import check_transaction, twin_of, with_plain_rows
from catchment.testing.here import PoolsHere, PortHere, check_app, executor_here, run_to_end

SQL_BATCH = 100


def drain(app: App, conn: Connection[Any], *, max_tasks: int = 10_000) -> dict[str, int]:
    """Run SQL handlers and the app's handlers on this connection until nothing is runnable.

    Returns the number of tasks by state: of those that were unsettled before, and those made meanwhile. A task that is
    not due is left as it is, for instance a retry, or one that snoozes. ``ctx.transaction()`` gives this very session,
    in a savepoint. Nothing is committed: roll back. Raises ``RequestRefused`` outside a transaction, and after
    ``max_tasks`` attempts.
    """

    check_app(app)
    check_count(max_tasks, name="max_tasks")

    async def work() -> dict[str, int]:
        return await drain_on(app, conn, PoolsHere(app.commands), max_tasks)

    check_transaction(conn)
    return run_to_end(work(), name="drain")


async def drain_on(app: App, conn: Connection[Any], pools: PoolsHere, max_tasks: int) -> dict[str, int]:
    """As ``drain``, on the event loop of the caller: plain handlers run where ``pools`` says, which are closed."""
    with twin_of(conn, AsyncConnection[Any]) as twin, with_plain_rows(conn):
        return await _drain(app, twin, pools, max_tasks)


async def drain_async(
    app: App, conn: AsyncConnection[Any] | Connection[Any], *, max_tasks: int = 10_000
) -> dict[str, int]:
    """As ``drain``, where an event loop runs. The connection may be of either kind."""
    check_app(app)
    check_count(max_tasks, name="max_tasks")
    check_transaction(conn)
    if isinstance(conn, Connection):
        return await drain_on(app, conn, PoolsHere(app.commands), max_tasks)
    with with_plain_rows(conn):
        return await _drain(app, conn, PoolsHere(app.commands), max_tasks)


async def _drain(app: App, conn: AsyncConnection[Any], pools: PoolsHere, max_tasks: int) -> dict[str, int]:
    try:
        # As in a worker, handlers must not end the transaction, which is the test's.
        with twin_of(conn, AsyncHandlerConnection) as own, twin_of(conn, HandlerConnection) as own_plain:
            return await Drain(app, conn, DrainPort(own, own_plain), pools).run(max_tasks)
    finally:
        pools.close()


class DrainPort(PortHere):
    """What handlers reach of the session: the children of a join, and a savepoint for their transaction."""

    def __init__(self, conn: AsyncHandlerConnection, plain: HandlerConnection) -> None:
        self._conn = conn
        self._plain = plain
        self._open: set[int] = set()
        self.time = super().now()

    def now(self) -> datetime:
        return self.time

    @asynccontextmanager
    async def transaction(self, context: Attempt) -> AsyncGenerator[AsyncConnection[Any]]:
        await rehearsal.save(self._conn)
        self._open.add(context.task_id)
        yield self._conn

    @contextmanager
    def transaction_sync(self, context: Attempt) -> Generator[Connection[Any]]:
        rehearsal.save_sync(self._plain)
        self._open.add(context.task_id)
        yield self._plain

    async def children(self, task_id: TaskId) -> list[Child[Any]]:
        rows = await attempt_store.children(self._conn, task_id)
        return [Child(TaskId(r[0]), r[1], r[2], TaskState(r[3]), r[4], r[5]) for r in rows]

    async def commit(self, context: Attempt, ending: Ending) -> str | None:
        """Complete the task with the handler's writes; None if it had no transaction."""
        if context.task_id not in self._open:
            return None
        for met in (self._conn.met, self._plain.met):
            if met.refusal is not None:
                raise met.refusal
        state = await attempt_store.complete_one(self._conn, ending)
        await rehearsal.keep(self._conn)
        self._open.discard(context.task_id)
        return state

    async def leave(self, context: Attempt) -> None:
        """Undo the writes of a handler that did not complete."""
        if context.task_id in self._open:
            self._open.discard(context.task_id)
            self._conn.met.refusal = self._plain.met.refusal = None  # of this attempt alone
            await rehearsal.undo(self._conn)

    def warn(self, task_id: int, command: str) -> None:
        """A task of another app is given back, and stays pending."""


class Drain:
    """One worker of both kinds in one session."""

    def __init__(self, app: App, conn: AsyncConnection[Any], port: DrainPort, pools: PoolsHere) -> None:
        self._commands = app.commands
        self._conn = conn
        self._port = port
        self._executor = executor_here(app.commands, port, pools)

    async def run(self, max_tasks: int) -> dict[str, int]:
        """Take turns between the kinds until neither finds anything."""
        before = await rehearsal.mark(self._conn)
        queues = self._commands.queues
        definitions = self._commands.queue_definitions(), self._commands.definitions()
        await registry.register_commands_async(PsycopgAsyncSender(self._conn), *definitions, overwrite=True)
        worker_id = await rehearsal.hire(self._conn, queues)
        left = max_tasks
        while ran := await rehearsal.process_sql(self._conn, SQL_BATCH) + await self._run_next(worker_id):
            left -= ran
            if left <= 0:
                raise RequestRefused(
                    f"{max_tasks} attempts have run, and more may come",
                    hint="Does a handler ask for itself again and again? If not, pass a larger max_tasks.",
                )
        await rehearsal.dismiss(self._conn, worker_id)
        return await rehearsal.count_since(self._conn, before)

    async def _run_next(self, worker_id: int) -> int:
        """Run one Python task, if there is one."""
        claimed = await attempt_store.claim(self._conn, worker_id, self._commands.queues, 1, Held)
        for held in claimed:
            self._port.time = await rehearsal.now(self._conn)
            ending = await self._executor.run_one(held)
            if ending is not None:
                await self._record(ending)
        return len(claimed)

    async def _record(self, ending: Ending) -> None:
        """Settle the attempt; one whose end the engine refuses has failed, as in a worker."""
        try:
            async with self._conn.transaction():
                if ending.has_offspring:
                    await attempt_store.complete_one(self._conn, ending)
                else:
                    await attempt_store.settle(self._conn, [ending])
        except (psycopg.Error, CatchmentError) as error:
            asked = "cancelled" if isinstance(error, CancelRequested) else "failed"
            refused = Ending(ending.attempt, asked, error=to_json(describe_error(error)).decode())
            await attempt_store.settle(self._conn, [refused])

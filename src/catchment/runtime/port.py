"""What running handlers use of the database: progress, the children of a join, transactions."""

from __future__ import annotations

import asyncio
import logging
from contextlib import AbstractAsyncContextManager, AbstractContextManager
from datetime import UTC, datetime, timedelta
from typing import Any, Protocol

import psycopg
from psycopg import AsyncConnection, Connection

from catchment.errors import CatchmentError, ClaimLost, ResultRefused
from catchment.model.state import TaskState
from catchment.model.task import TaskId
from catchment.runtime.connection import LOST, Link
from catchment.runtime.events import Events
from catchment.runtime.transactions import Transactions
from catchment.runtime.turns import Turns
from catchment.runtime.words import start_command
from catchment.store import attempt as attempt_store
from catchment.store import worker as worker_store
from catchment.store.attempt import Ending
from catchment.task.attempt import Attempt, Port
from catchment.task.child import Child
from catchment.task.encode import encode

PROGRESS_EVERY = 0.1
MAX_PROGRESS = 16 * 1024


class HandlerPort(Port, Protocol):
    """A port with what the executor needs in addition: joins, transactions, and commands that it does not know."""

    async def children(self, task_id: TaskId) -> list[Child[Any]]: ...

    async def commit(self, context: Attempt, ending: Ending) -> str | None: ...

    async def leave(self, context: Attempt) -> None: ...

    def loss(self, context: Attempt, error: BaseException) -> Exception | None: ...

    def abandon(self, context: Attempt) -> None: ...

    def is_waiting(self, context: Attempt) -> bool: ...

    async def hangs(self, context: Attempt) -> bool: ...

    def must_wait(self, command: str) -> bool: ...

    async def enter(self) -> None: ...

    def warn(self, task_id: int, command: str) -> None: ...


class WorkerPort:
    """One connection for progress, warnings and the children of joins; transactions have a separate pool."""

    def __init__(self, dsn: str, transactions: Transactions, turns: Turns, events: Events, *, limit: timedelta) -> None:
        self.link = Link(dsn, "port", events, limit=limit)
        self._transactions = transactions
        self._turns = turns
        self._events = events
        self._loop = asyncio.get_running_loop()
        self._conn: AsyncConnection[Any] | None = None
        self._is_connected = asyncio.Event()
        self._is_lost = False
        self._lock = asyncio.Lock()
        self._news = asyncio.Event()
        self._progress: dict[int, Attempt] = {}
        self._warned: set[str] = set()
        self._warnings: list[tuple[int, str]] = []

    async def run(self, stopping: asyncio.Event) -> None:
        """Write progress and warnings as they come, until stopped."""
        await self.link.hold(self._serve, stopping)

    async def _serve(self, conn: AsyncConnection[Any]) -> None:
        self._conn, self._is_lost = conn, False
        self._is_connected.set()
        try:
            while True:
                await self._news.wait()
                self._news.clear()
                if self._is_lost or conn.closed:
                    raise psycopg.OperationalError("the connection was cut")
                await self._write(conn)
                await asyncio.sleep(PROGRESS_EVERY)
        finally:
            self._conn = None
            self._is_connected.clear()

    async def _write(self, conn: AsyncConnection[Any]) -> None:
        contexts, self._progress = self._progress, {}
        warnings, self._warnings = self._warnings, []
        try:
            async with self._lock:
                for context in contexts.values():
                    await self._write_progress(conn, context)
                while warnings:
                    await self._write_warning(conn, *warnings[0])
                    del warnings[0]
        except LOST:
            self._progress = contexts | self._progress
            self._warnings = warnings + self._warnings
            self._news.set()
            raise

    async def _write_warning(self, conn: AsyncConnection[Any], task_id: int, command: str) -> None:
        with self.link.call():
            handler = await worker_store.handler_of(conn, command)
        text = f"a worker of its queue has no command {command}: it was given back"
        with self.link.call():
            await worker_store.record_warning(conn, task_id, "worker", text)
        self._events.emit(
            "command.unknown",
            f"task {task_id} is given back, and so are all of command {command}, which this worker does not have:"
            f" start a worker with the app that defines it, on this queue too: {start_command(handler)}",
            level=logging.WARNING,
            task_id=task_id,
            command=command,
        )

    async def _write_progress(self, conn: AsyncConnection[Any], context: Attempt) -> None:
        if context.newest_progress is None:
            return
        try:
            text = encode(context.newest_progress.members(), "progress", limit=MAX_PROGRESS, setting=None)
        except ResultRefused as error:
            self._refuse_progress(context, error)
            return
        try:
            with self.link.call():
                await attempt_store.report_progress(conn, context.task_id, context.fence, text)
        except LOST:
            raise
        except ClaimLost:
            pass  # the worker that has the task now reports its progress
        except (psycopg.Error, CatchmentError) as error:
            self._refuse_progress(context, error)

    def _refuse_progress(self, context: Attempt, error: Exception) -> None:
        text = f"the progress of {context.command} {context.task_id} cannot be stored: {str(error).strip()}"
        self._events.emit("progress.refused", text, level=logging.WARNING, task_id=context.task_id)

    def now(self) -> datetime:
        return datetime.now(UTC)

    def progress(self, context: Attempt) -> None:
        """Called from any thread."""
        self._progress[context.task_id] = context
        self._loop.call_soon_threadsafe(self._news.set)

    def warn(self, task_id: int, command: str) -> None:
        """Warn, once per command, about a task whose command this worker does not know."""
        if command not in self._warned:
            self._warned.add(command)
            self._warnings.append((task_id, command))
            self._news.set()

    async def children(self, task_id: TaskId) -> list[Child[Any]]:
        """The children of a task, for its join."""
        while True:
            await self._is_connected.wait()
            conn = self._conn
            try:
                async with self._lock:
                    if conn is not None and conn is self._conn:
                        with self.link.call():
                            rows = await attempt_store.children(conn, task_id)
                        break
            except LOST:
                if conn is self._conn:
                    # `_serve` ends. It sets the event again with the next connection.
                    self._is_lost = True
                    self._is_connected.clear()
                    self._news.set()
        return [Child(TaskId(r[0]), r[1], r[2], TaskState(r[3]), r[4], r[5]) for r in rows]

    def transaction(self, context: Attempt) -> AbstractAsyncContextManager[AsyncConnection[Any]]:
        return self._transactions.begin(context)

    def transaction_sync(self, context: Attempt) -> AbstractContextManager[Connection[Any]]:
        return self._transactions.begin_sync(context)

    async def commit(self, context: Attempt, ending: Ending) -> str | None:
        """Commit the handler's transaction with the task's completion; None if it had none."""
        return await self._transactions.commit(context, ending)

    def loss(self, context: Attempt, error: BaseException) -> Exception | None:
        """The exception to raise instead of an error, if the connection was lost or the server cannot work now."""
        return self._transactions.loss(context, error)

    def is_waiting(self, context: Attempt) -> bool:
        """Is the handler waiting for an answer in its transaction?"""
        return self._transactions.is_waiting(context)

    async def hangs(self, context: Attempt) -> bool:
        """Does its connection hang? Then it is cut, which interrupts the attempt."""
        return await self._transactions.hangs(context)

    def must_wait(self, command: str) -> bool:
        """Is this command known to use transactions, so that it has to ``enter`` before it starts?"""
        return self._turns.uses(command)

    async def enter(self) -> None:
        """Wait until connections allow another attempt to start; raises ``NotStarted`` when that takes too long."""
        await self._turns.enter()

    def abandon(self, context: Attempt) -> None:
        """Cut the transaction of a handler that does not stop."""
        self._transactions.abandon(context)

    async def leave(self, context: Attempt) -> None:
        """Roll back what is still open, however the handler ended; raises ``TransactionEndRefused`` if it has
        committed."""
        await self._transactions.leave(context)

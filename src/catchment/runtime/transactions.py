"""``ctx.transaction()``: the handler's writes and its task's completion in one commit, so they happen exactly once.

The transaction stays open when its block ends; the completion is written on it when the handler has returned. A COMMIT
whose answer never came is settled by reading: if the attempt is still held under its fence, it did not happen.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Generator
from contextlib import asynccontextmanager, contextmanager, suppress
from datetime import timedelta
from typing import Any

import psycopg
from psycopg import AsyncConnection, Connection

from catchment.errors import ClaimLost
from catchment.runtime.connection import LOST
from catchment.store import attempt as store
from catchment.store.attempt import Ending
from catchment.store.connect import connect, connect_async
from catchment.task.context import Context

AnyConnection = AsyncConnection[Any] | Connection[Any]


class Transactions:
    """A few connections for the transactions of handlers, apart from all others."""

    def __init__(self, dsn: str, *, size: int, limit: timedelta, committed: Callable[[Ending], None]) -> None:
        self._dsn = dsn
        self._limit = limit
        self._committed = committed
        self._loop = asyncio.get_running_loop()
        self._room = asyncio.Semaphore(size)
        self._idle: list[AsyncConnection[Any]] = []
        self._idle_sync: list[Connection[Any]] = []
        self._open: dict[int, AnyConnection] = {}

    @asynccontextmanager
    async def begin(self, context: Context) -> AsyncGenerator[AsyncConnection[Any]]:
        await self._room.acquire()
        try:
            conn = self._idle.pop() if self._idle else await connect_async(self._dsn, name="catchment transaction")
        except BaseException:
            self._room.release()
            raise
        self._open[context.task_id] = conn
        await conn.set_autocommit(False)
        await conn.execute(_LIMIT, [self._milliseconds])
        yield conn  # an error in the block reaches the handler's end, and leave() rolls back

    @contextmanager
    def begin_sync(self, context: Context) -> Generator[Connection[Any]]:
        asyncio.run_coroutine_threadsafe(self._room.acquire(), self._loop).result()
        try:
            conn = self._idle_sync.pop() if self._idle_sync else connect(self._dsn, name="catchment transaction")
        except BaseException:
            self._loop.call_soon_threadsafe(self._room.release)
            raise
        self._open[context.task_id] = conn
        conn.autocommit = False
        conn.execute(_LIMIT, [self._milliseconds])
        yield conn

    async def commit(self, context: Context, ending: Ending) -> str | None:
        """Write the completion and commit; None when the handler opened no transaction."""
        conn = self._open.get(context.task_id)
        if conn is None:
            return None
        if isinstance(conn, Connection):
            state = await asyncio.to_thread(store.complete_one_sync, conn, ending)
        else:
            state = await store.complete_one(conn, ending)
        try:
            await (asyncio.to_thread(conn.commit) if isinstance(conn, Connection) else conn.commit())
        except LOST as error:
            if not await self._happened(ending):
                raise psycopg.OperationalError("the transaction of the handler was lost before its commit") from error
        self._committed(ending)
        return state

    async def leave(self, context: Context) -> None:
        """Give the connection back, rolled back if nothing was committed."""
        conn = self._open.pop(context.task_id, None)
        if conn is None:
            return
        try:
            with suppress(psycopg.Error):
                if isinstance(conn, Connection):
                    await asyncio.to_thread(_reset, conn)
                    self._idle_sync.append(conn)
                else:
                    await conn.rollback()
                    await conn.set_autocommit(True)
                    self._idle.append(conn)
        finally:
            self._room.release()

    async def close(self) -> None:
        for conn in self._idle:
            await conn.close()
        for conn in self._idle_sync:
            conn.close()

    async def _happened(self, ending: Ending) -> bool:
        """Did a commit in doubt take effect? Raises ``ClaimLost`` when somebody else has the task now."""
        while True:
            try:
                async with await connect_async(self._dsn) as conn:
                    fate = await store.fate(conn, ending.attempt.id, ending.attempt.fence, ending.attempt.attempt)
                    break
            except LOST:
                await asyncio.sleep(0.1)
        if fate == "lost":
            raise ClaimLost(f"task {ending.attempt.id} is not held under fence {ending.attempt.fence} any more")
        return fate == "ended"

    @property
    def _milliseconds(self) -> str:
        return str(int(self._limit.total_seconds() * 1000))


# Of the time limits that PostgreSQL 15 to 18 share, these two together end a transaction that hangs, at work or idle.
_LIMIT = (
    "select set_config('idle_in_transaction_session_timeout', l.ms, true), set_config('statement_timeout', l.ms, true)"
    " from (select %s::text as ms) as l"
)


def _reset(conn: Connection[Any]) -> None:
    conn.rollback()
    conn.autocommit = True

"""``ctx.transaction()``: the handler's writes and its task's completion in one commit, so they happen exactly once.

The transaction stays open when its block ends; the completion is written on it when the handler has returned. A COMMIT
whose answer never came is settled by reading: if the attempt is still held under its fence, it did not happen.
"""

from __future__ import annotations

import asyncio
import os
import socket
from collections.abc import AsyncGenerator, Callable, Generator
from contextlib import asynccontextmanager, contextmanager, suppress
from datetime import timedelta
from typing import Any

import psycopg
from psycopg import AsyncConnection, Connection
from psycopg.pq import TransactionStatus

from catchment.errors import ClaimLost, TaskCancelled
from catchment.runtime.connection import LOST
from catchment.store import attempt as store
from catchment.store.attempt import Ending
from catchment.store.connect import connect, connect_async
from catchment.store.pool import is_idle, is_usable
from catchment.task.context import Context

AnyConnection = AsyncConnection[Any] | Connection[Any]
NAME = "catchment transaction"


class Transactions:
    """A few connections for the transactions of handlers, apart from all others."""

    def __init__(self, dsn: str, *, size: int, limit: timedelta, committed: Callable[[Ending, str], None]) -> None:
        self._dsn = dsn
        self._limit = limit
        self._committed = committed
        self._loop = asyncio.get_running_loop()
        self._room = asyncio.Semaphore(size)
        self._idle: list[AsyncConnection[Any]] = []
        self._idle_sync: list[Connection[Any]] = []
        # By fence: two attempts of one task may run here at once, if the first was left behind.
        self._open: dict[int, AnyConnection] = {}

    @asynccontextmanager
    async def begin(self, context: Context) -> AsyncGenerator[AsyncConnection[Any]]:
        await self._room.acquire()
        try:
            conn = await self._take()
        except BaseException:
            self._room.release()
            raise
        self._open[context.fence] = conn
        await conn.set_autocommit(False)
        await conn.execute(_LIMIT, [self._milliseconds])
        try:
            yield conn
        except BaseException:
            await self.leave(context)  # what the block wrote is undone, even if the handler catches this and goes on
            raise

    @contextmanager
    def begin_sync(self, context: Context) -> Generator[Connection[Any]]:
        asyncio.run_coroutine_threadsafe(self._room.acquire(), self._loop).result()
        try:
            conn = self._take_sync()
        except BaseException:
            self._loop.call_soon_threadsafe(self._room.release)
            raise
        self._open[context.fence] = conn
        # Whoever gives an attempt up marks it first and looks for its transaction afterwards: one of us sees the other.
        if context.cancelled:
            self._leave_sync(context)
            raise TaskCancelled(f"task {context.task_id} ({context.command}) was told to stop: it can begin no more")
        conn.autocommit = False
        conn.execute(_LIMIT, [self._milliseconds])
        try:
            yield conn
        except BaseException:
            self._leave_sync(context)
            raise

    async def commit(self, context: Context, ending: Ending) -> str | None:
        """Write the completion and commit; None when the handler opened no transaction."""
        conn = self._open.get(context.fence)
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
        self._committed(ending, state)
        return state

    async def leave(self, context: Context) -> None:
        """Give the connection back, rolled back if nothing was committed."""
        conn = self._open.pop(context.fence, None)
        if conn is None:
            return
        try:
            if isinstance(conn, Connection):
                await asyncio.to_thread(self._give_back_sync, conn)
            else:
                await self._give_back(conn)
        finally:
            self._room.release()

    def abandon(self, context: Context) -> None:
        """Cut the connection of a handler that does not stop, at once and whatever it is doing with it."""
        conn = self._open.pop(context.fence, None)
        if isinstance(conn, AsyncConnection):
            with suppress(psycopg.Error, OSError), socket.socket(fileno=os.dup(conn.pgconn.socket)) as line:
                # Closing it here would let another connection have the descriptor that the handler still waits for.
                line.shutdown(socket.SHUT_RDWR)
            self._room.release()

    def _leave_sync(self, context: Context) -> None:
        """As ``leave``, in the thread of the handler."""
        conn = self._open.pop(context.fence, None)
        if isinstance(conn, Connection):
            try:
                self._give_back_sync(conn)
            finally:
                self._loop.call_soon_threadsafe(self._room.release)

    async def _give_back(self, conn: AsyncConnection[Any]) -> None:
        with suppress(psycopg.Error):
            await conn.rollback()
            await conn.set_autocommit(True)
            self._idle.append(conn)
            return
        await conn.close()

    def _give_back_sync(self, conn: Connection[Any]) -> None:
        """Keep it if it has committed. Else it is closed: a handler left behind may still be using it."""
        with suppress(psycopg.Error):
            if is_idle(conn):
                conn.autocommit = True
                self._idle_sync.append(conn)
                return
            if conn.pgconn.transaction_status == TransactionStatus.ACTIVE:
                conn.cancel_safe(timeout=5)
            conn.rollback()
        conn.close()

    async def _take(self) -> AsyncConnection[Any]:
        while self._idle:
            conn = self._idle.pop()
            if is_usable(conn):
                return conn
            await conn.close()
        return await connect_async(self._dsn, name=NAME)

    def _take_sync(self) -> Connection[Any]:
        with suppress(IndexError):
            while True:
                conn = self._idle_sync.pop()
                if is_usable(conn):
                    return conn
                conn.close()
        return connect(self._dsn, name=NAME)

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

"""``ctx.transaction()``: the handler's writes and its task's completion in one commit, so they happen exactly once.

The transaction stays open when its block ends; the completion is written on it when the handler has returned. A COMMIT
whose answer never came is settled by reading: if the attempt is still held under its fence, it did not happen.

A database that cannot be reached is waited for, and a connection that is lost interrupts the attempt: it runs again,
and nothing has failed.
"""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import AsyncGenerator, Callable, Generator
from contextlib import asynccontextmanager, contextmanager, suppress
from datetime import timedelta
from typing import Any

import psycopg
from psycopg import AsyncConnection, Connection
from psycopg.pq import TransactionStatus

from catchment.errors import ClaimLost, RequestRefused, ServerUnavailable, TaskCancelled
from catchment.runtime.connection import Call, cut
from catchment.runtime.outcome import Interrupted
from catchment.runtime.pools import Threads
from catchment.runtime.pulse import Pulse
from catchment.runtime.turns import Turns
from catchment.store import attempt as store
from catchment.store.attempt import Ending
from catchment.store.connect import connect_as, connect_async, connect_async_as
from catchment.store.handler_connection import IDLED, AsyncHandlerConnection, HandlerConnection
from catchment.store.pool import is_idle, is_usable
from catchment.task.context import Context

AnyConnection = AsyncHandlerConnection | HandlerConnection
NAME = "catchment transaction"
# What says that no connection can be had now: the server is away or full, or this process has no descriptor left.
UNREACHABLE = (psycopg.OperationalError, psycopg.InterfaceError, ServerUnavailable, OSError)
FIRST_PAUSE = 0.05
LAST_PAUSE = 2.0
CALL_SECONDS = 10.0


class Transactions:
    """A few connections for the transactions of handlers, apart from all others.

    ``committed`` takes endings that were written here; ``waits`` hears when an attempt begins and ends to wait.
    """

    def __init__(
        self,
        dsn: str,
        *,
        pulse: Pulse,
        turns: Turns,
        limit: timedelta,
        committed: Callable[[Ending, str], None],
        waits: Callable[[Context, bool], None],
    ) -> None:
        self._dsn = dsn
        self._pulse = pulse
        self._limit = str(int(limit.total_seconds() * 1000))
        self._committed = committed
        self._waits = waits
        self._loop = asyncio.get_running_loop()
        self._turns = turns
        self._threads = Threads()
        self._idle: list[AsyncHandlerConnection] = []
        self._idle_sync: list[HandlerConnection] = []
        # By fence: two attempts of one task may run here at once, if the first was left behind.
        self._open: dict[int, AnyConnection] = {}
        self._losses: dict[int, Exception] = {}

    @asynccontextmanager
    async def begin(self, context: Context) -> AsyncGenerator[AsyncConnection[Any]]:
        self._waits(context, True)
        try:
            await self._turns.take(context.command)
            try:
                self._open[context.fence] = conn = await self._connected(context)
            except BaseException:
                self._turns.give()
                raise
        finally:
            self._waits(context, False)
        try:
            yield conn
        except BaseException:
            await self._let_go(context)  # what the block wrote is undone, even if the handler catches this and goes on
            raise

    @contextmanager
    def begin_sync(self, context: Context) -> Generator[Connection[Any]]:
        self._loop.call_soon_threadsafe(self._waits, context, True)
        try:
            asyncio.run_coroutine_threadsafe(self._turns.take(context.command), self._loop).result()
            try:
                self._open[context.fence] = conn = self._connected_sync(context)
            except BaseException:
                self._loop.call_soon_threadsafe(self._turns.give)
                raise
        finally:
            self._loop.call_soon_threadsafe(self._waits, context, False)
        # Whoever gives an attempt up marks it first and looks for its transaction afterwards: one of us sees the other.
        if context.cancelled:
            self._let_go_sync(context)
            raise _too_late(context)
        try:
            yield conn
        except BaseException:
            self._let_go_sync(context)
            raise

    def loss(self, context: Context) -> Exception | None:
        """Why the attempt is to be interrupted, or to fail, whatever its handler made of it: its connection is gone."""
        conn = self._open.get(context.fence)
        return self._losses.get(context.fence) if conn is None else _loss_of(conn)

    def is_waiting(self, context: Context) -> bool:
        """Does the handler wait for an answer from the server?"""
        conn = self._open.get(context.fence)
        return conn is not None and conn.pgconn.transaction_status == TransactionStatus.ACTIVE

    async def hangs(self, context: Context) -> bool:
        """Does it wait for a session that does nothing? Then its connection is cut, and the attempt interrupted."""
        conn = self._open.get(context.fence)
        return conn is not None and await self._pulse.hangs(conn)

    async def commit(self, context: Context, ending: Ending) -> str | None:
        """Write the completion and commit; None when the handler opened no transaction."""
        if (loss := self.loss(context)) is not None:
            raise loss
        conn = self._open.get(context.fence)
        if conn is None:
            return None
        try:
            if isinstance(conn, HandlerConnection):
                state = await self._threads.run(store.complete_own_sync, conn, ending)
            else:
                state = await store.complete_own(conn, ending)
        except psycopg.OperationalError as error:
            if _is_lost(conn, error):
                raise _lost(conn, error) from error
            raise
        if state is None:
            raise RequestRefused(
                f"the handler of {context.command} ended its transaction itself: it cannot complete the task with it",
                hint="What it committed stays. Leave COMMIT and ROLLBACK to the task's completion.",
            )
        try:
            await (self._threads.run(conn.end) if isinstance(conn, HandlerConnection) else conn.end())
        except (psycopg.OperationalError, psycopg.InterfaceError) as error:
            if not _is_lost(conn, error):
                raise
            if not await self._happened(ending):
                raise _lost(conn, error) from error
        self._committed(ending, state)
        return state

    async def leave(self, context: Context) -> None:
        """The attempt is over: give its connection back, rolled back if nothing was committed."""
        if context.fence in self._open:
            await self._let_go(context)
        self._losses.pop(context.fence, None)

    async def _let_go(self, context: Context) -> None:
        conn = self._open.pop(context.fence, None)
        if conn is None:
            return
        self._note_loss(context, conn)
        try:
            if isinstance(conn, HandlerConnection):
                await self._threads.run(self._give_back_sync, conn)
            else:
                await self._give_back(conn)
        finally:
            self._turns.give()

    def _let_go_sync(self, context: Context) -> None:
        """As ``_let_go``, in the thread of the handler."""
        conn = self._open.pop(context.fence, None)
        if isinstance(conn, HandlerConnection):
            self._note_loss(context, conn)
            try:
                self._give_back_sync(conn)
            finally:
                self._loop.call_soon_threadsafe(self._turns.give)

    def abandon(self, context: Context) -> None:
        """Cut the connection of a handler that does not stop, at once and whatever it is doing with it."""
        conn = self._open.pop(context.fence, None)
        if isinstance(conn, AsyncHandlerConnection):
            self._pulse.remove(conn)
            cut(conn)  # closing it would let another connection have the descriptor that the handler still waits for
            self._turns.give()

    def _note_loss(self, context: Context, conn: AnyConnection) -> None:
        loss = _loss_of(conn)
        if loss is not None:
            self._losses[context.fence] = loss

    async def _give_back(self, conn: AsyncHandlerConnection) -> None:
        try:
            with suppress(psycopg.Error):
                with Call(conn, CALL_SECONDS):
                    await conn.undo()
                    await conn.rest()
                self._idle.append(conn)
                return
        except BaseException:
            await self._drop(conn)
            raise
        await self._drop(conn)

    def _give_back_sync(self, conn: HandlerConnection) -> None:
        """Keep it if it has committed. Else it is closed: a handler left behind may still be using it."""
        with suppress(psycopg.Error):
            if is_idle(conn):
                conn.rest()
                self._idle_sync.append(conn)
                return
            if conn.pgconn.transaction_status == TransactionStatus.ACTIVE:
                conn.cancel_safe(timeout=5)
            conn.undo()
        self._drop_sync(conn)

    async def _connected(self, context: Context) -> AsyncHandlerConnection:
        """A connection in its transaction; waits while there is none to be had."""
        pause = FIRST_PAUSE
        while True:
            with suppress(*UNREACHABLE):
                conn = await self._take()
                try:
                    with Call(conn, CALL_SECONDS):
                        await conn.begin()
                        await conn.execute(_BEGIN, [self._limit, str(context.fence)])
                    return conn
                except BaseException:
                    await self._drop(conn)
                    raise
            await asyncio.sleep(_jittered(pause))
            pause = min(pause * 2, LAST_PAUSE)

    def _connected_sync(self, context: Context) -> HandlerConnection:
        pause = FIRST_PAUSE
        while not context.cancelled:
            with suppress(*UNREACHABLE):
                conn = self._take_sync()
                try:
                    conn.begin()
                    conn.execute(_BEGIN, [self._limit, str(context.fence)])
                    return conn
                except BaseException:
                    self._drop_sync(conn)
                    raise
            time.sleep(_jittered(pause))
            pause = min(pause * 2, LAST_PAUSE)
        raise _too_late(context)

    async def _take(self) -> AsyncHandlerConnection:
        while self._idle:
            conn = self._idle.pop()
            if is_usable(conn):
                return conn
            await self._drop(conn)
        conn = await connect_async_as(AsyncHandlerConnection, self._dsn, name=NAME)
        self._pulse.add(conn)
        return conn

    def _take_sync(self) -> HandlerConnection:
        with suppress(IndexError):
            while True:
                conn = self._idle_sync.pop()
                if is_usable(conn):
                    return conn
                self._drop_sync(conn)
        conn = connect_as(HandlerConnection, self._dsn, name=NAME)
        self._pulse.add(conn)
        return conn

    async def _drop(self, conn: AsyncHandlerConnection) -> None:
        self._pulse.remove(conn)
        await conn.cut()

    def _drop_sync(self, conn: HandlerConnection) -> None:
        self._pulse.remove(conn)
        conn.cut()

    async def close(self) -> None:
        for conn in self._idle:
            await self._drop(conn)
        for conn in self._idle_sync:
            self._drop_sync(conn)
        self._threads.close()

    async def _happened(self, ending: Ending) -> bool:
        """Did a commit in doubt take effect? Raises ``ClaimLost`` when somebody else has the task now."""
        while True:
            try:
                conn = await connect_async(self._dsn)
                try:
                    with Call(conn, CALL_SECONDS):
                        fate = await store.fate(conn, ending.attempt.id, ending.attempt.fence, ending.attempt.attempt)
                    break
                finally:
                    await conn.close()
            except UNREACHABLE:
                await asyncio.sleep(0.1)
        if fate == "lost":
            raise ClaimLost(f"task {ending.attempt.id} is not held under fence {ending.attempt.fence} any more")
        return fate == "ended"


def _is_lost(conn: AnyConnection, error: psycopg.Error) -> bool:
    """Is this the end of the connection, or a server without memory, disk or connections? Neither fails a handler."""
    return conn.broken or (error.sqlstate or "")[:2] in ("08", "53")


def _loss_of(conn: AnyConnection) -> Exception | None:
    """What the loss of a connection means for its attempt; None while it is there."""
    return _lost(conn, None) if conn.broken else None


def _lost(conn: AnyConnection, error: Exception | None) -> Exception:
    if conn.ended_by in IDLED:
        return TimeoutError("the transaction of the handler was idle for longer than TRANSACTION_LIMIT_SECONDS")
    reason = f": {str(error).strip()}" if error is not None else ""
    return Interrupted(f"the connection of the handler's transaction was lost{reason}")


def _too_late(context: Context) -> TaskCancelled:
    return TaskCancelled(f"task {context.task_id} ({context.command}) was told to stop: it can begin no more")


def _jittered(pause: float) -> float:
    return pause * random.uniform(0.5, 1.0)  # noqa: S311 - jitter


# Of the time limits that PostgreSQL 15 to 18 share, these two together end a transaction that hangs, at work or idle.
# The mark goes with the transaction: a completion that does not find it knows that the handler has ended it.
_BEGIN = (
    "select set_config('idle_in_transaction_session_timeout', l.ms, true), set_config('statement_timeout', l.ms, true),"
    " set_config('worker.own_transaction', l.fence, true) from (select %s::text as ms, %s::text as fence) as l"
)

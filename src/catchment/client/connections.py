"""The connections of an app: none until the first use, then a few, kept for each event loop and for threads."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Generator
from contextlib import asynccontextmanager, contextmanager
from functools import partial
from typing import Any, Protocol

import psycopg
from psycopg import AsyncConnection, Connection

from catchment.client.line import LOST, LOST_HINT
from catchment.client.result import Results
from catchment.client.together import AsyncCalls, ThreadCalls
from catchment.errors import OutcomeUnknown, SchemaMismatch
from catchment.model.check import check_count
from catchment.schema.connection import database_of
from catchment.store import embedded
from catchment.store.connect import check_dsn, find_dsn
from catchment.store.foreign.find import async_sender_of, sender_of
from catchment.store.foreign.of_psycopg import PsycopgAsyncSender, PsycopgSender
from catchment.store.foreign.sender import AsyncSender, Sender
from catchment.store.foreign.types import OWN, AnyAsyncConnection, AnyConnection, OwnTransaction
from catchment.store.pool import AsyncPool, Pool
from catchment.store.process_lock import ProcessLock

NAME = "catchment client"


class LoopSide:
    """What belongs to one event loop: connections, the calls that make tasks, and the callers that wait for results."""

    def __init__(self, pool: AsyncPool) -> None:
        self.pool = pool
        self.calls = AsyncCalls(partial(_opened_async, pool)) if pool.is_own else None
        self.results = Results(pool)


class Lender(Protocol):
    """Provides connections to an app."""

    def pool(self) -> Pool: ...

    def async_pool(self) -> AsyncPool: ...


class Connections:
    """Finds the database at first use and hands out connections."""

    def __init__(self, dsn: str | None, size: int) -> None:
        check_count(size, name="pool_size")
        check_dsn(dsn)
        self._given = dsn
        self._size = size
        self._finding = ProcessLock()
        self._found: str | None = None
        # By strong reference: connections of a loop that has ended are dropped here, not by the garbage collector.
        self._sides: dict[asyncio.AbstractEventLoop, LoopSide] = {}
        self._threads: Pool | None = None
        self._thread_calls: tuple[Pool, ThreadCalls] | None = None
        self._lender: Lender | None = None
        # How many databases there were: what is known about one says nothing about another.
        self.place = 0

    @contextmanager
    def elsewhere(self, dsn: str, lender: Lender | None = None) -> Generator[None]:
        """Use another database while inside, and the connections that are lent, if any: for a test."""
        kept = self._given, self._found, self._sides, self._threads, self._lender
        self._given, self._found, self._sides, self._threads, self._lender = dsn, dsn, {}, None, lender
        self.place += 1
        try:
            yield
        finally:
            for side in self._sides.values():
                side.pool.abandon()
            self.close_threads()
            self._given, self._found, self._sides, self._threads, self._lender = kept
            self.place += 1

    @property
    def given(self) -> str | None:
        """The DSN that the app was made with, or None."""
        return self._given

    def dsn(self) -> str:
        """The DSN given, or that of the environment, or of the embedded server, which is started."""
        with self._finding.held():
            if self._found is None:
                self._found = find_dsn(self._given)
            return self._found

    @property
    def is_embedded(self) -> bool:
        """Is it the embedded server, which programs of other projects may use too?"""
        return self._found is not None and embedded.is_default(self._found)

    async def side(self) -> LoopSide:
        """What belongs to the running event loop."""
        loop = asyncio.get_running_loop()
        side = self._sides.get(loop)
        if side is None:
            dsn = self._found or await asyncio.to_thread(self.dsn)
            self._drop_ended()
            side = self._sides.setdefault(loop, LoopSide(self._make_async_pool(dsn)))
        return side

    @asynccontextmanager
    async def use_async(self, conn: AnyAsyncConnection | OwnTransaction = OWN) -> AsyncGenerator[AsyncSender]:
        """The caller's connection, or one of ours."""
        if conn is OWN:
            async with self.own_async() as own:
                yield PsycopgAsyncSender(own)
        else:
            with _of_the_caller():
                yield async_sender_of(conn)

    @contextmanager
    def use(self, conn: AnyConnection | OwnTransaction = OWN) -> Generator[Sender]:
        """As ``use_async``, for threads."""
        if conn is OWN:
            with self.own() as own:
                yield PsycopgSender(own)
        else:
            with _of_the_caller():
                yield sender_of(conn)

    @asynccontextmanager
    async def own_async(self) -> AsyncGenerator[AsyncConnection[Any]]:
        """A connection of ours."""
        async with _opened_async((await self.side()).pool) as own:
            yield own

    @contextmanager
    def own(self) -> Generator[Connection[Any]]:
        """As ``own_async``, for threads."""
        with _opened(self.threads()) as own:
            yield own

    async def calls_async(self) -> AsyncCalls | None:
        """Where calls that make tasks meet; None if the connections belong to the transaction of a test."""
        return (await self.side()).calls

    def calls(self) -> ThreadCalls | None:
        """As ``calls_async``, for threads."""
        pool = self.threads()
        if not pool.is_own:
            return None
        known = self._thread_calls
        if known is None or known[0] is not pool:
            known = self._thread_calls = (pool, ThreadCalls(partial(_opened, pool)))
        return known[1]

    def threads(self) -> Pool:
        """The connections for threads."""
        if self._threads is None:
            self._threads = self._make_pool(self.dsn())
        return self._threads

    def _make_pool(self, dsn: str) -> Pool:
        return Pool(dsn, self._size, name=NAME) if self._lender is None else self._lender.pool()

    def _make_async_pool(self, dsn: str) -> AsyncPool:
        return AsyncPool(dsn, self._size, name=NAME) if self._lender is None else self._lender.async_pool()

    def _drop_ended(self) -> None:
        for loop, side in list(self._sides.items()):
            if loop.is_closed():
                side.pool.abandon()
                del self._sides[loop]

    async def close(self) -> None:
        """Close the connections of the running event loop and of threads."""
        side = self._sides.pop(asyncio.get_running_loop(), None)
        if side is not None:
            await side.pool.close()
        self._drop_ended()
        self.close_threads()

    def close_threads(self) -> None:
        """Close the connections of threads."""
        if self._threads is not None:
            self._threads.close()


@asynccontextmanager
async def _opened_async(pool: AsyncPool) -> AsyncGenerator[Any]:
    async with pool.connection() as own:
        with _of_the_app(own):
            yield own


@contextmanager
def _opened(pool: Pool) -> Generator[Any]:
    with pool.connection() as own, _of_the_app(own):
        yield own


@contextmanager
def _of_the_app(conn: Connection[Any] | AsyncConnection[Any]) -> Generator[None]:
    """Errors of a call on a connection of ours. When that is lost, the server may have committed before."""
    try:
        yield
    except (psycopg.OperationalError, psycopg.InterfaceError) as error:
        if not conn.closed:
            raise
        raise OutcomeUnknown(
            f"{LOST} ({str(error).strip()})",
            hint=LOST_HINT,
        ) from error
    except SchemaMismatch as error:
        raise SchemaMismatch(f"{error} ({database_of(conn)})", hint=error.hint) from error


@contextmanager
def _of_the_caller() -> Generator[None]:
    """A missing schema may also mean that the connection is to another database than that of the app."""
    try:
        yield
    except SchemaMismatch as error:
        raise SchemaMismatch(
            f"{error} (the database that conn is connected to)",
            hint=f"{error.hint}. Or pass a connection to the database in which it is installed.",
        ) from error

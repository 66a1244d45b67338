"""Small pools of autocommit connections, the one used last first.

They keep no task and no thread running, so a script or a web process that enqueues now and then has nothing to shut
down. A connection that the server has closed meanwhile is noticed before it is used, without asking the server. When
one gives no answer, or its server has become read-only, it is dropped together with those that are idle: they use the
same link.
"""

from __future__ import annotations

import asyncio
import os
import select
import threading
from collections.abc import AsyncGenerator, Generator, Mapping
from concurrent.futures import Future
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass
from time import monotonic
from typing import Any

import psycopg
from psycopg import AsyncConnection, Connection
from psycopg.pq import TransactionStatus

from catchment.errors import CatchmentError, ServerUnavailable
from catchment.store.answer import AsyncClientConnection, ClientConnection, NoAnswer
from catchment.store.connect import READ, connect_as, connect_async_as
from catchment.store.errors import is_read_only


def is_idle(conn: Connection[Any] | AsyncConnection[Any]) -> bool:
    """Is the connection open, and in no transaction?"""
    return conn.pgconn.transaction_status == TransactionStatus.IDLE


def is_usable(conn: Connection[Any] | AsyncConnection[Any]) -> bool:
    """Is an idle connection still open? A server speaks to an idle client only to say goodbye."""
    if not is_idle(conn):
        return False
    poll = select.poll()
    poll.register(conn.pgconn.socket, select.POLLIN)
    return not poll.poll(0)


def is_main_thread() -> bool:
    """Does this thread run the handlers of signals? What they raise can come between any two steps of it."""
    return threading.get_ident() == threading.main_thread().ident


def _is_silence(error: ServerUnavailable) -> bool:
    """Has the server not answered, rather than refused?"""
    return isinstance(error.__cause__, psycopg.errors.ConnectionTimeout)


class AsyncPool:
    """Connections of one event loop, at most ``size`` of them at a time."""

    # Are they ours, each of the class for clients?
    is_own = True

    def __init__(self, dsn: str, size: int, *, name: str) -> None:
        self._dsn = dsn
        self._name = name
        self._pid = os.getpid()
        self._places = asyncio.Semaphore(size)
        self._idle: list[AsyncClientConnection] = []
        self._is_closed = False

    @asynccontextmanager
    async def connection(
        self, *, is_look: bool = False, patience: float | None = None
    ) -> AsyncGenerator[AsyncConnection[Any]]:
        """A connection in autocommit mode; it waits for one while all are in use, at most ``patience`` seconds.

        Without an answer a call raises ``OutcomeUnknown`` and a look ``NoAnswer``. A cancelled look ends at once.
        """
        if self._places.locked():
            await self._wait_for_place(patience)
        else:
            await self._places.acquire()
        try:
            conn = await self._take(is_look)
            conn.is_look = is_look
            try:
                yield conn
            except Exception as error:
                if is_read_only(error):
                    conn.drop()
                raise
            finally:
                if is_idle(conn) and not self._is_closed:
                    self._idle.append(conn)
                else:
                    if conn.is_silent:
                        self.abandon()
                    await conn.close()
        finally:
            self._places.release()

    async def _wait_for_place(self, patience: float | None) -> None:
        try:
            async with asyncio.timeout(patience):
                await self._places.acquire()
        except TimeoutError as error:
            raise NoAnswer(f"all connections were in use for {patience:g} s") from error

    async def _take(self, is_look: bool) -> AsyncClientConnection:
        while self._idle:
            conn = self._idle.pop()
            if is_usable(conn):
                return conn
            await conn.close()
        try:
            conn = await connect_async_as(AsyncClientConnection, self._dsn, name=self._name, settings=READ)
        except ServerUnavailable as error:
            if is_look and _is_silence(error):
                raise NoAnswer(str(error)) from error
            raise
        conn.dsn = self._dsn
        return conn

    async def close(self) -> None:
        """Close the idle connections; those in use are closed when they are given back."""
        self._is_closed = True
        for conn in self._take_idle():
            await conn.close()

    def abandon(self) -> None:
        """Drop the idle connections: their event loop has ended, or one like them gave no answer."""
        for conn in self._take_idle():
            conn.pgconn.finish()

    def _take_idle(self) -> list[AsyncClientConnection]:
        """Those of this process: after a fork the sockets belong to the parent."""
        idle, self._idle = self._idle, []
        return idle if self._pid == os.getpid() else []


@dataclass(frozen=True, slots=True)
class _Stock:
    """What a pool has in one process. After a fork the sockets belong to the parent: psycopg does not close what
    another process opened, unless it is asked to."""

    pid: int
    places: threading.Semaphore
    idle: list[ClientConnection]


class Pool:
    """Connections for threads, at most ``size`` of them at a time, and one more for the main thread.

    That one takes no place: an exception of a signal handler could come before it gives it back.
    """

    is_own = True

    def __init__(self, dsn: str, size: int, *, name: str, settings: Mapping[str, str] = READ) -> None:
        self._dsn = dsn
        self._name = name
        self._settings = settings
        self._size = size
        self._stock = self._make_stock()

    def _make_stock(self) -> _Stock:
        return _Stock(os.getpid(), threading.Semaphore(self._size), [])

    def _own_stock(self) -> _Stock:
        stock = self._stock
        if stock.pid != os.getpid():
            stock = self._stock = self._make_stock()
        return stock

    @contextmanager
    def connection(self, *, is_look: bool = False, until: float | None = None) -> Generator[Connection[Any]]:
        """A connection in autocommit mode; it waits for one while all are in use.

        Without an answer a call raises ``OutcomeUnknown`` and a look ``NoAnswer``. ``until`` is when a look has to
        end, by ``time.monotonic()``, with all that it waits for.
        """
        stock = self._own_stock()
        if is_main_thread():
            with self._lent(stock, is_look, until) as conn:
                yield conn
            return
        if not stock.places.acquire(timeout=None if until is None else max(0.0, until - monotonic())):
            raise NoAnswer("all connections are in use")
        try:
            with self._lent(stock, is_look, until) as conn:
                yield conn
        finally:
            stock.places.release()

    @contextmanager
    def _lent(self, stock: _Stock, is_look: bool, until: float | None) -> Generator[ClientConnection]:
        conn = self._take(stock, is_look, until)
        conn.is_look, conn.until = is_look, until
        is_known = False
        try:
            yield conn
            is_known = True
        except Exception as error:
            is_known = isinstance(error, (psycopg.Error, CatchmentError))
            if is_read_only(error):
                conn.drop()
            raise
        finally:
            # After any other exception, the session may have more than this process knows, such as a statement.
            if is_known and is_idle(conn):
                stock.idle.append(conn)
            else:
                if conn.is_silent:
                    self.close()
                conn.close()

    def _take(self, stock: _Stock, is_look: bool, until: float | None) -> ClientConnection:
        while True:
            try:
                conn = stock.idle.pop()
            except IndexError:
                break
            if is_usable(conn):
                return conn
            conn.close()
        try:
            return self._connect() if until is None else self._connect_until(until)
        except ServerUnavailable as error:
            if is_look and _is_silence(error):
                raise NoAnswer(str(error)) from error
            raise

    def _connect(self) -> ClientConnection:
        conn = connect_as(ClientConnection, self._dsn, name=self._name, settings=self._settings)
        conn.dsn = self._dsn
        return conn

    def _connect_until(self, until: float) -> ClientConnection:
        """Connect in a thread: libpq waits for two seconds or more, for each host, and for names without a limit."""
        making: Future[ClientConnection] = Future()

        def make() -> None:
            try:
                making.set_result(self._connect())
            except BaseException as error:
                making.set_exception(error)

        threading.Thread(target=make, name="catchment connect", daemon=True).start()
        try:
            return making.result(max(0.0, until - monotonic()))
        except TimeoutError as error:
            making.add_done_callback(_close_late)
            raise NoAnswer("no connection in time") from error

    def close(self) -> None:
        """Close the idle connections. The pool can still be used, and opens new ones then."""
        idle = self._own_stock().idle
        with suppress(IndexError):  # another thread may take the last one
            while True:
                idle.pop().close()


def _close_late(making: Future[ClientConnection]) -> None:
    if making.exception() is None:
        making.result().close()

"""The connection of one part of the worker: made again when it is lost, and never waited for without a limit."""

from __future__ import annotations

import asyncio
import logging
import os
import random
import socket
import time
import traceback
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from datetime import timedelta
from types import TracebackType
from typing import Any

import psycopg
from psycopg import AsyncConnection, Connection

from catchment.errors import CatchmentError, ServerUnavailable
from catchment.runtime.doorbell import wait_for
from catchment.runtime.events import Events
from catchment.runtime.reports import Reports
from catchment.store.connect import READ, connect_async
from catchment.store.embedded import FolderGone
from catchment.store.errors import Fault, fault_of
from catchment.store.worker import end_backend

# What a call can raise when its connection is lost, possibly with an answer. Other errors have these classes too:
# fault_of decides.
LOST = (psycopg.OperationalError, psycopg.InterfaceError, ServerUnavailable, TimeoutError)
FIRST_PAUSE = 0.05
LAST_PAUSE = 2.0
# Seconds after which a part whose call was cut is in no call any more.
AFTER_CUT = 1.0

AnyConnection = AsyncConnection[Any] | Connection[Any]


class Overdue(psycopg.OperationalError):
    """The server did not answer within the limit of the call; the connection was cut."""


def cut(conn: AnyConnection) -> None:
    """End a connection from outside: a call that waits on it fails at once, even if the network is frozen."""
    with suppress(psycopg.Error, OSError), socket.socket(fileno=os.dup(conn.pgconn.socket)) as line:
        line.shutdown(socket.SHUT_RDWR)


def raise_if_cancelled(error: BaseException) -> None:
    """psycopg may raise the error of a query in place of the cancellation that ended it: raise the cancellation."""
    task = asyncio.current_task()
    if task is not None and task.cancelling():
        raise asyncio.CancelledError from error


class Call:
    """``with Call(conn, limit):`` around awaited calls to the database.

    Past the limit the connection is cut, which ends the call. Cancelling it would not: psycopg then sends a cancel
    request and waits for the server again. A cancelled call may also end with an error of its query instead; the
    cancellation is raised all the same, so no part can mistake it for an ordinary error and continue.
    """

    __slots__ = ("_conn", "_is_overdue", "_limit", "_timer")

    def __init__(self, conn: AnyConnection, limit: float) -> None:
        self._conn = conn
        self._limit = limit
        self._is_overdue = False

    def __enter__(self) -> None:
        self._timer = asyncio.get_running_loop().call_later(self._limit, self._expire)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._timer.cancel()
        if error is None or isinstance(error, asyncio.CancelledError):
            return
        raise_if_cancelled(error)
        if self._is_overdue:
            raise Overdue(f"no answer within {self._limit:g} s") from error

    def _expire(self) -> None:
        self._is_overdue = True
        cut(self._conn)


class Link:
    """Serves one part of the worker with a connection, and with a new one whenever that is lost."""

    def __init__(
        self,
        dsn: str,
        part: str,
        events: Events,
        *,
        limit: timedelta,
        on_loss: Callable[[], None] = lambda: None,
        on_gone: Callable[[FolderGone], None] = lambda _: None,
        last_pause: float = LAST_PAUSE,
        settings: Mapping[str, str] = READ,
    ) -> None:
        self._dsn = dsn
        self._part = part
        self._events = events
        self._reports = Reports()
        self._limit = limit.total_seconds()
        self._on_loss = on_loss
        self._on_gone = on_gone
        self._last_pause = last_pause
        self._settings = settings
        self._conn: AsyncConnection[Any] | None = None
        self._connected_at: float | None = None
        # Backend pid of the connection that was lost, and when.
        self._lost: tuple[int, float] | None = None
        self._is_cut = False

    async def hold(self, serve: Callable[[AsyncConnection[Any]], Awaitable[None]], stopping: asyncio.Event) -> None:
        """Call ``serve`` with a connection until it returns. Whenever it raises, call it again with a new connection,
        unless ``stopping`` is set. If the server is gone for good, it only waits for that."""
        pause = FIRST_PAUSE
        while not stopping.is_set():
            self._connected_at = None
            try:
                await self._serve_once(serve)
                return
            except FolderGone as error:
                self._on_gone(error)
                await stopping.wait()
                return
            except Exception as error:
                if self._has_served_long():
                    pause = FIRST_PAUSE
                    self._reports.over()
                self._report(error)
            self._on_loss()
            await wait_for(stopping, timedelta(seconds=pause * random.uniform(0.8, 1.2)))  # noqa: S311 - jitter
            pause = min(pause * 2, self._last_pause)

    def call(self, *, limit: float | None = None) -> Call:
        """A context for calls on the current connection. The default limit is that of the part."""
        if self._conn is None:
            raise psycopg.OperationalError(f"{self._part}: no connection")
        return Call(self._conn, self._limit if limit is None else limit)

    @property
    def is_connected(self) -> bool:
        return self._conn is not None

    @property
    def is_calling(self) -> bool:
        """Is a call under way on the current connection?"""
        active = psycopg.pq.TransactionStatus.ACTIVE
        return self._conn is not None and self._conn.pgconn.transaction_status == active

    def cut(self) -> None:
        """End the current connection, and with it a running call. Its loss is not reported: it was requested."""
        if self._conn is not None:
            self._is_cut = True
            cut(self._conn)

    def close(self, runner: asyncio.Task[None]) -> None:
        """End a part that was asked to stop but has not: a running call is cut off, a wait is cancelled."""
        if self._conn is not None and self.is_calling:
            cut(self._conn)
            # A call whose answer was there already continues, perhaps to a wait for what will not come any more.
            asyncio.get_running_loop().call_later(AFTER_CUT, runner.cancel)
        else:
            runner.cancel()

    async def _serve_once(self, serve: Callable[[AsyncConnection[Any]], Awaitable[None]]) -> None:
        conn = await connect_async(self._dsn, name=self._name, settings=self._settings)
        self._conn, self._is_cut, self._connected_at = conn, False, time.monotonic()
        pid = conn.pgconn.backend_pid
        try:
            await self._end_lost_session(conn)
            await serve(conn)
        except LOST:
            self._lost = (pid, time.monotonic())
            raise
        finally:
            self._conn = None
            # Not `async with`: its rollback would hang on a connection that hangs.
            await conn.close()

    async def _end_lost_session(self, conn: AsyncConnection[Any]) -> None:
        """End the session of the lost connection: the server may still have it, with all its locks."""
        lost, self._lost = self._lost, None
        if lost is not None:
            pid, since = lost
            ago = timedelta(seconds=time.monotonic() - since)
            with suppress(psycopg.errors.InsufficientPrivilege), self.call():
                await end_backend(conn, pid, name=self._name, lost=ago)

    @property
    def _name(self) -> str:
        return f"catchment {self._part}"

    def _has_served_long(self) -> bool:
        """Was the last connection of use? What fails soon after each new connection is one failure that lasts."""
        return self._connected_at is not None and time.monotonic() - self._connected_at > LAST_PAUSE

    def _report(self, error: Exception) -> None:
        fault = fault_of(error)
        if fault is not Fault.LOST and not isinstance(error, (psycopg.Error, CatchmentError)):
            report_fault(self._events, self._reports, self._part, error)
            return
        if fault is Fault.LOST and self._is_cut:
            return
        kind = type(error).__name__
        text = self._reports.due(kind, f"{self._part}: {str(error).strip() or kind}")
        if text is None:
            return
        if fault is Fault.LOST:
            self._events.emit("connection.lost", text, level=logging.WARNING, part=self._part)
        else:
            # A schema changed under a prepared statement, a right revoked, a queue deleted: a new session may succeed,
            # and the worker must continue with its other queues.
            self._events.emit("connection.refused", text, level=logging.ERROR, part=self._part)


def report_fault(events: Events, reports: Reports, part: str, error: BaseException) -> None:
    """Log an unexpected error of a part, with its traceback: a defect of Catchment. The caller restarts the part."""
    kind = type(error).__name__
    text = reports.due(kind, f"{part}: {kind}: {error}; it is restarted")
    if text is not None:
        trace = "".join(traceback.format_exception(error))
        events.emit("part.failed", text, level=logging.ERROR, part=part, traceback=trace)

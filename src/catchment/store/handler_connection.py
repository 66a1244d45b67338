"""The connections that ``ctx.transaction()`` gives to handlers, which can do everything except end the transaction.

The worker commits the transaction with the completion of the task. If a handler committed it, its writes would stay
even if its task fails; if it rolled back, its task would complete without them. So both are refused, as methods and as
SQL, and the attempt fails even if the handler continues. Savepoints (``conn.transaction()``) are allowed.

What gets past this, with a cursor of another class for instance, the server refuses: see ``worker.refuse_commit``. A
ROLLBACK that gets past it is found because the session is then in no transaction. A COMMIT that gets past both, because
the guard was closed in libpq, is found when the session is given back: see ``lent.reset``.

The object belongs to one attempt, but its session is used again. So when the attempt is over, the session is taken away
from the object for good: a coroutine, thread, cursor or stream that still has the object gets an error, and cannot
reach the session of the next attempt.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial
from typing import Any

import psycopg
from psycopg import AsyncConnection, AsyncCursor, Connection, Cursor, pq
from psycopg._queries import PostgresQuery
from psycopg.abc import Params, Query
from psycopg.pq import PipelineStatus, TransactionStatus
from psycopg.pq.abc import PGconn, PGresult

from catchment.errors import RequestRefused, TransactionEndRefused
from catchment.store.errors import is_of_read_only_transaction, is_of_server
from catchment.store.sql_text import transaction_end

# SQLSTATEs of a session that the server ended because the handler was idle: the handler's own fault.
IDLED = ("25P03", "25P04")


@cache
def no_session() -> PGconn:
    """A closed session: what a connection object has after its session was taken away."""
    closed = pq.PGconn.connect_start(b"host=/nonexistent")
    closed.finish()
    return closed


class Met:
    """The errors that a connection has met: ``ended_by`` is the SQLSTATE that ended its session, ``faults`` are the
    errors of a server that cannot work now, ``is_in_fault`` is true if the newest statement ended with one. ``refusal``
    is the error for an attempt to end the transaction. ``has_session`` is true while a session of SQLAlchemy uses the
    connection.

    ``began_read_only``: the transaction was read-only from the start, so the server takes no writes. If it became
    read-only later, the handler has made it so."""

    def __init__(self) -> None:
        self.began_read_only = False
        self.ended_by: str | None = None
        self.faults: list[psycopg.Error] = []
        self.is_in_fault = False
        self.refusal: TransactionEndRefused | None = None
        self.has_session = False

    def note(self, error: psycopg.Error, *, is_broken: bool) -> None:
        self.ended_by = error.sqlstate if is_broken else None
        if is_of_server(error) and not self.is_made_read_only(error):
            self.faults.append(error)
            self.is_in_fault = True

    def is_made_read_only(self, error: psycopg.Error) -> bool:
        """Was the statement refused because the handler has made its transaction read-only?"""
        return not self.began_read_only and is_of_read_only_transaction(error)

    def refuse(self, verb: str) -> TransactionEndRefused:
        """The attempt cannot complete any more: what its handler asked for has not happened."""
        self.refusal = TransactionEndRefused(
            f"{verb} in ctx.transaction(), whose transaction the worker ends",
            hint="Return from the handler: that commits its writes with its task. Raise to undo them all. "
            "For a part that may fail use a savepoint: conn.transaction(), or session.begin_nested().",
        )
        return self.refusal

    def check(self, pgconn: PGconn, error: psycopg.Error | None = None) -> None:
        """Has the statement ended the transaction, although it should not have got through?"""
        if pgconn.transaction_status == TransactionStatus.IDLE:
            raise self.refuse("COMMIT or ROLLBACK") from error


class HandlerCursor(Cursor[Any]):
    """Refuses statements that would end the transaction."""

    def _convert_query(self, query: Query, params: Params | None = None) -> PostgresQuery:
        return _checked(super()._convert_query(query, params), self.connection)


class AsyncHandlerCursor(AsyncCursor[Any]):
    """Refuses statements that would end the transaction."""

    def _convert_query(self, query: Query, params: Params | None = None) -> PostgresQuery:
        return _checked(super()._convert_query(query, params), self.connection)


def _checked(query: PostgresQuery, conn: object) -> PostgresQuery:
    verb = transaction_end(query.query)
    if verb is not None and isinstance(conn, HandlerConnection | AsyncHandlerConnection):
        raise conn.met.refuse(verb)
    return query


class HandlerConnection(Connection[Any]):
    """For handlers in threads."""

    def __init__(self, pgconn: PGconn, prepare_threshold: int | None = None) -> None:
        super().__init__(pgconn)
        pgconn.notice_handler = partial(_pass_notice, pgconn.notice_handler)
        self.prepare_threshold = prepare_threshold
        self.cursor_factory = HandlerCursor
        self.met = Met()

    def let_go(self, *, at_once: bool = False) -> bool:
        """Take the session away, from any thread; false when it is in use. Then it is taken only if ``at_once``."""
        has_lock = self.lock.acquire(blocking=False)
        try:
            is_free = has_lock and not _is_at_work(self.pgconn)
            if is_free or at_once:
                self.pgconn = no_session()
            return is_free
        finally:
            if has_lock:
                self.lock.release()

    def wait(self, gen: Any, *args: Any, **kwargs: Any) -> Any:
        self._check_connection_ok()
        try:
            answer = super().wait(gen, *args, **kwargs)
        except psycopg.Error as error:
            self.met.note(error, is_broken=self.broken)
            self.met.check(self.pgconn, error)
            raise
        self.met.check(self.pgconn)
        self.met.is_in_fault = False
        return answer

    def _check_connection_ok(self) -> None:
        _refuse_if_over(self.pgconn, self.met)
        super()._check_connection_ok()

    def commit(self) -> None:
        raise self.met.refuse("commit()")

    def rollback(self) -> None:
        raise self.met.refuse("rollback()")

    def close(self) -> None:
        raise self.met.refuse("close()")

    def set_autocommit(self, value: bool) -> None:
        raise self.met.refuse(f"set_autocommit({value})")


class AsyncHandlerConnection(AsyncConnection[Any]):
    """For async handlers."""

    def __init__(self, pgconn: PGconn, prepare_threshold: int | None = None) -> None:
        super().__init__(pgconn)
        pgconn.notice_handler = partial(_pass_notice, pgconn.notice_handler)
        self.prepare_threshold = prepare_threshold
        self.cursor_factory = AsyncHandlerCursor
        self.met = Met()

    def let_go(self, *, at_once: bool = False) -> bool:
        """As that of ``HandlerConnection``, in the thread of the event loop."""
        is_free = not self.lock.locked() and not _is_at_work(self.pgconn)
        if is_free or at_once:
            self.pgconn = no_session()
        return is_free

    async def wait(self, gen: Any, *args: Any, **kwargs: Any) -> Any:
        self._check_connection_ok()
        try:
            answer = await super().wait(gen, *args, **kwargs)
        except psycopg.Error as error:
            self.met.note(error, is_broken=self.broken)
            self.met.check(self.pgconn, error)
            raise
        self.met.check(self.pgconn)
        self.met.is_in_fault = False
        return answer

    def _check_connection_ok(self) -> None:
        _refuse_if_over(self.pgconn, self.met)
        super()._check_connection_ok()

    async def commit(self) -> None:
        raise self.met.refuse("commit()")

    async def rollback(self) -> None:
        raise self.met.refuse("rollback()")

    async def close(self) -> None:
        raise self.met.refuse("close()")

    async def set_autocommit(self, value: bool) -> None:
        raise self.met.refuse(f"set_autocommit({value})")


def _pass_notice(handler: Callable[[PGresult], None] | None, notice: PGresult) -> None:
    """Call the notice handlers of a connection. libpq is the caller, and a ``SystemExit`` would end the process there;
    an ``Exception`` is logged by psycopg."""
    try:
        if handler is not None:
            handler(notice)
    except Exception:
        raise
    except BaseException as error:
        raise RuntimeError(f"a notice handler raised {type(error).__name__}") from error


def _is_at_work(pgconn: PGconn) -> bool:
    """Is a statement, a COPY or a pipeline running?"""
    is_active = pgconn.transaction_status == TransactionStatus.ACTIVE
    return is_active or (pgconn.status == pq.ConnStatus.OK and pgconn.pipeline_status != PipelineStatus.OFF)


def _refuse_if_over(pgconn: PGconn, met: Met) -> None:
    if met.refusal is not None:
        raise met.refusal
    met.check(pgconn)
    if pgconn is no_session():
        raise RequestRefused(
            "the connection of ctx.transaction() was used after its transaction was over",
            hint="It belongs to one attempt, and ends with its block or its handler. Await or join what uses it there.",
        )

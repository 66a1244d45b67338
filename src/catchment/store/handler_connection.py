"""The connections that ``ctx.transaction()`` gives to handlers, which can do everything except end the transaction.

The worker commits the transaction with the completion of the task. If a handler committed it, its writes would stay
even if its task fails; so ``commit`` and the like are refused. Savepoints (``conn.transaction()``) are allowed.

The object belongs to one attempt, but its session is used again. So when the attempt is over, the session is taken away
from the object for good: a coroutine, thread, cursor or stream that still has the object gets an error, and cannot
reach the session of the next attempt.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial
from typing import Any

import psycopg
from psycopg import AsyncConnection, Connection, pq
from psycopg.pq import PipelineStatus, TransactionStatus
from psycopg.pq.abc import PGconn, PGresult

from catchment.errors import RequestRefused
from catchment.store.errors import is_of_read_only_transaction, is_of_server

# SQLSTATEs of a session that the server ended because the handler was idle: the handler's own fault.
IDLED = ("25P03", "25P04")


def _refused(verb: str, is_async: bool) -> RequestRefused:
    block = "async with conn.transaction()" if is_async else "with conn.transaction()"
    return RequestRefused(
        f"{verb} on the connection of ctx.transaction()",
        hint=f"The task's completion commits it, an error undoes it all. For a part that may fail use: {block}",
    )


@cache
def no_session() -> PGconn:
    """A closed session: what a connection object has after its session was taken away."""
    closed = pq.PGconn.connect_start(b"host=/nonexistent")
    closed.finish()
    return closed


class Met:
    """The errors that a connection has met: ``ended_by`` is the SQLSTATE that ended its session, ``faults`` are the
    errors of a server that cannot work now, ``is_in_fault`` is true if the newest statement ended with one.

    ``began_read_only``: the transaction was read-only from the start, so the server takes no writes. If it became
    read-only later, the handler has made it so."""

    def __init__(self) -> None:
        self.began_read_only = False
        self.ended_by: str | None = None
        self.faults: list[psycopg.Error] = []
        self.is_in_fault = False

    def note(self, error: psycopg.Error, *, is_broken: bool) -> None:
        self.ended_by = error.sqlstate if is_broken else None
        if is_of_server(error) and not self.is_made_read_only(error):
            self.faults.append(error)
            self.is_in_fault = True

    def is_made_read_only(self, error: psycopg.Error) -> bool:
        """Was the statement refused because the handler has made its transaction read-only?"""
        return not self.began_read_only and is_of_read_only_transaction(error)


class HandlerConnection(Connection[Any]):
    """For handlers in threads."""

    def __init__(self, pgconn: PGconn, prepare_threshold: int | None = None) -> None:
        super().__init__(pgconn)
        pgconn.notice_handler = partial(_pass_notice, pgconn.notice_handler)
        self.prepare_threshold = prepare_threshold
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
            raise
        self.met.is_in_fault = False
        return answer

    def _check_connection_ok(self) -> None:
        _refuse_if_over(self.pgconn)
        super()._check_connection_ok()

    def commit(self) -> None:
        raise _refused("commit()", False)

    def rollback(self) -> None:
        raise _refused("rollback()", False)

    def close(self) -> None:
        raise _refused("close()", False)

    def set_autocommit(self, value: bool) -> None:
        raise _refused(f"set_autocommit({value})", False)


class AsyncHandlerConnection(AsyncConnection[Any]):
    """For async handlers."""

    def __init__(self, pgconn: PGconn, prepare_threshold: int | None = None) -> None:
        super().__init__(pgconn)
        pgconn.notice_handler = partial(_pass_notice, pgconn.notice_handler)
        self.prepare_threshold = prepare_threshold
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
            raise
        self.met.is_in_fault = False
        return answer

    def _check_connection_ok(self) -> None:
        _refuse_if_over(self.pgconn)
        super()._check_connection_ok()

    async def commit(self) -> None:
        raise _refused("commit()", True)

    async def rollback(self) -> None:
        raise _refused("rollback()", True)

    async def close(self) -> None:
        raise _refused("close()", True)

    async def set_autocommit(self, value: bool) -> None:
        raise _refused(f"set_autocommit({value})", True)


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


def _refuse_if_over(pgconn: PGconn) -> None:
    if pgconn is no_session():
        raise RequestRefused(
            "the connection of ctx.transaction() was used after its transaction was over",
            hint="It belongs to one attempt, and ends with its block or its handler. Await or join what uses it there.",
        )

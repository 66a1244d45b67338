"""SQLAlchemy sessions on the connection that ``ctx.transaction()`` lends to a handler.

A session does everything except end the transaction: ``commit`` and the like raise ``TransactionEndRefused``, as those
of the connection do. A rollback that SQLAlchemy makes by itself, after a failed flush, does not raise, so that the
handler sees why; the attempt fails all the same.

There is one engine for each database, with a dialect that has read what it needs to know once; it has no pool and opens
no connection. Each session is given the connection of its attempt.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Generator
from contextlib import asynccontextmanager, contextmanager
from contextvars import ContextVar
from functools import lru_cache
from typing import Any

from psycopg import AsyncConnection, Connection
from sqlalchemy import create_engine
from sqlalchemy.dialects import registry
from sqlalchemy.dialects.postgresql.psycopg import PGDialect_psycopg, PGDialectAsync_psycopg
from sqlalchemy.engine import Engine
from sqlalchemy.orm import Session
from sqlalchemy.pool import NullPool

from catchment.errors import RequestRefused, TransactionEndRefused
from catchment.store.handler_connection import AsyncHandlerConnection, HandlerConnection, Met

_lent: ContextVar[Any] = ContextVar("lent", default=None)


class _Lent:
    """What a dialect does at the end of a transaction and of a connection. ``commit`` reaches the connection, which
    refuses it."""

    def do_rollback(self, dbapi_connection: Any) -> None:
        _note(dbapi_connection, "rollback()")

    def do_close(self, dbapi_connection: Any) -> None:
        _note(dbapi_connection, "close()")

    def do_terminate(self, dbapi_connection: Any) -> None:
        _note(dbapi_connection, "invalidate()")


class LentDialect(_Lent, PGDialect_psycopg):
    """For plain handlers."""

    supports_statement_cache = True

    @classmethod
    def get_async_dialect_cls(cls, url: Any) -> type[PGDialectAsync_psycopg]:  # noqa: ARG003 - SQLAlchemy calls it
        return AsyncLentDialect


class AsyncLentDialect(_Lent, PGDialectAsync_psycopg):
    """For async handlers."""

    supports_statement_cache = True


registry.register("postgresql.catchment", __name__, "LentDialect")


def _note(dbapi_connection: Any, verb: str) -> None:
    """The connection belongs to the attempt: nothing is done to it. If its session is still in use, the attempt fails:
    this is not what its handler believes."""
    conn = getattr(dbapi_connection, "driver_connection", dbapi_connection)
    if isinstance(conn, HandlerConnection | AsyncHandlerConnection) and conn.met.has_session:
        conn.met.refuse(verb)


class LentSession(Session):
    """The session of a plain handler, and that inside the session of an async one."""

    def commit(self) -> None:
        raise self._refused("session.commit()")

    def rollback(self) -> None:
        raise self._refused("session.rollback()")

    def close(self) -> None:
        if self._met.has_session:
            raise self._refused("session.close()")
        super().close()

    def invalidate(self) -> None:
        raise self._refused("session.invalidate()")

    def reset(self) -> None:
        raise self._refused("session.reset()")

    @property
    def _met(self) -> Met:
        return self.info["met"]

    def _refused(self, verb: str) -> TransactionEndRefused:
        return self._met.refuse(verb)


def _taken() -> Any:
    """The connection that is being lent. An engine has no other: a handler may have got at it through its session, and
    a connection that was invalidated would be reopened."""
    conn = _lent.get()
    if conn is None:
        raise RequestRefused(
            "the session of ctx.transaction(sqlalchemy=True) has one connection, and no engine that opens others",
            hint="Use the session, or session.connection(). For another transaction make an engine of your own.",
        )
    return conn


_Where = tuple[str, int, str]


@lru_cache(maxsize=16)
def _engine(_where: _Where) -> Engine:
    return create_engine("postgresql+catchment://", creator=_taken, poolclass=NullPool, pool_reset_on_return=None)


@lru_cache(maxsize=16)
def _async_engine(_where: _Where) -> Any:
    from sqlalchemy.ext.asyncio import create_async_engine

    async def lent() -> Any:
        return _taken()

    return create_async_engine(
        "postgresql+catchment://", async_creator=lent, poolclass=NullPool, pool_reset_on_return=None
    )


def _where(conn: Connection[Any] | AsyncConnection[Any]) -> _Where:
    return conn.info.host, conn.info.port, conn.info.dbname


def _write(session: Session) -> None:
    """Release the savepoints that are still open, and write the rest, as SQLAlchemy does it before a commit."""
    while (savepoint := session.get_nested_transaction()) is not None:
        savepoint.commit()
    session.flush()


@contextmanager
def session_on(conn: HandlerConnection) -> Generator[Session]:
    """A session on the connection. What it has not written yet is written at the end of the block."""
    with _lending(conn):
        bound = _engine(_where(conn)).connect()
    session = LentSession(bound, info={"met": conn.met})
    conn.met.has_session = True
    try:
        yield session
        _write(session)
    finally:
        conn.met.has_session = False
        session.close()
        bound.close()


@asynccontextmanager
async def async_session_on(conn: AsyncHandlerConnection) -> AsyncGenerator[Any]:
    """As ``session_on``, an ``AsyncSession``."""
    from sqlalchemy.ext.asyncio import AsyncSession

    with _lending(conn):
        bound = await _async_engine(_where(conn)).connect()
    session = AsyncSession(bound, sync_session_class=LentSession, info={"met": conn.met})
    conn.met.has_session = True
    try:
        yield session
        await session.run_sync(_write)
    finally:
        conn.met.has_session = False
        await session.close()
        await bound.close()


@contextmanager
def _lending(conn: object) -> Generator[None]:
    """The engine takes this connection for what it opens meanwhile."""
    token = _lent.set(conn)
    try:
        yield
    finally:
        _lent.reset(token)

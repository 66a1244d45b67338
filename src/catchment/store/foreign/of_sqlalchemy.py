"""SQLAlchemy 2: sessions and connections, on the drivers psycopg, psycopg2 and asyncpg.

Statements go through SQLAlchemy, never past it: the transaction may begin with them, and its events and log see them.
``sqlalchemy.ext.asyncio`` needs greenlet, so it is imported only for an object of it.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable
from contextlib import contextmanager
from typing import Any, LiteralString

from sqlalchemy import Connection, Engine
from sqlalchemy.exc import InterfaceError, InvalidRequestError, PendingRollbackError, UnboundExecutionError
from sqlalchemy.orm import Session, scoped_session, sessionmaker

from catchment.errors import RequestRefused
from catchment.store.foreign.busy import check_free
from catchment.store.foreign.refuse import closed, failed, refused
from catchment.store.foreign.sender import AsyncSender, Rows, Sender, Values, check_loop, foreign_errors, numbered

ASYNC = "sqlalchemy.ext.asyncio"


def of(conn: object) -> Sender | AsyncSender:
    """The sender for a session or a connection."""
    if any(kind.__module__.startswith(ASYNC) for kind in type(conn).__mro__):
        return _of_async(conn)
    if isinstance(conn, scoped_session):
        return SessionSender(conn())  # pyright: ignore[reportUnknownArgumentType] - sessions of any class
    if isinstance(conn, Session):
        return SessionSender(conn)
    if isinstance(conn, Connection):
        if conn.closed:
            raise closed(conn)
        return ConnectionSender(conn)
    if isinstance(conn, Engine):
        raise refused(conn, "An engine has no transaction. Pass a connection of it: with engine.begin() as conn.")
    if isinstance(conn, sessionmaker):
        raise refused(conn, "Call it, and pass the session: with Session.begin() as session.")  # pyright: ignore[reportUnknownArgumentType] - sessions of any class
    raise refused(conn, "Pass the Session or the Connection.")


def _of_async(conn: object) -> AsyncSender:
    from sqlalchemy.ext import asyncio as sa

    if isinstance(conn, sa.async_scoped_session):
        return AsyncSessionSender(conn())  # pyright: ignore[reportUnknownArgumentType] - sessions of any class
    if isinstance(conn, sa.AsyncSession):
        return AsyncSessionSender(conn)
    if isinstance(conn, sa.AsyncConnection):
        if conn.sync_connection is None:
            raise RequestRefused(
                "conn is a SQLAlchemy AsyncConnection that is not started, expected one that is",
                hint="Use: async with engine.begin() as conn.",
            )
        if conn.closed:
            raise closed(conn)
        return AsyncConnectionSender(conn)
    if isinstance(conn, sa.AsyncEngine):
        raise refused(conn, "An engine has no transaction. Pass a connection of it: async with engine.begin() as conn.")
    if isinstance(conn, sa.async_sessionmaker):
        raise refused(conn, "Call it, and pass the session: async with Session.begin() as session.")  # pyright: ignore[reportUnknownArgumentType] - sessions of any class
    raise refused(conn, "Pass the AsyncSession or the AsyncConnection.")


def _written_for(conn: Connection, statement: str) -> str:
    """The statement with the placeholders of the driver."""
    if conn.dialect.name != "postgresql":
        raise RequestRefused(
            f"conn is connected to {conn.dialect.name}, expected PostgreSQL",
            hint="Pass the session or connection of the database in which Catchment is installed.",
        )
    match conn.dialect.paramstyle:
        case "format" | "pyformat":
            return statement
        case "numeric_dollar":
            return numbered(statement)
        case other:
            raise RequestRefused(
                f"conn uses the driver {conn.dialect.driver}, whose placeholders are {other}",
                hint="Use the driver psycopg, psycopg2 or asyncpg.",
            )


def _commits_itself(conn: Connection) -> bool:
    driver: Any = conn.connection.dbapi_connection
    return bool(driver.autocommit)


@contextmanager
def _errors(given: object) -> Generator[None]:
    """SQLAlchemy raises ``InvalidRequestError`` and its kinds for sessions and connections that are closed, or whose
    transaction has ended or failed."""
    with foreign_errors(given, InvalidRequestError, InterfaceError):
        try:
            yield
        except UnboundExecutionError as error:
            raise RequestRefused(
                f"conn is a session with several databases: {error}",
                hint="Pass the connection of the one with Catchment:"
                " conn=session.connection(bind_arguments={'mapper': …}).",
            ) from error
        except PendingRollbackError as error:
            raise failed(given) from error


class ConnectionSender(Sender):
    """For ``Connection``."""

    def __init__(self, conn: Any) -> None:
        self._given = conn

    def connection(self) -> Connection:
        return self._given

    def rows(self, statement: LiteralString, values: Values = ()) -> Rows:
        with _errors(self._given):
            conn = self.connection()
            check_free(self._given, conn.connection.driver_connection)
            result = conn.exec_driver_sql(_written_for(conn, statement), tuple(values))
            return result.all() if result.returns_rows else ()

    @property
    def commits_itself(self) -> bool:
        with _errors(self._given):
            return _commits_itself(self.connection())


class SessionSender(ConnectionSender):
    """For ``Session``: its connection of the moment, which begins its transaction if there is none."""

    def connection(self) -> Connection:
        return self._given.connection()


class AsyncConnectionSender(AsyncSender):
    """For ``AsyncConnection``."""

    def __init__(self, conn: Any) -> None:
        self._given = self._conn = conn

    async def rows(self, statement: LiteralString, values: Values = ()) -> Rows:
        with _errors(self._given):
            conn: Connection = self._conn.sync_connection
            check_loop(self._given, conn.connection.driver_connection)
            check_free(self._given, conn.connection.driver_connection)
            result: Any = await self._conn.exec_driver_sql(_written_for(conn, statement), tuple(values))
            return result.all() if result.returns_rows else ()

    @property
    def commits_itself(self) -> bool:
        with _errors(self._given):
            return _commits_itself(self._conn.sync_connection)


class AsyncSessionSender(AsyncConnectionSender):
    """For ``AsyncSession``: its connection is requested at the first statement."""

    def __init__(self, session: Any) -> None:
        super().__init__(session)
        self._conn = None

    async def _begun(self) -> None:
        if self._conn is None:
            with _errors(self._given):
                self._conn = await self._given.connection()

    async def rows(self, statement: LiteralString, values: Values = ()) -> Rows:
        await self._begun()
        return await super().rows(statement, values)

    async def each(self, statement: LiteralString, many: Iterable[Values]) -> list[Rows]:
        await self._begun()
        return await super().each(statement, many)

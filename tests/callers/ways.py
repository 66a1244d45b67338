"""The kinds of connections that callers have, each opened with its real library.

A way opens a connection and a transaction, and ends it by commit or rollback. It can write, and run a part in a
savepoint that is rolled back.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Generator, Iterator
from contextlib import (
    AbstractAsyncContextManager,
    AbstractContextManager,
    asynccontextmanager,
    contextmanager,
    suppress,
)
from dataclasses import dataclass
from typing import Any

import asyncpg
import django
import psycopg
import psycopg2
import sqlalchemy as sa
from django.conf import settings
from django.db import connection, connections, transaction
from psycopg.conninfo import conninfo_to_dict
from psycopg.rows import dict_row
from sqlalchemy.ext.asyncio import (
    AsyncConnection,
    AsyncSession,
    async_scoped_session,
    async_sessionmaker,
    create_async_engine,
)
from sqlalchemy.orm import Session, scoped_session, sessionmaker
from sqlalchemy.pool import NullPool


class Undo(Exception):
    """Ends a block with a rollback."""


@dataclass(frozen=True)
class Way:
    """``conn`` is what is passed to enqueue; ``savepoint`` is a block that ``Undo`` rolls back."""

    conn: Any
    write: Callable[[str], Any]
    savepoint: Callable[[], AbstractContextManager[Any]]


@dataclass(frozen=True)
class AsyncWay:
    conn: Any
    write: Callable[[str], Any]
    savepoint: Callable[[], AbstractAsyncContextManager[Any]]


def quietly() -> AbstractContextManager[None]:
    return suppress(Undo)


def end(is_kept: bool) -> None:
    if not is_kept:
        raise Undo


def engine_of(dsn: str, driver: str) -> sa.Engine:
    return sa.create_engine(_url(dsn, driver), poolclass=NullPool)


def async_engine_of(dsn: str, driver: str) -> Any:
    return create_async_engine(_url(dsn, driver), poolclass=NullPool)


def _url(dsn: str, driver: str) -> sa.URL:
    """The socket's folder is a parameter: it cannot be a host of the URL."""
    parts = conninfo_to_dict(dsn)
    query = {"host": str(parts["host"])}
    if "port" in parts:
        query["port"] = str(parts["port"])
    return sa.URL.create(f"postgresql+{driver}", str(parts["user"]), database=str(parts["dbname"]), query=query)


def asyncpg_options(dsn: str) -> dict[str, Any]:
    parts = conninfo_to_dict(dsn)
    options = {"host": parts["host"], "user": parts["user"], "database": parts["dbname"]}
    return options | ({"port": int(parts["port"])} if "port" in parts else {})


@contextmanager
def of_psycopg(dsn: str, is_kept: bool, *, through: str = "connection") -> Generator[Way]:
    with quietly(), psycopg.connect(dsn, row_factory=dict_row) as conn:
        yield Way(conn if through == "connection" else conn.cursor(), conn.execute, conn.transaction)
        end(is_kept)


@contextmanager
def of_psycopg2(dsn: str, is_kept: bool, *, through: str = "connection") -> Generator[Way]:
    conn = psycopg2.connect(dsn)
    try:
        with quietly(), conn, conn.cursor() as cursor:

            @contextmanager
            def savepoint() -> Iterator[None]:
                cursor.execute("savepoint s")
                try:
                    yield
                except Undo:
                    cursor.execute("rollback to s")
                    raise

            yield Way(conn if through == "connection" else cursor, cursor.execute, savepoint)
            end(is_kept)
    finally:
        conn.close()


@contextmanager
def of_session(dsn: str, is_kept: bool, *, driver: str, is_scoped: bool = False) -> Generator[Way]:
    make = sessionmaker(engine_of(dsn, driver))
    scoped = scoped_session(make)
    session: Session = scoped() if is_scoped else make()
    with quietly(), session.begin():
        yield Way(scoped if is_scoped else session, lambda sql: session.execute(sa.text(sql)), session.begin_nested)
        end(is_kept)
    session.close()


@contextmanager
def of_sqlalchemy_connection(dsn: str, is_kept: bool, *, driver: str) -> Generator[Way]:
    with quietly(), engine_of(dsn, driver).begin() as conn:
        yield Way(conn, lambda sql: conn.execute(sa.text(sql)), conn.begin_nested)
        end(is_kept)


@contextmanager
def django_on(dsn: str) -> Iterator[None]:
    """Django with the aliases default and other, which both are this database."""
    parts = conninfo_to_dict(dsn)
    one = {
        "ENGINE": "django.db.backends.postgresql",
        "NAME": parts["dbname"],
        "USER": parts["user"],
        "HOST": parts["host"],
        "PORT": parts.get("port", ""),
    }
    if not settings.configured:
        settings.configure(USE_TZ=True)
        django.setup()
    connections.settings = connections.configure_settings({"default": dict(one), "other": dict(one)})
    try:
        yield
    finally:
        for alias in connections:
            connections[alias].close()
            del connections[alias]


@contextmanager
def of_django(dsn: str, is_kept: bool, *, through: str) -> Generator[Way]:
    alias = "default" if through == "connection" else "other"
    atomic: Any = transaction.atomic(using=alias)
    with django_on(dsn), quietly(), atomic, connections[alias].cursor() as cursor:
        given = {"connection": connection, "wrapper": connections[alias], "alias": alias, "cursor": cursor}
        yield Way(given[through], cursor.execute, lambda: transaction.atomic(using=alias))
        end(is_kept)


@asynccontextmanager
async def of_async_psycopg(dsn: str, is_kept: bool, *, through: str = "connection") -> AsyncGenerator[AsyncWay]:
    with quietly():
        async with await psycopg.AsyncConnection.connect(dsn) as conn:
            yield AsyncWay(conn if through == "connection" else conn.cursor(), conn.execute, conn.transaction)
            end(is_kept)


@asynccontextmanager
async def of_asyncpg(dsn: str, is_kept: bool, *, is_pooled: bool = False) -> AsyncGenerator[AsyncWay]:
    options = asyncpg_options(dsn)
    with quietly():
        if is_pooled:
            pools = asyncpg.create_pool(min_size=1, max_size=1, **options)
            async with pools as pool, pool.acquire() as conn, conn.transaction():
                yield AsyncWay(conn, conn.execute, conn.transaction)
                end(is_kept)
            return
        conn = await asyncpg.connect(**options)
        try:
            # As many do: JSON is a Python value on this connection.
            await conn.set_type_codec("jsonb", schema="pg_catalog", encoder=repr, decoder=len)
            async with conn.transaction():
                yield AsyncWay(conn, conn.execute, conn.transaction)
                end(is_kept)
        finally:
            await conn.close()


@asynccontextmanager
async def of_async_session(
    dsn: str, is_kept: bool, *, driver: str, is_scoped: bool = False
) -> AsyncGenerator[AsyncWay]:
    engine = async_engine_of(dsn, driver)
    make = async_sessionmaker(engine)
    scoped = async_scoped_session(make, scopefunc=lambda: 1)
    session: AsyncSession = scoped() if is_scoped else make()
    with quietly():
        async with session.begin():
            given = scoped if is_scoped else session
            yield AsyncWay(given, lambda sql: session.execute(sa.text(sql)), session.begin_nested)
            end(is_kept)
    await session.close()
    await engine.dispose()


@asynccontextmanager
async def of_async_connection(dsn: str, is_kept: bool, *, driver: str) -> AsyncGenerator[AsyncWay]:
    engine = async_engine_of(dsn, driver)
    with quietly():
        conn: AsyncConnection
        async with engine.begin() as conn:
            yield AsyncWay(conn, lambda sql: conn.execute(sa.text(sql)), conn.begin_nested)
            end(is_kept)
    await engine.dispose()

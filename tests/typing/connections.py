# pyright: reportMissingTypeStubs=false, reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false, reportUnknownParameterType=false
"""What may be given as ``conn``, and what a type checker says about each. Some libraries have no types."""

import asyncpg  # type: ignore[import-untyped]
import psycopg
from django.db import connection, connections  # type: ignore[import-untyped]
from sqlalchemy import Connection, Engine
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine, AsyncSession, async_scoped_session, async_sessionmaker
from sqlalchemy.orm import Session, scoped_session, sessionmaker

from catchment import App

app = App()


@app.command
def ship(order: int) -> None: ...


async def of_psycopg(conn: psycopg.AsyncConnection, cursor: psycopg.AsyncCursor, plain: psycopg.Connection) -> None:
    await ship.using(conn=conn).enqueue(1)
    await ship.using(conn=cursor).enqueue(1)
    await app.enqueue("ship", {"order": 1}, conn=conn)
    ship.using(conn=plain)  # error: it blocks
    ship.using(conn=None)  # error: no connection
    ship.using(conn="shop")  # error: an alias is for code without asyncio
    ship.using(conn=psycopg.AsyncConnection)  # error: a class
    ship.using(conn=psycopg.AsyncConnection.connect(""))  # error: it is not awaited


async def of_sqlalchemy(
    session: AsyncSession,
    scoped: async_scoped_session[AsyncSession],
    conn: AsyncConnection,
    engine: AsyncEngine,
    make: async_sessionmaker[AsyncSession],
    plain: Session,
) -> None:
    await ship.using(conn=session).enqueue(1)
    await ship.using(conn=scoped).enqueue(1)
    await ship.using(conn=conn).enqueue(1)
    ship.using(conn=engine)  # error: an engine has no transaction
    ship.using(conn=make)  # error: a factory
    ship.using(conn=AsyncSession)  # error: a class
    ship.using(conn=plain)  # error: it blocks


async def of_asyncpg(conn: asyncpg.Connection, pool: asyncpg.Pool) -> None:
    await ship.using(conn=conn).enqueue(1)
    async with pool.acquire() as of_pool:
        await ship.using(conn=of_pool).enqueue(1)


def without_asyncio(
    conn: psycopg.Connection, cursor: psycopg.Cursor, session: Session, scoped: scoped_session[Session]
) -> None:
    ship.sync.using(conn=conn).enqueue(1)
    ship.sync.using(conn=cursor).enqueue(1)
    ship.sync.using(conn=session).enqueue(1)
    ship.sync.using(conn=scoped).enqueue(1)
    ship.sync.using(conn=connection).enqueue(1)
    ship.sync.using(conn=connections["shop"]).enqueue(1)
    ship.sync.using(conn="shop").enqueue(1)
    app.sync.enqueue("ship", {"order": 1}, conn=session)


def refused_without_asyncio(
    alchemy: Connection,
    engine: Engine,
    make: sessionmaker[Session],
    session: AsyncSession,
    conn: psycopg.AsyncConnection,
) -> None:
    ship.sync.using(conn=alchemy).enqueue(1)
    ship.sync.using(conn=engine)  # error: an engine has no transaction
    ship.sync.using(conn=make)  # error: a factory
    ship.sync.using(conn=Session)  # error: a class
    ship.sync.using(conn=session)  # error: it is of asyncio
    ship.sync.using(conn=conn)  # error: it is of asyncio
    ship.sync.using(conn=None)  # error: no connection
    ship.sync.using(conn=[alchemy])  # error: a list

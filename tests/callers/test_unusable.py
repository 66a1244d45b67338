"""A connection that its library, or the server, does not let be used now is refused in Catchment's words, with the
error of the library chained."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any

import asyncpg
import psycopg
import psycopg2
import pytest
import sqlalchemy as sa
import sqlalchemy.exc
import sqlalchemy.orm
from django.db import transaction
from sqlalchemy.ext.asyncio import AsyncSession
from sqlalchemy.orm import Session

from catchment import RequestRefused
from tests.callers import ways
from tests.callers.test_commit import ASYNC_KINDS, KINDS
from tests.client.support import Shop

FAILED = "whose transaction has failed"


@pytest.fixture
def refusal(shop: Shop) -> Iterator[Callable[[Any], str]]:
    """What is said about a connection that blocks."""

    def said(conn: Any) -> str:
        with pytest.raises(RequestRefused) as caught:
            shop.send.sync.using(conn=conn).enqueue(to="a")
        assert caught.value.hint
        with pytest.raises(RequestRefused, match="conn is"):
            shop.app.sync.enqueue_many("send", [{"to": "a"}], conn=conn)
        return str(caught.value)

    shop.app.sync.register()
    yield said
    assert shop.column("command") == []


async def refusal_async(shop: Shop, conn: Any) -> str:
    """The same about one of asyncio."""
    with pytest.raises(RequestRefused) as caught:
        await shop.send.using(conn=conn).enqueue(to="a")
    with pytest.raises(RequestRefused, match="conn is"):
        await shop.app.enqueue_many("send", [{"to": "a"}], conn=conn)
    return str(caught.value)


def test_a_failed_transaction_is_refused(shop: Shop, db: str, refusal: Callable[[Any], str]) -> None:
    for name, kind in KINDS.items():
        with suppress(ways.Undo), kind(db, False) as way:
            with pytest.raises(Exception, match="by zero"):
                way.write("select 1 / 0")
            assert FAILED in refusal(way.conn), name

    async def scenario() -> None:
        for name, kind in ASYNC_KINDS.items():
            async with kind(db, False) as way:
                with pytest.raises(Exception, match="by zero"):
                    await way.write("select 1 / 0")
                assert FAILED in await refusal_async(shop, way.conn), name

    asyncio.run(scenario())


def test_a_session_whose_flush_has_failed_is_refused(db: str, refusal: Callable[[Any], str]) -> None:
    registry = sqlalchemy.orm.registry()
    table = sa.Table("orders", registry.metadata, sa.Column("id", sa.Integer, primary_key=True))
    made: Any = type("Made", (), {})
    registry.map_imperatively(made, table)
    with Session(ways.engine_of(db, "psycopg")) as session:
        session.add(made())
        with pytest.raises(sqlalchemy.exc.ProgrammingError):
            session.flush()
        assert FAILED in refusal(session)


def test_a_block_whose_transaction_is_over_is_refused(db: str, refusal: Callable[[Any], str]) -> None:
    engine = ways.engine_of(db, "psycopg")
    with Session(engine) as session, session.begin():
        session.commit()
        assert "cannot be used now: Can't operate on closed transaction" in refusal(session)
    with engine.begin() as conn:
        conn.rollback()
        assert "cannot be used now: Can't operate on closed transaction" in refusal(conn)
    atomic: Any = transaction.atomic()
    with ways.django_on(db), atomic:
        transaction.set_rollback(True)
        assert "cannot be used now: An error occurred in the current transaction" in refusal("default")


def test_connections_whose_kind_of_use_is_not_supported_are_refused(db: str, refusal: Callable[[Any], str]) -> None:
    old = psycopg2.connect(db, async_=True)
    assert "psycopg2 connection, expected" in refusal(old)
    old.close()


def test_a_pipeline_that_has_failed_is_refused(db: str, refusal: Callable[[Any], str]) -> None:
    with psycopg.connect(db, autocommit=True) as conn, conn.pipeline():
        failing = conn.execute("select 1 / 0")
        with suppress(psycopg.errors.DivisionByZero):
            failing.fetchone()
        assert FAILED in refusal(conn)


def test_a_connection_that_went_back_to_its_pool_is_refused(shop: Shop, db: str) -> None:
    async def scenario() -> str:
        async with asyncpg.create_pool(min_size=0, **ways.asyncpg_options(db)) as pool:
            async with pool.acquire() as conn:
                pass
            return await refusal_async(shop, conn)

    assert "released back to the pool" in asyncio.run(scenario())


def test_a_connection_of_another_event_loop_is_refused(shop: Shop, db: str) -> None:
    first = asyncio.new_event_loop()
    engine = ways.async_engine_of(db, "asyncpg")
    conn = first.run_until_complete(asyncpg.connect(**ways.asyncpg_options(db)))
    session = AsyncSession(engine)
    first.run_until_complete(session.connection())
    try:
        for given in (conn, session):
            assert "of another event loop" in asyncio.run(refusal_async(shop, given))
    finally:
        first.run_until_complete(session.close())
        first.run_until_complete(conn.close())
        first.close()


def test_a_pipeline_of_the_caller_is_used(shop: Shop, db: str) -> None:
    with psycopg.connect(db) as conn, conn.pipeline():
        conn.execute("select 1")
        first = shop.send.sync.using(conn=conn).enqueue(to="a").id
        rest = [task.id for task in shop.app.sync.enqueue_many("send", [{"to": "b"}, {"to": "c"}], conn=conn)]

    async def scenario() -> None:
        async with await psycopg.AsyncConnection.connect(db) as conn, conn.pipeline():
            await conn.execute("select 1")
            await shop.send.using(conn=conn).enqueue(to="d")

    asyncio.run(scenario())
    assert len({first, *rest}) == 3
    assert shop.column("command") == ["send"] * 4

"""A connection that its library, or the server, does not let be used now is refused in Catchment's words, with the
error of the library chained."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
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
from psycopg.pq import TransactionStatus
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


TAKEN = "with a COPY or a stream() that is not over"


def test_a_connection_in_the_middle_of_a_copy_is_refused_at_once(db: str, refusal: Callable[[Any], str]) -> None:
    """psycopg would wait for the end of the COPY, which comes after the enqueue."""
    with psycopg.connect(db) as plain, ways.engine_of(db, "psycopg").connect() as bound:
        lent: Any = bound.connection.driver_connection
        for conn, driver in ((plain, plain), (bound, lent)):
            driver.execute("create temporary table copied (n integer)")
            with driver.cursor().copy("copy copied from stdin") as copy:
                copy.write("1\n")
                assert TAKEN in refusal(conn)
            for _ in driver.cursor().stream("select generate_series(1, 3)"):
                assert TAKEN in refusal(conn)


def test_a_connection_of_asyncio_in_the_middle_of_a_copy_is_refused_at_once(shop: Shop, db: str) -> None:
    async def scenario() -> None:
        async with await psycopg.AsyncConnection.connect(db) as plain:
            await plain.execute("create temporary table copied (n integer)")
            async with plain.cursor().copy("copy copied from stdin") as copy:
                await copy.write("1\n")
                assert TAKEN in await refusal_async(shop, plain)
            async for _ in plain.cursor().stream("select generate_series(1, 3)"):
                assert TAKEN in await refusal_async(shop, plain)
        conn = await asyncpg.connect(**ways.asyncpg_options(db))

        async def rows() -> Any:
            yield b"1\n"
            assert "another operation is in progress" in await refusal_async(shop, conn)

        await conn.execute("create temporary table copied (n integer)")
        await conn.copy_to_table("copied", source=rows(), format="text")
        await conn.close()

    asyncio.run(scenario())
    assert shop.column("command") == []


def test_a_statement_of_another_thread_or_task_is_waited_for(shop: Shop, db: str) -> None:
    with psycopg.connect(db) as plain, ThreadPoolExecutor() as pool:
        slow = pool.submit(plain.execute, "select pg_sleep(0.3)")
        while plain.pgconn.transaction_status != TransactionStatus.ACTIVE:
            assert not slow.done()
        shop.send.sync.using(conn=plain).enqueue(to="a")

    async def scenario() -> None:
        async with await psycopg.AsyncConnection.connect(db) as conn:
            made = [shop.send.using(conn=conn).enqueue(to="a") for _ in range(4)]
            await asyncio.gather(conn.execute("select pg_sleep(0.1)"), *made)

    asyncio.run(scenario())
    assert len(shop.column("command")) == 5

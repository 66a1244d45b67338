"""What cannot be the caller's connection is refused with what to pass instead; what the engine refuses is a Catchment
error with any library."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from functools import partial
from typing import Any

import asyncpg
import psycopg
import psycopg2
import pytest
import sqlalchemy as sa
from psycopg.conninfo import make_conninfo
from sqlalchemy.exc import DBAPIError
from sqlalchemy.ext.asyncio import AsyncSession, async_sessionmaker
from sqlalchemy.orm import Session, sessionmaker

from catchment import App, CommandNotRegistered, Context, RequestRefused, SchemaMismatch, TaskNotFound
from tests.callers import ways
from tests.callers.test_commit import ASYNC_KINDS, KINDS
from tests.client.support import Shop
from tests.fixtures.server import cloned

NOWHERE = "postgresql+psycopg://u@/nowhere?host=/nonexistent"


def refusal(conn: Any, *, is_async: bool = False) -> str:
    """What is said about this connection, and the remedy. Nothing is connected."""
    app = App("host=/nonexistent")
    with pytest.raises(RequestRefused) as caught:
        asyncio.run(app.enqueue("send", conn=conn)) if is_async else app.sync.enqueue("send", conn=conn)
    return f"{caught.value} {caught.value.hint}"


@pytest.mark.parametrize("is_async", [False, True])
def test_none_is_not_a_separate_transaction(is_async: bool) -> None:
    assert "conn is None" in refusal(None, is_async=is_async)
    assert "omit conn" in refusal(None, is_async=is_async)


def test_engines_and_makers_of_sessions_are_refused() -> None:
    engine = sa.create_engine(NOWHERE)
    assert "sqlalchemy Engine" in refusal(engine)
    assert "with engine.begin() as conn" in refusal(engine)
    assert "with Session.begin() as session" in refusal(sessionmaker(engine))
    async_engine = ways.create_async_engine(NOWHERE)
    assert "async with engine.begin() as conn" in refusal(async_engine, is_async=True)
    assert "async with Session.begin() as session" in refusal(async_sessionmaker(async_engine), is_async=True)
    assert "not started" in refusal(async_engine.connect(), is_async=True)


def test_a_block_that_was_not_entered_is_refused() -> None:
    assert "with ctx.transaction() as conn" in refusal(Context.local().transaction(), is_async=True)


def test_sessions_of_the_other_kind_are_refused_before_they_connect() -> None:
    assert "Session, which blocks" in refusal(Session(sa.create_engine(NOWHERE)), is_async=True)
    assert "AsyncSession, a connection of asyncio" in refusal(AsyncSession(ways.create_async_engine(NOWHERE)))


def test_another_database_is_refused() -> None:
    with Session(sa.create_engine("sqlite://")) as session:
        assert "connected to sqlite, expected PostgreSQL" in refusal(session)


def test_a_session_of_several_databases_is_refused() -> None:
    assert "session.connection(bind_arguments=" in refusal(Session())


def test_a_text_is_the_alias_of_a_django_connection() -> None:
    with ways.django_on("host=/nonexistent user=u dbname=nowhere"):
        assert "'spare', expected a connection or the alias of one: default, other" in refusal("spare")
        assert "connections['default']" in refusal(ways.connections)
        assert "which blocks" in refusal(ways.connection, is_async=True)


def test_closed_connections_are_refused(db: str) -> None:
    plain = psycopg.connect(db)
    plain.close()
    old = psycopg2.connect(db)
    old.close()
    with ways.engine_of(db, "psycopg").connect() as done:
        pass
    for conn in (plain, old, done):
        assert "that is closed" in refusal(conn)

    async def scenario() -> tuple[Any, Any]:
        conn = await asyncpg.connect(**ways.asyncpg_options(db))
        await conn.close()
        async with asyncpg.create_pool(min_size=0, **ways.asyncpg_options(db)) as pool:
            return conn, pool

    conn, pool = asyncio.run(scenario())
    assert "that is closed" in refusal(conn, is_async=True)
    assert "async with pool.acquire() as conn" in refusal(pool, is_async=True)


@pytest.fixture
def without_schema(server: str) -> str:
    return make_conninfo(server, dbname="template1")


CHOSEN = ("psycopg", "psycopg2", "session, psycopg2", "Django alias")
ASYNC_CHOSEN = ("asyncpg", "session, psycopg", "session, asyncpg")


def test_what_the_engine_says_is_a_catchment_error(shop: Shop, db: str, without_schema: str) -> None:
    for kind in CHOSEN:
        for dsn, error, text in _errors(db, without_schema):
            with pytest.raises(error, match=text), KINDS[kind](dsn, False) as way:
                shop.app.sync.enqueue("nowhere", conn=way.conn)

    async def scenario() -> None:
        for kind in ASYNC_CHOSEN:
            for dsn, error, text in _errors(db, without_schema):
                with pytest.raises(error, match=text):
                    async with ASYNC_KINDS[kind](dsn, False) as way:
                        await shop.app.enqueue("nowhere", conn=way.conn)

    asyncio.run(scenario())


@pytest.mark.parametrize("kind", ["psycopg", "psycopg2"])
def test_a_character_that_the_connection_cannot_send_is_named(shop: Shop, db: str, kind: str) -> None:
    with KINDS[kind](make_conninfo(db, client_encoding="LATIN1"), False) as way:
        shop.send.sync.using(conn=way.conn, lane="é").enqueue(to="a")
        with pytest.raises(RequestRefused, match=r"'5 €' cannot be sent: the client_encoding .* has no '€'") as refused:
            shop.send.sync.using(conn=way.conn, lane="5 €").enqueue(to="a")
    assert refused.value.hint == "Use a connection with client_encoding UTF8."


def _errors(db: str, without_schema: str) -> list[tuple[str, type[Exception], str]]:
    return [
        (db, CommandNotRegistered, "unknown command 'nowhere'"),
        (without_schema, SchemaMismatch, "not installed .*the database that conn is connected to"),
    ]


def test_an_error_that_is_not_the_engines_is_the_librarys(shop: Shop, db: str) -> None:
    with Session(ways.engine_of(db, "psycopg")) as session:
        session.execute(sa.text("set transaction read only"))
        with pytest.raises(DBAPIError, match="read-only"):
            shop.send.sync.using(conn=session).enqueue(to="a")


def test_connections_that_commit_by_themselves_make_all_tasks_or_none(shop: Shop, db: str) -> None:
    """Payloads are checked by the server too: a merge rule refuses the second batch."""
    payloads: list[dict[str, Any]] = [{"customer": 1, "items": [1]}, {"customer": 1, "items": "none"}]
    many: Callable[..., Any] = partial(shop.app.sync.enqueue_many, "gather", payloads, batch_size=1)
    shop.app.sync.register()
    plain = psycopg.connect(db, autocommit=True)
    old = psycopg2.connect(db)
    old.autocommit = True
    engine = ways.engine_of(db, "psycopg").execution_options(isolation_level="AUTOCOMMIT")
    with plain, engine.connect() as conn, ways.django_on(db):
        for way in (plain, old, conn, ways.connection):
            with pytest.raises(RequestRefused, match="items"):
                many(conn=way)
            shop.send.sync.using(conn=way).enqueue(to="a")
    old.close()

    async def check(way: Any) -> None:
        with pytest.raises(RequestRefused, match="items"):
            await shop.app.enqueue_many("gather", payloads, batch_size=1, conn=way)
        await shop.send.using(conn=way).enqueue(to="a")

    async def scenario() -> None:
        conn = await asyncpg.connect(**ways.asyncpg_options(db))
        await check(conn)
        await conn.close()
        for driver in ("psycopg", "asyncpg"):
            engine = ways.async_engine_of(db, driver).execution_options(isolation_level="AUTOCOMMIT")
            async with AsyncSession(engine) as session:
                await check(session)

    asyncio.run(scenario())
    assert shop.column("command") == ["send"] * 7


def test_a_handle_of_a_task_in_another_database_does_not_speak_to_a_stranger(
    shop: Shop, db: str, server: str, template: str
) -> None:
    stranger = shop.gather.sync.enqueue(customer=1, items=[1])
    refused = pytest.raises(TaskNotFound, match=f"task {stranger.id} is one of gather")
    with cloned(server, template) as other, psycopg.connect(other, autocommit=True) as conn:
        shop.send.sync.using(conn=conn).enqueue(to="a")
        conn.execute("select setval(pg_get_serial_sequence('worker.task', 'id'), %s, false)", [stranger.id])
        task = shop.send.sync.using(conn=conn).enqueue(to="a")
        (named,) = shop.app.sync.enqueue_many("send", [{"to": "a"}], conn=conn)
    assert task.id == stranger.id
    for verb in (task.info, task.cancel, task.retry, task.result, lambda: task.result(timeout=0)):
        with refused:
            verb()
    with pytest.raises(TaskNotFound):
        named.info()

    async def scenario() -> None:
        async with shop.app:
            handle = type(shop.app.task(1))(task.id, None, shop.app.verbs, "send")
            for call in (handle.info, handle.cancel, handle.retry, handle.result, lambda: handle.result(timeout=0)):
                with refused:
                    await call()

    asyncio.run(scenario())
    assert stranger.info().state == "pending"

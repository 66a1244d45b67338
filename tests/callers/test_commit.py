"""A task made with ``conn=`` exists exactly when the caller's transaction commits, whatever library it is of."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from functools import partial
from itertools import count
from typing import Any

import psycopg
import pytest
import sqlalchemy.event
from psycopg import Connection
from sqlalchemy.orm import Session

from catchment import App, Item
from tests.callers import ways
from tests.callers.ways import Undo
from tests.fixtures.often import some
from tests.fixtures.server import cloned

KINDS = {
    "psycopg": ways.of_psycopg,
    "psycopg cursor": partial(ways.of_psycopg, through="cursor"),
    "psycopg2": ways.of_psycopg2,
    "psycopg2 cursor": partial(ways.of_psycopg2, through="cursor"),
    "session, psycopg": partial(ways.of_session, driver="psycopg"),
    "session, psycopg2": partial(ways.of_session, driver="psycopg2"),
    "scoped session": partial(ways.of_session, driver="psycopg", is_scoped=True),
    "SQLAlchemy connection": partial(ways.of_sqlalchemy_connection, driver="psycopg"),
    "Django connection": partial(ways.of_django, through="connection"),
    "Django connections[alias]": partial(ways.of_django, through="wrapper"),
    "Django alias": partial(ways.of_django, through="alias"),
    "Django cursor": partial(ways.of_django, through="cursor"),
}
ASYNC_KINDS = {
    "psycopg": ways.of_async_psycopg,
    "psycopg cursor": partial(ways.of_async_psycopg, through="cursor"),
    "asyncpg": ways.of_asyncpg,
    "asyncpg pool": partial(ways.of_asyncpg, is_pooled=True),
    "session, psycopg": partial(ways.of_async_session, driver="psycopg"),
    "session, asyncpg": partial(ways.of_async_session, driver="asyncpg"),
    "scoped session": partial(ways.of_async_session, driver="asyncpg", is_scoped=True),
    "SQLAlchemy connection, psycopg": partial(ways.of_async_connection, driver="psycopg"),
    "SQLAlchemy connection, asyncpg": partial(ways.of_async_connection, driver="asyncpg"),
}
ENDS = pytest.mark.parametrize("is_kept", [True, False], ids=["commit", "rollback"])
_numbers = count()


@pytest.fixture(scope="module")
def place(server: str, template: str) -> Iterator[tuple[str, Connection[Any]]]:
    """A database with a table of orders, and a connection that looks on from outside."""
    with cloned(server, template) as dsn, psycopg.connect(dsn, autocommit=True) as outside:
        outside.execute("create table orders (id text)")
        yield dsn, outside


class Case:
    """A command that the database does not know yet, and what others see of its tasks."""

    def __init__(self, dsn: str, outside: Connection[Any]) -> None:
        self.name = f"ship{next(_numbers)}"
        self.order = f"insert into orders values ('{self.name}')"
        self.outside = outside
        self.app = App(dsn)
        self.ship = self.app.command(name=self.name)(_ship)

    def items(self) -> list[Item[None]]:
        """Three more orders, two of them with a lane."""
        return [self.ship.using(lane=lane).item(order=n) for n, lane in ((3, "b"), (4, None), (5, 'c"'))]

    def seen(self) -> tuple[int, int, list[int]]:
        """The number of orders and of registered commands, and the tasks, as others see them."""
        query = (
            "select (select count(*) from orders where id = %(name)s),"
            " (select count(*) from worker.command_registry where command = %(name)s),"
            " array(select (payload ->> 'order')::integer from worker.tasks where command = %(name)s order by id)"
        )
        return self.outside.execute(query, {"name": self.name}).fetchone() or (-1, -1, [])


def _ship(order: int) -> None: ...


@pytest.mark.parametrize("kind", some(list(KINDS.values()), one_in=2), ids=KINDS)
@ENDS
def test_a_task_exists_when_the_transaction_commits(
    place: tuple[str, Connection[Any]], kind: Any, is_kept: bool
) -> None:
    case = Case(*place)
    with kind(place[0], is_kept) as way:
        way.write(case.order)
        with ways.quietly(), way.savepoint():
            case.ship.sync.using(conn=way.conn).enqueue(order=1)
            raise Undo
        first = case.ship.sync.using(conn=way.conn, delay=1.5, priority=7, lane="a").enqueue(order=2).id
        with way.savepoint():
            rest = [task.id for task in case.ship.sync.using(conn=way.conn).enqueue_many(case.items(), batch_size=2)]
        assert case.seen() == (0, 0, [])
    assert len({first, *rest}) == 4
    assert case.seen() == ((1, 1, [2, 3, 4, 5]) if is_kept else (0, 0, []))
    if is_kept:
        again = case.outside.execute("select lane from worker.tasks where id = any(%s) order by id", [[first, *rest]])
        assert again.fetchall() == [("a",), ("b",), (None,), ('c"',)]


@pytest.mark.parametrize("kind", ASYNC_KINDS.values(), ids=ASYNC_KINDS)
@ENDS
def test_a_task_of_asyncio_exists_when_the_transaction_commits(
    place: tuple[str, Connection[Any]], kind: Any, is_kept: bool
) -> None:
    case = Case(*place)

    async def scenario() -> None:
        async with kind(place[0], is_kept) as way:
            await way.write(case.order)
            with ways.quietly():
                async with way.savepoint():
                    await case.ship.using(conn=way.conn).enqueue(order=1)
                    raise Undo
            first = (await case.ship.using(conn=way.conn, delay=1.5, priority=7, lane="a").enqueue(order=2)).id
            async with way.savepoint():
                rest = [
                    task.id for task in await case.ship.using(conn=way.conn).enqueue_many(case.items(), batch_size=2)
                ]
            assert case.seen() == (0, 0, [])
        assert len({first, *rest}) == 4
        await case.app.close()

    asyncio.run(scenario())
    assert case.seen() == ((1, 1, [2, 3, 4, 5]) if is_kept else (0, 0, []))


def test_a_command_whose_registration_was_committed_is_asked_for_no_more(place: tuple[str, Connection[Any]]) -> None:
    """Nothing but sessions of callers: the app has no connection to find out by."""
    case, statements = Case(*place), []
    engine = ways.engine_of(place[0], "psycopg")
    sqlalchemy.event.listen(engine, "before_cursor_execute", lambda *given: statements.append(given[2]))
    for is_kept in (False, True, True, True):
        with ways.quietly(), Session(engine) as session, session.begin():
            statements.clear()
            case.ship.sync.using(conn=session).enqueue(order=1)
            ways.end(is_kept)
    assert case.seen() == (0, 1, [1, 1, 1])
    assert len(statements) == 1

"""An app whose tasks are made, looked at and run in the transaction of a test, or in a database of the test.

The code under test stays as it is: it enqueues without ``conn``, waits for results, cancels, and everything happens on
the connection of the test, which rolls back. Each call has a savepoint: one that fails breaks nothing else.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Generator
from contextlib import asynccontextmanager, contextmanager
from typing import Any

from psycopg import AsyncConnection, Connection
from psycopg.pq import TransactionStatus

from catchment.client.app import App
from catchment.store.connect import check_dsn
from catchment.store.pool import AsyncPool, Pool
from catchment.testing.borrow import check_transaction, twin_of, with_plain_rows
from catchment.testing.here import check_app


@contextmanager
def in_transaction(app: App, conn: Connection[Any]) -> Generator[None]:
    """Everything that the app does while inside, it does in the transaction of this connection.

    It enqueues there where no ``conn`` is given, in asyncio too; ``result()`` reads what ``drain`` has run. An app that
    has another database leaves that alone. Raises ``RequestRefused`` for a connection that commits each statement.
    """
    check_app(app)
    check_transaction(conn)
    with app.connections.elsewhere(conn.info.dsn, _Lender(conn)):
        yield


@contextmanager
def in_database(app: App, dsn: str) -> Generator[None]:
    """The app uses this database while inside, whatever its DSN and the environment say. Its connections to it are
    closed at the end; what it has committed stays."""
    check_app(app)
    check_dsn(dsn)
    with app.connections.elsewhere(dsn):
        yield


class _Lender:
    def __init__(self, conn: Connection[Any]) -> None:
        self._conn = conn

    def pool(self) -> Pool:
        return LentPool(self._conn)

    def async_pool(self) -> AsyncPool:
        return AsyncLentPool(self._conn)


class LentPool(Pool):
    """One connection, which is not ours."""

    is_own = False

    def __init__(self, conn: Connection[Any]) -> None:
        self._conn = conn

    @contextmanager
    def connection(
        self,
        *,
        is_look: bool = False,  # noqa: ARG002 - the test waits for its own connection
        until: float | None = None,  # noqa: ARG002
    ) -> Generator[Connection[Any]]:
        _begin(self._conn)
        with with_plain_rows(self._conn), self._conn.transaction():
            yield self._conn

    def close(self) -> None:
        """It is the test's to close."""


class TwinPool(LentPool):
    """The same for a connection whose owner has rows and values of another kind, such as Django's."""

    @contextmanager
    def connection(
        self,
        *,
        is_look: bool = False,  # noqa: ARG002
        until: float | None = None,  # noqa: ARG002
    ) -> Generator[Connection[Any]]:
        _begin(self._conn)
        with twin_of(self._conn, Connection[Any]) as twin, twin.transaction():
            yield twin


class AsyncLentPool(AsyncPool):
    """The same connection for an event loop, for one coroutine at a time."""

    is_own = False

    def __init__(self, conn: Connection[Any]) -> None:
        self._conn = conn
        self._turn = asyncio.Lock()

    @asynccontextmanager
    async def connection(
        self,
        *,
        is_look: bool = False,  # noqa: ARG002
        patience: float | None = None,  # noqa: ARG002 - a test waits for its turn
    ) -> AsyncGenerator[AsyncConnection[Any]]:
        async with self._turn:
            _begin(self._conn)
            with twin_of(self._conn, AsyncConnection[Any]) as twin:
                async with twin.transaction():
                    yield twin

    async def close(self) -> None:
        """It is the test's to close."""

    def abandon(self) -> None:
        """It is the test's to close."""


def _begin(conn: Connection[Any]) -> None:
    """Begin a transaction if the test has ended the last one: a block of psycopg would commit what it begins."""
    if conn.pgconn.transaction_status == TransactionStatus.IDLE:
        conn.execute("select")

"""psycopg 3: connections and cursors. Ours are of this library, so this way is the fast one."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import AsyncExitStack, ExitStack
from typing import Any, LiteralString, cast

from psycopg import AsyncConnection, AsyncCursor, Connection, Cursor
from psycopg.pq import PipelineStatus, TransactionStatus
from psycopg.rows import tuple_row

from catchment.store.errors import translated
from catchment.store.foreign.busy import check_free
from catchment.store.foreign.refuse import closed, failed, refused
from catchment.store.foreign.sender import AsyncSender, Rows, Sender, Values


def of(conn: object) -> Sender | AsyncSender:
    """The sender for a connection or a cursor."""
    given: Any = conn
    if isinstance(given, Cursor | AsyncCursor):
        given = cast(Any, given).connection
    if not isinstance(given, Connection | AsyncConnection):
        raise refused(conn, "Pass a connection or a cursor, as psycopg.connect() returns.")
    used = cast(Connection[Any] | AsyncConnection[Any], given)
    if used.closed:
        raise closed(conn)
    is_failed = used.pgconn.transaction_status == TransactionStatus.INERROR
    if is_failed or used.pgconn.pipeline_status == PipelineStatus.ABORTED:
        raise failed(conn)
    check_free(conn, used)
    return PsycopgSender(used) if isinstance(used, Connection) else PsycopgAsyncSender(used)


def _commits_itself(conn: Connection[Any] | AsyncConnection[Any]) -> bool:
    return conn.autocommit and conn.pgconn.transaction_status == TransactionStatus.IDLE


class PsycopgSender(Sender):
    """For ``psycopg.Connection``. Cursors are made here, because the connection may make others."""

    __slots__ = ("_conn",)

    def __init__(self, conn: Connection[Any]) -> None:
        self._conn = conn

    def rows(self, statement: LiteralString, values: Values = ()) -> Rows:
        cursor = Cursor(self._conn, row_factory=tuple_row)
        with translated():
            return cursor.execute(statement, values, prepare=True).fetchall()

    @property
    def commits_itself(self) -> bool:
        return _commits_itself(self._conn)

    def each(self, statement: LiteralString, many: Iterable[Values]) -> list[Rows]:
        """While the server works on one, the next is read from ``many``."""
        cursors: list[Cursor[Any]] = []
        with translated():
            with ExitStack() as stack:
                if self.commits_itself:
                    stack.enter_context(self._conn.transaction())
                stack.enter_context(self._conn.pipeline())
                for values in many:
                    cursor = Cursor(self._conn, row_factory=tuple_row)
                    cursors.append(cursor.execute(statement, values, prepare=True))
            return [cursor.fetchall() for cursor in cursors]


class PsycopgAsyncSender(AsyncSender):
    """For ``psycopg.AsyncConnection``."""

    __slots__ = ("_conn",)

    def __init__(self, conn: AsyncConnection[Any]) -> None:
        self._conn = conn

    async def rows(self, statement: LiteralString, values: Values = ()) -> Rows:
        cursor = AsyncCursor(self._conn, row_factory=tuple_row)
        with translated():
            await cursor.execute(statement, values, prepare=True)
            return await cursor.fetchall()

    @property
    def commits_itself(self) -> bool:
        return _commits_itself(self._conn)

    async def each(self, statement: LiteralString, many: Iterable[Values]) -> list[Rows]:
        """While the server works on one, the next is read from ``many``."""
        cursors: list[AsyncCursor[Any]] = []
        with translated():
            async with AsyncExitStack() as stack:
                if self.commits_itself:
                    await stack.enter_async_context(self._conn.transaction())
                await stack.enter_async_context(self._conn.pipeline())
                for values in many:
                    cursor = AsyncCursor(self._conn, row_factory=tuple_row)
                    cursors.append(await cursor.execute(statement, values, prepare=True))
            return [await cursor.fetchall() for cursor in cursors]

"""One database session as two connections: psycopg's for threads and its twin for asyncio, around the same socket.

A transaction belongs to its session. Handlers of both kinds are to work in that of the test, whichever kind of
connection the test has. They never use it at the same time: one handler runs at a time.
"""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from typing import Any, TypeVar

from psycopg import AsyncConnection, Connection
from psycopg.pq import TransactionStatus
from psycopg.rows import tuple_row

from catchment.errors import RequestRefused
from catchment.model.check import shown

AnyConnection = Connection[Any] | AsyncConnection[Any]
C = TypeVar("C", bound=Connection[Any] | AsyncConnection[Any])


@contextmanager
def twin_of(conn: AnyConnection, kind: type[C]) -> Generator[C]:
    """A connection of the other kind to the same session, while inside."""
    session = conn.pgconn
    handlers = session.notice_handler, session.notify_handler
    twin = kind(session)
    # Two connections would give their prepared statements the same names.
    twin.prepare_threshold = None
    try:
        yield twin
    finally:
        session.notice_handler, session.notify_handler = handlers
        # The session is not the twin's to close, nor to complain about.
        del twin.pgconn


@contextmanager
def with_plain_rows(conn: AnyConnection) -> Generator[None]:
    """Rows as tuples while inside, as workers have them, whatever the test prefers."""
    chosen: Any = conn.row_factory  # of either kind
    conn.row_factory = tuple_row
    try:
        yield
    finally:
        conn.row_factory = chosen


def check_transaction(conn: AnyConnection) -> None:
    """Refuse a connection that would commit each statement by itself."""
    if not isinstance(conn, AsyncConnection | Connection):  # pyright: ignore[reportUnnecessaryIsInstance] - callers are not all typed
        raise RequestRefused(f"conn is {shown(conn)}, expected a psycopg connection")
    status = conn.pgconn.transaction_status
    if status == TransactionStatus.INERROR:
        raise RequestRefused("the transaction has failed already", hint="Roll it back first.")
    if conn.autocommit and status == TransactionStatus.IDLE:
        raise RequestRefused(
            "the connection is in autocommit mode and no transaction is open, so the work could not be rolled back",
            hint="Open one: with conn.transaction(force_rollback=True): …",
        )

"""The connection that a caller gives: whether it can be used, and statements that run on it whatever it makes of
cursors, rows and prepared statements."""

from __future__ import annotations

from typing import Any, LiteralString

from psycopg import AsyncConnection, Connection, Cursor
from psycopg.pq import PipelineStatus, TransactionStatus
from psycopg.rows import tuple_row
from psycopg.sql import SQL, Composed, Literal

from catchment.errors import RequestRefused

_HINT = "Such as catchment.connect()."


def execute(conn: Connection[Any], query: LiteralString | Composed) -> Cursor[tuple[Any, ...]]:
    """Run one statement or several. Values are in the text: a name in it may have the mark of a parameter."""
    return Cursor(conn, row_factory=tuple_row).execute(query, prepare=False)


def with_values(template: LiteralString, **values: Any) -> Composed:
    """A statement with these values in it, each quoted."""
    return SQL(template).format(**{name: Literal(value) for name, value in values.items()})


def database_of(conn: Connection[Any] | AsyncConnection[Any]) -> str:
    """The database of a connection as a message names it."""
    info = conn.info
    return f"database {info.dbname} on {info.host or 'this machine'}"


def check_connection(conn: Any) -> None:
    """Refuse what nothing can be read from. It is not shown: it may be a text with a password."""
    if not isinstance(conn, Connection):
        raise RequestRefused(f"conn is of type {type(conn).__name__}, expected a psycopg Connection", hint=_HINT)
    if conn.closed:
        raise RequestRefused("conn is closed, expected one that is open", hint=_HINT)
    if conn.info.encoding == "ascii":
        raise RequestRefused("the client_encoding of conn is SQL_ASCII, expected UTF8", hint=_HINT)


def check_usable(conn: Any) -> None:
    """Refuse a connection that nothing can be installed on."""
    check_connection(conn)
    if not conn.autocommit:
        raise RequestRefused(
            "conn is not in autocommit mode, expected one that is: each migration commits by itself", hint=_HINT
        )
    if conn.pgconn.pipeline_status != PipelineStatus.OFF:
        raise RequestRefused(
            "conn is in pipeline mode, expected one that is not: each step waits for the one before", hint=_HINT
        )
    if conn.info.transaction_status != TransactionStatus.IDLE:
        raise RequestRefused("conn is in a transaction, expected one that is not: each migration commits by itself")

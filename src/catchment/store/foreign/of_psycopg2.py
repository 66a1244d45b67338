"""psycopg2: connections and cursors."""

from __future__ import annotations

from typing import LiteralString

from psycopg2 import InterfaceError, extensions

from catchment.store.foreign.refuse import closed, refused
from catchment.store.foreign.sender import Rows, Sender, Values, foreign_errors


def of(conn: object) -> Sender:
    """The sender for a connection or a cursor."""
    given = conn.connection if isinstance(conn, extensions.cursor) else conn
    if not isinstance(given, extensions.connection):
        raise refused(conn, "Pass a connection or a cursor, as psycopg2.connect() returns.")
    if given.closed:
        raise closed(conn)
    if given.async_:
        raise refused(conn, "Its connections with async_=True are not supported: connect without it.")
    return Psycopg2Sender(given)


class Psycopg2Sender(Sender):
    """For ``psycopg2.extensions.connection``."""

    def __init__(self, conn: extensions.connection) -> None:
        self._conn = conn

    def rows(self, statement: LiteralString, values: Values = ()) -> Rows:
        # The connection's own class of cursors may return dictionaries.
        with foreign_errors(self._conn, InterfaceError), self._conn.cursor(cursor_factory=extensions.cursor) as cursor:
            cursor.execute(statement, values)
            return cursor.fetchall() if cursor.description else ()

    @property
    def commits_itself(self) -> bool:
        return self._conn.autocommit and self._conn.info.transaction_status == extensions.TRANSACTION_STATUS_IDLE

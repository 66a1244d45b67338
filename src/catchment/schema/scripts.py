"""Runs the files of a package in the transaction that is open, and says which file is at fault."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import psycopg
from psycopg import Connection
from psycopg.pq import TransactionStatus
from psycopg.rows import tuple_row

from catchment.errors import DefinitionRefused
from catchment.schema.files import Script

_STATE = "select pg_current_xact_id(), current_user, current_setting('search_path')"


def run(conn: Connection[Any], scripts: Iterable[Script], package: str) -> None:
    """Run the files one after the other. ``DefinitionRefused`` if the database refuses one, or if one ends the
    transaction or changes who runs what comes after it and where its names are looked up."""
    before = _state(conn)
    for script in scripts:
        try:
            conn.execute(script.text)
        except psycopg.OperationalError:  # the server's or the connection's trouble
            raise
        except psycopg.Error as error:
            raise _refused(conn, script, package, error) from error
        after = _state(conn)
        if conn.info.transaction_status != TransactionStatus.INTRANS or after[0] != before[0]:
            raise DefinitionRefused(
                f"{script.name} of {package} ends its transaction, expected one that goes on",
                hint="Remove BEGIN, COMMIT and ROLLBACK, and look at what is left in the schema.",
            )
        if after != before:
            raise DefinitionRefused(
                f"{script.name} of {package} leaves another role or search_path, expected those it was run with",
                hint="Name the schema of each object, and set back what the file sets.",
            )


def _state(conn: Connection[Any]) -> tuple[Any, ...]:
    """The number of the transaction, the role, and where names are looked up."""
    ((transaction, role, path),) = conn.cursor(row_factory=tuple_row).execute(_STATE).fetchall()
    return transaction, role, path


def _refused(conn: Connection[Any], script: Script, package: str, error: psycopg.Error) -> DefinitionRefused:
    if conn.info.transaction_status == TransactionStatus.ACTIVE:  # COPY waits for rows that nobody sends
        conn.close()
        return DefinitionRefused(
            f"{script.name} of {package} has COPY FROM STDIN or TO STDOUT, expected SQL alone",
            hint="Write the rows as INSERT, or load them after the installation.",
        )
    place = error.diag.statement_position
    line = "" if place is None else f", line {len(script.text[: int(place)].splitlines())}"
    return DefinitionRefused(
        f"{script.name} of {package}{line}: {error.diag.message_primary or error}", hint=error.diag.message_hint
    )

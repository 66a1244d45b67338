"""Runs the files of a package in a transaction, and says which file is at fault."""

from __future__ import annotations

from collections.abc import Generator, Iterable
from contextlib import contextmanager
from typing import Any

import psycopg
from psycopg import Connection
from psycopg.pq import TransactionStatus
from psycopg.rows import tuple_row
from psycopg.sql import SQL, Identifier

from catchment.errors import DefinitionRefused
from catchment.schema.files import Script

_STATE = "select pg_current_xact_id(), current_user, current_setting('search_path')"
_SETTINGS = "select s.name, s.setting from pg_settings as s where s.source = 'session'"


@contextmanager
def transaction(conn: Connection[Any]) -> Generator[None]:
    """A transaction for files. What they SET for the session is set back after it: the connection is the caller's, and
    the next file expects it as it was. Settings that the server does not know are not listed by it, and stay."""
    before = _settings(conn)
    with conn.transaction():
        yield
    after = _settings(conn)
    for name, value in after.items():
        if name not in before:
            conn.execute(SQL("reset {}").format(Identifier(*name.split("."))))
        elif value != before[name]:
            conn.execute("select set_config(%s, %s, false)", [name, before[name]])


def _settings(conn: Connection[Any]) -> dict[str, str]:
    """What was set for the session."""
    return dict(conn.cursor(row_factory=tuple_row).execute(_SETTINGS).fetchall())


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

"""Runs the files of a package in a transaction, and says which file is at fault."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable
from contextlib import contextmanager
from typing import Any, TypeVar

import psycopg
from psycopg import Connection
from psycopg.pq import TransactionStatus
from psycopg.sql import SQL, Identifier

from catchment.errors import DefinitionRefused
from catchment.schema.connection import execute, with_values
from catchment.schema.files import Script

Made = TypeVar("Made")

TRIES = 10
"""How often a step is tried that other sessions get in the way of."""

_STATE = "select pg_current_xact_id(), current_user, current_setting('search_path')"
# In this order: who is logged in decides which role that may take, and the role what it may set.
_SETTINGS = """
select x.name, current_setting(x.name) from unnest(array['session_authorization', 'role']) as x (name)
union all
select s.name, s.setting from pg_settings as s where s.source = 'session'
"""
# Trouble of the server, of the connection or of the moment, not of the file: a lost connection, a session that is
# read-only, no space, a cancelled statement, a deadlock, a lock that was not free in time.
_TROUBLE = ("08", "25006", "40", "53", "57", "58", "55P03")


@contextmanager
def transaction(conn: Connection[Any]) -> Generator[None]:
    """A transaction for files. What they SET or RESET for the session is set back after it, the role too: the
    connection is the caller's, and the next file expects it as it was. Settings that the server does not know are not
    listed by it, and stay."""
    before = _settings(conn)
    with conn.transaction():
        yield
    after = _settings(conn)
    is_another = after["session_authorization"] != before["session_authorization"]
    for name, value in before.items():
        if after.get(name) != value or (is_another and name == "role"):
            execute(conn, with_values("select set_config({name}, {value}, false)", name=name, value=value))
    for name in after.keys() - before.keys():
        execute(conn, SQL("reset {}").format(Identifier(*name.split("."))))


def _settings(conn: Connection[Any]) -> dict[str, str]:
    """What was set for the session."""
    return dict(execute(conn, _SETTINGS).fetchall())


def retried(step: Callable[[], Made], *, also: str = "") -> Made:
    """Do a step that is a transaction, and do it again while others get in its way: two sessions that write one row of
    a catalog, such as the grants on a database, are an error for the second. So is the SQLSTATE ``also``."""
    for _ in range(TRIES - 1):
        try:
            return step()
        except (psycopg.Error, DefinitionRefused) as error:
            cause = error if isinstance(error, psycopg.Error) else error.__cause__
            if not (isinstance(cause, psycopg.Error) and _is_collision(cause, also)):
                raise
    return step()


def _is_collision(error: psycopg.Error, also: str) -> bool:
    if error.sqlstate == "XX000":  # "tuple concurrently updated", in any language
        return (error.diag.source_function or "").startswith("simple_")
    return error.sqlstate in ("40001", "40P01", also)


def is_trouble(error: psycopg.Error) -> bool:
    """Is this of the server, the connection or the moment, rather than of what was to be run?"""
    return error.sqlstate is None or error.sqlstate.startswith(_TROUBLE)


def run(conn: Connection[Any], scripts: Iterable[Script], package: str) -> None:
    """Run the files one after the other. ``DefinitionRefused`` if the database refuses one, or if one ends the
    transaction or changes who runs what comes after it and where its names are looked up."""
    before = _state(conn)
    for script in scripts:
        try:
            execute(conn, script.text)
        except psycopg.Error as error:
            if is_trouble(error) and conn.info.transaction_status != TransactionStatus.ACTIVE:
                error.add_note(f"It was raised by {script.name} of {package}.")
                raise
            raise _refused(conn, script, package, error) from error
        after = _state(conn)
        if conn.info.transaction_status != TransactionStatus.INTRANS or after[0] != before[0]:
            raise DefinitionRefused(
                f"{script.name} of {package} ends its transaction, expected one that leaves it open",
                hint="Remove BEGIN, COMMIT and ROLLBACK, and look at what is left in the schema.",
            )
        if after != before:
            raise DefinitionRefused(
                f"{script.name} of {package} leaves another role or search_path, expected those it was run with",
                hint="Name the schema of each object, and set back what the file sets.",
            )


def _state(conn: Connection[Any]) -> tuple[Any, ...]:
    """The number of the transaction, the role, and where names are looked up."""
    ((transaction, role, path),) = execute(conn, _STATE).fetchall()
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

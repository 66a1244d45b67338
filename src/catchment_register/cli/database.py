"""The connection that verbs share."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from typing import Any

from psycopg import Connection
from psycopg.errors import InsufficientPrivilege

import catchment
from catchment_register.cli.numbers import read_numbers
from catchment_register.dates import read_open_ends
from catchment_register.schema import REGISTER, check_version, migrate


def connect_register(dsn: str | None = None, *, name: str = "catchment register") -> Connection[Any]:
    """A connection for statements of the register alone: nothing in a schema of others can be meant by them."""
    conn = catchment.connect(dsn, name=name)
    conn.execute("set search_path = pg_catalog, pg_temp")
    return conn


@contextmanager
def open_register(dsn: str | None, *, installs: bool = False) -> Generator[Connection[Any]]:
    """Connect, and check that the register fits. On the embedded server it is kept up to date by itself; ``installs``
    makes it there too.

    Errors of the register's functions are raised as its classes, and a right that is missing with the roles that give
    it; an open end is read as ``date.max``, and numbers as JSON has them.
    """
    with connect_register(dsn) as conn, REGISTER.translated(), _roles_named():
        if dsn is None and (installs or _is_there(conn)):
            migrate(conn)
        check_version(conn)
        read_open_ends(conn)
        read_numbers(conn)
        yield conn


def _is_there(conn: Connection[Any]) -> bool:
    row = conn.execute("select to_regnamespace('register') is not null").fetchone()
    return row is not None and row[0]


@contextmanager
def _roles_named() -> Generator[None]:
    try:
        yield
    except InsufficientPrivilege as error:
        raise catchment.RequestRefused(
            f"the database refused: {str(error).strip()}",
            hint="It needs a role of the register: register_read to look, register_edit to change units and to import,"
            " catchment_worker to run its tasks. Let an administrator grant it one. In a database without roles,"
            " connect as the owner of schema register.",
        ) from error

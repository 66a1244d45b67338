"""The connection that verbs share."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from typing import Any

from psycopg import Connection

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
def open_register(dsn: str | None) -> Generator[Connection[Any]]:
    """Connect, and check that the register fits. On the embedded server it is kept up to date by itself.

    Errors of the register's functions are raised as its classes; an open end is read as ``date.max``, and numbers as
    JSON has them.
    """
    with connect_register(dsn) as conn, REGISTER.translated():
        if dsn is None:
            migrate(conn)
        check_version(conn)
        read_open_ends(conn)
        read_numbers(conn)
        yield conn

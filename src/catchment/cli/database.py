"""The connection that commands share."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from typing import Annotated, Any

import typer
from psycopg import Connection

from catchment.store.connect import DSN_VARIABLE, connect, find_dsn
from catchment.store.migrate import check_version, migrate

Dsn = Annotated[
    str | None,
    typer.Option(
        "--dsn",
        envvar=DSN_VARIABLE,
        show_envvar=True,
        help="The database. Without one, Catchment starts its own server.",
    ),
]


@contextmanager
def open_database(dsn: str | None) -> Generator[Connection[Any]]:
    """Connect, and check that the schema fits. The embedded server's schema is kept up to date by itself."""
    with connect(find_dsn(dsn)) as conn:
        if dsn is None:
            migrate(conn)
        check_version(conn)
        yield conn

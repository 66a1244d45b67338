"""The connection that commands share."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from typing import Annotated, Any, Literal

import psycopg
import typer
from psycopg import Connection
from psycopg.sql import Identifier

from catchment.errors import RequestRefused
from catchment.store.connect import DSN_VARIABLE, connect_ours, find_dsn
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


Role = Literal["catchment_enqueue", "catchment_read", "catchment_worker"]

_MAY_RUN = """
select has_function_privilege(p.oid, 'execute')
  from pg_proc as p
 where p.pronamespace = (select n.oid from pg_namespace as n where n.nspname = 'worker')
   and p.proname = 'register_worker'
"""


@contextmanager
def open_database(dsn: str | None, role: Role) -> Generator[Connection[Any]]:
    """Connect, and check that the schema fits. The embedded server's schema is kept up to date by itself.

    ``role`` is the one whose members may do what is asked for; others are refused by the database, and get its name.
    """
    with connect_ours(find_dsn(dsn)) as conn:
        if dsn is None:
            migrate(conn)
        user = conn.info.user
        try:
            check_version(conn)
            yield conn
        except psycopg.errors.InsufficientPrivilege as error:
            raise _not_allowed(user, role, str(error.diag.message_primary)) from error


def check_may_run(conn: Connection[Any]) -> None:
    """Raise ``RequestRefused`` unless this user may run tasks."""
    if conn.execute(_MAY_RUN).fetchall() != [(True,)]:
        raise _not_allowed(conn.info.user, "catchment_worker", "running tasks is not granted to it")


def _not_allowed(user: str, role: Role, reason: str) -> RequestRefused:
    name = Identifier(user).as_string()
    return RequestRefused(
        f"user {user} may not do that: {reason}", hint=f"It needs a role of Catchment: grant {role} to {name}"
    )

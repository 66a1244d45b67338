"""The connection that commands share."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from typing import Any, Literal

import psycopg
from psycopg import Connection
from psycopg.sql import Identifier

from catchment.errors import RequestRefused, SchemaMismatch
from catchment.sql import ENGINE
from catchment.store.connect import connect_ours, find_dsn
from catchment.store.migrate import check_version

Role = Literal["catchment_enqueue", "catchment_read", "catchment_worker"]

_MAY_RUN = """
select has_function_privilege(p.oid, 'execute')
  from pg_proc as p
 where p.pronamespace = (select n.oid from pg_namespace as n where n.nspname = 'worker')
   and p.proname = 'register_worker'
"""


@contextmanager
def open_database(dsn: str | None, role: Role) -> Generator[Connection[Any]]:
    """Connect, and check that the schema fits.

    ``role`` is the role whose members may do this. Other users are refused by the database; the hint names the role.
    """
    with connect_ours(find_dsn(dsn)) as conn:
        try:
            check_version(conn)
            yield conn
        except (psycopg.errors.InsufficientPrivilege, SchemaMismatch) as error:
            denied = error.__cause__ if isinstance(error, SchemaMismatch) else error
            if not isinstance(denied, psycopg.errors.InsufficientPrivilege):
                raise
            raise _not_allowed(conn, role, str(denied.diag.message_primary)) from error


_IS_READ_ONLY = "select current_setting('default_transaction_read_only')::boolean and not pg_is_in_recovery()"


def check_may_run(conn: Connection[Any]) -> None:
    """Raise ``RequestRefused`` unless this user may run tasks. A read-only standby server is accepted: the worker waits
    until it becomes the primary."""
    if conn.execute(_IS_READ_ONLY).fetchall() == [(True,)]:
        raise RequestRefused(f"sessions of user {conn.info.user} are read-only", hint=_HINTS["25006"])
    if conn.execute(_MAY_RUN).fetchall() != [(True,)]:
        raise _not_allowed(conn, "catchment_worker", "running tasks is not granted to it")


# Hints for errors that come from a right or a setting of the role, the database or the server, by SQLSTATE.
_HINTS = {
    "25006": "Sessions of this user are read-only. Connect to the primary server; if it is that one, look for"
    " default_transaction_read_only: alter role … reset default_transaction_read_only, or alter database … reset it.",
    "42501": "It needs a role of Catchment: catchment_read to look, catchment_enqueue to enqueue, catchment_worker for"
    " all else. Let an administrator grant it one. In a database without roles, connect as the owner of schema worker.",
    "53100": "The disk of the server is full. Make room there; what was refused can then be tried again.",
    "57014": "If the statement_timeout of this user is short, allow more: alter role … set statement_timeout = '1min'."
    " The timeout of a command limits its handlers.",
}


def hint_for(error: psycopg.Error) -> str | None:
    """A hint for a database error that comes from its configuration."""
    return _HINTS.get(error.sqlstate or "")


def _not_allowed(conn: Connection[Any], role: Role, reason: str) -> RequestRefused:
    user = conn.info.user
    site = ENGINE.find_site(conn)
    if site.has_roles:
        hint = f"It needs a role of Catchment: grant {role} to {Identifier(user).as_string()}"
    else:
        hint = f"This database has no roles of Catchment: connect as {site.owner}, or run: catchment migrate --roles"
    return RequestRefused(f"user {user} may not do that: {reason}", hint=hint)

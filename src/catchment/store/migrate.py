"""Install and upgrade the schema, and tell whether it fits this version.

Each migration is one transaction under a session lock, so a broken one leaves nothing and can be run again.
Functions, views, triggers and grants are re-created as a whole whenever their text changed.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import LiteralString

import psycopg
from psycopg import Connection

from catchment.errors import SchemaMismatch
from catchment.sql import loader

# The oldest migration whose schema this code's functions can still work with after an upgrade by newer code.
COMPATIBLE_FROM = 1

_LOCK = "select pg_advisory_lock(hashtextextended('catchment.migrate', 0))"
_UNLOCK = "select pg_advisory_unlock(hashtextextended('catchment.migrate', 0))"

_FOUNDATION: LiteralString = """
do $$
begin
  if exists (select from pg_namespace as n join pg_roles as r on r.oid = n.nspowner
              where n.nspname = 'worker' and r.rolname <> 'catchment_owner') then
    raise exception using errcode = 'CM010', message = 'schema worker exists and is not owned by catchment_owner',
                          hint = 'Catchment needs a schema of that name for itself: use another database.';
  end if;
end;
$$;
create schema if not exists worker authorization catchment_owner;
set local role catchment_owner;
create table if not exists worker.migration (
  number      integer primary key,
  name        text not null,
  applied_at  timestamptz not null default clock_timestamp()
);
create table if not exists worker.version (
  is_one           boolean primary key default true check (is_one),
  fingerprint      text not null,
  compatible_from  integer not null
);
"""


@dataclass(frozen=True, slots=True)
class Upgrade:
    applied: tuple[str, ...]
    routines_changed: bool


def migrate(conn: Connection, *, on_step: Callable[[str], None] = lambda _: None) -> Upgrade:
    """Bring the schema up to date. Safe to run any number of times, and by several processes at once."""
    if not conn.autocommit:
        raise ValueError("migrate needs a connection in autocommit mode: each migration commits by itself")
    conn.execute(_LOCK)
    try:
        return _migrate(conn, on_step)
    except psycopg.errors.InsufficientPrivilege as error:
        raise SchemaMismatch(
            f"this user may not install Catchment: {error.diag.message_primary}",
            hint="Run 'catchment migrate' as a superuser, or as a user with CREATEROLE that owns the database.",
        ) from error
    finally:
        if not conn.closed:
            conn.execute(_UNLOCK)


def _migrate(conn: Connection, on_step: Callable[[str], None]) -> Upgrade:
    known = loader.migrations()
    with conn.transaction():
        conn.execute(loader.roles())
        conn.execute(_may_become_owner())
        conn.execute(_FOUNDATION)
        done = {row[0] for row in conn.execute("select number from worker.migration")}
    newest = max(done, default=0)
    if newest > known[-1].number:
        raise SchemaMismatch(
            f"the database has migration {newest}, this version of Catchment knows {known[-1].number}",
            hint="Upgrade the catchment package; a newer schema is never taken back.",
        )

    applied: list[str] = []
    for migration in known:
        if migration.number in done:
            continue
        on_step(migration.name)
        with conn.transaction():
            conn.execute("set local role catchment_owner")
            conn.execute(migration.text)
            conn.execute(
                "insert into worker.migration (number, name) values (%s, %s)",
                [migration.number, migration.name],
            )
        applied.append(migration.name)
    return Upgrade(tuple(applied), _recreate_routines(conn, on_step))


def _may_become_owner() -> LiteralString:
    """A user with CREATEROLE is not yet a member of the role it made."""
    return """
    do $$
    begin
      if not pg_has_role(current_user, 'catchment_owner', 'member') then
        execute format('grant catchment_owner to %I', current_user);
      end if;
      if not has_database_privilege('catchment_owner', current_database(), 'create') then
        execute format('grant create on database %I to catchment_owner', current_database());
      end if;
    end;
    $$
    """


def _recreate_routines(conn: Connection, on_step: Callable[[str], None]) -> bool:
    with conn.transaction():
        conn.execute("set local role catchment_owner")
        row = conn.execute("select fingerprint from worker.version").fetchone()
        if row is not None and row[0] == loader.fingerprint():
            return False
        on_step("functions, views and grants")
        # Bodies name functions that come later in the order of files.
        conn.execute("set local check_function_bodies = off")
        for text in loader.routines():
            conn.execute(text)
        conn.execute(
            "insert into worker.version (fingerprint, compatible_from) values (%s, %s)"
            " on conflict (is_one) do update"
            " set fingerprint = excluded.fingerprint, compatible_from = excluded.compatible_from",
            [loader.fingerprint(), COMPATIBLE_FROM],
        )
        return True


def check_version(conn: Connection) -> None:
    """Raise ``SchemaMismatch`` unless this code can work with the schema in the database."""
    known = loader.migrations()[-1].number
    try:
        row = conn.execute(
            "select (select max(number) from worker.migration), (select compatible_from from worker.version)"
        ).fetchone()
    except (psycopg.errors.UndefinedTable, psycopg.errors.InvalidSchemaName) as error:
        raise SchemaMismatch("the database has no Catchment schema", hint="Run: catchment migrate") from error
    if row is None or row[0] is None or row[1] is None:
        raise SchemaMismatch("the Catchment schema is half installed", hint="Run: catchment migrate")
    version, compatible_from = row
    if version < known:
        raise SchemaMismatch(
            f"the schema is at migration {version}, this version of Catchment needs {known}",
            hint="Run: catchment migrate",
        )
    if compatible_from > known:
        raise SchemaMismatch(
            f"the schema works with migration {compatible_from} and newer, this version of Catchment knows {known}",
            hint="Upgrade the catchment package on this machine.",
        )

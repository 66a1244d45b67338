"""Install and upgrade the schema, and tell whether it fits this version.

Each migration is one transaction under a session lock, so a broken one leaves nothing and can be run again.
Functions, views, triggers and grants are re-created as a whole whenever their text changed.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, LiteralString

import psycopg
from psycopg import Connection
from psycopg.sql import SQL, Composed, Identifier, Literal

from catchment.errors import SchemaMismatch
from catchment.sql import loader

_LOCK = "select pg_advisory_lock(hashtextextended('catchment.migrate', 0))"
_UNLOCK = "select pg_advisory_unlock(hashtextextended('catchment.migrate', 0))"

_FOUNDATION: LiteralString = """
do $$
begin
  if exists (select from pg_namespace as n join pg_roles as r on r.oid = n.nspowner
              where n.nspname = {name} and r.rolname <> 'catchment_owner') then
    raise exception using errcode = 'CM010', message = {taken},
                          hint = 'Catchment needs a schema of that name for itself: use another database.';
  end if;
end;
$$;
create schema if not exists {schema} authorization catchment_owner;
set local role catchment_owner;
create table if not exists {migration} (
  number      integer primary key,
  name        text not null,
  applied_at  timestamptz not null default clock_timestamp()
);
create table if not exists {version} (
  is_one           boolean primary key default true check (is_one),
  fingerprint      text not null,
  compatible_from  integer not null
);
"""


@dataclass(frozen=True, slots=True)
class Schema:
    """A schema of Catchment's own, and the folder its SQL is in.

    ``compatible_from`` is the oldest migration whose schema the functions of this code can still work with after an
    upgrade by newer code; it is kept in the table ``version_table``.
    """

    name: str
    folder: loader.Folder
    compatible_from: int
    version_table: str = "version"

    def text(self, template: LiteralString) -> Composed:
        """The template with the names of this schema filled in."""
        return SQL(template).format(
            name=Literal(self.name),
            taken=Literal(f"schema {self.name} exists and is not owned by catchment_owner"),
            schema=Identifier(self.name),
            migration=Identifier(self.name, "migration"),
            version=Identifier(self.name, self.version_table),
        )


ENGINE = Schema("worker", loader.ENGINE, compatible_from=1)


@dataclass(frozen=True, slots=True)
class Upgrade:
    applied: tuple[str, ...]
    routines_changed: bool


def migrate(conn: Connection[Any], *, on_step: Callable[[str], None] | None = None) -> Upgrade:
    """Bring the schema up to date. Safe to run any number of times, and by several processes at once.

    ``on_step`` is told what is being done. Returns which migrations were ``applied`` and whether ``routines_changed``.
    """
    on_step = on_step or (lambda _: None)
    if not conn.autocommit:
        raise ValueError("migrate needs a connection in autocommit mode: each migration commits by itself")
    conn.execute(_LOCK)
    try:
        with conn.transaction():
            conn.execute(loader.roles())
            conn.execute(_may_become_owner())
        applied = apply_migrations(conn, ENGINE, on_step)
        return Upgrade(applied, recreate_routines(conn, ENGINE, on_step))
    except psycopg.errors.InsufficientPrivilege as error:
        raise SchemaMismatch(
            f"this user may not install Catchment: {error.diag.message_primary}",
            hint="Run 'catchment migrate' as a superuser, or as a user with CREATEROLE that owns the database.",
        ) from error
    finally:
        if not conn.closed:
            conn.execute(_UNLOCK)


def apply_migrations(conn: Connection[Any], schema: Schema, on_step: Callable[[str], None]) -> tuple[str, ...]:
    """Make the schema if it is missing, and apply what it lacks, each migration in one transaction. Under a lock."""
    known = schema.folder.migrations()
    with conn.transaction():
        conn.execute(schema.text(_FOUNDATION))
        done = {row[0] for row in conn.execute(schema.text("select number from {migration}"))}
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
                schema.text("insert into {migration} (number, name) values (%s, %s)"),
                [migration.number, migration.name],
            )
        applied.append(migration.name)
    return tuple(applied)


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


def recreate_routines(conn: Connection[Any], schema: Schema, on_step: Callable[[str], None]) -> bool:
    """Create functions, views and grants anew if their text has changed; tells whether it had. Under a lock."""
    with conn.transaction():
        conn.execute("set local role catchment_owner")
        row = conn.execute(schema.text("select fingerprint from {version}")).fetchone()
        if row is not None and row[0] == schema.folder.fingerprint():
            return False
        on_step("functions, views and grants")
        # Bodies name functions that come later in the order of files.
        conn.execute("set local check_function_bodies = off")
        for text in schema.folder.routines():
            conn.execute(text)
        conn.execute(
            schema.text(
                "insert into {version} (fingerprint, compatible_from) values (%s, %s)"
                " on conflict (is_one) do update"
                " set fingerprint = excluded.fingerprint, compatible_from = excluded.compatible_from"
            ),
            [schema.folder.fingerprint(), schema.compatible_from],
        )
        return True


def check_version(conn: Connection[Any]) -> None:
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

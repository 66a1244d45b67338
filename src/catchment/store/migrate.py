"""Install and upgrade the schema, and check whether it is compatible with this version.

Each migration is one transaction under a session lock, so a broken one leaves nothing and can be run again.
Functions, views, triggers and grants are re-created as a whole whenever their text changed. An older version of the
package never overwrites what a newer one wrote.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, LiteralString

import psycopg
from psycopg import AsyncConnection, Connection
from psycopg.sql import SQL, Composed, Identifier, Literal

from catchment.errors import RequestRefused, SchemaMismatch
from catchment.model.check import shown
from catchment.model.release import VERSION, release_order
from catchment.sql import loader
from catchment.store.alone import alone

_LOCK = "catchment.migrate"

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
  compatible_from  integer not null,
  release          text not null
);
"""

_VERSION: LiteralString = """
select (select max(m.number) from {migration} as m), v.compatible_from, v.release
  from (select) as one
  left join {version} as v on true
"""


@dataclass(frozen=True, slots=True)
class Schema:
    """A schema of Catchment's own, and the folder its SQL is in.

    ``compatible_from`` is the oldest migration whose schema the functions of this code can still work with after an
    upgrade by newer code; it is kept in the table ``version_table``, with the ``release`` that wrote the functions.
    """

    name: str
    folder: loader.Folder
    compatible_from: int
    version_table: str = "version"
    release: str = VERSION

    @property
    def newest(self) -> int:
        """The number of the newest migration that this code knows."""
        return self.folder.migrations()[-1].number

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
    """What ``migrate`` did. ``newer`` names the newer version that wrote the schema, which was left alone."""

    applied: tuple[str, ...]
    routines_changed: bool
    newer: str | None = None


# Names in what is created must not resolve to objects that others have put into the search path.
_BEGIN = "set local role catchment_owner; set local search_path = pg_catalog, pg_temp"


def migrate(conn: Connection[Any], *, on_step: Callable[[str], None] | None = None) -> Upgrade:
    """Bring the schema up to date. Safe to run any number of times, and by several processes at once.

    ``on_step`` is called with the name of each step. Returns which migrations were ``applied`` and whether
    ``routines_changed``. A schema written by a newer version of Catchment is left as it is: ``newer`` names that
    version, and ``SchemaMismatch`` is raised if this one cannot work with it, or if another session holds the lock of
    installations for a minute.
    """
    if not isinstance(conn, Connection):  # pyright: ignore[reportUnnecessaryIsInstance] - callers are not all typed
        raise RequestRefused(
            f"conn is {shown(conn)}, expected a psycopg Connection", hint="Such as catchment.connect()."
        )
    if on_step is not None and not callable(on_step):  # pyright: ignore[reportUnnecessaryComparison] - as above
        raise RequestRefused(f"on_step is {shown(on_step)}, expected a function of the name of a step")
    on_step = on_step or (lambda _: None)
    if not conn.autocommit:
        raise RequestRefused(
            "conn is not in autocommit mode, expected one that is: each migration commits by itself",
            hint="Such as catchment.connect().",
        )
    try:
        with alone(conn, _LOCK, on_wait=on_step):
            return _migrate(conn, on_step)
    except psycopg.errors.InsufficientPrivilege as error:
        raise SchemaMismatch(
            f"this user may not install Catchment: {error.diag.message_primary}",
            hint="Run 'catchment migrate' as a superuser, or as a user with CREATEROLE that owns the database.",
        ) from error


def _migrate(conn: Connection[Any], on_step: Callable[[str], None]) -> Upgrade:
    with conn.transaction():
        conn.execute("set local search_path = pg_catalog, pg_temp")
        conn.execute(loader.roles())
        conn.execute(_may_become_owner())
    applied = apply_migrations(conn, ENGINE, on_step)
    changed = recreate_routines(conn, ENGINE, on_step)
    if changed:
        # Workers of an older version then check at once whether they are still compatible.
        conn.execute("select worker.notify('worker_tasks', '')")
    return Upgrade(applied, changed, newer_than(conn, ENGINE))


def newer_than(conn: Connection[Any], schema: Schema) -> str | None:
    """The version that wrote this schema, if it is newer than this code; ``SchemaMismatch`` if the two do not fit."""
    row = conn.execute(schema.text(_VERSION)).fetchone()
    number, compatible_from, release = row if row is not None else (None, None, None)
    if release is not None and release_order(release) > release_order(schema.release):
        newer = str(release)
    elif number is not None and number > schema.newest:
        newer = f"migration {number}"  # an upgrade that was broken off before it wrote the functions
    else:
        return None
    problem = _misfit(schema, number, compatible_from)
    if problem is not None:
        raise problem
    return newer


def apply_migrations(conn: Connection[Any], schema: Schema, on_step: Callable[[str], None]) -> tuple[str, ...]:
    """Make the schema if it is missing, and apply what it lacks, each migration in one transaction. Under a lock."""
    with conn.transaction():
        conn.execute(schema.text(_FOUNDATION))
        done = {row[0] for row in conn.execute(schema.text("select number from {migration}"))}
    if newer_than(conn, schema) is not None:
        return ()

    applied: list[str] = []
    for migration in schema.folder.migrations():
        if migration.number in done:
            continue
        on_step(migration.name)
        with conn.transaction():
            conn.execute(_BEGIN)
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
    """Create functions, views and grants again if their text has changed; returns whether it had. Under a lock.

    Those that a newer version wrote stay.
    """
    if newer_than(conn, schema) is not None:
        return False
    fingerprint = schema.folder.fingerprint()
    with conn.transaction():
        conn.execute(_BEGIN)
        row = conn.execute(schema.text("select fingerprint, release from {version}")).fetchone()
        if row == (fingerprint, schema.release):
            return False
        changed = row is None or row[0] != fingerprint
        if changed:
            on_step("functions, views and grants")
            # Bodies name functions that come later in the order of files.
            conn.execute("set local check_function_bodies = off")
            for text in schema.folder.routines():
                conn.execute(text)
        conn.execute(
            schema.text(
                "insert into {version} (fingerprint, compatible_from, release) values (%s, %s, %s)"
                " on conflict (is_one) do update set fingerprint = excluded.fingerprint,"
                " compatible_from = excluded.compatible_from, release = excluded.release"
            ),
            [fingerprint, schema.compatible_from, schema.release],
        )
        return changed


def check_version(conn: Connection[Any]) -> None:
    """Raise ``SchemaMismatch`` unless this code can work with the schema in the database."""
    try:
        row = conn.execute(ENGINE.text(_VERSION)).fetchone()
    except (psycopg.errors.UndefinedTable, psycopg.errors.InvalidSchemaName) as error:
        raise SchemaMismatch("the database has no Catchment schema", hint="Run: catchment migrate") from error
    problem = _misfit(ENGINE, *(row or (None, None))[:2])
    if problem is not None:
        raise problem


async def find_misfit(conn: AsyncConnection[Any]) -> SchemaMismatch | None:
    """Why this code can no longer work with the schema in the database; ``None`` if it can."""
    row = await (await conn.execute(ENGINE.text(_VERSION))).fetchone()
    return _misfit(ENGINE, *(row or (None, None))[:2])


def _misfit(schema: Schema, number: int | None, compatible_from: int | None) -> SchemaMismatch | None:
    if number is None or compatible_from is None:
        return SchemaMismatch(f"schema {schema.name} is half installed", hint="Run: catchment migrate")
    if number < schema.newest:
        return SchemaMismatch(
            f"schema {schema.name} is at migration {number}, this version of Catchment needs {schema.newest}",
            hint="Run: catchment migrate",
        )
    if compatible_from > schema.newest:
        return SchemaMismatch(
            f"schema {schema.name} works with migration {compatible_from} and newer, "
            f"this version of Catchment knows {schema.newest}",
            hint="Upgrade the catchment package on this machine.",
        )
    return None

"""An installation or an upgrade as one script, for those who run SQL themselves: an administrator, or Alembic."""

from __future__ import annotations

from collections.abc import Iterator
from typing import LiteralString

from psycopg.sql import Composed

from catchment.schema import files, steps
from catchment.schema.definition import Definition
from catchment.schema.roles import role_statement
from catchment.schema.site import Site
from catchment.schema.statements import PATH

# The script leaves the role, the search path and the rest of the session as it found them.
_BEGIN: LiteralString = """
do $catchment$
begin
  perform set_config('catchment.script_role', current_setting('role'), true),
          set_config('catchment.script_path', current_setting('search_path'), true),
          set_config('catchment.script_bodies', current_setting('check_function_bodies'), true);
end;
$catchment$;

do $catchment$
begin
  if coalesce(current_setting('catchment.script_role', true), '') = '' then
    raise exception using
      message = 'this script runs in one transaction alone',
      hint = 'Run it as: psql --single-transaction --set ON_ERROR_STOP=1 --file FILE';
  end if;
  perform pg_advisory_xact_lock(hashtextextended({lock}, 0));
end;
$catchment$"""

_END: LiteralString = """
do $catchment$
begin
  perform set_config('role', current_setting('catchment.script_role'), true),
          set_config('search_path', current_setting('catchment.script_path'), true),
          set_config('check_function_bodies', current_setting('catchment.script_bodies'), true);
end;
$catchment$"""

_FROM: LiteralString = """
do $catchment$
declare
  v_last integer := (select coalesce(max(m.number), 0) from {migration} as m);
begin
  if v_last <> {since} then
    raise exception using
      message = format('the schema %s has migration %s, this script continues from %s', {name}, v_last, {since}),
      hint = 'Make the script for this database.';
  end if;
end;
$catchment$"""


def make_script(schema: Definition, site: Site, since: int, *, is_current: bool) -> str:
    """The script that brings the schema from this migration to the newest, or a comment if it ``is_current``."""
    title = f"-- Schema {schema.name} of {schema.title} {schema.release}"
    if is_current:
        return f"{title}: it is up to date.\n"
    parts = [f"{title}, from migration {since} to {schema.newest}.", *map(_ended, _parts(schema, site, since))]
    return "\n\n".join(parts) + "\n"


def _parts(schema: Definition, site: Site, since: int) -> Iterator[str]:
    yield _string(schema.text(_BEGIN, lock=f"{schema.name}.migrate"))
    yield PATH
    if site.makes_roles:
        yield _string(role_statement(schema, site))
    yield from map(_string, steps.foundation(schema, site))
    yield _string(schema.text(_FROM, since=since))
    for migration in files.migrations(schema.package):
        if migration.number > since:
            yield f"-- {migration.name}\n{migration.text}"
            yield _string(steps.applied(schema, migration))
    for part in steps.routines(schema, site):
        if isinstance(part, tuple):
            yield from (f"-- {file.name}\n{file.text}" for file in part)
        else:
            yield _string(part)
    yield _string(steps.written(schema))
    yield _END


def _string(statement: Composed) -> str:
    return statement.as_string()


def _ended(part: str) -> str:
    part = part.strip()
    return part if part.endswith(";") else f"{part}\n;" if "--" in part.splitlines()[-1] else f"{part};"

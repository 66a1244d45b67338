"""Is the lake set up as everything else takes for granted? Cheap enough for every start; needs no DuckDB."""

from __future__ import annotations

from typing import Any

from psycopg import Connection

from catchment.store.errors import translated

GUARD = "catchment_guard"
FORMAT = "1.0"
"""The format of DuckLake's catalog that this was tried with."""

_HAS_LAKE = "select to_regclass('lake.lake') is not null"
_HAS_CATALOG = "select to_regclass('lake.ducklake_metadata') is not null"
_STATE = """
select l.metadata_schema,
       (select t.tgenabled::text
          from pg_trigger as t
          join pg_class as c on c.oid = t.tgrelid
          join pg_namespace as n on n.oid = c.relnamespace
         where n.nspname = l.metadata_schema and c.relname = 'ducklake_snapshot_changes' and t.tgname = %s),
       (select m.value from lake.ducklake_metadata as m where m.key = 'version'),
       (select m.value from lake.ducklake_metadata as m where m.key = 'data_inlining_row_limit' and m.scope is null),
       (select count(*) from lake.ducklake_metadata as m
         where m.key = 'data_inlining_row_limit' and m.scope is not null and m.value <> '0')
  from lake.lake as l
"""


def has_lake(conn: Connection[Any]) -> bool:
    """Has this database the control schema of a lake?"""
    with translated():
        ((exists,),) = conn.execute(_HAS_LAKE).fetchall()
    return exists


def verify(conn: Connection[Any]) -> list[str]:
    """What is wrong with the lake of this database, a sentence each. Nothing: all is well."""
    with translated():
        has_catalog = conn.execute(_HAS_CATALOG).fetchone() == (True,)
        row = conn.execute(_STATE, [GUARD]).fetchone() if has_catalog else None
    if row is None:
        return ["the lake is not completely installed"]
    schema, guard, version, inlining, exceptions = row
    problems: list[str] = []
    if guard is None:
        problems.append(
            f"the trigger {GUARD} on {schema}.ducklake_snapshot_changes is missing: nothing can be published"
        )
    elif guard not in ("O", "A"):
        problems.append(
            f"the trigger {GUARD} on {schema}.ducklake_snapshot_changes is disabled: nothing can be published"
        )
    if version != FORMAT:
        problems.append(f"the catalog has format {version}, and {FORMAT} is needed")
    if inlining != "0":
        problems.append(f"data_inlining_row_limit of the lake is {inlining or 'not set'}, and 0 is needed")
    if exceptions:
        problems.append(f"{exceptions} schemas or tables of the lake have their own data_inlining_row_limit")
    return problems

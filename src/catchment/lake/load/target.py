"""The table of a load: what it has, whether files fit it, and the folder that the load writes into."""

from __future__ import annotations

import re
import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from psycopg import Connection

from catchment.errors import RequestRefused, shown
from catchment.lake.control.control import Control
from catchment.lake.duck import catalog
from catchment.lake.duck.duck import Duck
from catchment.lake.load.fitting import Files, check_names, check_types, check_values, common_columns
from catchment.lake.load.reading import columns_of, shortened
from catchment.lake.load.safe import safe_columns
from catchment.lake.load.sources import NOTHING, Options, Source
from catchment.lake.names import DT_SCHEMA, HIDDEN, quoted
from catchment.lake.types import Column, SourceTable, TableRef
from catchment.store.errors import translated
from catchment.store.fetch import fetch_value

_BY_ROWS = re.compile(r"HUGEINT|VARIANT|GEOMETRY")
"""Types whose Parquet files DuckLake does not take as they are."""
_LONGEST_NAME = 255
_PLAIN_NAME = re.compile(r"[A-Za-z0-9_]+")

_HAS_SCHEMA = """
select exists (select from lake.ducklake_schema as s where lower(s.schema_name) = lower(%s) and s.end_snapshot is null)
"""
_SCHEMA_DIRECTORY = """
select rtrim(case when s.path_is_relative then l.data_path || s.path else s.path end, '/') || '/'
  from lake.ducklake_schema as s
 cross join lake.lake as l
 where lower(s.schema_name) = lower(%s)
   and s.end_snapshot is null
"""
_REQUIRED = """
select c.column_name
  from lake.ducklake_column as c
 where c.table_id = %(table_id)s
   and c.parent_column is null
   and not c.nulls_allowed
   and c.begin_snapshot <= %(at)s
   and coalesce(c.end_snapshot > %(at)s, true)
"""
_PARTITIONED = """
select exists (select
                 from lake.ducklake_partition_info as i
                 join lake.ducklake_partition_column as p on p.partition_id = i.partition_id and p.table_id = i.table_id
                where i.table_id = %(table_id)s
                  and i.begin_snapshot <= %(at)s
                  and coalesce(i.end_snapshot > %(at)s, true))
"""


@dataclass(frozen=True, slots=True)
class Target:
    """Where the rows go. ``table`` is None for one that is made by the load; ``required`` columns take no NULL.
    ``is_by_rows``: DuckLake has to write the files itself."""

    ref: TableRef
    table: SourceTable | None
    columns: tuple[Column, ...]
    required: frozenset[str]
    is_by_rows: bool


def fit(
    duck: Duck, control: Control, ref: TableRef, sources: Sequence[Source], options: Options
) -> tuple[Target, Files]:
    """Check that the files fit each other and the table. Nothing is written. Raises ``RequestRefused``."""
    with control.connection() as conn:
        head = catalog.head(conn)
        if ref.schema.lower() == DT_SCHEMA or catalog.find_dynamic(conn, ref) is not None:
            raise RequestRefused(
                f"{ref} is a dynamic table, and its rows come from its query",
                hint="Load into a table that it reads: 'catchment table describe' shows them.",
            )
        if catalog.is_view(conn, ref, head):
            raise RequestRefused(f"{ref} is a view", hint="Load into a table.")
        table = catalog.find_table(conn, ref, head)
        required = frozenset[str]() if table is None else _required_columns(conn, table.table_id, head)
        is_partitioned = table is not None and _is_partitioned(conn, table.table_id, head)
        if not _has_schema(conn, ref.schema):
            raise RequestRefused(
                f"the lake has no schema {ref.schema}",
                hint=f"Make it: lake.query('CREATE SCHEMA {quoted(ref.schema)}')",
            )
        if table is None and len(ref.name.encode()) > _LONGEST_NAME:
            raise RequestRefused(
                f"the name {shown(ref.name)} has {len(ref.name.encode())} bytes, and a folder takes {_LONGEST_NAME}",
                hint=f"{NOTHING} Choose a shorter one.",
            )
    files = [(source, safe_columns(duck, source, columns_of(duck, source, options), options)) for source in sources]
    names = [column.name for column in files[0][1]] if table is None else list(table.columns)
    of = shortened(sources[0].path) if table is None else str(table.ref)
    check_names(files, names, of=of, is_table=table is not None)
    types = check_types(duck, options.types or {}, names)
    if table is None:
        for name in names:
            if name.startswith(HIDDEN):
                raise RequestRefused(f"the column {name} starts with two underscores", hint="Such names are reserved.")
        columns = common_columns(duck, files, types, options)
    elif types:
        raise RequestRefused(
            f"{table.ref} already exists with its own column types", hint="--type is for a table that the load makes."
        )
    else:
        columns = [Column(name, column.type) for name, column in table.columns.items()]
    for source, given in files:
        check_values(duck, source, given, columns, options)
    is_by_rows = is_partitioned or any(_BY_ROWS.search(column.type) for column in columns)
    return Target(ref if table is None else table.ref, table, tuple(columns), required, is_by_rows), files


def folder_of(control: Control, target: Target) -> str:
    """Where the load writes: below the folder of the table, so that DuckLake names the files relative to that."""
    token = f"load-{secrets.token_hex(8)}/"
    with control.connection() as conn:
        if target.table is not None:
            return catalog.table_directory(conn, target.table.table_id) + token
        schema = _schema_directory(conn, target.ref.schema)
    # DuckLake chooses the folder of a table with another name when it makes the table.
    name = f"{target.ref.name}/" if _PLAIN_NAME.fullmatch(target.ref.name) else ""
    return f"{schema}{name}{token}"


def _has_schema(conn: Connection[Any], schema: str) -> bool:
    """Has the lake a schema of this name?"""
    return fetch_value(conn, _HAS_SCHEMA, schema)


def _schema_directory(conn: Connection[Any], schema: str) -> str:
    """Where the folders of the tables of a schema are, with a slash at the end."""
    return fetch_value(conn, _SCHEMA_DIRECTORY, schema)


def _required_columns(conn: Connection[Any], table_id: int, at: int) -> frozenset[str]:
    """The columns of a table that take no NULL."""
    with translated():
        rows = conn.execute(_REQUIRED, {"table_id": table_id, "at": at}).fetchall()
    return frozenset(row[0] for row in rows)


def _is_partitioned(conn: Connection[Any], table_id: int, at: int) -> bool:
    """Is a table partitioned, in whatever way?"""
    with translated():
        ((is_so,),) = conn.execute(_PARTITIONED, {"table_id": table_id, "at": at}).fetchall()
    return is_so

"""What definitions read besides tables: the texts of views, and the columns that a table has read since it was made."""

from __future__ import annotations

import re
from typing import Any

from psycopg import Connection

from catchment.lake.types import TableRef, ViewText
from catchment.store.errors import translated

Conn = Connection[Any]

_QUOTED = re.compile(r'"(?:[^"]|"")*"')

_VIEW_TEXT = """
select s.schema_name, v.view_name, v.sql, v.column_aliases
  from lake.ducklake_view as v
  join lake.ducklake_schema as s on s.schema_id = v.schema_id
 where lower(s.schema_name) = lower(%(schema)s)
   and lower(v.view_name) = lower(%(name)s)
   and v.begin_snapshot <= %(at)s
   and coalesce(v.end_snapshot > %(at)s, true)
"""
_READ_COLUMNS = """
select s.source_dt_id, s.schema_name, s.table_name, s.used_columns
  from lake.source as s
 where s.dt_id = %s
"""


def find_view(conn: Conn, ref: TableRef, at: int) -> ViewText | None:
    """The view of this name at a snapshot, as it was written; or None."""
    with translated():
        row = conn.execute(_VIEW_TEXT, {"schema": ref.schema, "name": ref.name, "at": at}).fetchone()
    if row is None:
        return None
    schema, name, sql, aliases = row
    columns = [name[1:-1].replace('""', '"') for name in _QUOTED.findall(aliases or "")]
    return ViewText(TableRef(schema, name), sql, tuple(columns))


def read_columns(conn: Conn, dt_id: int) -> dict[int | TableRef, frozenset[str]]:
    """The columns that a dynamic table reads of each source since it was made, in lower case: by the id of a dynamic
    table, by the name, in lower case, of any other."""
    with translated():
        rows = conn.execute(_READ_COLUMNS, [dt_id]).fetchall()
    return {
        source_dt_id or TableRef(schema.lower(), name.lower()): frozenset(column.lower() for column in used)
        for source_dt_id, schema, name, used in rows
    }

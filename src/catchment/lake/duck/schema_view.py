"""What the planner asks about the lake, answered from its catalog as of one snapshot.

A definition is analysed when it is made, at the newest snapshot, and again before every refresh, at the snapshot of the
round: so a table that came or went since is seen as the round has to see it.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

import duckdb
from psycopg import Connection

from catchment.lake.duck import catalog
from catchment.lake.duck.duck import Duck
from catchment.lake.duck.kinds import function_kinds, macros_of
from catchment.lake.names import ALIAS, DT_SCHEMA, HIDDEN, physical_name
from catchment.lake.query.calls import Macro
from catchment.lake.query.parse import refused_query
from catchment.lake.reasons import Reason, refused
from catchment.lake.types import Column, SourceTable, TableRef

MAIN = "main"


class LakeView:
    """A ``SchemaView`` of the lake. ``versions`` says at which commit a dynamic table is read, by its id; the others,
    and all tables, are seen ``at`` a snapshot."""

    def __init__(
        self, duck: Duck, conn: Connection[Any], at: int, *, versions: Mapping[int, int] | None = None
    ) -> None:
        self._duck = duck
        self._conn = conn
        self._at = at
        self._versions = versions or {}

    def table(self, parts: Sequence[str]) -> SourceTable | None:
        """The table of this name, without hidden columns; the content of a dynamic table under the table's own name."""
        ref = TableRef(parts[-2] if len(parts) > 1 else MAIN, parts[-1])
        dynamic = catalog.find_dynamic(self._conn, ref)
        if dynamic is not None:
            dt_id, generation = dynamic
            content = TableRef(DT_SCHEMA, physical_name(dt_id, generation))
            return self._find(content, self._versions.get(dt_id, self._at))
        source = self._find(ref, self._at)
        if source is None and catalog.is_view(self._conn, ref, self._at):
            raise refused(Reason.VIEW_SOURCE, f"{ref} is a view")
        return source

    def _find(self, ref: TableRef, at: int) -> SourceTable | None:
        source = catalog.find_table(self._conn, ref, at)
        if source is None or source.dt_id is None:
            return source
        visible = {name: column for name, column in source.columns.items() if not name.startswith(HIDDEN)}
        return SourceTable(source.table_id, source.ref, visible, source.rows, source.dt_id)

    def describe(self, sql: str) -> list[Column]:
        """Names and types of a query's result."""
        try:
            return self._duck.describe(sql)
        except duckdb.Error as error:
            raise refused_query(str(error)) from error

    def syntax(self, sql: str) -> str:
        """DuckDB's own syntax tree of a text, as JSON."""
        return self._duck.value("SELECT json_serialize_sql(?)", [sql])

    def unparse(self, serialised: str) -> str:
        """The text of such a tree."""
        return self._duck.value("SELECT json_deserialize_sql(?::JSON)", [serialised])

    def stability(self, functions: Collection[str]) -> Mapping[str, str]:
        """The kind of each function that exists."""
        return function_kinds(functions, self._duck.rows)

    def macros(self) -> Sequence[Macro]:
        """The macros of the lake, and DuckDB's own."""
        return macros_of(ALIAS, self._duck.rows)

"""What the planner asks about the lake, answered from its catalog as of one snapshot.

A definition is analysed when it is made, at the newest snapshot, and again before every refresh, at the snapshot of the
round: so a table that came or went since is seen as the round has to see it.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any

import duckdb
from psycopg import Connection

from catchment.lake.duck import catalog, definitions
from catchment.lake.duck.duck import Duck
from catchment.lake.duck.kinds import function_kinds, macros_of
from catchment.lake.names import ALIAS, DT_SCHEMA, HIDDEN, ROWID, physical_name
from catchment.lake.query.calls import Macro
from catchment.lake.query.parse import refused_query
from catchment.lake.reasons import Reason, refused
from catchment.lake.types import Column, SourceTable, TableRef, ViewText

MAIN = "main"


class LakeView:
    """A ``SchemaView`` of the lake. ``contents`` says where a dynamic table is read, by its id: which content, and at
    which commit. The others, and all tables, are seen ``at`` a snapshot.

    ``made``: the definition is that of this dynamic table, which exists. Of each source it sees what it has read since
    it was made, so that ``*`` keeps meaning the same when a column is added.

    ``planned``: tables that do not exist yet, and that hide those of their names.
    """

    def __init__(
        self,
        duck: Duck,
        conn: Connection[Any],
        at: int,
        *,
        contents: Mapping[int, tuple[TableRef, int]] | None = None,
        made: int | None = None,
        planned: Sequence[SourceTable] = (),
    ) -> None:
        self._duck = duck
        self._conn = conn
        self._at = at
        self._contents = contents or {}
        self._planned = {_folded(table.ref): table for table in planned}
        self._fixed = definitions.read_columns(conn, made) if made is not None else {}

    def table(self, parts: Sequence[str]) -> SourceTable | None:
        """The table of this name, without hidden columns; the content of a dynamic table under the table's own name."""
        ref = _ref(parts)
        if _folded(ref) in self._planned:
            return self._planned[_folded(ref)]
        dynamic = catalog.find_dynamic(self._conn, ref)
        if dynamic is not None:
            dt_id, generation = dynamic
            newest = TableRef(DT_SCHEMA, physical_name(dt_id, generation)), self._at
            return self._find(*self._contents.get(dt_id, newest), dt_id)
        source = self._find(ref, self._at)
        if source is None and catalog.is_view(self._conn, ref, self._at):
            raise refused(Reason.VIEW_SOURCE, f"{ref} is a view")
        return source

    def view(self, parts: Sequence[str]) -> ViewText | None:
        """The view of this name, unless it is that of a dynamic table."""
        ref = _ref(parts)
        if _folded(ref) in self._planned:
            return None
        view = definitions.find_view(self._conn, ref, self._at)
        return view if view is not None and catalog.find_dynamic(self._conn, ref) is None else None

    def _find(self, ref: TableRef, at: int, dt_id: int | None = None) -> SourceTable | None:
        source = catalog.find_table(self._conn, ref, at)
        if source is None:
            return None
        dt_id = dt_id or source.dt_id
        fixed = self._fixed.get(dt_id or _folded(ref))
        columns = {name: column for name, column in source.columns.items() if fixed is None or name.lower() in fixed}
        if dt_id is not None:
            columns = {name: column for name, column in columns.items() if not name.startswith(HIDDEN)}
        hides_rowid = any(name.lower() == ROWID for name in source.columns)
        return replace(source, columns=columns, dt_id=dt_id, hides_rowid=hides_rowid)

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


def _ref(parts: Sequence[str]) -> TableRef:
    return TableRef(parts[-2] if len(parts) > 1 else MAIN, parts[-1])


def _folded(ref: TableRef) -> TableRef:
    return TableRef(ref.schema.lower(), ref.name.lower())

"""Questions of the planner about the lake and their answers, as JSON: so that the same plan is made without a catalog.

``Recording`` asks a ``SchemaView`` and keeps the answers, ``Recorded`` gives them again. A refusal is an answer too.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

from catchment.errors import LakeError, TableRefused
from catchment.lake.query.calls import Macro
from catchment.lake.query.resolve import SchemaView
from catchment.lake.types import Column, ColumnAt, SourceTable, TableRef, ViewText

Answers = dict[str, Any]


class Recording:
    """A ``SchemaView`` that notes in ``answers`` what another one says."""

    def __init__(self, schema: SchemaView) -> None:
        self._schema = schema
        self.answers: Answers = {}

    def table(self, parts: Sequence[str]) -> SourceTable | None:
        return self._note("table", list(parts), lambda: self._schema.table(parts), _table_json)

    def view(self, parts: Sequence[str]) -> ViewText | None:
        return self._note("view", list(parts), lambda: self._schema.view(parts), _view_json)

    def describe(self, sql: str) -> list[Column]:
        def columns(answer: list[Column]) -> Any:
            return [[column.name, column.type] for column in answer]

        return self._note("describe", sql, lambda: self._schema.describe(sql), columns)

    def syntax(self, sql: str) -> str:
        return self._note("syntax", sql, lambda: self._schema.syntax(sql), str)

    def unparse(self, serialised: str) -> str:
        return self._note("unparse", serialised, lambda: self._schema.unparse(serialised), str)

    def stability(self, functions: Collection[str]) -> Mapping[str, str]:
        return self._note("stability", sorted(functions), lambda: self._schema.stability(functions), dict)

    def macros(self) -> Sequence[Macro]:
        """Only asked when a table is made, which is done where the catalog is."""
        return self._schema.macros()

    def _note(self, name: str, given: Any, ask: Callable[[], Any], as_json: Callable[[Any], Any]) -> Any:
        key = _key(name, given)
        try:
            answer = ask()
        except TableRefused as error:
            self.answers[key] = {"refused": [str(error), error.code, error.hint]}
            raise
        self.answers[key] = {"said": None if answer is None else as_json(answer)}
        return answer


class Recorded:
    """A ``SchemaView`` of answers that were noted elsewhere."""

    def __init__(self, answers: Mapping[str, Any]) -> None:
        self._answers = answers

    def table(self, parts: Sequence[str]) -> SourceTable | None:
        said = self._answer("table", list(parts))
        return None if said is None else _read_table(said)

    def view(self, parts: Sequence[str]) -> ViewText | None:
        said = self._answer("view", list(parts))
        return None if said is None else ViewText(TableRef(*said["ref"]), said["sql"], tuple(said["columns"]))

    def describe(self, sql: str) -> list[Column]:
        return [Column(name, kind) for name, kind in self._answer("describe", sql)]

    def syntax(self, sql: str) -> str:
        return self._answer("syntax", sql)

    def unparse(self, serialised: str) -> str:
        return self._answer("unparse", serialised)

    def stability(self, functions: Collection[str]) -> Mapping[str, str]:
        return self._answer("stability", sorted(functions))

    def macros(self) -> Sequence[Macro]:
        raise _unknown("macros")

    def _answer(self, name: str, given: Any) -> Any:
        answer = self._answers.get(_key(name, given))
        if answer is None:
            raise _unknown(name)
        if "refused" in answer:
            message, code, hint = answer["refused"]
            raise TableRefused(message, code=code, hint=hint)
        return answer["said"]


def _key(name: str, given: Any) -> str:
    return json.dumps([name, given])


def _unknown(name: str) -> LakeError:
    return LakeError(
        f"the plan of the worker did not ask for {name}, and this one does",
        hint="Install the same version of Catchment on the nodes of the cluster and on its workers.",
    )


def _table_json(table: SourceTable) -> dict[str, Any]:
    return {
        "table_id": table.table_id,
        "ref": [table.ref.schema, table.ref.name],
        "columns": [[name, column.column_id, column.type] for name, column in table.columns.items()],
        "rows": table.rows,
        "dt_id": table.dt_id,
        "partitioned_by": list(table.partitioned_by),
        "hides_rowid": table.hides_rowid,
    }


def _read_table(said: Mapping[str, Any]) -> SourceTable:
    return SourceTable(
        table_id=said["table_id"],
        ref=TableRef(*said["ref"]),
        columns={name: ColumnAt(column_id, kind) for name, column_id, kind in said["columns"]},
        rows=said["rows"],
        dt_id=said["dt_id"],
        partitioned_by=tuple(said["partitioned_by"]),
        hides_rowid=said["hides_rowid"],
    )


def _view_json(view: ViewText) -> dict[str, Any]:
    return {"ref": [view.ref.schema, view.ref.name], "sql": view.sql, "columns": list(view.columns)}

"""*Preview*: the first rows of a dynamic table, read by a separate process on request."""

from __future__ import annotations

import json
from typing import Any, cast

from pydantic import Field

from catchment.dashboard.database import Reader
from catchment.dashboard.errors import Problem
from catchment.dashboard.pages.table import Column, TableId, find_table
from catchment.dashboard.previews import ROWS
from catchment.dashboard.screen import Answer, Query, Screen
from catchment.dashboard.values import Shown
from catchment.extras import LAKE

NUMBERS = ("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT", "UTINYINT", "USMALLINT", "UINTEGER", "UBIGINT")
# Shown for a column that the hook omits from some rows.
OMITTED = "(not shown)"


class PreviewQuery(Query):
    id: TableId


class Cell(Answer):
    """A value as DuckDB writes it, with every digit. ``text`` is null for NULL."""

    text: str | None
    length: int | None = Field(default=None, description="How long the text is, if it was cut.")


class PreviewColumn(Column):
    is_number: bool


class PreviewAnswer(Answer):
    id: int
    name: str
    most: int
    columns: list[PreviewColumn]
    rows: list[list[Cell]]
    reason: str | None = Field(description="Why no rows are shown.")


async def read(reader: Reader, query: PreviewQuery) -> PreviewAnswer:
    row = await find_table(reader, query.id)
    name: str = row["name"]
    if reader.shown.hides_values:
        reason = "This dashboard shows no values."
        return PreviewAnswer(id=query.id, name=name, most=ROWS, columns=[], rows=[], reason=reason)
    if not LAKE.is_installed:
        raise Problem(
            409, "rows are read by DuckDB, which is not installed beside the dashboard", "pip install 'catchment[lake]'"
        )
    read_answer = await reader.preview(query.id)
    columns = [
        PreviewColumn(name=column, type=kind, is_number=kind.startswith(("DECIMAL", *NUMBERS, "DOUBLE", "FLOAT")))
        for column, kind in read_answer["columns"]
    ]
    rows = [[Cell(**cell) for cell in cells] for cells in read_answer["rows"]]
    return PreviewAnswer(id=query.id, name=name, most=ROWS, **redacted(reader.shown, name, columns, rows))


def redacted(shown: Shown, name: str, columns: list[PreviewColumn], rows: list[list[Cell]]) -> dict[str, Any]:
    """Columns and rows as the hook wants them: it gets each row as a mapping from columns to texts, as the part ``row``
    of the table. A column that it omits is not shown; if it fails, no row is."""
    if shown.redact is None or not rows:
        return {"columns": columns, "rows": rows, "reason": None}
    mappings: list[dict[str, Any]] = []
    for row in rows:
        given = {column.name: cell.text for column, cell in zip(columns, row, strict=True)}
        text, reason = shown.text_of(name, "row", json.dumps(given))
        if text is None:
            return {"columns": columns, "rows": [], "reason": reason}
        left: Any = json.loads(text)
        if not isinstance(left, dict):
            reason = "The redact hook did not return a mapping of columns."
            return {"columns": columns, "rows": [], "reason": reason}
        mappings.append(cast("dict[str, Any]", left))
    places = [n for n, column in enumerate(columns) if any(column.name in left for left in mappings)]
    kept = [[_kept(row[n], left, columns[n].name) for n in places] for row, left in zip(rows, mappings, strict=True)]
    return {"columns": [columns[n] for n in places], "rows": kept, "reason": None}


def _kept(cell: Cell, left: dict[str, Any], name: str) -> Cell:
    value = left.get(name, OMITTED)
    if value == cell.text:
        return cell
    return Cell(text=value if value is None or isinstance(value, str) else json.dumps(value, ensure_ascii=False))


SCREEN = Screen(
    name="table.preview",
    path="/tables/{id}/preview",
    summary="The first 100 rows of a dynamic table, as text.",
    query=PreviewQuery,
    answer=PreviewAnswer,
    read=read,
    title=lambda answer: f"{answer.name} · first rows",
    template="table_preview.html",
    section="tables",
)

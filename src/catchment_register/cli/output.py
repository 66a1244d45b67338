"""What the verbs print: a table for people, JSON for programs."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import date
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from catchment_register.dates import OPEN_END

console = Console(highlight=False)
errors = Console(stderr=True, highlight=False)

Json = Annotated[bool, typer.Option("--json", help="Print JSON instead of text.")]


def print_json(value: Any) -> None:
    """One JSON document on standard output."""
    print(json.dumps(value, default=_plain, ensure_ascii=False, indent=2))


def print_rows(rows: Sequence[dict[str, Any]], columns: Sequence[str], *, as_json: bool, empty: str) -> None:
    """Rows as a table of the given columns, or all of them as JSON."""
    if as_json:
        print_json(rows)
        return
    if not rows:
        console.print(empty)
        return
    table = Table(box=None, pad_edge=False, header_style="bold")
    for column in columns:
        table.add_column(column.replace("_", " "), justify="right" if _is_number(rows[0][column]) else "left")
    for row in rows:
        table.add_row(*(_cell(row[column]) for column in columns))
    console.print(table)


def _cell(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else ""
    if isinstance(value, date):
        return _day(value)
    return "" if value is None else escape(str(value))


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _plain(value: Any) -> Any:
    return _day(value) if isinstance(value, date) else str(value)


def _day(value: date) -> str:
    return "infinity" if value == OPEN_END else value.isoformat()

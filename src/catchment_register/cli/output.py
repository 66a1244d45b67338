"""What the verbs print: a table for people, JSON for programs."""

from __future__ import annotations

import json
import sys
import textwrap
from collections.abc import Sequence
from datetime import date
from decimal import Decimal
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from catchment_register.dates import OPEN_END

console = Console(highlight=False)
errors = Console(stderr=True, highlight=False)

# From this many columns of the terminal on, tables have what they can do without.
WIDE = 110

# What integer columns take, and limits of rows.
LARGEST_INTEGER = 2**31 - 1

Json = Annotated[bool, typer.Option("--json", help="Print JSON instead of text.")]


def print_json(value: Any) -> None:
    """One JSON document on standard output; in a terminal or a pipe that is not UTF-8, with escapes."""
    is_utf = (sys.stdout.encoding or "").lower().startswith("utf")
    print(json.dumps(value, default=_plain, ensure_ascii=not is_utf, indent=2))


def print_rows(
    rows: Sequence[dict[str, Any]], columns: Sequence[str], *, as_json: bool, empty: str, extra: Sequence[str] = ()
) -> None:
    """Rows as a table of the given columns, and of the extra ones if there is room; or all of them as JSON."""
    if as_json:
        print_json(rows)
        return
    if not rows:
        console.print(empty)
        return
    table = Table(box=None, pad_edge=False, header_style="bold")
    shown = [*columns, *(extra if console.width >= WIDE else ())]
    # Titles and names are broken first: nothing else can be read in pieces.
    widths = {column: _width(rows, column) for column in shown}
    is_narrow = sum(2 + max(width, len(column)) for column, width in widths.items()) > console.width
    has_room = sum(2 + width for column, width in widths.items() if column != "name") + 12 <= console.width
    for column, width in widths.items():
        title = "\n".join(textwrap.wrap(column.replace("_", " "), width if is_narrow else len(column)))
        justify = "right" if _is_number(rows[0][column]) else "left"
        table.add_column(title, justify=justify, no_wrap=has_room and column != "name")
    for row in rows:
        table.add_row(*(_cell(row[column]) for column in shown))
    console.print(table)


def _width(rows: Sequence[dict[str, Any]], column: str) -> int:
    """How wide a column has to be for its cells and the words of its title."""
    return max(len(text) for text in (*column.split("_"), *(_cell(row[column]) for row in rows)))


def _cell(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else ""
    if isinstance(value, date):
        return _day(value)
    return "" if value is None else escape(str(value))


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float | Decimal) and not isinstance(value, bool)


def _plain(value: Any) -> Any:
    return _day(value) if isinstance(value, date) else str(value)


def _day(value: date) -> str:
    return "infinity" if value == OPEN_END else value.isoformat()

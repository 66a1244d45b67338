"""How dynamic tables are shown: rows, one table in full, and a line that tells how a refresh is getting on."""

from __future__ import annotations

import time
from collections.abc import Generator, Iterable, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import fields
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, cast

from rich.markup import escape
from rich.status import Status
from rich.table import Table

from catchment.commands.output import console, errors, print_json, print_rows, styled_state
from catchment.commands.times import local
from catchment.model.span import span

if TYPE_CHECKING:
    from catchment.lake.tables.answers import StatementExplanation
    from catchment.lake.tables.rounds import OnProgress, RefreshInfo

Row = Mapping[str, Any]

_FIRST = ("name", "type", "kind")
_SIZES = ((10**12, "TB"), (10**9, "GB"), (10**6, "MB"), (10**3, "kB"))


def rows_of(answers: Iterable[Any], *, as_json: bool) -> list[dict[str, Any]]:
    """Answers of the lake as rows, for people or as ``--json`` prints them."""
    from catchment.lake.tables import answers as lake_answers  # the lake is an extra

    write = lake_answers.as_json if as_json else lake_answers.as_row
    return [write(answer) for answer in answers]


def show_rows(
    rows: Sequence[Row],
    columns: Sequence[str],
    *,
    as_json: bool,
    empty: str,
    extra: Sequence[str] = (),
    cut: Sequence[str] = (),
) -> None:
    """Rows as a table of some columns, or all of them as JSON; as ``print_rows``, with values as people read them."""
    if as_json:
        print_json(list(rows))
        return
    shown = [{_title(column): readable(column, row[column]) for column in columns} for row in rows]
    titles = [_title(column) for column in columns]
    print_rows(shown, titles, as_json=False, empty=empty, extra=[_title(column) for column in extra], cut=cut)


def _title(column: str) -> str:
    return column.removesuffix("_ms")


def readable(name: str, value: Any) -> Any:
    """A value as people read it."""
    if isinstance(value, timedelta):
        return span(value.total_seconds())
    if value is None:
        return None
    if name == "bytes":
        return size(value)
    if name.endswith("_ms"):
        return span(value / 1000)
    if name == "within_target":
        return f"{value:.1%}"
    if isinstance(value, list):
        return ", ".join(str(item) for item in cast("list[Any]", value))
    return value


def size(number: int) -> str:
    """A number of bytes: ``3.2 MB``."""
    for unit, name in _SIZES:
        if number >= unit:
            return f"{number / unit:.1f} {name}"
    return f"{number} B"


def show_one(row: Row, *, as_json: bool, names: Mapping[str, str]) -> None:
    """One thing in full: each name in ``names`` with its value, nested ones below each other."""
    if as_json:
        print_json(row)
        return
    table = Table.grid(padding=(0, 2))
    table.add_column(justify="right", style="bold", no_wrap=True)
    table.add_column(overflow="fold")
    for name, title in names.items():
        value = row.get(name)
        if value is not None and value != [] and value != {}:
            table.add_row(title, "\n".join(_lines(name, value)))
    console.print(table)


def statement_row(item: StatementExplanation) -> dict[str, Any]:
    """A statement that was explained, or refused, as ``--json`` prints it: the same fields for each."""
    from catchment.lake.tables.answers import TableExplanation, as_json

    explained = dict.fromkeys(field.name for field in fields(TableExplanation))
    if item.explanation is not None:
        explained = as_json(item.explanation)
    error = item.error
    return {
        "statement": item.statement,
        "line": item.line,
        **explained,
        "name": item.name,
        "error_code": None if error is None else error.code,
        "error": None if error is None else str(error),
        "hint": None if error is None else error.hint,
    }


def show_statement(item: StatementExplanation, names: Mapping[str, str]) -> None:
    """A statement that was explained, or why it is refused."""
    if item.explanation is not None:
        console.print(f"[bold]Statement {item.statement}[/], line {item.line}")
        show_one(rows_of([item.explanation], as_json=False)[0], as_json=False, names=names)
        return
    error = item.error
    if error is not None:
        hint = "" if error.hint is None else f"\n[dim]hint:[/] {escape(error.hint)}"
        errors.print(f"[red]error:[/] {escape(str(error))}{hint}")


def _lines(name: str, value: Any) -> list[str]:
    if name in ("scheduling_state", "last_state", "open_state"):
        return [styled_state(value)]
    if isinstance(value, datetime):
        return [local(value)]
    if isinstance(value, bool):
        return ["yes" if value else "no"]
    if isinstance(value, list):
        return [escape(_entry(entry)) for entry in cast("list[Any]", value)]
    if isinstance(value, Mapping):
        return [escape(_entry(cast("Row", value)))]
    return escape(str(readable(name, value))).splitlines() or [""]


def _entry(value: Any) -> str:
    if not isinstance(value, Mapping):
        return str(value)
    entry = cast("Row", value)
    parts = [str(entry[key]) for key in _FIRST if entry.get(key) is not None]
    for name, item in entry.items():
        if name in (*_FIRST, "table_id") or item is None or item is False:
            continue
        said = name.removeprefix("is_").replace("_", " ")
        parts.append(said if item is True else f"{said} {_inner(name, item)}")
    return ", ".join(parts)


def _inner(name: str, item: Any) -> str:
    if isinstance(item, Mapping):
        return " ".join(f"{key} {value}" for key, value in cast("Row", item).items())
    if isinstance(item, list):
        return " ".join(_entry(entry) for entry in cast("list[Any]", item))
    return str(readable(name, item))


@contextmanager
def progress(*, is_quiet: bool) -> Generator[OnProgress]:
    """A line on the terminal that tells how a round is getting on; nothing where there is no terminal."""
    if is_quiet or not errors.is_terminal:
        yield lambda _: None
        return
    began = time.monotonic()
    with errors.status("") as status:
        yield lambda refreshes: _tell(status, refreshes, time.monotonic() - began)


def counted(names: Sequence[str], doing: str) -> Generator[str]:
    """Each name, while a line on the terminal says which it is, and how many there are."""
    with errors.status("") as status:
        for number, name in enumerate(names, 1):
            status.update(escape(f"{doing} {name} ({number} of {len(names)})"))
            yield name


def _tell(status: Status, refreshes: Sequence[RefreshInfo], seconds: float) -> None:
    status.update(escape(progress_line(refreshes, seconds)))


def progress_line(refreshes: Sequence[RefreshInfo], seconds: float) -> str:
    """What a round is doing, in a line."""
    over = sum(item.is_over for item in refreshes)
    parts = [f"{over} of {len(refreshes)} tables"] if len(refreshes) > 1 else []
    for item in refreshes:
        if item.is_over:
            continue
        said = f"{item.name} {'waits' if item.state == 'SCHEDULED' else 'is being refreshed'}"
        parts.append(said if item.total is None else f"{said}, {item.done} of {item.total} buckets")
    return f"{'; '.join(parts[:4])} ({span(seconds)})"


def outcome_line(item: RefreshInfo) -> str:
    """How a refresh went, in a line."""
    state = styled_state(item.state)
    if item.is_failed or item.state == "SKIPPED":
        code = f" {item.error_code}" if item.error_code else ""
        return f"{escape(item.name)} {state}{code}: {escape(item.error or '')}"
    how = (item.action or "").upper() + (f" ({escape(item.reason)})" if item.reason else "")
    counts = "" if item.action == "no_data" else f", +{item.inserted or 0:,} -{item.deleted or 0:,} rows"
    total = "" if item.rows is None else f", {item.rows:,} in all"
    took = "" if item.seconds is None or item.action == "no_data" else f", {span(item.seconds)}"
    return f"{escape(item.name)} {state} {how}{counts}{total}{took}"

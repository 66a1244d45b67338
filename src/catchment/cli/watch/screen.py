"""How ``catchment top`` looks: five parts, each as many lines as there is room for."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
from rich.measure import Measurement
from rich.table import Table
from rich.text import Text

from catchment.cli.runner import runner_of
from catchment.commands.output import STATE_STYLES, WIDE, harmless, shape_of
from catchment.commands.times import clock, zone
from catchment.model.span import span
from catchment.store.overview import MOST, Overview

Row = Mapping[str, Any]

PARTS = ("queues", "workers", "scopes", "failures", "running")
_TITLES = {
    "queues": "Queues",
    "workers": "Workers",
    "scopes": "Open scopes",
    "failures": "Failed in the last hour",
    "running": "Running longest",
}
_EMPTY = {
    "queues": "No queues. A worker with an app makes them: catchment worker --app MODULE:APP",
    "workers": "No workers. To start one: catchment worker",
    "scopes": "No task waits for children.",
    "failures": "None.",
    "running": "No task runs.",
}
_BAR = 12
# Where there is little room columns go, before a name is shorter than this.
_NAME = 20
_GAP = 2


@dataclass(frozen=True, slots=True)
class Column:
    """``state``: a figure other than 0 has the colour of this state. ``is_wide``: only in a wide terminal. ``rank``:
    those with a lower one come first where there is little room; names stay. ``tail``: follows the text, and is never
    cut off."""

    title: str
    text: Callable[[Row], str]
    is_number: bool = False
    is_long: bool = False
    is_name: bool = False
    is_wide: bool = False
    state: str | None = None
    rank: int = 1
    tail: Callable[[Row], str] = lambda _: ""


@dataclass(frozen=True, slots=True)
class _Tailed:
    """A text that is cut off before its tail."""

    text: str
    tail: str

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        text = Text(self.text, no_wrap=True)
        text.truncate(max(1, options.max_width - cell_len(self.tail)), overflow="ellipsis")
        yield text.append(self.tail)

    def __rich_measure__(self, _: Console, options: ConsoleOptions) -> Measurement:
        widest = cell_len(self.text) + cell_len(self.tail)
        return Measurement(min(widest, 1 + cell_len(self.tail)), min(widest, options.max_width))


def count(number: int | None) -> str:
    """``12,345``; a count that has stopped is ``10,000+``, and 0 a dot."""
    if number is None:
        return ""
    return f"{MOST:,}+" if number >= MOST else f"{number:,}" if number else "·"


def rate(number: float) -> str:
    """Per second: ``0.4``, ``1,250``, or a dot."""
    if number < 0.05:
        return "·"
    return f"{number:.1f}" if number < 10 else f"{number:,.0f}"


def brief(seconds: float | None) -> str:
    """An age, in its largest unit alone."""
    if seconds is None:
        return ""
    words = span(max(1.0, seconds)).split()
    return " ".join([words[0].partition(".")[0], words[1]])


def estimate(row: Row) -> float | None:
    """The seconds until a scope has ended, if its children continue as they did."""
    done, total, seconds = row["done"], row["total"], row.get("recent_seconds") or row["seconds"]
    recent = row.get("recent_done") or done
    if not recent or not seconds or done >= total:
        return None
    return (total - done) * seconds / recent


def _number(title: str, name: str, **more: Any) -> Column:
    return Column(title, lambda row: count(row[name]), is_number=True, **more)


def _progress(row: Row) -> str:
    filled = int(_BAR * row["done"] / max(1, row["total"]))
    return f"{'━' * filled}{'─' * (_BAR - filled)} {row['done']:,} of {row['total']:,}"


def _end(row: Row) -> str:
    if row["waits_for"] == "join":
        return "join"
    left = estimate(row)
    return "" if left is None else f"in {brief(left)}"


def _since(row: Row) -> str:
    moment: datetime | str = row["completed_at"]
    return moment if isinstance(moment, str) else clock(moment)


_COLUMNS: dict[str, list[Column]] = {
    "queues": [
        Column(
            "queue", lambda row: f"{row['queue']}{'  paused' if row['is_paused'] else ''}", is_long=True, is_name=True
        ),
        _number("ready", "ready", rank=0),
        _number("running", "processing", state="processing"),
        _number("waiting", "waiting", state="waiting"),
        Column("held", lambda row: count(row["later"] + row["blocked"]), is_number=True, is_wide=True),
        _number("failed/h", "failed_last_hour", state="failed", rank=0),
        Column("oldest", lambda row: brief(row["oldest_ready_seconds"]), is_number=True, rank=2),
        Column("ends/s", lambda row: rate(row["ended_per_second"]), is_number=True, rank=2),
        _number("workers", "workers", is_wide=True),
    ],
    "workers": [
        Column("worker", lambda row: runner_of({**row, "host": row["name"]}), is_long=True, is_name=True),
        _number("running", "running", state="processing", rank=0),
        _number("capacity", "capacity"),
        Column(
            "memory",
            lambda row: "" if row["memory_usage"] is None else f"{row['memory_usage']:.0%}",
            is_number=True,
            rank=2,
        ),
        Column("up", lambda row: brief(row["up_seconds"]), is_number=True, is_wide=True),
        Column("version", lambda row: row["version"] or "", is_number=True, rank=2),
        Column(
            "heartbeat",
            lambda row: f"{brief(row['seen_seconds'])} ago{', silent' if row['is_silent'] else ''}",
            is_number=True,
            rank=0,
        ),
        Column("queues", lambda row: ", ".join(row["queues"]), is_long=True, is_wide=True),
    ],
    "scopes": [
        Column("scope", lambda row: row["command"], is_long=True, is_name=True, tail=lambda row: f" {row['id']}"),
        Column("queue", lambda row: row["queue"], is_wide=True),
        Column("lane", lambda row: row["lane"] or "", is_wide=True),
        Column("children ended", _progress, is_number=True, rank=0),
        _number("failed", "failed", state="failed"),
        Column("for", lambda row: brief(row["seconds"]), is_number=True, rank=2),
        Column("ends", _end, is_number=True),
    ],
    "failures": [
        Column("at", _since),
        Column("task", lambda row: row["command"], is_name=True, tail=lambda row: f" {row['id']}"),
        Column("queue", lambda row: row["queue"], is_wide=True),
        Column("lane", lambda row: row["lane"] or "", is_wide=True),
        Column("error", lambda row: " ".join((row["error"] or "").split()), is_long=True),
    ],
    "running": [
        Column("task", lambda row: row["command"], is_long=True, is_name=True, tail=lambda row: f" {row['id']}"),
        Column("queue", lambda row: row["queue"], is_wide=True),
        Column("lane", lambda row: row["lane"] or "", is_wide=True),
        Column("worker", runner_of, is_long=True),
        Column("for", lambda row: brief(row["seconds"]), is_number=True, rank=0),
    ],
}


def draw(
    seen: Overview,
    *,
    width: int | None,
    height: int | None,
    part: str | None = None,
    note: str = "",
    keys: bool = False,
) -> RenderableType:
    """The whole picture in this room, or one part of it; without a height all rows, without a width all of each."""
    parts = PARTS if part is None else (part,)
    shown: list[RenderableType] = [_head(seen, note), _totals(seen)]
    room = None if height is None else height - len(shown) - (1 if keys else 0)
    while room is not None and len(parts) > 1 and room < 3 * len(parts):
        parts = parts[:-1]
    rows: dict[str, list[Row]] = {name: list(getattr(seen, name)) for name in parts}
    if "queues" in rows:
        rows["queues"].sort(key=_idle)
    # Besides, a part has an empty line and a title.
    wanted = [max(1, len(rows[name])) for name in parts]
    lines = wanted if room is None else allot(wanted, room - 2 * len(parts))
    for name, most in zip(parts, lines, strict=True):
        shown += [Text(), *_part(name, rows[name], most, width)]
    if room is not None:
        shown += [Text()] * (room - 2 * len(parts) - sum(lines))
    if keys:
        shown.append(
            Text("q quit  p pause  1 queues  2 workers  3 scopes  4 failures  5 running  0 all", "dim", no_wrap=True)
        )
    return Group(*shown)


def allot(wanted: Sequence[int], room: int) -> list[int]:
    """Share out lines: nobody gets more than wanted, and what some leave goes to the others. At least one each."""
    given = [1] * len(wanted)
    left = room - sum(given)
    while left > 0 and (open_ones := [n for n, most in enumerate(wanted) if given[n] < most]):
        for n in open_ones[:left]:
            given[n] += 1
        left -= min(left, len(open_ones))
    return given


def _idle(row: Row) -> tuple[bool, str]:
    """Queues with something in them first, then by name: rows that keep changing places cannot be read."""
    figures = ("ready", "processing", "waiting", "later", "blocked", "failed_last_hour")
    return not any(row[name] for name in figures), row["queue"]


def _head(seen: Overview, note: str) -> Text:
    head = Text.assemble(("catchment top", "bold"), f"  {harmless(seen.database)}  {clock(seen.at)} {zone()}")
    if note:
        head.append(f"  {note}", "bold")
    return _one_line(head)


def _totals(seen: Overview) -> Text:
    totals = {
        "processing": (sum(row["processing"] for row in seen.queues), "running"),
        "pending": (sum(row["ready"] for row in seen.queues), "ready"),
        "waiting": (sum(row["waiting"] for row in seen.queues), "waiting"),
        "failed": (sum(row["failed_last_hour"] for row in seen.queues), "failed in an hour"),
    }
    line = Text()
    for state, (number, word) in totals.items():
        mark = f"{shape_of(state)}{count(number) if number else '0'} {word}"
        line.append(f"{mark}  ", STATE_STYLES[state] if number else "dim")
    line.append(f"{rate(sum(row['ended_per_second'] for row in seen.queues)).replace('·', '0')} ends/s")
    return _one_line(line)


def _part(name: str, rows: Sequence[Row], most: int, width: int | None) -> list[RenderableType]:
    title = Text(_TITLES[name], "bold")
    if not rows:
        return [title, _one_line(Text(_EMPTY[name], "dim"))]
    # The last line counts those that are not shown.
    fitting = len(rows) if len(rows) <= most else max(1, most - 1)
    parts: list[RenderableType] = [_table(name, rows[:fitting], width)]
    if fitting < min(len(rows), most):
        parts.append(Text(f"… {len(rows) - fitting:,} more", "dim"))
    return parts


def _table(name: str, rows: Sequence[Row], width: int | None) -> Table:
    is_wide = width is None
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold", expand=not is_wide, width=width)
    columns = _COLUMNS[name]
    if width is not None:
        columns = _fitting([column for column in columns if not column.is_wide or width >= WIDE], rows, width)
    is_shared = any(column.is_long for column in columns)
    for n, column in enumerate(columns):
        is_share = column.is_long or (column.is_name and not is_shared)
        table.add_column(
            Text(column.title if n else "Failed" if name == "failures" else _TITLES[name], "dim" if n else "bold"),
            justify="right" if column.is_number else "left",
            no_wrap=True,
            overflow="ellipsis",
            ratio=1 if is_share and not is_wide else None,
            max_width=None if width is None or is_share or not column.is_name else width // 2,
        )
    for row in rows:
        table.add_row(*(_cell(column, row) for column in columns))
    return table


def _fitting(columns: Sequence[Column], rows: Sequence[Row], width: int) -> list[Column]:
    """Those that there is room for beside the names."""
    needed = {column.title: _GAP + max(cell_len(text) for text in _texts(column, rows)) for column in columns}
    for column in columns:
        if column.is_long or column.is_name:
            needed[column.title] = min(needed[column.title], _GAP + _NAME)
    kept = [column for column in columns if column.is_name]
    for column in sorted(columns, key=lambda column: column.rank):
        if column not in kept and sum(needed[one.title] for one in (*kept, column)) - _GAP <= width:
            kept.append(column)
    return [column for column in columns if column in kept]


def _texts(column: Column, rows: Sequence[Row]) -> list[str]:
    return [column.title, *(harmless(column.text(row) + column.tail(row)) for row in rows)]


def _cell(column: Column, row: Row) -> RenderableType:
    text = harmless(column.text(row)).replace("\n", " ")
    if tail := column.tail(row):
        return _Tailed(text, tail)
    style = STATE_STYLES[column.state] if column.state and text not in ("·", "") else "dim" if text == "·" else ""
    return Text(text, style, no_wrap=True, overflow="ellipsis")


def _one_line(text: Text) -> Text:
    text.no_wrap, text.overflow = True, "ellipsis"
    return text

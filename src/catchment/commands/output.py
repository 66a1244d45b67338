"""What the commands print: a table for people, JSON for programs.

Rich reads square brackets as markup, so whatever is not written here goes through ``rich.markup.escape``.
"""

from __future__ import annotations

import json
import math
import os
import re
import sys
import textwrap
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from datetime import date, datetime
from decimal import Decimal
from itertools import zip_longest
from typing import Any, cast
from uuid import uuid4

from rich.cells import cell_len
from rich.console import Console
from rich.markup import escape
from rich.protocol import is_renderable
from rich.table import Table
from rich.text import Text

from catchment.commands.times import local
from catchment.model.terminal import harmless
from catchment.store.json_text import JsonText

# From this many columns of the terminal on, tables that are not cut have what they can do without.
WIDE = 110
# In a pipe or a file, columns are aligned up to this width: one long cell does not widen all others.
_ALIGNED = 200
# A column that is cut in a terminal has at least this width.
_NARROWEST = 6
# With this width for those that are cut, a terminal has room for further columns.
_COMFORTABLE = 24


class _Console(Console):
    """Shows text as it is, and breaks no line of it in a pipe or a file: those have room for every line."""

    def __init__(self, *, stderr: bool = False) -> None:
        super().__init__(stderr=stderr, highlight=False, emoji=False)

    @property
    def is_pipe(self) -> bool:
        return not self.is_terminal and "COLUMNS" not in os.environ

    @property
    def is_live(self) -> bool:
        """Can a picture on it be drawn over by the next one?"""
        return self.is_terminal and not self.is_dumb_terminal

    def print(self, *objects: Any, **options: Any) -> None:
        if self.is_pipe and not any(is_renderable(item) and not isinstance(item, str | Text) for item in objects):
            options.setdefault("soft_wrap", True)
        super().print(*objects, **options)


console = _Console()
errors = _Console(stderr=True)

_BEYOND_ASCII = re.compile("[^\\x00-\\x7f]")

# One hue for each state of a task, and one shape for readers without colours; the dashboard has the same.
STATE_STYLES = {
    "pending": "dim",
    "processing": "bright_blue",
    "waiting": "magenta",
    "interrupted": "yellow",
    "completed": "green",
    "failed": "red",
    "cancelled": "color(103)",
    "ACTIVE": "green",
    "SUSPENDED": "yellow",
    "SCHEDULED": "dim",
    "EXECUTING": "bright_blue",
    "SUCCEEDED": "green",
    "FAILED": "red",
    "UPSTREAM_FAILED": "red",
    "SKIPPED": "dim",
    "CANCELLED": "color(103)",
}
STATE_SHAPES = {
    "pending": "○",
    "processing": "▶",
    "waiting": "◇",
    "interrupted": "△",
    "completed": "✓",
    "failed": "✗",
    "cancelled": "⊘",
}


def print_json(value: Any, *, is_line: bool = False) -> None:
    """One JSON document on standard output, or one line of many; in a terminal or a pipe that is not UTF-8, with
    escapes."""
    print(json_text(value, is_line=is_line))


def json_text(value: Any, *, is_line: bool = True) -> str:
    """What ``print_json`` prints."""
    raw: dict[str, str] = {}
    mark = uuid4().hex

    def put(text: str) -> str:
        raw[f'"{mark}.{len(raw)}"'] = text
        return f"{mark}.{len(raw) - 1}"

    def plain(item: Any) -> Any:
        if isinstance(item, JsonText):
            return put(item.text)
        # One with more digits than readers of JSON keep stays text.
        if isinstance(item, Decimal) and item.is_finite() and Decimal(repr(float(item))) == item:
            return put(format(item, "f"))
        return _plain(item)

    def dumped(item: Any) -> str:
        indent = None if is_line else 2
        return json.dumps(item, default=plain, ensure_ascii=False, indent=indent, allow_nan=False)

    try:
        text = dumped(value)
    except (TypeError, ValueError):  # a key that is no text, or a number that JSON lacks
        raw.clear()
        text = dumped(_within_json(value))
    for place, item in raw.items():
        text = text.replace(place, item)
    return text if _can_print(text) else _BEYOND_ASCII.sub(lambda character: json.dumps(character[0])[1:-1], text)


def _can_print(text: str) -> bool:
    try:
        text.encode(getattr(sys.stdout, "encoding", None) or "ascii")  # none if it is closed: >&-
    except UnicodeEncodeError:
        return False
    return True


def _within_json(value: Any) -> Any:
    """The value with text for the keys and numbers that JSON lacks."""
    if isinstance(value, float) and not math.isfinite(value):
        return json.dumps(value)  # NaN, Infinity or -Infinity
    if isinstance(value, Mapping):
        items = cast("Mapping[Any, Any]", value).items()
        return {key if isinstance(key, str) else str(_plain(key)): _within_json(item) for key, item in items}
    if isinstance(value, list | tuple):
        return [_within_json(item) for item in cast("list[Any]", value)]
    return value


def print_rows(
    rows: Iterable[Mapping[str, Any]],
    columns: Sequence[str],
    *,
    as_json: bool,
    empty: str,
    extra: Sequence[str] = (),
    cut: Sequence[str] = (),
) -> None:
    """Rows as a table of the given columns, and of the extra ones if there is room; or all of them as JSON.

    Extra columns are last, unless ``columns`` has them in another place. ``empty`` is printed for a table without rows.
    A column ``state`` is coloured. If the terminal is too narrow, the extra columns are omitted, cells of the columns
    in ``cut``, which have one line, end with ``…``, texts are wrapped between words, and the last columns are omitted.
    Numbers, times and states are never wrapped. In a pipe or a file nothing is omitted or cut off.
    """
    rows = list(rows)
    if as_json:
        print_json(rows)
        return
    if not rows:
        console.print(empty, markup=False)
        return
    room = console.width
    shown = list(dict.fromkeys([*columns, *extra]))
    texts = {
        column: [" ".join(text.split("\n")) if column in cut else text for text in (_text(row[column]) for row in rows)]
        for column in shown
    }
    numbers = [column for column in shown if _is_numeric(row[column] for row in rows)]
    if console.is_pipe:
        for line in _lines(texts, numbers):
            console.file.write(f"{line}\n")
        return
    whole = {*numbers, "state", *(column for column in shown if any(isinstance(row[column], datetime) for row in rows))}
    widths = _widths(texts, extra, cut, whole - {*cut}, room)
    table = Table(box=None, pad_edge=False, header_style="bold")
    is_narrow = sum(2 + max(width, len(column)) for column, width in widths.items()) > room
    for column, width in widths.items():
        title = "\n".join(textwrap.wrap(column.replace("_", " "), max(1, width if is_narrow else len(column))))
        justify = "right" if column in numbers else "left"
        wide = max(width, *map(cell_len, title.split("\n")))
        table.add_column(Text(title), justify=justify, no_wrap=column in cut, overflow="fold", width=wide)
    for cells in zip(*(texts[column] for column in widths), strict=True):
        table.add_row(*(_cell(column, text, widths[column], cut) for column, text in zip(widths, cells, strict=True)))
    console.print(table)


def _lines(texts: Mapping[str, Sequence[str]], numbers: Sequence[str]) -> Iterator[str]:
    """The same table for a pipe or a file."""
    columns = {column: [column.replace("_", " "), *cells] for column, cells in texts.items()}
    widths = [
        min(_ALIGNED, max(cell_len(part) for cell in cells for part in cell.split("\n"))) for cells in columns.values()
    ]
    is_right = [column in numbers for column in columns]
    for row in zip(*columns.values(), strict=True):
        for parts in zip_longest(*(cell.split("\n") for cell in row), fillvalue=""):
            gaps = [" " * (width - cell_len(part)) for part, width in zip(parts, widths, strict=True)]
            padded = (
                gap + part if right else part + gap for part, gap, right in zip(parts, gaps, is_right, strict=True)
            )
            yield "  ".join(padded).rstrip()


def _widths(
    texts: Mapping[str, Sequence[str]], extra: Sequence[str], cut: Sequence[str], whole: Set[str], room: int
) -> dict[str, int]:
    """The columns that a terminal has room for, and how wide each is.

    Extra columns go first, and then the last ones, until the others have what they need: those in ``whole`` all of
    their width, the others their longest word, or a few signs where they may be cut. What is left is shared.
    """
    titles = {column: max(map(len, column.split("_"))) for column in texts}
    widest = {
        column: max(titles[column], *(cell_len(line) for cell in cells for line in cell.split("\n")))
        for column, cells in texts.items()
    }
    left_out = _without_room(widest, extra, cut, room)
    widths = {column: width for column, width in widest.items() if column not in left_out}
    needs = dict(widths)
    for column in widths.keys() - whole:
        least = _NARROWEST if column in cut else _longest_word(texts[column], room)
        needs[column] = min(widths[column], max(titles[column], least))
    while len(needs) > 1 and sum(needs.values()) + 2 * (len(needs) - 1) > room:
        needs.popitem()
    left = room + 2 - sum(2 + need for need in needs.values())
    shared = sorted(needs, key=lambda column: widths[column] - needs[column])
    for n, column in enumerate(shared):
        more = min(widths[column] - needs[column], left // (len(shared) - n))
        needs[column] += more
        left -= more
    return needs


def _longest_word(cells: Sequence[str], room: int) -> int:
    """What a column needs so that no word of it is broken, unless it takes up most of the terminal."""
    return min(room * 2 // 3, max((cell_len(word) for cell in cells for word in cell.split()), default=0))


def _without_room(widest: Mapping[str, int], extra: Sequence[str], cut: Sequence[str], room: int) -> Sequence[str]:
    """The extra columns that a terminal has no room for: the last of them, or all where nothing may be cut."""
    if not cut:
        return () if room >= WIDE else extra
    needs = {column: 2 + (min(width, _COMFORTABLE) if column in cut else width) for column, width in widest.items()}
    left = room + 2 - sum(need for column, need in needs.items() if column not in extra)
    for n, column in enumerate(extra):
        left -= needs[column]
        if left < 0:
            return extra[n:]
    return ()


def styled_state(state: str) -> str:
    style = STATE_STYLES.get(state, "")
    return f"[{style}]{escape(state)}[/]" if style else escape(state)


def shape_of(state: str) -> str:
    """The shape of a state and a space; nothing where the terminal cannot show it."""
    shape = STATE_SHAPES.get(state, "")
    return f"{shape} " if shape and _can_print(shape) else ""


def _cell(column: str, text: str, width: int, cut: Sequence[str]) -> str | Text:
    if column in cut:
        line = Text(text)
        line.truncate(width, overflow="ellipsis")
        return line
    return styled_state(text) if column == "state" else escape(text)


def _text(value: Any) -> str:
    if isinstance(value, datetime):
        return local(value)
    if isinstance(value, bool):
        return "yes" if value else ""
    return "" if value is None else harmless(str(_plain(value)))


def _is_numeric(values: Iterable[Any]) -> bool:
    """Are all of these numbers that are not None?"""
    given = [value for value in values if value is not None]
    return bool(given) and all(isinstance(v, int | float | Decimal) and not isinstance(v, bool) for v in given)


def _plain(value: Any) -> Any:
    """A value that JSON lacks: a list for a set, text for all others."""
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, bytes):
        return f"\\x{value.hex()}"
    if isinstance(value, Set):
        return sorted(cast("Set[Any]", value), key=str)
    if isinstance(value, Iterator):
        raise TypeError(f"{value!r} cannot be printed: what it gives can be read only once; make a list of it")
    return str(value)

"""Charts of plain characters: lines of braille dots and bars of blocks, for a terminal.

Pure functions from numbers to text, of a width that the caller knows.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise

# Dots of a braille cell, by row and column, as bits of its code point.
_DOTS = ((0x01, 0x08), (0x02, 0x10), (0x04, 0x20), (0x40, 0x80))
_BRAILLE = 0x2800
_BLOCKS = " ▏▎▍▌▋▊▉█"
# Lines are distinguished by more than colour: each has a sign at its end.
SIGNS = "●▲■◆▼★"


def bar(value: float, largest: float, width: int) -> str:
    """A bar whose length is the value's share of the largest one, to an eighth of a character."""
    if largest <= 0 or value <= 0:
        return ""
    eighths = max(1, round(value / largest * width * 8))
    whole, rest = divmod(eighths, 8)
    return "█" * whole + (_BLOCKS[rest] if rest else "")


def lines(labels: Sequence[str], series: Mapping[str, Sequence[float]], *, width: int, height: int = 12) -> str:
    """Lines over the labels of an axis, with the scale at the left and a legend below."""
    values = [v for line in series.values() for v in line]
    if not values or not labels:
        return "nothing to draw"
    low, high = min(0.0, *values), max(0.0, *values)
    high = high if high > low else low + 1
    margin = 1 + max(len(_scale(row, height, low, high)) for row in range(height))
    columns = max(10, width - margin - 3)
    grid = _Grid(columns, height)
    ends: dict[int, str] = {}
    for sign, line in zip(SIGNS * len(series), series.values(), strict=False):
        points = [(_spread(n, len(line), columns * 2), (v - low) / (high - low)) for n, v in enumerate(line)]
        grid.draw(points)
        ends.setdefault(grid.row(points[-1][1]), sign)
    rows = [
        f"{_scale(row, height, low, high):>{margin}}┤{text} {ends.get(row, '')}".rstrip()
        for row, text in enumerate(grid.text())
    ]
    rows.append(f"{'':>{margin}}└{'─' * columns}")
    rows.append(f"{'':>{margin}} {_axis(labels, columns)}".rstrip())
    legend = "   ".join(f"{sign} {name}" for sign, name in zip(SIGNS * len(series), series, strict=False))
    return "\n".join([*rows, f"{'':>{margin}} {legend}"])


def short(value: float) -> str:
    """A number in few characters: 950, 12.3k, 4.5M."""
    for limit, unit in ((1e9, "G"), (1e6, "M"), (1e4, "k")):
        if abs(value) >= limit:
            return f"{value / (1e3 if unit == 'k' else limit):.1f}{unit}"
    return f"{value:.0f}" if value == int(value) else f"{value:.1f}"


class _Grid:
    """Braille cells that points and the lines between them are drawn into."""

    def __init__(self, columns: int, rows: int) -> None:
        self.columns, self.rows = columns, rows
        self.cells = [[0] * columns for _ in range(rows)]

    def row(self, share: float) -> int:
        """The row of cells that a share of the height is in, from the top."""
        return self._dot_row(share) // 4

    def draw(self, points: Sequence[tuple[int, float]]) -> None:
        for (x1, y1), (x2, y2) in pairwise(points):
            steps = max(abs(x2 - x1), abs(self._dot_row(y2) - self._dot_row(y1)), 1)
            for step in range(steps + 1):
                part = step / steps
                self._set(round(x1 + (x2 - x1) * part), y1 + (y2 - y1) * part)
        for x, y in points:
            self._set(x, y)

    def text(self) -> list[str]:
        return ["".join(chr(_BRAILLE + cell) for cell in row) for row in self.cells]

    def _dot_row(self, share: float) -> int:
        return round((1 - share) * (self.rows * 4 - 1))

    def _set(self, x: int, share: float) -> None:
        y = self._dot_row(share)
        self.cells[y // 4][min(x // 2, self.columns - 1)] |= _DOTS[y % 4][x % 2]


def _spread(number: int, count: int, dots: int) -> int:
    return dots // 2 if count == 1 else round(number * (dots - 1) / (count - 1))


def _scale(row: int, height: int, low: float, high: float) -> str:
    """A number at the top, the middle and the bottom of the scale."""
    if row not in (0, height // 2, height - 1):
        return ""
    value = high - (high - low) * row / (height - 1)
    return short(round(value) if high - low >= 10 else round(value, 1))


def _axis(labels: Sequence[str], columns: int) -> str:
    """As many labels as fit, each beginning at its place, the last one always there."""
    text = [" "] * columns
    free = 0
    for number, label in enumerate(labels):
        start = min(_spread(number, len(labels), columns * 2) // 2, columns - len(label))
        is_last = number == len(labels) - 1
        if start >= free and (is_last or start + len(label) + 1 < columns - len(labels[-1])):
            text[start : start + len(label)] = label
            free = start + len(label) + 2
    return "".join(text)

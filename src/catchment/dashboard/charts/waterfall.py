"""Bars on one time axis: one small drawing for each row of a table, all of the same time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from markupsafe import Markup

from catchment.dashboard.charts.svg import element, number
from catchment.dashboard.words import span

WIDTH, HEIGHT = 1000.0, 20.0
# Narrower than this nobody sees it.
THINNEST = 3.0
TICKS = 4

Kind = Literal["wait", "run", "children"]


@dataclass(frozen=True, slots=True)
class Piece:
    """A part of a bar. ``tone`` is a state; ``kind`` says what was done: waited, run, or waited for children."""

    kind: Kind
    tone: str
    start: datetime
    end: datetime
    label: str


@dataclass(frozen=True, slots=True)
class Axis:
    """The time that all bars of a table share."""

    start: datetime
    end: datetime

    @property
    def seconds(self) -> float:
        return max(0.001, (self.end - self.start).total_seconds())

    def place(self, moment: datetime) -> float:
        """Where a moment is; one that is off the axis is at its end."""
        share = (moment - self.start).total_seconds() / self.seconds
        return WIDTH * min(1.0, max(0.0, share))


_GRID = element("path", d="".join(f"M{WIDTH * i / TICKS:g} 0V{HEIGHT:g}" for i in range(TICKS + 1)), class_="grid")


def waterfall(pieces: Sequence[Piece], axis: Axis) -> Markup:
    """The bars of one row: what it waited is hatched, what it ran is solid, what it waited for children is outlined."""
    bars = [_bar(piece, axis) for piece in pieces if piece.end >= axis.start and piece.start <= axis.end]
    label = ", then ".join(piece.label for piece in pieces) or "nothing in this time"
    return element(
        "svg",
        element("title", label),
        _GRID,
        *bars,
        viewBox=f"0 0 {WIDTH:g} {HEIGHT:g}",
        preserveAspectRatio="none",
        class_="waterfall",
        role="img",
        aria_label=label,
    )


def _bar(piece: Piece, axis: Axis) -> Markup:
    left, right = axis.place(piece.start), axis.place(piece.end)
    width = max(THINNEST, right - left)
    left = min(left, WIDTH - width)
    thin = piece.kind != "run"
    return element(
        "rect",
        element("title", piece.label),
        x=number(left),
        y="7" if thin else "4",
        width=number(width),
        height="6" if thin else "12",
        class_=f"bar bar-{piece.kind} tone-{piece.tone}",
        fill="url(#hatched)" if piece.kind == "wait" else None,
    )


def hatched() -> Markup:
    """The pattern of what waits, once on a page."""
    stripe = element("path", d="M0 6 L6 0 M-1 1 L1 -1 M5 7 L7 5", class_="stripe")
    pattern = element("pattern", stripe, id="hatched", width="6", height="6", patternUnits="userSpaceOnUse")
    return element("svg", element("defs", pattern), width="0", height="0", class_="unseen", aria_hidden="true")


def ticks(axis: Axis) -> list[str]:
    """The marks of the axis, from its start on."""
    return ["0", *(f"{span(axis.seconds * i / TICKS)}" for i in range(1, TICKS + 1))]


def density(values: Sequence[float], top: float, *, label: str, tone: str = "completed") -> Markup:
    """How much there was in each part of the axis, as columns."""
    step = WIDTH / max(1, len(values))
    columns = [
        element(
            "rect",
            x=number(i * step),
            y=number(HEIGHT - max(1.5, HEIGHT * value / top)),
            width=number(step * 0.9),
            height=number(max(1.5, HEIGHT * value / top)),
        )
        for i, value in enumerate(values)
        if value > 0 and top > 0
    ]
    return element(
        "svg",
        element("title", label),
        *columns,
        viewBox=f"0 0 {WIDTH:g} {HEIGHT:g}",
        preserveAspectRatio="none",
        class_=f"density tone-{tone}",
        role="img",
        aria_label=label,
    )

"""Time of units, cut where something begins or ends."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import date
from itertools import pairwise
from typing import NamedTuple

from catchment_register.reference.load import Base, Unit
from catchment_register.reference.model import Row


class Span(NamedTuple):
    """From a day to before another."""

    valid_from: date
    valid_until: date


def span(row: Row) -> Span:
    return Span(row["valid_from"], row["valid_until"])


def overlap(one: Span, other: Span) -> Span | None:
    """The days that both have."""
    both = Span(max(one.valid_from, other.valid_from), min(one.valid_until, other.valid_until))
    return both if both.valid_from < both.valid_until else None


def clip(spans: Iterable[Span], within: Iterable[Span]) -> list[Span]:
    """What of the spans lies within the others, piece by piece."""
    bounds = list(within)
    return [piece for one in spans for bound in bounds if (piece := overlap(one, bound))]


def cut(spans: Iterable[Span]) -> list[Span]:
    """The stretches between all starts and ends, holes among them."""
    points = sorted({point for one in spans for point in one})
    return [Span(start, end) for start, end in pairwise(points)]


def latest(rows: Iterable[Row], stretch: Span) -> Row | None:
    """The row that overlaps a stretch; of several, the one that starts last."""
    return max((r for r in rows if overlap(span(r), stretch)), key=lambda r: r["valid_from"], default=None)


def unit_spans(base: Base, unit: Unit) -> list[Span]:
    """The periods of an establishment or a legal unit, with those of its establishments while they belong to it."""
    slices = base.slices[unit]
    spans = [span(row) for kind in base.details for row in base.of(kind, unit)]
    if unit[0] == "legal_unit":
        for part in base.parts.get(unit, []):
            mine = [span(s) for s in base.slices[part] if s["legal_unit_id"] == unit[1]]
            spans += clip(unit_spans(base, part), mine)
    own = [span(row) for row in slices]
    return own + clip(spans, own)


def enterprise_spans(base: Base, enterprise_id: int) -> list[Span]:
    """The periods of what belongs to an enterprise, for the time it does."""
    spans: list[Span] = []
    for part in base.parts.get(("enterprise", enterprise_id), []):
        mine = [span(s) for s in base.slices[part] if s["enterprise_id"] == enterprise_id]
        spans += clip(unit_spans(base, part), mine)
    return spans

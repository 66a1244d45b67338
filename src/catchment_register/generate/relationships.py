"""Relationships between legal units: groups that are trees of two to thirty companies, and now and then a circle.

Legal units are cut into blocks by their numbers; the companies of a block are related among each other, so a group is
known from its block alone, and groups of different blocks never meet.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date
from typing import NamedTuple

from catchment_register.generate.mix import Stream, mix, spread
from catchment_register.generate.plan import Plan
from catchment_register.generate.units import LegalUnits, tax_ident

# Sizes of groups: half of them have two or three members, few have thirty.
SIZES = spread({size: size**-1.3 for size in range(2, 31)}, 1024)
_MEAN_TIES = sum(size - 1 for size in SIZES) / len(SIZES)
_CIRCLES = 10  # of a thousand groups


class Relationship(NamedTuple):
    """The first unit owns or controls the second from a day on, until a day or for good."""

    influencing: str
    influenced: str
    type: str
    percentage: int
    first: int
    until: int | None


class Relationships:
    """The relationships of a plan."""

    def __init__(self, plan: Plan, units: LegalUnits) -> None:
        self._stream = Stream(plan.seed, "group")
        self._units = units
        self._start = plan.valid_from.toordinal()
        self._block = round(_MEAN_TIES / plan.relationships) if plan.relationships else 0
        self._blocks = plan.legal_units // self._block if self._block else 0

    def __iter__(self) -> Iterator[Relationship]:
        for block in range(self._blocks):
            bits = self._stream.draw(block)
            members = self._members(block, SIZES[bits & 1023])
            for place in range(1, len(members)):
                tie = self._stream.draw(block, place)
                # Of two candidates the earlier one: groups are flat rather than deep.
                above = min(tie % place, (tie >> 10) % place)
                yield from self._tie(members[above], members[place], tie >> 20)
            if len(members) > 2 and (bits >> 10) % 1000 < _CIRCLES:
                yield from self._tie(members[-1], members[0], 0)

    def _members(self, block: int, size: int) -> list[int]:
        """The first companies of a block, beginning somewhere in it."""
        first, offset = block * self._block, mix(self._stream.draw(block)) % self._block
        numbers = (first + (offset + n) % self._block for n in range(self._block))
        members: list[int] = []
        for number in numbers:
            if self._units.form(number).kind == "company":
                members.append(number)
                if len(members) == size:
                    break
        return members

    def _tie(self, above: int, below: int, bits: int) -> Iterator[Relationship]:
        """Nothing if the two are never there at the same time."""
        one, other = self._units.life(above), self._units.life(below)
        first = max(one.first, other.first)
        until = min((day for day in (one.until, other.until) if day is not None), default=None)
        if until is not None and first >= until:
            return
        controls = bits & 3 > 0
        percentage = 51 + (bits >> 2) % 50 if controls else 10 + (bits >> 2) % 40
        kind = "control" if controls else "ownership"
        yield Relationship(tax_ident(8, above), tax_ident(8, below), kind, percentage, first, until)


def last_day(until: int | None) -> str:
    """The last day of a period, as files say it."""
    return "infinity" if until is None else date.fromordinal(until - 1).isoformat()

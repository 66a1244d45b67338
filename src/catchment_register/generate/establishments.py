"""Establishments: those of legal units, which live within their owner's time, and informal ones, which have no owner.

The first establishment of a legal unit is where the unit is and moves with it; others are somewhere else and may open
later and close earlier. A few change hands: from a day on they belong to another legal unit.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from catchment_register.generate import shapes
from catchment_register.generate.activities import BY_KIND, section
from catchment_register.generate.mix import Stream, mix
from catchment_register.generate.places import BY_WEIGHT, Municipality
from catchment_register.generate.plan import Plan
from catchment_register.generate.units import LegalUnit, LegalUnits, Life, Spell, tax_ident
from catchment_register.generate.words import GIVEN, TRADES

# More than any unit has, so that numbers of different units do not meet.
_MOST = 512
# An establishment goes to one of the legal units before its owner, which exist at any size of the register.
_REACH = 16


class Site(NamedTuple):
    """The state of an establishment from a day on, until a day or for good. ``owner``: identifier of its legal unit."""

    first: int
    until: int | None
    owner: str
    name: str
    activity: str
    place: Municipality
    street: int
    employees: int


class Establishment(NamedTuple):
    """An establishment with its sites, and the bits that decide about what does not change."""

    ident: str
    birth: int
    death: int | None
    bits: int
    sites: list[Site]


class Establishments:
    """The establishments of legal units, asked for in the order of their owners: their numbers follow it."""

    def __init__(self, plan: Plan, owners: LegalUnits) -> None:
        self._stream = Stream(plan.seed, "establishment")
        self._owners = owners
        self._plan = plan
        self._end = plan.end.toordinal()
        self._made = 0

    def of(self, unit: LegalUnit) -> Iterator[Establishment]:
        for place in range(unit.establishments):
            made = self._establishment(unit, place)
            self._made += 1
            yield made

    def _establishment(self, unit: LegalUnit, seat: int) -> Establishment:
        number = unit.number * _MOST + seat
        bits = self._stream.draw(number)
        life, closes = (unit.life, None) if seat == 0 else self._own_life(unit.life, bits)
        sites: list[Site] = []
        for spell in unit.spells:
            first = max(spell.first, life.first)
            until = spell.until if life.until is None else min(spell.until or life.until, life.until)
            if until is not None and first >= until:
                continue
            site = self._site(unit, seat, spell, bits)._replace(first=first, until=until)
            if sites and sites[-1][2:] == site[2:]:
                sites[-1] = sites[-1]._replace(until=until)
            else:
                sites.append(site)
        if self._plan.years and unit.number:
            sites = self._hand_over(unit, number, sites)
        return Establishment(tax_ident(9, self._made), life.birth, closes or unit.life.until, bits, sites)

    def _own_life(self, owner: Life, bits: int) -> tuple[Life, int | None]:
        """Opened some time after its owner was founded; of those that opened long ago, some close again."""
        end = owner.until or self._end
        birth = owner.birth + (end - owner.birth) * (bits & 1023) // 1200
        first = max(owner.first, birth)
        days = end - first
        closes = (bits >> 10) & 1023 < shapes.CLOSES * self._plan.years and days > 60
        until = first + 30 + (days - 60) * ((bits >> 20) & 1023) // 1024 if closes else owner.until
        return Life(first, until, birth), until if closes else None

    def _site(self, unit: LegalUnit, seat: int, spell: Spell, bits: int) -> Site:
        employees = _share(spell.employees, seat, unit.establishments)
        # Of a unit that sits abroad, even the first one is in the country.
        place = BY_WEIGHT[(bits >> 30) & 16383]
        if seat == 0:
            place = spell.place or place
            return Site(0, None, unit.ident, spell.name, spell.activity, place, spell.street, employees)
        other = BY_KIND[spell.form.kind][mix(bits) & 16383]
        activity = spell.activity if bits >> 58 else other
        return Site(0, None, unit.ident, f"{spell.name} {place.name}", activity, place, bits >> 40, employees)

    def _hand_over(self, unit: LegalUnit, number: int, sites: list[Site]) -> list[Site]:
        """The same sites, those after a day with another owner, if the establishment changes hands."""
        bits = self._stream.draw(number, 1)
        if bits % 1000 >= shapes.CHANGES_HANDS * self._plan.years:
            return sites
        site = sites[(bits >> 10) % len(sites)]
        other = max(0, unit.number - 1 - (bits >> 20) % _REACH)
        life, last = self._owners.life(other), sites[-1].until
        if site.first <= sites[0].first or life.first > site.first:
            return sites
        if life.until is not None and (last is None or last > life.until):
            return sites
        owner = tax_ident(8, other)
        return [s if s.first < site.first else s._replace(owner=owner) for s in sites]


def _share(employees: int, seat: int, seats: int) -> int:
    """How many of a unit's employees are where: half of them at its seat, the others evenly elsewhere."""
    if seats == 1:
        return employees
    elsewhere = employees // 2 // (seats - 1)
    return elsewhere if seat else employees - elsewhere * (seats - 1)


class Informal:
    """Establishments of people who run no registered business; a survey found them."""

    def __init__(self, plan: Plan) -> None:
        self._stream = Stream(plan.seed, "informal")
        self._count = round(plan.legal_units * plan.informal)
        self._start, self._end = plan.valid_from.toordinal(), plan.end.toordinal()

    def __iter__(self) -> Iterator[Establishment]:
        for number in range(self._count):
            bits = self._stream.draw(number)
            activity = BY_KIND["person"][bits & 16383]
            trades = TRADES[section(activity)]
            name = f"{GIVEN[(bits >> 14) % len(GIVEN)]} {trades[(bits >> 22) % len(trades)]}"
            birth = self._end - 1 - (bits >> 30) % 3650
            more = mix(bits)
            place = BY_WEIGHT[more & 16383]
            employees = max(0, (more >> 14) % 6 - 2)
            site = Site(max(birth, self._start), None, "", name, activity, place, more >> 36, employees)
            yield Establishment(f"I{number + 1:08}", birth, None, more, [site])

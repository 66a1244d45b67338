"""Legal units: who they are, how long they live, and what changes while they do.

A legal unit is a function of its number. Its history is a list of spells, each with the state of the unit on all of its
days; the next one begins where it ends.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

from catchment_register.generate import shapes
from catchment_register.generate.activities import BY_KIND, section
from catchment_register.generate.mix import Stream, mix
from catchment_register.generate.places import BY_WEIGHT, Municipality, other_place
from catchment_register.generate.plan import Plan
from catchment_register.generate.shapes import Form
from catchment_register.generate.words import (
    COINED_HEADS,
    COINED_MIDDLES,
    COINED_TAILS,
    FAMILY,
    GIVEN,
    SOCIETIES,
    TRADES,
)

# Identifiers have nine digits and no order: a number times this, modulo a prime below 100,000,000.
_IDENT_PRIME = 99_999_989
_IDENT_STEP = 61_803_399
# Fields of a unit's draws; those of the years follow.
_FIRST_YEAR = 16


def tax_ident(leading: int, number: int) -> str:
    """An identifier of nine digits; different for different numbers up to the prime."""
    return str(leading * 100_000_000 + (number + 1) * _IDENT_STEP % _IDENT_PRIME)


class Life(NamedTuple):
    """First day, day after the last one or None, and day of birth, as ordinals."""

    first: int
    until: int | None
    birth: int


class Spell(NamedTuple):
    """The state of a legal unit from a day on, until a day or for good."""

    first: int
    until: int | None
    form: Form
    sector: str
    name: str
    activity: str
    place: Municipality | None
    street: int
    employees: int


@dataclass(frozen=True, slots=True)
class LegalUnit:
    """A legal unit with its spells, and the bits that decide about what does not change."""

    number: int
    ident: str
    life: Life
    establishments: int
    bits: int
    country: str
    spells: tuple[Spell, ...]


class LegalUnits:
    """The legal units of a plan."""

    def __init__(self, plan: Plan) -> None:
        self._stream = Stream(plan.seed, "legal_unit")
        self._plan = plan
        self._start = plan.valid_from.toordinal()
        self._end = plan.end.toordinal()
        # For each year the first days of its months.
        self._months = [
            [plan.valid_from.replace(year=plan.valid_from.year + n, month=m + 1).toordinal() for m in range(12)]
            for n in range(plan.years)
        ]
        self._owners = _owning_ranks(plan.establishments)

    def __iter__(self) -> Iterator[LegalUnit]:
        return (self.unit(number) for number in range(self._plan.legal_units))

    def form(self, number: int) -> Form:
        """The form that a unit begins with."""
        return shapes.FORM_TABLE[self._stream.draw(number) & 4095]

    def life(self, number: int) -> Life:
        """From when until when a unit is in the register."""
        return self._life(number, self._stream.draw(number))

    def _life(self, number: int, who: int) -> Life:
        rank = (who >> 24) & 0xFFFFF
        age = int(shapes.OLDEST_YEARS * 365 * (rank / 0x100000) ** shapes.AGE_POWER)
        birth = self._end - 1 - age
        until = None
        for year, months in enumerate(self._months):
            bits = self._stream.draw(number, _FIRST_YEAR + year)
            if birth < months[0] and bits % 1000 < shapes.DIES:
                until = months[0] + 1 + (bits >> 50) % 360
                break
        return Life(max(self._start, birth), until, birth)

    def unit(self, number: int) -> LegalUnit:
        who, where = self._stream.draw(number), self._stream.draw(number, 1)
        form = shapes.FORM_TABLE[who & 4095]
        life = self._life(number, who)
        employees = shapes.EMPLOYEES[form.code][(who >> 12) & 4095]
        is_abroad = form.abroad > 0 and (where & 255) < 256 * form.abroad
        place = None if is_abroad else BY_WEIGHT[(where >> 8) & 16383]
        activity = BY_KIND[form.kind][(where >> 22) & 16383]
        bits = self._stream.draw(number, 2)
        sector = shapes.SECTOR_TABLES[form.code][(who >> 44) & 1023]
        name = name_of(form, activity, place, bits)
        first = Spell(life.first, life.until, form, sector, name, activity, place, where >> 36, employees)
        return LegalUnit(
            number,
            tax_ident(8, number),
            life,
            self._count(employees, who >> 54, bits >> 54),
            bits,
            shapes.COUNTRIES[where & 255] if is_abroad else shapes.HOME,
            tuple(self._spells(number, first)),
        )

    def _count(self, employees: int, rank: int, extra_rank: int) -> int:
        """How many establishments a unit has."""
        idle, employing = self._owners
        owns = rank < (employing if employees else idle)
        return 1 + shapes.extra_establishments(employees, extra_rank) if owns else 0

    def _spells(self, number: int, spell: Spell) -> Iterator[Spell]:
        for year, months in enumerate(self._months):
            bits = self._stream.draw(number, _FIRST_YEAR + year)
            day = months[(bits >> 10) % 12]
            if day <= spell.first or (spell.until is not None and day >= spell.until):
                continue
            changed = _change(spell, mix(bits))
            if changed is not spell:
                yield spell._replace(until=day)
                spell = changed._replace(first=day)
        yield spell


def _owning_ranks(share: float) -> tuple[int, int]:
    """Below which rank of 1,024 a unit has establishments: one that employs nobody, and one that employs."""
    employing = shapes.EMPLOYING
    if share <= employing + shapes.MEAN_EXTRA:
        return 0, round(1024 * share / (employing + shapes.MEAN_EXTRA))
    return round(1024 * (share - shapes.MEAN_EXTRA - employing) / (1 - employing)), 1024


def _change(spell: Spell, bits: int) -> Spell:
    """What a year does to a unit; the same spell if nothing."""
    place, street, name, activity, employees = spell.place, spell.street, spell.name, spell.activity, spell.employees
    form, sector = spell.form, spell.sector
    if (bits & 1023) < shapes.TAKES_OTHER_FORM and form.code in shapes.AFTER:
        form = shapes.AFTER[form.code]
        sector = shapes.SECTOR_TABLES[form.code][0]
    if (bits >> 10) & 1023 < shapes.TAKES_OTHER_ACTIVITY:
        activity = BY_KIND[form.kind][mix(bits + 1) & 16383]
    if (bits >> 20) & 1023 < shapes.MOVES and place is not None:
        place, street = other_place(place, mix(bits + 2)), mix(bits + 3) >> 36
    if (bits >> 30) & 1023 < shapes.TAKES_OTHER_NAME or form is not spell.form:
        name = name_of(form, activity, place, mix(bits + 4))
    if employees and (bits >> 40) & 1023 < shapes.RESIZES:
        employees = max(1, round(employees * (70 + (bits >> 50) % 71) / 100) + (bits >> 57) % 3 - 1)
    if (form, name, activity, place, street, employees) == (
        spell.form, spell.name, spell.activity, spell.place, spell.street, spell.employees
    ):  # fmt: skip
        return spell
    return spell._replace(
        form=form, sector=sector, name=name, activity=activity, place=place, street=street, employees=employees
    )


def name_of(form: Form, activity: str, place: Municipality | None, bits: int) -> str:
    """A name that says what sort of unit it is, and mostly what it does."""
    trades = TRADES[section(activity)]
    trade = trades[bits % len(trades)]
    family = FAMILY[(bits >> 8) % len(FAMILY)]
    where = family if place is None else place.name
    if form.kind == "person":
        person = f"{GIVEN[(bits >> 16) % len(GIVEN)]} {family}"
        return person if bits & 0x80 else f"{person} {trade}"
    if form.kind == "society":
        name = f"{where} {SOCIETIES[(bits >> 16) % len(SOCIETIES)]}"
    elif form.kind == "public":
        name = f"{where} kommune {trade}"
    else:
        coined = (
            COINED_HEADS[(bits >> 16) % len(COINED_HEADS)]
            + COINED_MIDDLES[(bits >> 24) % len(COINED_MIDDLES)]
            + COINED_TAILS[(bits >> 32) % len(COINED_TAILS)]
        )
        name = f"{(coined, coined, family, where)[(bits >> 40) & 3]} {trade}"
    return f"{name} {form.suffix}" if form.suffix else name

"""Units as rows of files, in the columns that imports read without a mapping."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date

from catchment_register.generate import shapes
from catchment_register.generate.activities import BY_KIND
from catchment_register.generate.establishments import Establishment, Site
from catchment_register.generate.places import Municipality, postcode, street
from catchment_register.generate.relationships import Relationship, last_day
from catchment_register.generate.units import LegalUnit, Spell

Row = list[str]

PERIOD = ("valid_from", "valid_to")
_PHYSICAL = (
    "physical_address_part1",
    "physical_postcode",
    "physical_postplace",
    "physical_region_code",
    "physical_country_iso_2",
)
_POSTAL = ("postal_address_part1", "postal_postcode", "postal_postplace", "postal_country_iso_2")
_CONTACT = ("web_address", "email_address", "phone_number")
_STATISTICS = ("employees", "turnover")
LEGAL_UNIT = (
    "tax_ident", "name", "birth_date", "death_date", "legal_form_code", "sector_code", "status_code", "unit_size_code",
    "data_source_code", "primary_activity_category_code", "secondary_activity_category_code",
    *_PHYSICAL, *_POSTAL, *_CONTACT, *_STATISTICS,
)  # fmt: skip
ESTABLISHMENT = (
    "tax_ident", "legal_unit_tax_ident", "name", "birth_date", "death_date", "status_code", "unit_size_code",
    "data_source_code", "primary_activity_category_code", *_PHYSICAL, *_STATISTICS,
)  # fmt: skip
INFORMAL = (
    "stat_ident", "name", "birth_date", "sector_code", "status_code", "unit_size_code", "data_source_code",
    "primary_activity_category_code", *_PHYSICAL, *_STATISTICS,
)  # fmt: skip
RELATIONSHIP = ("influencing_tax_ident", "influenced_tax_ident", "rel_type_code", "percentage")
UPDATE = ("tax_ident", "turnover")

_NOTHING = ["", "", "", ""]


def legal_unit_rows(unit: LegalUnit, has_dates: bool) -> Iterator[Row]:
    bits = unit.bits
    birth = date.fromordinal(unit.life.birth).isoformat()
    death = last_day(unit.life.until) if unit.life.until is not None else ""
    status = shapes.STATUS_TABLE[bits & 255]
    source = shapes.DATA_SOURCES[(bits >> 8) & 255]
    second = BY_KIND[unit.spells[0].form.kind][(bits >> 16) & 16383] if (bits >> 40) % 5 == 0 else ""
    for spell in unit.spells:
        row = [unit.ident, spell.name, birth, death if spell.until == unit.life.until else "", spell.form.code]
        row += [spell.sector, status, shapes.unit_size(spell.employees), source, spell.activity]
        row += ["" if second == spell.activity else second]
        row += _physical(spell.place, spell.street, unit.country)
        row += _postal(spell.place, bits)
        row += _contact(unit.ident, bits) if (bits >> 30) % 100 < 15 else _NOTHING[:3]
        # Employees are counted where they work.
        row += ["" if unit.establishments else str(spell.employees or ""), turnover(spell.employees, bits)]
        yield [*row, *_period(spell)] if has_dates else row


def establishment_rows(made: Establishment, has_dates: bool, *, is_informal: bool = False) -> Iterator[Row]:
    bits = made.bits
    birth = date.fromordinal(made.birth).isoformat()
    status = shapes.STATUS_TABLE[(bits >> 48) & 255]
    for site in made.sites:
        coded = [status, shapes.unit_size(site.employees), "census" if is_informal else "brreg", site.activity]
        if is_informal:
            row = [made.ident, site.name, birth, "8200", *coded]
        else:
            death = last_day(made.death) if made.death is not None and site.until == made.death else ""
            row = [made.ident, site.owner, site.name, birth, death, *coded]
        row += _physical(site.place, site.street, shapes.HOME)
        row += [str(site.employees or ""), turnover(site.employees, bits) if is_informal else ""]
        yield [*row, *_period(site)] if has_dates else row


def relationship_row(tie: Relationship, has_dates: bool) -> Row:
    row = [tie.influencing, tie.influenced, tie.type, str(tie.percentage)]
    return [*row, date.fromordinal(tie.first).isoformat(), last_day(tie.until)] if has_dates else row


def turnover(employees: int, bits: int) -> str:
    """In thousands; a third of those who employ nobody have none."""
    rank = (bits >> 20) & 1023
    if not employees:
        return "" if rank < 341 else str(shapes.TURNOVER[rank] // 3)
    return str(employees * shapes.TURNOVER[rank])


def _period(spell: Spell | Site) -> tuple[str, str]:
    return date.fromordinal(spell.first).isoformat(), last_day(spell.until)


def _physical(place: Municipality | None, where: int, country: str) -> Row:
    if place is None:
        return [street(where), "", "", "", country]
    return [street(where), postcode(place, where), place.name, place.code, country]


def _postal(place: Municipality | None, bits: int) -> Row:
    """A box at a post office, for one of four."""
    if place is None or (bits >> 36) & 3:
        return _NOTHING
    return [f"Postboks {1 + (bits >> 38) % 900}", postcode(place, bits >> 38), place.name, shapes.HOME]


def _contact(ident: str, bits: int) -> Row:
    return [f"www.e{ident}.example", f"post@e{ident}.example", f"{20000000 + (bits >> 24) % 79999999}"]

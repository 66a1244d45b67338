"""Where the time of a unit is cut."""

from __future__ import annotations

from datetime import date

import pytest

from tests.fixtures.often import some
from tests.fixtures.register_driver import Register
from tests.register.unit_support import assert_right, derive, rows_of, without_reports


@pytest.fixture
def units(reg: Register) -> Register:
    return without_reports(reg)


def cuts(reg: Register, unit_type: str, unit_id: int) -> list[str]:
    """The stretches of a unit, as text; an open end as nothing."""
    rows = rows_of(reg, unit_type, unit_id)
    ends = ("" if r["valid_until"] == date.max else str(r["valid_until"]) for r in rows)
    return [f"{r['valid_from']}..{end}" for r, end in zip(rows, ends, strict=True)]


def test_a_unit_without_details_has_its_slices(units: Register) -> None:
    unit = units.lu("1", "2020-01-01", "2021-01-01")
    units.lu("1", "2021-01-01", name="Other")
    derive(units)
    assert cuts(units, "legal_unit", unit) == ["2020-01-01..2021-01-01", "2021-01-01.."]
    assert_right(units)


@pytest.mark.parametrize(
    "detail",
    some(
        [
            {"activity": "A.01.1"},
            {"secondary": "A.01.1"},
            {"region": "03.01"},
            {"postal": "Street 1"},
            {"email": "a@b.no"},
            {"employees": 3},
        ],
        one_in=3,
    ),
    ids=lambda d: next(iter(d)),
)
def test_a_detail_cuts_at_its_start_and_its_end(units: Register, detail: dict[str, str]) -> None:
    unit = units.lu("1", "2020-01-01")
    units.details("1", "2020-05-01", "2020-08-01", **detail)
    derive(units)
    three = ["2020-01-01..2020-05-01", "2020-05-01..2020-08-01", "2020-08-01.."]
    assert cuts(units, "legal_unit", unit) == three
    assert cuts(units, "enterprise", units.enterprise_of("1")) == three
    assert_right(units)


def test_a_person_cuts_though_nothing_shows(units: Register) -> None:
    unit = units.informal("1", "2020-01-01")
    person = units.insert("person", family_name="Moe")["id"]
    units.insert("person_for_unit", establishment_id=unit, person_id=person, valid_from="2020-03-01")
    derive(units)
    assert cuts(units, "establishment", unit) == ["2020-01-01..2020-03-01", "2020-03-01.."]
    assert_right(units)


def test_an_establishment_cuts_its_legal_unit_while_it_belongs_to_it(units: Register) -> None:
    one, two = units.lu("1", "2020-01-01"), units.lu("2", "2020-01-01")
    place = units.es("e", "1", "2020-03-01", "2021-01-01")
    units.es("e", "2", "2021-01-01")
    units.stat("e", "employees", 5, "2020-06-01", "2020-07-01")
    units.stat("e", "employees", 6, "2021-06-01")
    derive(units)
    assert cuts(units, "establishment", place)[-1] == "2021-06-01.."
    assert cuts(units, "legal_unit", one) == [
        "2020-01-01..2020-03-01",
        "2020-03-01..2020-06-01",
        "2020-06-01..2020-07-01",
        "2020-07-01..2021-01-01",
        "2021-01-01..",
    ]
    assert cuts(units, "legal_unit", two) == ["2020-01-01..2021-01-01", "2021-01-01..2021-06-01", "2021-06-01.."]
    assert_right(units)


def test_where_a_unit_does_not_exist_there_is_no_row(units: Register) -> None:
    unit = units.lu("1", "2020-01-01", "2020-06-01")
    units.lu("1", "2021-01-01", "2021-06-01")
    derive(units)
    there = ["2020-01-01..2020-06-01", "2021-01-01..2021-06-01"]
    assert cuts(units, "legal_unit", unit) == there
    assert cuts(units, "enterprise", units.enterprise_of("1")) == there
    assert_right(units)


def test_a_single_day_is_a_row(units: Register) -> None:
    unit = units.lu("1", "2020-01-31", "2020-02-01")
    derive(units)
    (row,) = rows_of(units, "legal_unit", unit)
    assert (row["valid_from"], row["valid_to"]) == (date(2020, 1, 31), date(2020, 1, 31))
    assert_right(units)


def test_a_moved_legal_unit_cuts_each_enterprise_only_while_it_belongs_there(units: Register) -> None:
    units.lu("1", "2020-01-01", "2021-01-01")
    old = units.enterprise_of("1")
    units.lu("2", "2020-01-01")
    new = units.enterprise_of("2")
    units.lu("1", "2021-01-01", enterprise=new, primary=False)
    units.stat("1", "employees", 1, "2020-05-01")
    units.stat("1", "turnover", 1.5, "2021-05-01")
    derive(units)
    assert cuts(units, "enterprise", old) == ["2020-01-01..2020-05-01", "2020-05-01..2021-01-01"]
    assert cuts(units, "enterprise", new) == ["2020-01-01..2021-01-01", "2021-01-01..2021-05-01", "2021-05-01.."]
    assert_right(units)


def test_a_power_group_is_cut_by_its_relationships_and_its_units(units: Register) -> None:
    for ident in ("1", "2", "3"):
        units.lu(ident, "2020-01-01", employees=1)
    units.relate("1", "2", "2020-03-01")
    units.relate("2", "3", "2020-06-01", "2021-01-01")
    units.stat("1", "turnover", 1, "2020-04-01")
    derive(units)
    group = units.value("select id from register.power_group")
    assert cuts(units, "power_group", group) == [
        "2020-03-01..2020-04-01",
        "2020-04-01..2020-06-01",
        "2020-06-01..2021-01-01",
        "2021-01-01..",
    ]
    assert [len(r["related_legal_unit_ids"]) for r in rows_of(units, "power_group", group)] == [2, 2, 3, 2]
    assert_right(units)

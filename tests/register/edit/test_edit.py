"""Edits: the words of import files, codes instead of ids, changes for a part of a unit's time."""

from __future__ import annotations

from datetime import date
from typing import Any

import pytest
from psycopg.types.json import Jsonb

from tests.fixtures.register_driver import Register, RegisterDatabase
from tests.register.support import meet, message, refused


def edit(
    reg: Register, ident: str, valid_from: str = "2021-01-01", valid_until: str = "infinity", **changes: Any
) -> None:
    owner, unit = reg.unit(ident)
    reg.value(
        "select register.edit_unit(%s, %s, %s, %s, %s, 'why')",
        owner.removesuffix("_id"),
        unit,
        Jsonb(changes),
        valid_from,
        valid_until,
    )


def slices(reg: Register, table: str, *columns: str) -> list[tuple[Any, ...]]:
    found = reg.rows(f"select * from register.{table} order by valid_from")
    return [(r["valid_from"].year, *(r[c] for c in columns)) for r in found]


def test_a_unit_is_changed_for_a_part_of_its_time(reg: Register) -> None:
    reg.lu("1", "2020-01-01", name="Old", legal_form="AS")
    edit(reg, "1", "2021-01-01", "2022-01-01", name="New", legal_form_code="ENK", death_date="2021-12-31")
    assert slices(reg, "legal_unit", "name", "death_date") == [
        (2020, "Old", None),
        (2021, "New", date(2021, 12, 31)),
        (2022, "Old", None),
    ]
    changed = reg.rows("select * from register.legal_unit where name = 'New'")[0]
    assert changed["edit_comment"] == "why"
    assert changed["legal_form_id"] == reg.code("legal_form", "ENK")


def test_details_are_made_changed_and_taken_away(reg: Register) -> None:
    reg.lu("1", "2020-01-01", activity="A.01.1", region="03.01", email="old@example.org", employees=1)
    edit(
        reg,
        "1",
        employees="12",
        turnover="0.5",
        primary_activity_category_code="47.52",
        secondary_activity_category_code="62.01",
        physical_region_code="4626",
        postal_address_part1="Box 1",
        web_address="www",
    )
    assert [
        r["value_int"] for r in reg.rows("select * from register.stat_for_unit order by valid_from") if r["value_int"]
    ] == [1, 12]
    assert reg.value("select count(*) from register.activity") == 3
    assert reg.value("select count(*) from register.location where type = 'postal' and valid_from = '2021-01-01'") == 1
    assert slices(reg, "contact", "email_address", "web_address") == [
        (2020, "old@example.org", None),
        (2021, "old@example.org", "www"),
    ]
    edit(
        reg,
        "1",
        "2022-01-01",
        employees="",
        primary_activity_category_code="",
        email_address="",
        web_address="",
        physical_region_code="",
        postal_address_part1="",
    )
    assert reg.value("select max(valid_until) from register.stat_for_unit where value_int is not null") == date(
        2022, 1, 1
    )
    assert reg.value("select max(valid_until) from register.activity where type = 'primary'") == date(2022, 1, 1)
    assert reg.value("select max(valid_until) from register.contact") == date(2022, 1, 1)
    assert reg.value("select max(valid_until) from register.location") == date(2022, 1, 1)
    reg.check()


def test_one_of_several_columns_of_a_detail_can_be_cleared(reg: Register) -> None:
    unit = reg.lu("1", "2020-01-01")
    reg.insert("contact", legal_unit_id=unit, valid_from="2020-01-01", web_address="www", email_address="x")
    edit(reg, "1", email_address="")
    assert slices(reg, "contact", "web_address", "email_address") == [(2020, "www", "x"), (2021, "www", None)]


def test_identifiers_and_tags_have_no_dates(reg: Register) -> None:
    reg.lu("1", "2020-01-01")
    reg.lu("2", "2020-01-01")
    edit(reg, "1", stat_ident="77", tag_path="watch")
    edit(reg, "1", stat_ident="78", tag_path="watch.large")
    found = reg.rows(
        "select ident from register.external_ident where legal_unit_id = %s order by ident", reg.unit_id("1")
    )
    assert [r["ident"] for r in found] == ["1", "78"]
    with refused(reg, "RG008") as caught:
        edit(reg, "2", stat_ident="78")
    assert message(caught) == "another unit has the stat_ident 78"
    edit(reg, "1", stat_ident="", tag_path="")
    assert reg.value("select count(*) from register.external_ident") == 2
    assert reg.value("select count(*) from register.tag_for_unit") == 0


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"colour": "red"}, "legal_unit has no colour"),
        ({"sector_code": "1"}, "there is no sector 1"),
        ({"employees": "many"}, "employees = many is not a value of type int"),
        ({"birth_date": "30.02.2021"}, "birth_date = 30.02.2021 is not a day"),
        ({"name": ""}, "a unit always has a name and a status"),
        ({"physical_country_iso_2": "XX", "name": "New"}, "there is no country XX"),
        ({"short_name": "x" * 17}, "short_name is longer than 16 characters"),
    ],
)
def test_what_is_not_understood_is_named_and_nothing_happens(reg: Register, changes: Any, says: str) -> None:
    reg.lu("1", "2020-01-01", name="Old")
    before = reg.rows("select *, xmin::text from register.legal_unit")
    with refused(reg, "RG008", "RG004", "RG017") as caught:
        edit(reg, "1", **changes)
    assert message(caught) == says
    assert reg.rows("select *, xmin::text from register.legal_unit") == before


def test_a_unit_is_edited_only_where_it_is(reg: Register) -> None:
    reg.lu("1", "2020-01-01", "2022-01-01")
    edit(reg, "1", "2021-01-01", employees="3")
    assert slices(reg, "stat_for_unit", "valid_until") == [(2021, date(2022, 1, 1))]
    with refused(reg, "RG008") as caught:
        edit(reg, "1", "2023-01-01", name="New")
    assert "is not there from 2023-01-01 until infinity" in message(caught)


def test_without_a_day_an_edit_holds_from_today(reg: Register) -> None:
    reg.lu("1", "2020-01-01", name="Old")
    reg.value("select register.edit_unit('legal_unit', %s, '{\"name\": \"New\"}')", reg.unit_id("1"))
    assert [s[0] for s in slices(reg, "legal_unit")] == [2020, 2026]


def test_an_enterprise_and_a_power_group_have_names_alone(reg: Register) -> None:
    reg.lu("1", "2020-01-01")
    enterprise = reg.enterprise_of("1")
    group = reg.insert("power_group", ident="PG0001")["id"]
    reg.value('select register.edit_unit(\'enterprise\', %s, \'{"short_name": "E", "tax_ident": "9"}\')', enterprise)
    reg.value("select register.edit_unit('power_group', %s, '{\"name\": \"P\"}')", group)
    assert reg.value("select short_name from register.enterprise where id = %s", enterprise) == "E"
    assert reg.value("select name from register.power_group") == "P"
    assert reg.unit("9") == ("enterprise_id", enterprise)
    with refused(reg, "RG008"):
        reg.value("select register.edit_unit('enterprise', %s, '{\"name\": \"E\"}')", enterprise)


@pytest.mark.parametrize("text", ["1", "tax_ident:1", "legal_unit/{}"])
def test_a_unit_is_found_by_what_people_write(reg: Register, text: str) -> None:
    unit = reg.lu("1", "2020-01-01")
    assert reg.rows("select * from register.find_unit(%s)", text.format(unit)) == [
        {"unit_type": "legal_unit", "unit_id": unit}
    ]


def test_an_ambiguous_unit_is_refused(reg: Register) -> None:
    reg.lu("1", "2020-01-01")
    reg.lu(
        "2",
        "2020-01-01",
    )
    edit(reg, "2", stat_ident="1")
    for text, says in (
        ("1", "2 units have the identifier 1"),
        ("3", "there is no unit 3"),
        ("legal_unit/0", "there is no legal_unit 0"),
    ):
        with refused(reg, "RG024") as caught:
            reg.value("select register.find_unit(%s)", text)
        assert message(caught) == says


def test_a_unit_that_ends_takes_what_belongs_to_it_along(reg: Register) -> None:
    reg.lu("1", "2020-01-01", activity="A.01.1", employees=1)
    reg.lu("2", "2020-01-01")
    reg.relate("1", "2", "2020-01-01")
    reg.es("11", "1", "2020-01-01", employees=2, region="03.01")
    reg.es("12", "1", "2023-01-01", primary=False)
    reg.es("13", "1", "2020-01-01", "2022-06-01", primary=False)
    reg.es("13", "2", "2022-06-01", employees=5)
    reg.value("select register.end_unit('legal_unit', %s, '2022-01-01')", reg.unit_id("1"))
    ends = {
        t: reg.value(f"select max(valid_until) from register.{t} where legal_unit_id = %s", reg.unit_id("1"))
        for t in ("activity", "stat_for_unit", "establishment")
    }
    assert set(ends.values()) == {date(2022, 1, 1)}
    assert reg.value("select valid_until from register.legal_relationship") == date(2022, 1, 1)
    assert reg.value("select count(*) from register.establishment where id = %s", reg.unit_id("13")) == 2
    assert reg.value("select count(*) from register.external_ident where ident = '12'") == 0
    reg.check()
    with refused(reg, "RG008") as caught:
        reg.value("select register.end_unit('legal_unit', %s, '2020-01-01')", reg.unit_id("1"))
    assert "nothing would be left" in message(caught)


def test_a_deleted_unit_leaves_nothing_and_takes_its_empty_enterprise(reg: Register) -> None:
    unit = reg.lu("1", "2020-01-01", activity="A.01.1", employees=1, email="x")
    reg.es("11", "1", "2020-01-01", employees=1)
    with refused(reg, "RG003"):
        reg.value("select register.delete_unit('legal_unit', %s)", unit)
    reg.value("select register.delete_unit('establishment', %s)", reg.unit_id("11"))
    reg.value("select register.delete_unit('legal_unit', %s)", unit)
    for table in (
        "legal_unit",
        "establishment",
        "enterprise",
        "activity",
        "stat_for_unit",
        "contact",
        "external_ident",
    ):
        assert reg.value(f"select count(*) from register.{table}") == 0


def test_relationships_are_made_changed_and_ended(reg: Register) -> None:
    a, b = reg.lu("1", "2020-01-01"), reg.lu("2", "2020-01-01")
    reg.value("select register.relate(%s, %s, 'ownership', 60, '2020-01-01')", a, b)
    reg.value("select register.relate(%s, %s, 'ownership', 70, '2021-01-01')", a, b)
    assert slices(reg, "legal_relationship", "percentage") == [(2020, 60), (2021, 70)]
    reg.value("select register.unrelate(%s, %s, null, '2022-01-01')", a, b)
    assert reg.value("select max(valid_until) from register.legal_relationship") == date(2022, 1, 1)
    with refused(reg, "RG008"):
        reg.value("select register.unrelate(%s, %s, 'ownership', '2022-01-01')", a, b)
    for call in ("'ownership', 0", "'ownership', 101", "'love', 5"):
        with refused(reg, "RG017", "RG004"):
            reg.value(f"select register.relate(%s, %s, {call})", a, b)


def test_an_edit_is_logged_once_for_what_it_changed(reg: Register) -> None:
    unit = reg.lu("1", "2020-01-01", employees=1)
    reg.forget_log()
    edit(reg, "1", employees="2")
    logged = reg.log()
    assert {r["legal_unit_ids"] for r in logged} == {f"{{[{unit},{unit + 1})}}"}
    assert reg.pending() == 1


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ('{"email_address": "x"}', '{"web_address": "y"}'),
        ('{"name": "A"}', '{"short_name": "B"}'),
        ('{"employees": "1"}', '{"employees": "2"}'),
    ],
)
def test_two_edits_of_a_unit_at_the_same_moment_both_hold(reg_db: RegisterDatabase, first: str, second: str) -> None:
    unit = reg_db.lu("1", "2020-01-01")
    call = f"select register.edit_unit('legal_unit', {unit}, '{{}}', '2021-01-01')"
    assert meet(reg_db, call.replace("{}", first), call.replace("{}", second)) is None
    found = reg_db.rows(
        "select c.email_address, c.web_address, l.name, l.short_name, s.value_int from register.legal_unit as l"
        " left join register.contact as c on c.legal_unit_id = l.id"
        " left join register.stat_for_unit as s on s.legal_unit_id = l.id order by l.valid_from desc"
    )[0]
    stored = {"email_address": "x", "web_address": "y", "name": "A", "short_name": "B", "value_int": 2}
    assert {k: v for k, v in found.items() if v is not None and v != "Unit 1"} == {
        k: v for k, v in stored.items() if k in first + second or (k == "value_int" and "employees" in first)
    }

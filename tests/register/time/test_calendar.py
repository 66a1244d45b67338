"""Days and times are in the years 1 to 9999, which every tool can read; an open end is ``infinity`` alone."""

from __future__ import annotations

from datetime import date
from typing import Any

import pytest

from tests.fixtures.often import often, some, some_rows
from tests.fixtures.register_driver import Register
from tests.register.agreement import assert_agreement
from tests.register.support import message, refused

OUTSIDE = ("0044-03-15 BC", "0001-12-31 BC", "10000-01-01", "20000-01-01", "-infinity", "infinity")
FROM = {"valid_from": date(2020, 1, 1)}

WRITABLE = """
select c.relname as table, a.attname as column, t.typname as type
  from pg_class as c
  join pg_attribute as a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
  join pg_type as t on t.oid = a.atttypid
 where c.relnamespace = 'register'::regnamespace
   and c.relkind = 'r'
   and has_table_privilege('register_edit', c.oid, 'update')
   and t.typname in ('date', 'timestamp', 'timestamptz', 'daterange', 'datemultirange', 'tstzrange')
 order by c.relname, a.attname
"""


@pytest.fixture
def full(reg: Register) -> Register:
    """A row in each table that has days or times and that an editor may write."""
    unit = reg.lu("1", "2020-01-01", activity="A.01.1", region="46.26", email="x", employees=1)
    reg.es("11", "1", "2020-01-01")
    reg.lu("2", "2020-01-01")
    reg.relate("1", "2", "2020-01-01")
    reg.insert("tag_for_unit", tag_id=reg.code("tag", "watch"), legal_unit_id=unit)
    reg.insert("unit_notes", notes="x", legal_unit_id=unit)
    person = reg.insert("person", family_name="Berg")["id"]
    reg.insert("person_for_unit", person_id=person, legal_unit_id=unit, valid_from="2020-01-01")
    group = reg.insert("power_group", ident="PG0001")["id"]
    reg.insert("power_root", power_group_id=group, valid_from="2020-01-01")
    return reg


def test_every_day_and_time_that_an_editor_may_write_is_in_the_calendar(full: Register) -> None:
    columns = full.rows(WRITABLE)
    assert {"settings", "legal_unit", "person", "power_root", "unit_notes"} <= {c["table"] for c in columns}
    for found in columns:
        table, column = found["table"], found["column"]
        assert full.value(f"select count(*) from register.{table}") > 0, table
        for wrong in OUTSIDE:
            if (column, wrong) == ("valid_until", "infinity"):
                continue
            with refused(full, "23514") as caught:
                full.conn.execute(f"update register.{table} set {column} = %s", [wrong])
            name = caught.value.diag.constraint_name
            if column == "valid_until" and name == f"{table}_valid":
                continue  # An end before the calendar is before the start as well.
            says = "settings_today_is_a_day" if table == "settings" else f"{table}_in_years_1_to_9999"
            assert name == says, (table, column, wrong)


def test_the_day_that_tools_read_as_an_open_end_begins_and_ends_nothing(reg: Register) -> None:
    for first, until in (("2020-01-01", "9999-12-31"), ("9999-12-31", "infinity")):
        with refused(reg, "23514") as caught:
            reg.lu("1", first, until)
        assert caught.value.diag.constraint_name == "legal_unit_in_years_1_to_9999"


@pytest.mark.long
def test_the_first_and_the_last_days_are_derived_and_read(reg: Register) -> None:
    reg.lu("1", "0001-01-01", birth_date="0001-01-01", death_date="9999-12-31", edit_at="0001-01-02 00:00+00")
    reg.lu("2", "2020-01-01", "9999-12-30", employees=3, edit_at="9999-12-30 23:59+00")
    reg.details("2", "2020-01-01", "9999-12-29", email="x")
    reg.lu("3", "9999-12-30", region="46.26")
    reg.derive()
    assert_agreement(reg)
    for zone in ("Pacific/Kiritimati", "Etc/GMT+12"):
        reg.conn.execute(f"set local timezone = '{zone}'")
        read = reg.rows("select valid_from, valid_until, birth_date, last_edit_at from register.statistical_unit")
        assert {r["valid_from"] for r in read} >= {date(1, 1, 1), date(9999, 12, 29), date(9999, 12, 30)}


@pytest.mark.parametrize("today", ["0044-03-15 BC", "0999-12-31", "9999-01-01", "10000-01-01"])
def test_a_round_has_a_today_whose_periods_are_in_the_calendar(reg: Register, today: str) -> None:
    reg.lu("1", "0001-01-01")
    with refused(reg, "23514"):
        reg.today(today)
    with refused(reg, "23514"):
        reg.conn.execute(f"set local register.today = '{today}'")
        reg.value("select register.derive_now('all')")


@pytest.mark.long
@pytest.mark.parametrize("today", often("9998-12-31", now_and_then=["1000-01-01"]))
def test_reports_of_the_first_and_the_last_today_agree(reg: Register, today: str) -> None:
    reg.lu("1", "0001-01-01", employees=1)
    reg.lu("2", "9998-12-01", employees=2)
    reg.today(today)
    reg.derive()
    assert_agreement(reg)


@pytest.mark.parametrize(
    ("first", "last", "errors"),
    some_rows(
        [
            ("0044-03-15 BC", "", {"valid_from": "0044-03-15 BC is not a day"}),
            ("0000-01-01", "", {"valid_from": "0000-01-01 is not a day"}),
            ("20000-01-01", "", {"valid_from": "20000-01-01 is not a day"}),
            ("9999-12-31", "", {"valid_from": "9999-12-31 is too late"}),
            ("2020-01-01", "20000-01-01", {"valid_to": "20000-01-01 is not a day"}),
            ("2020-01-01", "0044-03-15 BC", {"valid_to": "0044-03-15 BC is not a day"}),
            *(
                ("2020-01-01", last, {"valid_to": f"{last} is too late: leave it empty for an open end"})
                for last in ("31.12.9999", "9999-12-30")
            ),
            ("-infinity", "", {"valid_from": "-infinity is not a day"}),
        ],
        one_in=3,
    ),
)
def test_a_row_outside_the_calendar_is_reported_and_the_file_goes_on(
    reg: Register, first: str, last: str, errors: dict[str, str]
) -> None:
    rows = [
        {"tax_ident": "1", "name": "a", "valid_from": first, "valid_to": last},
        {"tax_ident": "2", "name": "b", "valid_from": "2020-01-01", "valid_to": ""},
    ]
    job = reg.import_rows("legal_unit", rows)
    assert reg.import_errors(job) == {1: errors}
    assert reg.job(job)["state"] == "finished"
    assert [r["name"] for r in reg.rows("select name from register.legal_unit")] == ["b"]


@pytest.mark.parametrize("column", some(["birth_date", "death_date"], one_in=3))
@pytest.mark.parametrize("day", ["0044-03-15 BC", "0000-12-31", "20000-01-01", "-infinity", "infinity"])
def test_a_birth_or_a_death_outside_the_calendar_is_reported(reg: Register, column: str, day: str) -> None:
    rows = [{"tax_ident": "1", "name": "a", column: day}, {"tax_ident": "2", "name": "b"}]
    job = reg.import_rows("legal_unit", rows, **FROM)
    assert reg.import_errors(job) == {1: {column: f"{day} is not a day"}}
    assert reg.value("select name from register.legal_unit") == "b"
    with refused(reg, "RG017") as caught:
        reg.value(
            "select register.edit_unit('legal_unit', %s, jsonb_build_object(%s::text, %s::text))",
            reg.unit_id("2"),
            column,
            day,
        )
    assert message(caught) == f"{column} = {day} is not a day"


TOO_FAR: list[tuple[str, str, str]] = [
    ("0044-03-15 BC", "infinity", "0044-03-15 BC"),
    ("20000-01-01", "infinity", "20000-01-01"),
    ("9999-12-31", "infinity", "9999-12-31"),
    ("2020-01-01", "10000-01-01", "10000-01-01"),
    ("2020-01-01", "9999-12-31", "9999-12-31"),
]


@pytest.mark.parametrize(("first", "until", "says"), some_rows(TOO_FAR, one_in=5))
@pytest.mark.parametrize(
    "call",
    [
        "edit_unit('legal_unit', {unit}, '{{\"name\": \"x\"}}', {first}, {until})",
        "edit_unit('legal_unit', {unit}, '{{\"tax_ident\": \"9\"}}', {first}, {until})",
        "edit_unit('legal_unit', {unit}, '{{\"employees\": \"\"}}', {first}, {until})",
        "edit_unit('enterprise', {home}, '{{\"short_name\": \"x\"}}', {first}, {until})",
        "connect_legal_unit({unit}, null, {first}, {until})",
        "set_primary('legal_unit', {unit}, {first}, {until})",
        "relate({unit}, {other}, 'ownership', 5, {first}, {until})",
        "unrelate({unit}, {other}, null, {first}, {until})",
        "create_import_job('legal_unit_job_dates', null, {first}, {until})",
    ],
)
def test_a_period_outside_the_calendar_is_refused(full: Register, call: str, first: str, until: str, says: str) -> None:
    names = {"unit": full.unit_id("1"), "other": full.unit_id("2"), "home": full.enterprise_of("1")}
    days = {"first": f"date '{first}'", "until": f"date '{until}'"}
    with refused(full, "RG022") as caught:
        full.value("select register." + call.format(**names, **days))
    assert message(caught) == f"{says} is outside of 0001-01-01 to 9999-12-30"
    assert caught.value.diag.message_hint == "Use infinity for an open end."


@pytest.mark.parametrize("day", ["0044-03-15 BC", "10000-01-01", "9999-12-31"])
def test_a_unit_does_not_end_outside_the_calendar(reg: Register, day: str) -> None:
    unit = reg.lu("1", "2020-01-01")
    with refused(reg, "RG022") as caught:
        reg.value("select register.end_unit('legal_unit', %s, %s)", unit, day)
    assert message(caught) == f"{day} is outside of 0001-01-01 to 9999-12-30"


def test_an_edit_of_all_time_is_of_the_time_of_the_unit(reg: Register) -> None:
    unit = reg.lu("1", "2020-01-01")
    reg.value("select register.edit_unit('legal_unit', %s, '{\"name\": \"New\"}', '-infinity')", unit)
    assert reg.rows("select name, valid_from from register.legal_unit") == [
        {"name": "New", "valid_from": date(2020, 1, 1)}
    ]


@pytest.mark.parametrize(("first", "until"), [("-infinity", "infinity"), ("2021-01-01", "2021-01-01")])
def test_a_relationship_has_a_first_day_and_a_time(full: Register, first: str, until: str) -> None:
    call: Any = "select register.relate(%s, %s, 'ownership', 5, %s, %s)"
    with refused(full, "RG022") as caught:
        full.value(call, full.unit_id("1"), full.unit_id("2"), first, until)
    assert message(caught) == f"nothing is valid from {first} until {until}"


def test_a_definition_keeps_its_jobs_for_a_time_in_the_calendar(reg: Register) -> None:
    for wrong in ("9000 years", "-1 day"):
        with refused(reg, "23514"):
            reg.conn.execute("update register.import_definition set retention = %s::interval", [wrong])

"""An edit and an import of one row are judged by the same rules."""

from __future__ import annotations

import re
from datetime import date
from typing import Any

import psycopg
import pytest
from psycopg.types.json import Jsonb

from tests.fixtures.often import some, some_rows
from tests.fixtures.register_driver import Register
from tests.fixtures.sql_files import FOLDERS, functions
from tests.register.support import message, refused

SINCE = date(2021, 1, 1)
GRANTS = FOLDERS["register"] / "grants" / "import.sql"


def imported(reg: Register, ident: str, cells: dict[str, Any]) -> str | None:
    """Why an import of a row refuses it, or warns; None if it takes all of it."""
    row = {"tax_ident": ident} | cells
    kind = "legal_unit" if reg.unit(ident)[0] == "legal_unit_id" else "establishment_formal"
    if kind == "establishment_formal":
        row |= {"legal_unit_tax_ident": "1"}
    job = reg.import_rows(kind, [row], strategy="update_only", valid_from=SINCE)
    told = reg.import_errors(job).get(1) or reg.import_warnings(job).get(1)
    return None if told is None else " ".join(told.values())


def edited(reg: Register, ident: str, cells: dict[str, Any]) -> str | None:
    """Why an edit is refused; None if it is not."""
    owner, unit = reg.unit(ident)
    try:
        with reg.conn.transaction():
            reg.value("select register.edit_unit(%s, %s, %s, %s)", owner.removesuffix("_id"), unit, Jsonb(cells), SINCE)
    except psycopg.Error as error:
        if error.sqlstate not in ("RG004", "RG008", "RG017", "RG018"):
            raise
        return error.diag.message_primary
    return None


@pytest.fixture
def units(reg: Register) -> Register:
    """Two legal units that are the same, each with an establishment."""
    for ident in "12":
        reg.lu(ident, "2020-01-01", birth_date="2019-05-01", region="03.01")
    reg.es("11", "1", "2020-01-01")
    reg.es("12", "1", "2020-01-01", primary=False)
    return reg


@pytest.mark.parametrize(
    ("cells", "says"),
    some_rows(
        [
            ({"birth_date": "2020-02-02", "death_date": "2020-02-01"}, "before the birth"),
            ({"death_date": "2019-04-30"}, "the death is before the birth"),
            ({"birth_date": "2020-02-30"}, "2020-02-30 is not a day"),
            ({"birth_date": "infinity"}, "infinity is not a day"),
            ({"name": "x" * 257}, "is longer than 256 characters"),
            ({"short_name": "x" * 17}, "16 characters"),
            ({"employees": " 1 2 "}, "1 2 is not a value of type int"),
            ({"employees": "many"}, "many is not a value of type int"),
            ({"turnover": "1,5"}, "1,5 is not a value of type float"),
            ({"physical_latitude": "91"}, "91 is no latitude"),
            ({"physical_longitude": "-181"}, "-181 is no longitude"),
            ({"physical_altitude": "1e9"}, "1e9 is no altitude"),
            (
                {"physical_country_iso_2": "SE", "physical_region_code": "0301"},
                "the region 0301 is given for the foreign country SE",
            ),
            ({"physical_country_iso_2": "SE"}, "the region 0301 is given for the foreign country SE"),
            ({"primary_activity_category_code": "00.1"}, "00.1"),
            ({"physical_region_code": "7777"}, "7777"),
            ({"physical_country_iso_2": "XX"}, "XX"),
            ({"sector_code": "x"}, "x"),
            ({"status_code": "x"}, "x"),
        ],
        one_in=2,
    ),
)
def test_what_an_import_does_not_take_an_edit_refuses(units: Register, cells: dict[str, Any], says: str) -> None:
    for told in (imported(units, "1", cells), edited(units, "2", cells)):
        assert told is not None
        assert says in told


@pytest.mark.parametrize(
    "cells",
    some(
        [
            {"primary_activity_category_code": "01.610"},
            {"primary_activity_category_code": "62"},
            {"secondary_activity_category_code": "J.62.0.1"},
            {"birth_date": "02.02.2020", "death_date": "2020-02-02"},
            {"physical_region_code": "4626"},
            {"postal_country_iso_2": "SE", "postal_postplace": "Stockholm"},
            {"employees": "12", "turnover": "1.5e3"},
            {"physical_latitude": "59.9", "physical_longitude": "10.7", "physical_altitude": "-3"},
            {"name": "x" * 256, "short_name": "x" * 16},
            {"employees": " 12\t", "turnover": " 1.5 ", "birth_date": " 2020-02-02 "},
            {"primary_activity_category_code": " 62.01 ", "physical_region_code": "\u00a04626 "},
        ],
        one_in=2,
    ),
)
def test_what_an_import_takes_an_edit_takes(units: Register, cells: dict[str, Any]) -> None:
    # The edit first: it must not live on what the import has added to a list.
    assert (edited(units, "2", cells), imported(units, "1", cells)) == (None, None)
    units.derive()
    columns = (
        "name, birth_date, death_date, primary_activity_category_path, secondary_activity_category_path,"
        " physical_region_path, postal_country_iso_2, physical_latitude, physical_altitude, stats"
    )
    one, two = (
        units.rows(
            f"select {columns} from register.statistical_unit"
            " where unit_type = 'legal_unit' and unit_id = %s and valid_until = 'infinity'",
            units.unit_id(ident),
        )
        for ident in "12"
    )
    assert [r | {"name": r["name"][-5:-1]} for r in one] == [r | {"name": r["name"][-5:-1]} for r in two]
    units.check()


@pytest.mark.parametrize(("word", "value"), [("sector_code", "2100"), ("legal_form_code", "AS")])
def test_an_establishment_of_a_legal_unit_has_neither_sector_nor_legal_form(
    units: Register, word: str, value: str
) -> None:
    assert imported(units, "11", {word: value}) is not None
    told = edited(units, "12", {word: value})
    assert told is not None
    assert "an establishment" in told


def test_a_region_goes_with_the_country_it_is_in(units: Register) -> None:
    assert edited(units, "1", {"physical_country_iso_2": "SE", "physical_region_code": ""}) is None
    with refused(units, "RG018") as caught:
        units.conn.execute("update register.location set region_id = %s", [units.code("region", "03.01")])
    assert message(caught) == "location: the region 0301 is given for the foreign country SE"


def test_every_rule_of_a_table_that_people_write_has_words(reg: Register) -> None:
    """So that nobody reads the name of a constraint."""
    rules = reg.rows(
        "select c.conname, c.conrelid::regclass::text as table from pg_constraint as c"
        " where c.contype = 'c' and c.conrelid in (select format('register.%%s', t.table_name)::regclass"
        " from register.temporal_table as t union all select 'register.external_ident'::regclass)"
        " and c.conrelid <> 'register.power_root'::regclass and register.refusal_text(c.conname) is null"
    )
    assert rules == []


@pytest.mark.parametrize("blank", ["   ", "\t", "\u00a0"])
def test_a_name_of_blanks_is_no_name(units: Register, blank: str) -> None:
    assert edited(units, "2", {"name": blank}) == "a unit always has a name and a status"


def test_names_of_power_groups_have_a_length(reg: Register) -> None:
    group = reg.insert("power_group", ident="PG0001")["id"]
    edit = "select register.edit_unit('power_group', %s, %s)"
    with refused(reg, "RG017") as caught:
        reg.conn.execute(edit, [group, Jsonb({"name": "x" * 257})])
    assert message(caught) == "name is longer than 256 characters"
    reg.conn.execute(edit, [group, Jsonb({"name": " Group "})])
    assert reg.value("select name from register.power_group") == "Group"
    reg.conn.execute(edit, [group, Jsonb({"name": "  "})])
    assert reg.value("select name from register.power_group") is None
    with refused(reg, "23514"):
        reg.conn.execute("update register.power_group set name = ''")


def test_a_percentage_that_rounds_to_nothing_is_refused_in_words(units: Register) -> None:
    one, two = (units.unit_id(ident) for ident in "12")
    for wrong in ("0.001", "100.01", "0"):
        with refused(units, "RG017") as caught:
            units.conn.execute("select register.relate(%s, %s, 'ownership', %s::numeric)", [one, two, wrong])
        assert message(caught) == f"{wrong} is no percentage: above 0, at most 100, of two decimals"


def test_every_function_that_edits_says_rules_of_tables_in_words() -> None:
    """What a rule of a table refuses carries no statement and no row."""
    granted = re.findall(
        r"register\.(\w+)\([a-z, ]+\)", GRANTS.read_text(encoding="utf-8").split("register.is_served")[1]
    )
    editing = {f.name: f for f in functions("register") if f.path.parent.name == "edit" and f.name in granted}
    assert len(editing) == 8
    assert {name for name, f in editing.items() if "refusal_text" not in f.body} == {"find_unit"}

"""How rows meet what is there, and what they are valid for."""

from __future__ import annotations

from datetime import date
from typing import Any

import pytest

from catchment_register.upload.mapping import Mapping
from tests.fixtures.register_driver import Register

Row = dict[str, Any]


def names(reg: Register) -> list[tuple[int, str, str | None]]:
    found = reg.rows("select valid_from, name, short_name from register.legal_unit order by id, valid_from")
    return [(r["valid_from"].year, r["name"], r["short_name"]) for r in found]


@pytest.mark.parametrize(
    ("strategy", "known", "unknown"),
    [
        ("insert_or_replace", "replaced", True),
        ("insert_or_update", "patched", True),
        ("insert_only", "the unit exists already", True),
        ("replace_only", "replaced", False),
        ("update_only", "patched", False),
    ],
)
def test_a_strategy_says_what_happens_to_known_and_to_unknown_units(
    reg: Register, strategy: str, known: str, unknown: bool
) -> None:
    reg.lu("1", "2020-01-01", name="Old", short_name="O", employees=1, email="x", activity="A.01.1")
    rows: list[Row] = [
        {"tax_ident": "1", "name": "New", "employees": "2", "email_address": ""},
        {"tax_ident": "2", "name": "Two"},
    ]
    job = reg.import_rows("legal_unit", rows, strategy=strategy, valid_from=date(2021, 1, 1))
    errors = reg.import_errors(job)
    after = {"replaced": [(2021, "New", None)], "patched": [(2021, "New", "O")]}.get(known, [])
    assert names(reg) == [(2020, "Old", "O"), *after, *([(2021, "Two", None)] if unknown else [])]
    assert errors.get(1) == ({"tax_ident": known} if not after else None)
    assert errors.get(2) == (None if unknown else {"tax_ident": "there is no such unit"})
    # What a row has no data for is left alone, whatever the strategy.
    assert reg.value("select count(*) from register.contact") == 1
    assert reg.value("select count(*) from register.activity") == 1
    assert reg.value("select count(*) from register.stat_for_unit where value_int = 2") == (1 if after else 0)
    reg.check()


def test_a_replaced_detail_is_replaced_as_a_whole_and_an_updated_one_is_patched(reg: Register) -> None:
    for ident in "12":
        unit = reg.lu(ident, "2020-01-01")
        reg.insert("contact", legal_unit_id=unit, valid_from="2020-01-01", web_address="w", email_address="e")
    for ident, strategy in (("1", "insert_or_replace"), ("2", "insert_or_update")):
        rows = [{"tax_ident": ident, "name": "n", "web_address": "new"}]
        reg.import_rows("legal_unit", rows, strategy=strategy, valid_from=date(2021, 1, 1))
    found = reg.rows(
        "select web_address, email_address from register.contact where valid_from = '2021-01-01' order by legal_unit_id"
    )
    assert found == [{"web_address": "new", "email_address": None}, {"web_address": "new", "email_address": "e"}]


def test_an_update_does_not_move_an_address_home(reg: Register) -> None:
    unit = reg.lu("1", "2020-01-01")
    sweden = reg.code("country", "SE", column="iso_2")
    reg.insert("location", legal_unit_id=unit, type="postal", valid_from="2020-01-01", country_id=sweden)
    rows = [{"tax_ident": "1", "postal_postcode": "12345"}]
    job = reg.import_rows("legal_unit", rows, strategy="update_only", valid_from=date(2021, 1, 1))
    assert (reg.import_errors(job), reg.import_warnings(job)) == ({}, {})
    assert reg.rows("select postcode, country_id from register.location order by valid_from") == [
        {"postcode": None, "country_id": sweden},
        {"postcode": "12345", "country_id": sweden},
    ]


@pytest.mark.parametrize("strategy", ["update_only", "insert_or_update"])
def test_an_update_of_an_address_keeps_its_country_where_there_is_no_home(reg: Register, strategy: str) -> None:
    reg.conn.execute("update register.settings set country_id = null")
    for ident in "123":
        reg.lu(ident, "2020-01-01")
    reg.details("1", "2020-01-01", region="03.01", postal="Box 1")
    reg.details("2", "2020-01-01", "2021-01-01", region="03.01")
    reg.es("11", "1", "2020-01-01", region="03.01")
    cells = {"physical_postcode": "0150", "postal_postcode": "0151"}
    rows = [{"tax_ident": ident, **cells} for ident in "123"]
    job = reg.import_rows("legal_unit", rows, strategy=strategy, valid_from=date(2021, 1, 1))
    needed = dict.fromkeys(("physical_country_iso_2", "postal_country_iso_2"), "an address needs a country")
    assert reg.import_errors(job) == {2: needed, 3: needed}
    rows = [{"tax_ident": "11", "physical_postcode": "0150"}]
    job = reg.import_rows("establishment_formal", rows, strategy=strategy, valid_from=date(2021, 1, 1))
    assert reg.import_errors(job) == {}
    home = reg.code("country", "NO", column="iso_2")
    assert reg.rows(
        "select postcode, country_id from register.location where valid_from > '2020-01-01' order by 1"
    ) == [{"postcode": postcode, "country_id": home} for postcode in ("0150", "0150", "0151")]


def test_an_update_needs_no_name_and_keeps_the_status(reg: Register) -> None:
    reg.lu("1", "2020-01-01", name="Old", status="passive")
    job = reg.import_rows(
        "legal_unit", [{"tax_ident": "1", "short_name": "S"}], strategy="update_only", valid_from=date(2021, 1, 1)
    )
    assert reg.import_errors(job) == {}
    assert names(reg) == [(2020, "Old", None), (2021, "Old", "S")]
    assert reg.value("select count(distinct status_id) from register.legal_unit") == 1


def test_a_file_that_says_nothing_new_changes_nothing(reg: Register) -> None:
    rows = [
        {"tax_ident": str(n), "name": f"U{n}", "employees": n, "physical_region_code": "0301", "web_address": "w"}
        for n in range(5)
    ]
    reg.import_rows("legal_unit", rows, valid_from=date(2020, 1, 1))
    tables = ("legal_unit", "stat_for_unit", "location", "contact", "external_ident", "enterprise")
    before = {t: reg.rows(f"select *, xmin::text from register.{t} as t order by t::text") for t in tables}
    reg.forget_log()
    job = reg.import_rows("legal_unit", rows, valid_from=date(2021, 1, 1))
    assert reg.job(job)["imported_rows"] == 5
    assert {t: reg.rows(f"select *, xmin::text from register.{t} as t order by t::text") for t in tables} == before
    assert reg.log() == []


def test_the_job_has_the_dates_or_the_rows_have(reg: Register) -> None:
    reg.import_rows(
        "legal_unit", [{"tax_ident": "1", "name": "a"}], valid_from=date(2020, 1, 1), valid_until=date(2021, 1, 1)
    )
    rows = [
        {"tax_ident": "2", "name": "a", "valid_from": "2020-01-01", "valid_to": "2020-12-31"},
        {"tax_ident": "2", "name": "b", "valid_from": "01.01.2021", "valid_to": "infinity"},
        {"tax_ident": "3", "name": "c", "valid_from": "01-01-2021", "valid_to": ""},
    ]
    reg.import_rows("legal_unit", rows)
    found = reg.rows("select name, valid_from, valid_until from register.legal_unit order by id, valid_from")
    assert [(r["name"], r["valid_from"], r["valid_until"]) for r in found] == [
        ("a", date(2020, 1, 1), date(2021, 1, 1)),
        ("a", date(2020, 1, 1), date(2021, 1, 1)),
        ("b", date(2021, 1, 1), date.max),
        ("c", date(2021, 1, 1), date.max),
    ]


@pytest.mark.parametrize(
    ("first", "last", "errors"),
    [
        ("", "", {"valid_from": "the first day is missing"}),
        ("2020-13-01", "", {"valid_from": "2020-13-01 is not a day"}),
        ("infinity", "", {"valid_from": "infinity is not a day"}),
        ("2020-01-01", "soon", {"valid_to": "soon is not a day"}),
        (
            "2020-01-02",
            "2020-01-01",
            dict.fromkeys(("valid_from", "valid_to"), "the last day 2020-01-01 is before the first day 2020-01-02"),
        ),
        ("2020-01-01", "2020-01-01", None),
    ],
)
def test_dates_of_a_row_are_judged(reg: Register, first: str, last: str, errors: Any) -> None:
    rows = [
        {"tax_ident": "1", "name": "a", "valid_from": first, "valid_to": last},
        {"tax_ident": "2", "name": "b", "valid_from": "2020-01-01", "valid_to": ""},
    ]
    job = reg.import_rows("legal_unit", rows)
    assert reg.import_errors(job).get(1) == errors
    assert reg.value("select count(*) from register.legal_unit") == (1 if errors else 2)


def test_of_rows_that_overlap_the_later_one_wins_and_the_earlier_one_says_so(reg: Register) -> None:
    cells = [
        ("1", "first", "2020-01-01", ""),
        ("1", "second", "2021-01-01", "2021-12-31"),
        ("2", "follows", "2021-01-01", ""),
        ("2", "first", "2020-01-01", "2020-12-31"),
        ("1", "third", "2023-01-01", "2023-12-31"),
        ("3", "", "2024-01-01", "2024-12-31"),
    ]
    reg.lu("1", "2019-01-01")
    mapping = Mapping("m", {"tax_ident": "id", "name": "name", "valid_from": "since", "valid_to": "till"})
    rows = [dict(zip(("id", "name", "since", "till"), row, strict=True)) for row in cells]
    job = reg.import_rows("legal_unit", rows, mapping=mapping)
    assert set(reg.import_errors(job)) == {6}
    told = "another row is about the same unit in that time, and the later one wins (rows 2, 5)"
    assert reg.import_warnings(job) == {1: {"since": told, "till": told}}
    assert reg.value("select warning_count from register.import_job where id = %s", job) == 1
    found = reg.rows("select name from register.legal_unit where id = %s order by valid_from", reg.unit_id("1"))
    assert [row["name"] for row in found] == ["Unit 1", "first", "second", "first", "third", "first"]


def test_rows_of_units_that_are_all_new_overlap_as_well(reg: Register) -> None:
    cells = [
        ("1", "first", "2020-01-01", ""),
        ("1", "second", "2021-01-01", "2021-12-31"),
        ("2", "follows", "2021-01-01", ""),
        ("2", "first", "2020-01-01", "2020-12-31"),
    ]
    columns = ("tax_ident", "name", "valid_from", "valid_to")
    rows = [{**dict(zip(columns, row, strict=True)), "email_address": "e", "employees": "3"} for row in cells]
    job = reg.import_rows("legal_unit", rows)
    assert reg.import_errors(job) == {}
    assert [row[1] for row in names(reg)] == ["first", "second", "first", "first", "follows"]
    for table in ("contact", "stat_for_unit"):
        found = reg.rows(f"select valid_from, valid_until from register.{table}")
        assert [(r["valid_from"], r["valid_until"]) for r in found] == [(date(2020, 1, 1), date.max)] * 2
    reg.check()


def test_statistics_go_to_legal_units_and_to_establishments(reg: Register) -> None:
    reg.lu("1", "2020-01-01", employees=1)
    reg.es("11", "1", "2020-01-01", employees=2)
    rows: list[Row] = [
        {"tax_ident": "1", "employees": "10", "turnover": "5"},
        {"tax_ident": "11", "employees": "20", "turnover": ""},
        {"tax_ident": "x", "employees": "30", "turnover": ""},
    ]
    job = reg.import_rows("stats_update", rows, valid_from=date(2021, 1, 1), valid_until=date(2022, 1, 1))
    assert reg.import_errors(job) == {3: {"tax_ident": "there is no such unit"}}
    found = reg.rows(
        "select legal_unit_id is not null as legal, valid_from, value_int from register.stat_for_unit"
        " where value_int is not null order by 1, 2"
    )
    assert [(r["legal"], r["valid_from"].year, r["value_int"]) for r in found] == [
        (False, 2020, 2),
        (False, 2021, 20),
        (False, 2022, 2),
        (True, 2020, 1),
        (True, 2021, 10),
        (True, 2022, 1),
    ]
    assert reg.value("select count(*) from register.stat_for_unit where value_float = 5") == 1


def test_statistics_lie_within_their_unit(reg: Register) -> None:
    reg.lu("1", "2020-01-01", "2021-01-01")
    job = reg.import_rows("stats_update", [{"tax_ident": "1", "employees": "1"}], valid_from=date(2020, 6, 1))
    assert reg.import_errors(job) == {1: {"*": "the unit is not there from 2020-06-01 until infinity"}}


def test_relationships_are_replaced_for_their_time(reg: Register) -> None:
    for ident in "12":
        reg.lu(ident, "2019-01-01")
    reg.relate("1", "2", "2019-01-01", percentage=50)
    rows = [
        {"influencing_tax_ident": "1", "influenced_tax_ident": "2", "rel_type_code": "ownership", "percentage": "75.5"}
    ]
    reg.import_rows("legal_relationship", rows, valid_from=date(2020, 1, 1))
    found = reg.rows("select percentage, id from register.legal_relationship order by valid_from")
    assert [float(r["percentage"]) for r in found] == [50, 75.5]
    assert len({r["id"] for r in found}) == 1
    rows += [row | {"percentage": "80"} for row in rows]
    job = reg.import_rows("legal_relationship", rows, valid_from=date(2021, 1, 1))
    told = "another row is about the same relationship in that time, and the later one wins (rows 2)"
    assert reg.import_warnings(job) == {1: {"*": told}}
    assert float(reg.value("select percentage from register.legal_relationship where valid_from = '2021-01-01'")) == 80

"""What the rows of units say."""

from __future__ import annotations

import string
from datetime import UTC, datetime

import pytest

from tests.fixtures.register_driver import Register, Row
from tests.register.unit_support import assert_right, derive, rows_of, without_reports


@pytest.fixture
def units(reg: Register) -> Register:
    return without_reports(reg)


def only(reg: Register, unit_type: str, unit_id: int) -> Row:
    (row,) = rows_of(reg, unit_type, unit_id)
    return row


def test_a_legal_unit_shows_what_it_and_its_details_say(units: Register) -> None:
    about = {
        "name": "Moe AS",
        "birth_date": "2001-02-03",
        "legal_form": "AS",
        "unit_size": "sml",
        "data_source": "brreg",
    }
    unit = units.lu(
        "917", "2020-01-01", **about, activity="G.47.5.2", secondary="A.01.1", region="11.03", email="a@b.no"
    )
    derive(units)
    row = only(units, "legal_unit", unit)
    shown = {
        "external_idents": {"tax_ident": "917"},
        "name": "Moe AS",
        "primary_activity_category_path": "G.47.5.2",
        "secondary_activity_category_path": "A.01.1",
        "activity_category_paths": ["G.47.5.2", "A.01.1"],
        "legal_form_code": "AS",
        "unit_size_code": "sml",
        "data_source_codes": ["brreg"],
        "physical_region_path": "11.03",
        "physical_region_code": "1103",
        "physical_country_iso_2": "NO",
        "domestic": True,
        "email_address": "a@b.no",
        "status_code": "active",
        "used_for_counting": True,
        "has_legal_unit": True,
        "related_legal_unit_ids": [unit],
        "included_legal_unit_count": 1,
        "related_enterprise_ids": [units.enterprise_of("917")],
        "included_enterprise_count": None,
        "included_establishment_count": None,
        "stats": {},
        "stats_summary": {},
        "tag_paths": None,
    }
    assert {k: row[k] for k in shown} == shown
    assert_right(units)


def test_a_legal_unit_adds_up_its_counting_establishments(units: Register) -> None:
    unit = units.lu("1", "2020-01-01", employees=10)
    counts = units.es("e1", "1", "2020-01-01", employees=4)
    passive = units.es("e2", "1", "2020-01-01", primary=False, status="passive", employees=100)
    derive(units)
    row = only(units, "legal_unit", unit)
    assert row["stats"] == {"employees": {"type": "int", "value": 10}}
    assert row["stats_summary"]["employees"] == {
        "type": "int",
        "count": 2,
        "sum": 14,
        "min": 4,
        "max": 10,
        "mean": 7,
        "sum_sq_diff": 18,
        "variance": 18,
        "stddev": 4.24,
        "coefficient_of_variation_pct": 60.61,
    }
    assert row["related_establishment_ids"] == [counts, passive]
    assert (row["included_establishment_ids"], row["excluded_establishment_ids"]) == ([counts], [passive])
    # It does not count, but what it says of itself is shown.
    assert only(units, "establishment", passive)["stats_summary"]["employees"]["sum"] == 100
    assert_right(units)


def test_a_legal_unit_that_does_not_count_has_no_statistics_and_neither_has_its_enterprise(units: Register) -> None:
    unit = units.lu("1", "2020-01-01", status="passive", employees=10)
    place = units.es("e1", "1", "2020-01-01", employees=4)
    derive(units)
    row, enterprise = only(units, "legal_unit", unit), only(units, "enterprise", units.enterprise_of("1"))
    assert (row["stats_summary"], row["included_legal_unit_ids"]) == ({}, None)
    assert (enterprise["stats_summary"], enterprise["used_for_counting"]) == ({}, False)
    assert enterprise["excluded_legal_unit_ids"] == [unit]
    assert enterprise["included_establishment_ids"] == [place]
    assert_right(units)


def test_an_enterprise_is_described_by_its_primary_legal_unit(units: Register) -> None:
    first = units.lu("1", "2020-01-01", name="First", activity="A.01.1", employees=1)
    enterprise = units.enterprise_of("1")
    second = units.lu("2", "2020-01-01", enterprise=enterprise, primary=False, activity="J.62.0.1", employees=2)
    derive(units)
    row = only(units, "enterprise", enterprise)
    assert (row["name"], row["primary_activity_category_path"]) == ("First", "A.01.1")
    assert row["external_idents"] == {"tax_ident": "1"}
    assert row["included_legal_unit_ids"] == [first, second]
    assert row["stats_summary"]["employees"]["sum"] == 3
    assert (row["stats"], row["included_enterprise_count"]) == ({}, 1)
    units.conn.execute("update register.enterprise set short_name = 'FIRST'")
    derive(units)
    assert only(units, "enterprise", enterprise)["name"] == "FIRST"
    assert_right(units)


def test_an_enterprise_without_legal_unit_is_described_by_its_establishment(units: Register) -> None:
    place = units.informal("i", "2020-01-01", name="Stall", employees=2)
    derive(units)
    row = only(units, "enterprise", units.enterprise_of("i"))
    assert (row["name"], row["has_legal_unit"], row["external_idents"]) == ("Stall", False, {"tax_ident": "i"})
    assert (row["included_establishment_ids"], row["stats_summary"]["employees"]["count"]) == ([place], 1)
    assert_right(units)


def test_an_establishment_that_does_not_count_adds_nothing_to_its_enterprise(units: Register) -> None:
    counts = units.informal("i", "2020-01-01", employees=2)
    enterprise = units.enterprise_of("i")
    passive = units.es("j", enterprise, "2020-01-01", primary=False, status="passive", employees=50)
    derive(units)
    row = only(units, "enterprise", enterprise)
    assert (row["included_establishment_ids"], row["excluded_establishment_ids"]) == ([counts], [passive])
    assert row["stats_summary"]["employees"]["sum"] == 2
    assert_right(units)


def test_an_enterprise_without_a_primary_unit_is_not_described_and_does_not_count(units: Register) -> None:
    units.lu("1", "2020-01-01", enterprise=units.insert("enterprise", short_name=None)["id"], primary=False)
    derive(units)
    row = only(units, "enterprise", units.enterprise_of("1"))
    assert (row["name"], row["status_code"], row["used_for_counting"]) == (None, None, False)
    assert row["related_legal_unit_ids"] == [units.unit_id("1")]
    assert_right(units)


def test_identifiers_and_tags_of_an_enterprise_go_before_those_of_its_units(units: Register) -> None:
    units.lu("1", "2020-01-01")
    enterprise = units.enterprise_of("1")
    units.insert(
        "external_ident", type_id=units.code("external_ident_type", "stat_ident"), ident="E7", enterprise_id=enterprise
    )
    units.insert("tag_for_unit", tag_id=units.code("tag", "watch.large"), enterprise_id=enterprise)
    derive(units)
    row = only(units, "enterprise", enterprise)
    assert (row["external_idents"], row["tag_paths"]) == ({"stat_ident": "E7"}, ["watch.large"])


def test_data_sources_of_establishments_are_among_those_of_the_legal_unit(units: Register) -> None:
    unit = units.lu("1", "2020-01-01", data_source="brreg")
    units.es("e", "1", "2020-01-01", data_source="survey")
    derive(units)
    row = only(units, "legal_unit", unit)
    assert sorted(row["data_source_codes"]) == ["brreg", "survey"]
    assert row["data_source_ids"] == sorted(row["data_source_ids"])
    assert_right(units)


def test_the_last_edit_is_the_latest_of_the_unit_and_its_details(units: Register) -> None:
    when = datetime(2099, 5, 1, tzinfo=UTC)
    unit = units.lu("1", "2020-01-01", email="a@b.no")
    units.conn.execute("update register.contact set edit_at = %s, edit_by = 'eva', edit_comment = 'phoned'", [when])
    derive(units)
    for row in (only(units, "legal_unit", unit), only(units, "enterprise", units.enterprise_of("1"))):
        assert (row["last_edit_at"], row["last_edit_by"], row["last_edit_comment"]) == (when, "eva", "phoned")
    assert_right(units)


def test_words_and_truth_values_are_counted(units: Register) -> None:
    for code, kind, priority in (("colour", "string", 8), ("exports", "bool", 9)):
        units.insert("stat_definition", code=code, type=kind, name=code, priority=priority)
    unit = units.lu("1", "2020-01-01", colour="red", exports=True)
    units.es("e1", "1", "2020-01-01", colour="red", exports=False)
    units.es("e2", "1", "2020-01-01", primary=False, colour="blue", employees=1)
    derive(units)
    summary = only(units, "legal_unit", unit)["stats_summary"]
    assert summary["colour"] == {"type": "string", "counts": {"red": 2, "blue": 1}}
    assert summary["exports"] == {"type": "bool", "counts": {"true": 1, "false": 1}}
    assert summary["employees"]["count"] == 1
    assert only(units, "enterprise", units.enterprise_of("1"))["stats_summary"] == summary
    assert_right(units)


def test_large_numbers_lose_no_digit(units: Register) -> None:
    unit = units.lu("1", "2020-01-01", turnover=999999999999.25)
    units.es("e1", "1", "2020-01-01", turnover=0.5)
    units.es("e2", "1", "2020-01-01", primary=False, turnover=1e-7)
    derive(units)
    assert only(units, "legal_unit", unit)["stats_summary"]["turnover"]["sum"] == 999999999999.75
    assert_right(units)


def test_a_power_group_is_described_by_its_root_and_counts(units: Register) -> None:
    root = units.lu("1", "2020-01-01", name="Top", employees=1)
    below = units.lu("2", "2020-01-01", employees=2)
    passive = units.lu("3", "2020-01-01", status="passive", employees=50)
    units.relate("1", "2", "2020-01-01")
    units.relate("2", "3", "2020-01-01")
    derive(units)
    group = units.value("select id from register.power_group")
    row = only(units, "power_group", group)
    assert (row["name"], row["used_for_counting"], row["status_code"]) == ("Top", True, "active")
    assert row["related_legal_unit_ids"] == [root, below, passive]
    assert (row["included_legal_unit_ids"], row["excluded_legal_unit_ids"]) == ([root, below], [passive])
    assert row["included_enterprise_count"] == 2
    assert row["stats_summary"]["employees"]["sum"] == 3
    units.conn.execute("update register.power_group set short_name = 'Group'")
    derive(units)
    assert only(units, "power_group", group)["name"] == "Group"
    assert_right(units)


@pytest.mark.parametrize(
    ("text", "query"),
    [
        ("fish", "'fish':*"),
        ("Nordic \t Fish ", "'nordic' & 'fish':*"),
        ("it's & (odd) | :* \\ x", "'it' & 's' & 'odd' & 'x':*"),
        ("!? \n", ""),
    ],
)
def test_words_are_asked_for_safely(reg: Register, text: str, query: str) -> None:
    assert reg.value("select register.name_query(%s)::text", text) == query


def test_every_name_is_found_by_itself_and_by_its_words(reg: Register) -> None:
    """PostgreSQL sees files, hosts, addresses, tags and numbers in names; people see words."""
    names = [f"ab{sign}cd {sign} Ef{sign}" for sign in (*string.printable, "\u2013", "\u2019", "ø", "·", "\u00a0")]
    names += [
        "Hansen A/S",
        "Bil.no AS",
        "usr/Qux/lib",
        "<script>alert(1)</script>",
        "a@b.no",
        "https://x.no/y?z",
        "-1.5e3 &amp;",
    ]
    missed = reg.rows(
        "select n from unnest(%s::text[]) as n where not register.name_words(n) @@ register.name_query(n)", names
    )
    assert missed == []
    for name, text in (
        ("Hansen A/S", "A/S"),
        ("Bil.no AS", "no"),
        ("usr/Qux/lib", "qux"),
        ("<b>alert(1)</b>", "alert(1)"),
    ):
        assert reg.value("select register.name_words(%s) @@ register.name_query(%s)", name, text), text


def test_names_can_be_searched_by_words(units: Register) -> None:
    unit = units.lu("1", "2020-01-01", name="Øygarden Båt og Motor AS")
    derive(units)
    found = units.rows(
        "select unit_id from register.statistical_unit where search @@ to_tsquery('simple', 'båt & mot:*')"
        " and unit_type in ('establishment', 'legal_unit')"
    )
    assert found == [{"unit_id": unit}]

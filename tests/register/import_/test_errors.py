"""What is wrong with a row is told by the column of the file; the rest of the file comes in."""

from __future__ import annotations

from datetime import date
from typing import Any

import pytest

from catchment_register.upload.mapping import Mapping
from tests.fixtures.often import some_rows
from tests.fixtures.register_driver import Register

FROM = {"valid_from": date(2020, 1, 1)}


def one(reg: Register, kind: str = "legal_unit", **cells: Any) -> tuple[Any, Any]:
    """Errors and warnings of a row beside two good ones, which always come in."""
    good = [{"tax_ident": f"good {n}", "name": "Good"} for n in "12"]
    if kind == "establishment_formal":
        good = [g | {"legal_unit_tax_ident": "owner"} for g in good]
    row = {"tax_ident": "1", "name": "One", **cells}
    table = "legal_unit" if kind == "legal_unit" else "establishment"
    before = reg.value(f"select count(*) from register.{table}")
    job = reg.import_rows(kind, [good[0], row, good[1]], **FROM)
    errors, warnings = reg.import_errors(job), reg.import_warnings(job)
    assert set(errors) | set(warnings) <= {2}
    assert reg.job(job)["state"] == "finished"
    assert reg.value(f"select count(*) from register.{table}") - before == 3 - len(errors)
    reg.check()
    return errors.get(2), warnings.get(2)


@pytest.mark.parametrize(
    ("cells", "errors"),
    [
        ({"name": ""}, {"name": "a name is needed"}),
        ({"name": "x" * 257}, {"name": "is longer than 256 characters"}),
        ({"tax_ident": ""}, {"tax_ident": "an identifier is needed"}),
        ({"tax_ident": "9" * 51}, {"tax_ident": "is longer than 50 characters"}),
        ({"birth_date": "2020-02-30"}, {"birth_date": "2020-02-30 is not a day"}),
        ({"birth_date": "infinity"}, {"birth_date": "infinity is not a day"}),
        (
            {"birth_date": "2020-02-02", "death_date": "01.02.2020"},
            dict.fromkeys(("birth_date", "death_date"), "the death 01.02.2020 is before the birth 2020-02-02"),
        ),
        ({"physical_country_iso_2": "XX"}, {"physical_country_iso_2": "XX is no country"}),
        (
            {"postal_country_iso_2": "SE", "postal_region_code": "0301"},
            dict.fromkeys(
                ("postal_country_iso_2", "postal_region_code"), "the region 0301 is given for the foreign country SE"
            ),
        ),
        ({"employees": "many"}, {"employees": "many is not a value of type int"}),
        ({"employees": "1.5"}, {"employees": "1.5 is not a value of type int"}),
        ({"turnover": "1,5"}, {"turnover": "1,5 is not a value of type float"}),
    ],
)
def test_an_error_keeps_its_row_out(reg: Register, cells: dict[str, Any], errors: dict[str, str]) -> None:
    assert one(reg, **cells) == (errors, None)


@pytest.mark.parametrize(
    ("cells", "warnings"),
    some_rows(
        [
            ({"sector_code": "x"}, {"sector_code": "the sector x is not known"}),
            ({"legal_form_code": "x"}, {"legal_form_code": "the legal form x is not known"}),
            ({"unit_size_code": "x"}, {"unit_size_code": "the size x is not known"}),
            ({"status_code": "x"}, {"status_code": "the status x is not known"}),
            ({"data_source_code": "x"}, {"data_source_code": "the data source x is not known"}),
            (
                {"primary_activity_category_code": "00.1"},
                {"primary_activity_category_code": "the activity 00.1 is not known"},
            ),
            (
                {"secondary_activity_category_code": "x"},
                {"secondary_activity_category_code": "the activity x is not known"},
            ),
            (
                {"physical_region_code": "7777", "physical_country_iso_2": "NO"},
                {"physical_region_code": "the region 7777 is not known"},
            ),
            ({"physical_postcode": "1"}, {"physical_country_iso_2": "the home country was taken"}),
            (
                {"physical_latitude": "91", "physical_longitude": "x", "physical_country_iso_2": "NO"},
                {"physical_latitude": "91 is no latitude", "physical_longitude": "x is no longitude"},
            ),
            ({"short_name": "x" * 17}, {"short_name": f"{'x' * 17} was cut to 16 characters"}),
            ({"tag_path": "x"}, {"tag_path": "the tag x is not known"}),
        ],
        one_in=2,
    ),
)
def test_a_warning_lets_its_row_in(reg: Register, cells: dict[str, Any], warnings: dict[str, str]) -> None:
    assert one(reg, **cells) == (None, warnings)


def test_overlong_text_is_an_error_where_it_must_not_be_cut(reg: Register) -> None:
    reg.conn.execute("update register.settings set truncates_text = false")
    assert one(reg, short_name="x" * 17) == ({"short_name": "is longer than 16 characters"}, None)


def test_an_unknown_status_is_the_default_one(reg: Register) -> None:
    one(reg, status_code="x")
    assert reg.value("select count(*) from register.legal_unit where status_id = %s", reg.code("status", "active")) == 3


def test_an_address_without_a_country_is_an_error_where_there_is_no_home_country(reg: Register) -> None:
    reg.conn.execute("update register.settings set country_id = null")
    assert one(reg, postal_postcode="1") == ({"postal_country_iso_2": "an address needs a country"}, None)


def test_an_activity_the_standard_lacks_is_added_under_its_division(reg: Register) -> None:
    assert one(reg, primary_activity_category_code="01.610") == (None, None)
    found = reg.rows(
        "select c.path, c.code from register.activity as a join register.activity_category as c on c.id = a.category_id"
    )
    assert found == [{"path": "A.01.6.1.0", "code": "01.610"}]
    assert reg.code("activity_category", "A.01.6")


def test_sections_and_divisions_have_names(reg: Register) -> None:
    """All divisions that a code can be under, in the sections that their digits lead to."""
    one(reg, primary_activity_category_code="70.22")
    found = reg.rows("select path, name from register.activity_category where path like 'M%%' order by path")
    assert [(r["path"], r["name"]) for r in found] == [
        ("M", "Professional, scientific and technical activities"),
        ("M.70", "Activities of head offices; management consultancy activities"),
        ("M.70.2", "70.2"),
        ("M.70.2.2", "70.22"),
    ]
    nameless = reg.rows(
        "select p.path from generate_series(1, 99) as n cross join lateral"
        " (select register.activity_path(to_char(n, 'FM00')) as path) as p where p.path is not null"
        " and (register.activity_name(p.path) is null or register.activity_name(left(p.path, 1)) is null)"
    )
    assert nameless == []


@pytest.mark.parametrize(
    ("cells", "errors"),
    [
        ({"legal_unit_tax_ident": ""}, {"legal_unit_tax_ident": "the legal unit is missing"}),
        ({"legal_unit_tax_ident": "x"}, {"legal_unit_tax_ident": "there is no such legal unit"}),
        ({"legal_unit_tax_ident": "late"}, {"*": "the legal unit is not there from 2020-01-01 until infinity"}),
    ],
)
def test_an_establishment_needs_its_legal_unit_for_all_its_time(
    reg: Register, cells: dict[str, Any], errors: dict[str, str]
) -> None:
    reg.lu("owner", "2010-01-01")
    reg.lu("late", "2021-01-01")
    assert one(reg, "establishment_formal", **({"legal_unit_tax_ident": "owner"} | cells)) == (errors, None)


@pytest.mark.parametrize(
    ("kind", "says"),
    [
        ("legal_unit", "belongs to another kind of unit"),
        ("establishment_informal", "is an establishment of a legal unit"),
    ],
)
def test_identifiers_that_belong_elsewhere(reg: Register, kind: str, says: str) -> None:
    reg.lu("owner", "2010-01-01")
    reg.es("taken", "owner", "2010-01-01")
    assert one(reg, kind, tax_ident="taken") == ({"tax_ident": says}, None)


def test_identifiers_of_a_unit_do_not_change(reg: Register) -> None:
    reg.lu("1", "2010-01-01")
    reg.lu("2", "2010-01-01")
    kind = reg.code("external_ident_type", "stat_ident")
    reg.insert("external_ident", type_id=kind, ident="S1", legal_unit_id=reg.unit_id("1"))
    reg.insert("external_ident", type_id=kind, ident="S2", legal_unit_id=reg.unit_id("2"))
    job = reg.import_rows(
        "legal_unit",
        [
            {"tax_ident": "1", "stat_ident": "S9", "name": "changed"},
            {"tax_ident": "1", "stat_ident": "S2", "name": "two units"},
            {"tax_ident": "2", "stat_ident": "S2", "name": "perhaps this one"},
        ],
        **FROM,
    )
    told = {n: set(e.values()) for n, e in reg.import_errors(job).items()}
    assert told == {
        1: {"the unit has S1 already; an import does not change identifiers"},
        2: {"the identifiers belong to different units"},
        3: {"the unit is in the file more than once (rows 2, 3)"},
    }
    assert reg.value("select count(*) from register.external_ident") == 4


def test_new_units_that_share_an_identifier_fail_together_and_rows_are_listed(reg: Register) -> None:
    job = reg.import_rows(
        "legal_unit",
        [
            {"tax_ident": "1", "stat_ident": "S1", "name": "a"},
            {"tax_ident": "2", "stat_ident": "S1", "name": "b"},
            {"tax_ident": "3", "stat_ident": "S3", "name": "c"},
        ],
        **FROM,
    )
    text = "S1 names several units of the file (rows 1, 2)"
    assert reg.import_errors(job) == {n: {"tax_ident": text, "stat_ident": text} for n in (1, 2)}
    assert reg.value("select name from register.legal_unit") == "c"


def test_a_unit_is_in_a_file_with_dates_of_the_job_once(reg: Register) -> None:
    rows = [{"tax_ident": "1", "name": "a"}, {"tax_ident": "2", "name": "b"}, {"tax_ident": "1", "name": "c"}]
    job = reg.import_rows("legal_unit", rows, **FROM)
    text = "the unit is in the file more than once (rows 1, 3)"
    assert reg.import_errors(job) == {1: {"tax_ident": text}, 3: {"tax_ident": text}}


def test_rows_of_a_new_unit_fail_together(reg: Register) -> None:
    rows = [
        {"tax_ident": "1", "name": "a", "valid_from": "2020-01-01", "valid_to": "2020-12-31"},
        {"tax_ident": "1", "name": "", "valid_from": "2021-01-01", "valid_to": ""},
        {"tax_ident": "2", "name": "b", "valid_from": "2020-01-01", "valid_to": ""},
    ]
    job = reg.import_rows("legal_unit", rows)
    assert reg.import_errors(job) == {
        1: {"*": "another row of this unit has errors (rows 2)"},
        2: {"name": "a name is needed"},
    }
    assert reg.value("select count(*) from register.legal_unit") == 1


@pytest.mark.parametrize("strategy", ["insert_or_replace", "insert_or_update", "replace_only", "update_only"])
def test_rows_of_a_known_unit_fail_together(reg: Register, strategy: str) -> None:
    reg.lu("1", "2019-01-01", name="old")
    reg.lu("2", "2019-01-01", name="old")
    rows = [
        {"tax_ident": "1", "name": "a", "employees": "5", "valid_from": "2020-01-01", "valid_to": "2020-12-31"},
        {"tax_ident": "1", "name": "b", "employees": "x", "valid_from": "2021-01-01", "valid_to": ""},
        {"tax_ident": "2", "name": "c", "employees": "5", "valid_from": "2020-01-01", "valid_to": ""},
    ]
    job = reg.import_rows("legal_unit", rows, strategy=strategy)
    assert reg.import_errors(job) == {
        1: {"*": "another row of this unit has errors (rows 2)"},
        2: {"employees": "x is not a value of type int"},
    }
    assert [r["name"] for r in reg.rows("select name from register.legal_unit order by id, valid_from")] == [
        "old",
        "old",
        "c",
    ]
    assert reg.value("select count(*) from register.stat_for_unit") == 1
    assert (reg.job(job)["error_rows"], reg.job(job)["imported_rows"]) == (2, 1)


def test_rows_about_statistics_of_one_unit_fail_together(reg: Register) -> None:
    """Of a legal unit and of an establishment, which are numbered alike."""
    reg.conn.execute("select setval('register.legal_unit_id_seq', 500), setval('register.establishment_id_seq', 500)")
    reg.lu("1", "2019-01-01")
    reg.es("11", "1", "2019-01-01")
    assert reg.unit_id("1") == reg.unit_id("11")
    rows = [
        {"tax_ident": ident, "employees": employees, "valid_from": start, "valid_to": end}
        for ident, employees, start, end in (
            ("1", "5", "2020-01-01", "2020-12-31"),
            ("11", "7", "2020-01-01", "2020-12-31"),
            ("1", "many", "2021-01-01", ""),
        )
    ]
    job = reg.import_rows("stats_update", rows)
    assert set(reg.import_errors(job)) == {1, 3}
    assert [r["value_int"] for r in reg.rows("select * from register.stat_for_unit")] == [7]


def test_establishments_fail_together_whatever_legal_unit_their_rows_name(reg: Register) -> None:
    reg.lu("1", "2019-01-01")
    reg.lu("2", "2019-01-01")
    reg.es("11", "1", "2019-01-01")
    rows = [
        {"tax_ident": "11", "name": "a", "legal_unit_tax_ident": o, "valid_from": start, "valid_to": end}
        for o, start, end in (
            ("1", "2020-01-01", "2020-12-31"),
            ("2", "2021-01-01", "2021-12-31"),
            ("x", "2022-01-01", ""),
        )
    ]
    job = reg.import_rows("establishment_formal", rows)
    assert set(reg.import_errors(job)) == {1, 2, 3}
    assert [r["name"] for r in reg.rows("select name from register.establishment")] == ["Unit 11"]


@pytest.mark.parametrize(
    ("stat_ident", "says"),
    [
        ("S9", "the unit has S1 already; an import does not change identifiers"),
        ("S2", "the identifiers belong to different units"),
        ("S3", "belongs to another kind of unit"),
    ],
)
@pytest.mark.parametrize("dated", ["by its job", "by its rows"])
def test_a_row_with_a_wrong_identifier_is_a_row_of_its_unit(
    reg: Register, stat_ident: str, says: str, dated: str
) -> None:
    """Whichever of two units has the smaller number."""
    kind = reg.code("external_ident_type", "stat_ident")
    for ident in "321":
        reg.lu(ident, "2019-01-01", name="old")
    for ident in "12":
        reg.insert("external_ident", type_id=kind, ident=f"S{ident}", legal_unit_id=reg.unit_id(ident))
    reg.insert("external_ident", type_id=kind, ident="S3", establishment_id=reg.es("31", "3", "2019-01-01"))
    rows = [
        {"tax_ident": "1", "stat_ident": "", "name": "a"},
        {"tax_ident": "1", "stat_ident": stat_ident, "name": "b"},
        {"tax_ident": "3", "stat_ident": "", "name": "c"},
    ]
    dates = [("2020-01-01", "2020-12-31"), ("2021-01-01", ""), ("2020-01-01", "")]
    if dated == "by its rows":
        rows = [row | {"valid_from": d[0], "valid_to": d[1]} for row, d in zip(rows, dates, strict=True)]
        job = reg.import_rows("legal_unit", rows)
    else:
        job = reg.import_rows("legal_unit", rows, **FROM)
    errors = reg.import_errors(job)
    assert set(errors) == {1, 2}
    assert set(errors[2].values()) == {says}
    once = "the unit is in the file more than once (rows 1, 2)"
    together = "another row of this unit has errors (rows 2)"
    assert set(errors[1].values()) == {once if dated == "by its job" else together}


def test_problems_are_reported_by_the_columns_of_the_file(reg: Register) -> None:
    mapping = Mapping("test", {"tax_ident": "orgnr", "name": "navn", "sector_code": "sektor"}, {"status_code": "x"})
    job = reg.import_rows("legal_unit", [{"orgnr": "1", "navn": "", "sektor": "y"}], mapping=mapping, **FROM)
    assert reg.import_errors(job) == {1: {"navn": "a name is needed"}}
    assert reg.import_warnings(job) == {
        1: {"sektor": "the sector y is not known", "status_code": "the status x is not known"}
    }


def relationship(a: str, b: str, kind: str = "control", **cells: Any) -> dict[str, Any]:
    dates = {"valid_from": "2020-01-01", "valid_to": "infinity"}
    return {
        "influencing_tax_ident": a,
        "influenced_tax_ident": b,
        "rel_type_code": kind,
        "percentage": "60",
        **dates,
    } | cells


def test_relationships_are_judged_by_both_units(reg: Register) -> None:
    for ident in "1234":
        reg.lu(ident, "2010-01-01")
    reg.lu("late", "2022-01-01")
    reg.relate("1", "4", "2019-01-01", kind="control")
    job = reg.import_rows(
        "legal_relationship",
        [
            relationship("1", "2"),
            relationship("3", "2"),
            relationship("1", "3", percentage="0"),
            relationship("1", "3", "love"),
            relationship("1", "1"),
            relationship("1", "x"),
            relationship("1", "late"),
            relationship("2", "4"),
            relationship("2", "4", "ownership"),
        ],
    )
    errors = reg.import_errors(job)
    rival = "the unit has another primary influencer in that time"
    late = "not both units are there from 2020-01-01 until infinity"
    assert errors == {
        1: {"rel_type_code": f"{rival} (rows 2)"},
        2: {"rel_type_code": f"{rival} (rows 1)"},
        3: {"percentage": "0 is no percentage: above 0, at most 100"},
        4: {"rel_type_code": "love is no type of relationship"},
        5: {"influenced_tax_ident": "a unit cannot influence itself"},
        6: {"influenced_tax_ident": "there is no such legal unit"},
        7: {"valid_from": late, "valid_to": late},
        8: {"rel_type_code": f"{rival}, from 2019-01-01"},
    }
    assert reg.value("select count(*) from register.legal_relationship") == 2
    reg.check()


def test_a_hierarchical_identifier_has_to_be_a_path(reg: Register) -> None:
    reg.insert("external_ident_type", code="census", name="Census", shape="hierarchical", priority=3)
    cells = (("1", "north.17.3"), ("2", "..not a path!!"), ("3", ""))
    rows = [{"tax_ident": ident, "census": path, "name": "n"} for ident, path in cells]
    job = reg.import_rows("legal_unit", rows, **FROM)
    told = "..not a path!! is no path: labels with dots between them"
    assert reg.import_errors(job) == {2: {"census": told}}
    assert reg.value("select count(*) from register.legal_unit") == 2


def test_what_analysis_did_not_foresee_fails_the_unit_alone(reg: Register) -> None:
    """A rule that only the database knows: the batch is taken apart until the unit is found."""
    reg.conn.execute("alter table register.legal_unit add constraint lucky check (name <> 'unlucky')")
    rows = [{"tax_ident": str(n), "name": "unlucky" if n in (5, 9) else "fine", "employees": n} for n in range(12)]
    job = reg.import_rows("legal_unit", rows, **FROM)
    errors = reg.import_errors(job)
    assert set(errors) == {6, 10}
    assert all('violates check constraint "lucky"' in e["*"] for e in errors.values())
    assert reg.value("select count(*) from register.legal_unit") == 10
    assert reg.value("select count(*) from register.enterprise") == 10
    assert reg.value("select count(*) from register.stat_for_unit") == 10
    assert reg.job(job)["imported_rows"] == 10

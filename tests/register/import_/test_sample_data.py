"""Every file of the sample data comes in as it should: how many rows, and which ones cannot."""

from __future__ import annotations

from datetime import date
from pathlib import Path
from typing import Any

import pytest

from catchment_register.codes.edition import find_standard, use_region_version
from catchment_register.codes.kinds import KINDS
from catchment_register.codes.load import load_codes
from catchment_register.codes.read import read_codes
from catchment_register.upload.job import Request, import_source, open_source
from tests.fixtures.register_driver import Register

JOB_DATES = {"valid_from": date(2023, 1, 1)}


def use_demo_codes(reg: Register, folder: Path) -> None:
    """The codes of the made-up country, as ``init`` and ``load-codes`` set them."""
    reg.conn.execute("insert into register.country (iso_2, name) values ('UN', 'Demo') on conflict do nothing")
    version = use_region_version(reg.conn, "demo")
    reg.conn.execute(
        "update register.settings set region_version_id = %s, activity_category_standard_id = %s,"
        " country_id = (select id from register.country where iso_2 = 'UN')",
        [version, find_standard(reg.conn, "isic_v4").id],
    )
    for kind, file in (
        ("region", "regions_demo.csv"),
        ("sector", "sectors_demo.csv"),
        ("legal_form", "legal_forms_demo.csv"),
        ("activity", "activity_custom_isic_demo.csv"),
    ):
        found = KINDS[kind]
        load_codes(reg.conn, found, read_codes(folder / file, found), replaces=True)


def import_file(reg: Register, path: Path, kind: str, **request: Any) -> dict[str, Any]:
    update = {"strategy": "insert_or_update"} if path.name.startswith("31") else {}
    with open_source(path) as source:
        job = import_source(reg.conn, source, Request(kind, review=False, **update, **request)).job_id
    reg.conn.execute("call worker.drain('import')")
    return reg.job(job) | {"errors": reg.import_errors(job), "warnings": reg.import_warnings(job)}


# Files that are imported one after the other: file, kind, options; how many rows come in, rows with errors, rows with
# warnings. The demo files have rows that are wrong on purpose.
Step = tuple[str, str, dict[str, Any], int, set[int], int]

DEMO: list[Step] = [
    ("legal_units_demo.csv", "legal_unit", JOB_DATES, 23, set(), 0),
    ("formal_establishments_units_demo.csv", "establishment_formal", JOB_DATES, 25, set(), 0),
    ("informal_establishments_units_demo.csv", "establishment_informal", JOB_DATES, 25, set(), 0),
    ("legal_relationships_demo.csv", "legal_relationship", JOB_DATES, 11, set(), 0),
    # Three rows give another tax identifier than the unit has.
    ("legal_units_turnover_update.csv", "stats_update", JOB_DATES, 21, {1, 2, 16, 18}, 0),
]
DEMO_DATED: list[Step] = [
    # Four rows of one unit with different identifiers, three of a unit with a region abroad.
    ("legal_units_with_source_dates_demo.csv", "legal_unit", {}, 69, {58, 59, 60, 61, 74, 75, 76}, 1),
    ("formal_establishments_units_with_source_dates_demo.csv", "establishment_formal", {}, 25, {21}, 2),
    ("informal_establishments_units_with_source_dates_demo.csv", "establishment_informal", {}, 12, set(), 0),
    ("legal_relationships_with_source_dates_demo.csv", "legal_relationship", {}, 20, {19, 20, 21}, 0),
    ("legal_units_turnover_update_with_source_dates.csv", "stats_update", {}, 7, {1, 2}, 0),
    ("formal_establishments_turnover_update_with_source_dates.csv", "stats_update", {}, 10, set(), 0),
    ("../test-data/315_activity_for_portion_of_valid.csv", "legal_unit", {}, 1, set(), 0),
    ("../test-data/316_legal_unit_updates.csv", "legal_unit", {}, 3, set(), 3),
    ("../test-data/60_dupkey_collision_test.csv", "legal_unit", {}, 2, set(), 0),
    ("../test-data/43_legal-units-day-1.csv", "legal_unit", {}, 1, set(), 0),
    ("../test-data/43_legal-units-day-3.csv", "legal_unit", {}, 1, set(), 0),
    ("../test-data/43_legal-units-day-4.csv", "legal_unit", {}, 1, set(), 0),
]
WEB: list[Step] = [
    ("norway-web/enheter-selection-web-import.csv", "legal_unit", JOB_DATES, 100, set(), 6),
    ("norway-web/underenheter-selection-web-import.csv", "establishment_formal", JOB_DATES, 1305, set(), 6),
]
SITUATIONS: dict[str, list[Step]] = {
    "informal": [
        ("02_norwegian-establishments-without-legal-unit.csv", "establishment_informal", JOB_DATES, 5, set(), 0)
    ],
    "over time": [
        ("03_norwegian-legal-units-over-time.csv", "legal_unit", {}, 2, set(), 0),
        ("03_norwegian-establishments-over-time.csv", "establishment_formal", {}, 10, set(), 0),
    ],
    "statistics": [("04_legal-units-with-stats.csv", "legal_unit", JOB_DATES, 10, set(), 0)],
    "both": [
        ("05_norwegian-legal-units.csv", "legal_unit", {}, 2, set(), 0),
        ("05_norwegian-establishments.csv", "establishment_formal", {}, 3, set(), 0),
    ],
    "two registers": [
        ("204_regression_lu_a.csv", "legal_unit", {}, 1, set(), 0),
        ("204_regression_lu_b.csv", "legal_unit", {}, 1, set(), 0),
        ("204_regression_est_a.csv", "establishment_formal", {}, 1, set(), 0),
        ("204_regression_est_b.csv", "establishment_formal", {}, 1, set(), 0),
    ],
    "status": [
        ("35_norwegian-legal-units-with-status.csv", "legal_unit", {}, 2, set(), 0),
        ("35_norwegian-establishments-with-status.csv", "establishment_formal", {}, 4, set(), 0),
    ],
    "sector changes": [
        (f"40_legal-units-sector-change-{when}.csv", "legal_unit", {}, rows, set(), 0)
        for when, rows in (("middle-of-month", 2), ("start-of-second-month", 2), ("start-of-year", 3))
    ],
    "births": [
        (f"41_legal-units-births-{when}.csv", "legal_unit", {}, 4, set(), 0)
        for when in ("middle-of-month", "start-of-second-month", "start-of-year")
    ],
    "deaths": [
        # The second has two rows that overlap in a day.
        (f"42_legal-units-deaths-{when}.csv", "legal_unit", {}, rows, set(), warnings)
        for when, rows, warnings in (("start-of-month", 3, 0), ("end-of-first-month", 3, 1), ("end-of-year", 4, 0))
    ],
    "roles": [
        ("roller_sample_legal_units.csv", "legal_unit", {}, 10, set(), 0),
        ("roller_sample.csv", "legal_relationship", {}, 8, set(), 0),
    ],
}


def import_all(reg: Register, folder: Path, steps: list[Step]) -> None:
    for file, kind, request, imported, errors, warnings in steps:
        done = import_file(reg, folder / file, kind, **request)
        told = (done["state"], done["imported_rows"], set(done["errors"]), len(done["warnings"]))
        assert told == ("finished", imported, errors, warnings), (file, done["errors"], done["warnings"])
        assert imported + len(errors) == done["total_rows"]
    reg.check()


def test_the_made_up_register(reg: Register, data: Path) -> None:
    use_demo_codes(reg, data / "demo")
    import_all(reg, data / "demo", DEMO)


def test_the_made_up_register_with_dates_in_the_files(reg: Register, data: Path) -> None:
    use_demo_codes(reg, data / "demo")
    import_all(reg, data / "demo", DEMO_DATED)
    moved = reg.rows(
        "select name, valid_from from register.legal_unit where id = %s order by 2", reg.unit_id("2812760140")
    )
    assert ("EQUATOR GLOBE SOLUTIONS #2", 2024) in [(r["name"], r["valid_from"].year) for r in moved]


def test_the_selection_for_web_import(reg: Register, data: Path) -> None:
    import_all(reg, data, WEB)
    orphans = "select count(*) from register.establishment where legal_unit_id is null"
    assert reg.value(orphans) == 0


@pytest.mark.parametrize("situation", SITUATIONS)
def test_files_that_each_show_a_situation(reg: Register, data: Path, situation: str) -> None:
    import_all(reg, data / "test-data", SITUATIONS[situation])


def test_every_sample_file_is_in_a_table_here(data: Path) -> None:
    tried = {Path(s[0]).name for steps in (DEMO, DEMO_DATED, WEB, *SITUATIONS.values()) for s in steps}
    lists = {"activity_custom_isic_demo.csv", "legal_forms_demo.csv", "regions_demo.csv", "sectors_demo.csv"}
    there = {f.name for folder in ("demo", "test-data", "norway-web") for f in (data / folder).glob("*.csv")}
    assert there - tried == lists


def test_an_establishment_moves_between_legal_units(reg: Register, data: Path) -> None:
    import_all(reg, data / "test-data", SITUATIONS["over time"])
    found = reg.rows(
        "select e.name, e.valid_from, i.ident as owner from register.establishment as e"
        " join register.external_ident as i on i.legal_unit_id = e.legal_unit_id"
        " where e.id = %s order by e.valid_from",
        reg.unit_id("895406732"),
    )
    assert [(r["name"], r["valid_from"].year, r["owner"]) for r in found][:2] == [
        ("KRANLØFT ENK", 2010, "823573673"),
        ("KRAN & SPESIALLØFT AS", 2013, "921835809"),
    ]


def test_yearly_extracts_are_recognised_by_their_header(reg: Register, data: Path) -> None:
    """The extract of a year is valid from then on, so later ones cut those before."""
    folder = data / "norway-small-history"
    for sort, kind in (("enheter", "legal_unit"), ("underenheter", "establishment_formal")):
        for year in range(2015, 2019):
            done = import_file(reg, folder / f"{year}-{sort}.csv", kind, valid_from=date(year, 1, 1))
            assert (done["errors"], done["warnings"]) == ({}, {})
    assert reg.value("select count(distinct id) from register.legal_unit") == 6
    unit = reg.unit_id("918420533")
    sectors = reg.rows(
        "select l.valid_from, s.code from register.legal_unit as l join register.sector as s on s.id = l.sector_id"
        " where l.id = %s order by 1",
        unit,
    )
    assert [(r["valid_from"].year, r["code"]) for r in sectors] == [(2015, "2100"), (2016, "8200")]
    places = reg.rows("select valid_from, postplace from register.location where legal_unit_id = %s order by 1", unit)
    assert [(r["valid_from"].year, r["postplace"]) for r in places] == [(2015, "SKI"), (2018, "TØNSBERG")]
    assert reg.value("select count(*) from register.location where address_part1 like '%%/n%%'") == 0
    reg.check()


@pytest.mark.slow
def test_the_larger_yearly_extracts(reg: Register, data: Path) -> None:
    folder = data / "norway-history"
    wrong: dict[str, int] = {}
    for sort, kind in (("enheter", "legal_unit"), ("underenheter", "establishment_formal")):
        for year in range(2015, 2019):
            done = import_file(reg, folder / f"{year}-{sort}.csv", kind, valid_from=date(year, 1, 1))
            wrong[f"{year}-{sort}"] = len(done["errors"])
            assert done["state"] == "finished"
            assert {m for e in done["errors"].values() for m in e.values()} <= {"there is no such legal unit"}
    assert sum(wrong.values()) < 200, wrong
    reg.check()

"""Import of units: what rows become, and what stays as it was."""

from __future__ import annotations

from datetime import date

import pytest

from tests.fixtures.often import some
from tests.fixtures.register_driver import Register

FROM = {"valid_from": date(2020, 1, 1)}


def test_a_legal_unit_comes_in_with_all_its_details(reg: Register) -> None:
    job = reg.import_rows(
        "legal_unit",
        [
            {
                "tax_ident": "1",
                "stat_ident": "S1",
                "name": "One",
                "short_name": "1",
                "birth_date": "03.02.2019",
                "sector_code": "2100",
                "legal_form_code": "AS",
                "unit_size_code": "sml",
                "data_source_code": "brreg",
                "primary_activity_category_code": "47.52",
                "secondary_activity_category_code": "62.01",
                "physical_address_part1": "Main street 1",
                "physical_postcode": "5350",
                "physical_region_code": "4626",
                "physical_country_iso_2": "NO",
                "physical_latitude": "59.5",
                "postal_address_part1": "Box 1",
                "postal_country_iso_2": "SE",
                "email_address": "one@example.org",
                "employees": "12",
                "turnover": "1.5e3",
                "tag_path": "watch",
                "edit_comment": "first",
            }
        ],
        **FROM,
    )
    assert reg.job(job)["state"] == "finished", reg.job(job)
    assert (reg.import_errors(job), reg.import_warnings(job)) == ({}, {})
    unit = reg.rows("select * from register.legal_unit")[0]
    assert (unit["name"], unit["birth_date"], unit["valid_from"], unit["valid_until"]) == (
        "One",
        date(2019, 2, 3),
        date(2020, 1, 1),
        date.max,
    )
    assert unit["primary_for_enterprise"]
    assert unit["edit_comment"] == "first"
    assert unit["status_id"] == reg.code("status", "active")
    assert reg.rows("select type, category_id from register.activity order by type") == [
        {"type": "primary", "category_id": reg.code("activity_category", "G.47.5.2")},
        {"type": "secondary", "category_id": reg.code("activity_category", "J.62.0.1")},
    ]
    places = reg.rows(
        "select type, address_part1, region_id, country_id, latitude from register.location order by type"
    )
    assert [(p["type"], p["address_part1"], p["latitude"] and float(p["latitude"])) for p in places] == [
        ("physical", "Main street 1", 59.5),
        ("postal", "Box 1", None),
    ]
    assert reg.value("select email_address from register.contact") == "one@example.org"
    assert reg.rows("select value_int, value_float from register.stat_for_unit order by stat_definition_id") == [
        {"value_int": 12, "value_float": None},
        {"value_int": None, "value_float": 1500.0},
    ]
    assert reg.value("select count(*) from register.external_ident where legal_unit_id = %s", unit["id"]) == 2
    assert reg.value("select count(*) from register.tag_for_unit") == 1
    reg.check()


def _primaries(reg: Register, owner: str) -> list[tuple[str, date, date]]:
    rows = reg.rows(
        "select e.name, e.valid_from, e.valid_until from register.establishment as e"
        " where e.legal_unit_id = %s and e.primary_for_legal_unit order by e.valid_from",
        reg.unit_id(owner),
    )
    return [(row["name"], row["valid_from"], row["valid_until"]) for row in rows]


@pytest.mark.parametrize("strategy", some(["insert_or_replace", "insert_or_update"], one_in=2))
@pytest.mark.parametrize("batch_rows", [8192, 1])
def test_a_primary_establishment_that_moves_is_followed_by_the_first_of_the_others(
    reg: Register, strategy: str, batch_rows: int
) -> None:
    reg.conn.execute("update register.settings set import_batch_rows = %s", [batch_rows])
    reg.import_rows("legal_unit", [{"tax_ident": n, "name": n} for n in ("1", "2")], **FROM)
    rows = [{"tax_ident": f"e{n}", "name": f"E{n}", "legal_unit_tax_ident": "1"} for n in (1, 2, 3)]
    reg.import_rows("establishment_formal", rows, **FROM)
    assert [name for name, _, _ in _primaries(reg, "1")] == ["E1"]
    moved = {"tax_ident": "e1", "name": "E1", "legal_unit_tax_ident": "2"}
    job = reg.import_rows("establishment_formal", [moved], strategy=strategy, valid_from=date(2022, 1, 1))
    assert (reg.job(job)["state"], reg.import_errors(job)) == ("finished", {})
    change = date(2022, 1, 1)
    assert _primaries(reg, "1") == [("E1", FROM["valid_from"], change), ("E2", change, date.max)]
    assert _primaries(reg, "2") == [("E1", change, date.max)]
    reg.derive()
    reg.check()


def test_establishments_that_all_move_leave_no_primary_one(reg: Register) -> None:
    reg.import_rows("legal_unit", [{"tax_ident": n, "name": n} for n in ("1", "2")], **FROM)
    for owner in ("1", "2"):
        rows = [{"tax_ident": f"e{n}", "name": f"E{n}", "legal_unit_tax_ident": owner} for n in (1, 2)]
        reg.import_rows("establishment_formal", rows, **FROM)
    assert (_primaries(reg, "1"), [name for name, _, _ in _primaries(reg, "2")]) == ([], ["E1"])

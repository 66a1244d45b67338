"""Import of units: what rows become, and what stays as it was."""

from __future__ import annotations

from datetime import date

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

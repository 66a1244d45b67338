"""Facets of units, and the way down through them on a day."""

from __future__ import annotations

from typing import Any

from tests.fixtures.register_driver import Register
from tests.register.agreement import assert_agreement


def drill(reg: Register, at: str, **chosen: Any) -> dict[str, Any]:
    names = "".join(f", p_{name} => %s" for name in chosen)
    return reg.value(f"select register.unit_facet_drilldown('legal_unit', %s{names})", at, *chosen.values())


def options(found: dict[str, Any], dimension: str) -> dict[str, int]:
    return {row["key"]: row["count"] for row in found["next"].get(dimension, [])}


def test_counted_rows_are_grouped_by_validity_and_dimensions(reg: Register) -> None:
    for ident in ("1", "2"):
        reg.lu(ident, "2024-01-01", region="03.01", activity="A.01.1", legal_form="AS", employees=int(ident))
    reg.lu("3", "2024-01-01", region="03.01", activity="A.01.1", legal_form="AS", status="passive", employees=50)
    reg.lu("4", "2024-02-01", region="03.01", activity="A.01.1", legal_form="AS")
    reg.derive()
    rows = [row for row in reg.unit_facets() if row["unit_type"] == "legal_unit"]
    assert [(str(r["valid_from"]), r["count"]) for r in rows] == [("2024-01-01", 2), ("2024-02-01", 1)]
    assert rows[0]["stats_summary"]["employees"]["sum"] == 3
    assert rows[0]["physical_region_path"] == "03.01"
    assert_agreement(reg)


def test_a_day_is_drilled_into_along_paths_and_codes(reg: Register) -> None:
    reg.lu("1", "2023-01-01", "2024-07-01", region="03.01", activity="A.01.1", legal_form="AS", employees=1)
    reg.lu("2", "2024-01-01", region="11.03", activity="G.47.5.2", legal_form="AS", employees=2)
    reg.lu("3", "2024-01-01", region="11.21", activity="G.45.1.1.2", legal_form="ENK", employees=4)
    reg.lu("4", "2024-01-01", legal_form="ENK")
    reg.derive()
    found = drill(reg, "2024-06-30")
    assert found["count"] == 4
    assert found["stats_summary"]["employees"]["sum"] == 7
    assert options(found, "physical_region") == {"11": 2, "03": 1}
    assert options(found, "primary_activity_category") == {"G": 2, "A": 1}
    assert options(found, "legal_form") == {"AS": 2, "ENK": 2}
    assert options(found, "status") == {"active": 4}
    assert {row["key"]: row["has_children"] for row in found["next"]["physical_region"]} == {"11": True, "03": True}

    deeper = drill(reg, "2024-06-30", physical_region_path="11", primary_activity_category_path="G")
    assert deeper["count"] == 2
    assert options(deeper, "physical_region") == {"11.03": 1, "11.21": 1}
    assert options(deeper, "primary_activity_category") == {"G.45": 1, "G.47": 1}
    leaf = drill(reg, "2024-06-30", physical_region_path="11.03")
    assert (leaf["count"], options(leaf, "physical_region")) == (1, {})
    assert drill(reg, "2024-07-01")["count"] == 3, "the last day is the one before valid_until"
    assert drill(reg, "2024-06-30", legal_form_id=reg.code("legal_form", "ENK"))["count"] == 2


def test_a_path_is_not_a_prefix_of_letters(reg: Register) -> None:
    reg.conn.execute("insert into register.sector (path, name) values ('x', 'X'), ('xy', 'XY'), ('x.1', 'X1')")
    reg.lu("1", "2024-01-01", sector=None)
    reg.conn.execute("update register.legal_unit set sector_id = (select id from register.sector where path = 'xy')")
    reg.derive()
    assert drill(reg, "2024-06-30", sector_path="x")["count"] == 0
    assert options(drill(reg, "2024-06-30"), "sector") == {"xy": 1}


def test_regions_of_two_versions_with_one_path_are_one_facet(reg: Register) -> None:
    reg.conn.execute("insert into register.region_version (code) values ('other')")
    reg.conn.execute(
        "insert into register.region (version_id, path, name)"
        " select (select id from register.region_version where code = 'other'), path, name"
        " from register.region where path in ('03', '03.01')"
    )
    ids = [r["id"] for r in reg.rows("select id from register.region where path = '03.01' order by id")]
    assert len(ids) == 2
    for ident, region in zip("12", ids, strict=True):
        reg.lu(ident, "2024-01-01", employees=1)
        country = reg.code("country", "NO", column="iso_2")
        slot = {"legal_unit_id": reg.unit_id(ident), "type": "physical", "country_id": country, "region_id": region}
        reg.insert("location", **slot, valid_from="2024-01-01")
    reg.derive()
    assert [r["count"] for r in reg.unit_facets() if r["unit_type"] == "legal_unit"] == [2]
    reg.conn.execute("update register.settings set rebuild_share = 1")
    reg.stat("1", "turnover", 5, "2024-01-01")
    reg.conn.execute("update register.location set region_id = %s", [ids[0]])
    reg.derive()
    assert [r["count"] for r in reg.unit_facets() if r["unit_type"] == "legal_unit"] == [2]
    assert_agreement(reg)


def test_a_region_that_gets_another_path_takes_its_units_along(reg: Register) -> None:
    reg.lu("1", "2024-01-01", region="11.03", employees=1)
    reg.lu("2", "2024-01-01", region="03.01", employees=2)
    reg.derive()
    reg.conn.execute("update register.settings set rebuild_share = 1")
    reg.conn.execute("update register.region set path = '11.99' where path = '11.03'")
    reg.derive()
    paths = {r["physical_region_path"] for r in reg.unit_facets()}
    assert paths == {"11.99", "03.01"}
    assert_agreement(reg)

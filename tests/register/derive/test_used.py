"""Codes in use, with all that they lie in."""

from __future__ import annotations

import pytest

from tests.fixtures.often import often
from tests.fixtures.register_driver import Register
from tests.register.unit_support import derive, without_reports


def used(reg: Register, view: str, column: str = "path") -> list[str]:
    return [r[column] for r in reg.rows(f"select {column} from register.{view}_used order by 1")]


def counts(reg: Register) -> list[tuple[str, int, int]]:
    rows = reg.rows("select kind, code_id, row_count from register.used_code order by 1, 2")
    return [(r["kind"], r["code_id"], r["row_count"]) for r in rows]


@pytest.fixture(params=often(1, now_and_then=[0]), ids=["by differences", "recounted"])
def units(reg: Register, request: pytest.FixtureRequest) -> Register:
    without_reports(reg)
    reg.lu("0", "2020-01-01")
    derive(reg)
    reg.conn.execute("update register.settings set rebuild_share = %s", [request.param])
    reg.lu(
        "1", "2020-01-01", activity="G.47.5.2", secondary="A.01.1", region="11.03", legal_form="AS", data_source="brreg"
    )
    derive(reg)
    return reg


def test_codes_in_use_are_listed_with_their_ancestors(units: Register) -> None:
    assert {"A.01.1", "G.47.5.2"} <= set(used(units, "activity_category"))
    assert "A" in used(units, "activity_category")
    assert "J.62.0.1" not in used(units, "activity_category")
    assert used(units, "region") == ["11", "11.03"]
    assert used(units, "legal_form", "code") == ["AS"]
    assert used(units, "country", "iso_2") == ["NO"]
    assert used(units, "data_source", "code") == ["brreg"]
    assert used(units, "sector") == []


def test_a_code_is_listed_as_long_as_a_row_names_it(units: Register) -> None:
    units.lu("2", "2020-01-01", region="11.03")
    derive(units)
    units.conn.execute("delete from register.location where legal_unit_id = %s", [units.unit_id("1")])
    derive(units)
    assert used(units, "region") == ["11", "11.03"]
    units.conn.execute("delete from register.location")
    derive(units)
    assert used(units, "region") == []
    assert used(units, "country", "iso_2") == []


def test_differences_come_to_the_same_as_counting(units: Register) -> None:
    units.details("0", "2021-01-01", activity="J.62.0.1", postal="Street")
    units.lu("3", "2020-01-01", activity="A.01.1", secondary="G.47.5.2", data_source="survey")
    derive(units)
    units.conn.execute("delete from register.activity where type = 'secondary'")
    derive(units)
    before = counts(units)
    units.conn.execute("select register.recount_used()")
    assert counts(units) == before
    assert before != []


def test_a_row_that_names_a_code_twice_counts_once(units: Register) -> None:
    units.lu("4", "2020-01-01", activity="J.62.0.1", secondary="J.62.0.1")
    derive(units)
    category = units.code("activity_category", "J.62.0.1")
    assert ("activity", category, 2) in counts(units)


def test_activities_of_another_standard_are_not_listed(units: Register) -> None:
    units.conn.execute(
        "update register.settings set activity_category_standard_id ="
        " (select id from register.activity_category_standard where code = 'isic_v4')"
    )
    assert used(units, "activity_category") == []


def damage(reg: Register) -> None:
    reg.conn.execute(
        "update register.used_code set row_count = row_count + 7 where kind = 'activity';"
        "delete from register.used_code where kind in ('region', 'country');"
        f"insert into register.used_code values ('sector', {reg.code('sector', '2100')}, 3)"
    )


def test_deriving_everything_counts_codes_again(units: Register) -> None:
    before = counts(units)
    damage(units)
    assert counts(units) != before
    units.value("select worker.enqueue_collect_changes('all')")
    derive(units)
    assert counts(units) == before
    assert units.rows("select * from register.check_units()") == []


def test_counting_again_touches_nothing_that_is_right(units: Register) -> None:
    written = "select xmin::text, ctid::text from register.used_code order by 1, 2"
    before = units.rows(written)
    units.conn.execute("select register.recount_used()")
    assert units.rows(written) == before


def test_a_count_that_was_too_small_breaks_no_round(units: Register) -> None:
    damage(units)
    units.conn.execute("delete from register.location")
    derive(units)
    assert used(units, "region") == []
    assert units.rows("select * from register.check_units()") == []

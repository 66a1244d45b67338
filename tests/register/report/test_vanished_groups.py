"""Groups that lose their last unit, and extremes that lose their last holder."""

from __future__ import annotations

from typing import Any

import pytest

from tests.fixtures.register_driver import Register
from tests.register.agreement import assert_agreement


@pytest.fixture
def groups(reg: Register) -> Register:
    """Five units in one facet, and one in another; from here on reports are never rebuilt."""
    for ident, employees in (("1", 1), ("2", 1), ("3", 5), ("4", 9), ("5", 9)):
        reg.lu(ident, "2025-12-01", region="03.01", activity="A.01.1", employees=employees)
    reg.lu("6", "2025-12-01", region="11.03", activity="A.01.1", employees=3)
    reg.derive()
    reg.conn.execute("update register.settings set rebuild_share = 1")
    return reg


def employ(reg: Register, ident: str, employees: int) -> None:
    reg.conn.execute(
        "update register.stat_for_unit set value_int = %s where legal_unit_id = %s", [employees, reg.unit_id(ident)]
    )


def extremes(reg: Register, view: str, where: str = "true") -> set[tuple[Any, Any]]:
    rows = reg.rows(
        f"select stats_summary -> 'employees' as e from register.{view} where unit_type = 'legal_unit' and {where}"
    )
    return {(row["e"]["min"], row["e"]["max"]) for row in rows if row["e"] is not None}


def rebuilt(reg: Register) -> list[bool]:
    rows = reg.rows(
        "select info -> 'rebuilt' as rebuilt from worker.tasks where command in ('derive_statistical_history',"
        " 'statistical_unit_facet_reduce', 'derive_statistical_history_facet') order by id desc limit 3"
    )
    return [row["rebuilt"] for row in rows]


def test_a_facet_goes_with_its_last_unit(groups: Register) -> None:
    region = groups.code("region", "03.01")
    groups.conn.execute(
        "update register.location set region_id = %s where legal_unit_id = %s", [region, groups.unit_id("6")]
    )
    groups.derive()
    assert rebuilt(groups) == [False, False, False]
    assert {r["physical_region_path"] for r in groups.unit_facets()} == {"03.01"}
    assert {r["physical_region_path"] for r in groups.history_facets()} == {"03.01"}
    assert_agreement(groups)


def test_a_deleted_unit_leaves_every_report(groups: Register) -> None:
    unit_id = groups.unit_id("6")
    for table in ("activity", "location", "stat_for_unit", "external_ident"):
        groups.conn.execute(f"delete from register.{table} where legal_unit_id = %s", [unit_id])
    groups.conn.execute("delete from register.legal_unit where id = %s", [unit_id])
    groups.derive()
    assert {r["physical_region_path"] for r in groups.unit_facets()} == {"03.01"}
    assert {r["exists_count"] for r in groups.history() if r["unit_type"] == "legal_unit"} == {5}
    assert_agreement(groups)


def test_an_extreme_stands_while_a_unit_holds_it(groups: Register) -> None:
    employ(groups, "1", 4)
    employ(groups, "4", 4)
    groups.derive()
    assert extremes(groups, "statistical_history") == {(1, 9)}
    assert extremes(groups, "statistical_unit_facet", "physical_region_path = '03.01'") == {(1, 9)}
    assert_agreement(groups)


@pytest.mark.long
def test_the_next_one_is_found_when_the_last_holder_goes(groups: Register) -> None:
    for ident, employees in (("1", 4), ("2", 6), ("4", 6), ("5", 7)):
        employ(groups, ident, employees)
        groups.derive()
        assert rebuilt(groups) == [False, False, False]
        assert_agreement(groups)
    assert extremes(groups, "statistical_unit_facet", "physical_region_path = '03.01'") == {(4, 7)}
    assert extremes(groups, "statistical_history_facet", "physical_region_path = '03.01'") == {(4, 7)}
    assert extremes(groups, "statistical_history") == {(3, 7)}


def test_holders_that_come_and_go_at_once_are_counted(groups: Register) -> None:
    employ(groups, "3", 1)
    employ(groups, "1", 5)
    employ(groups, "2", 12)
    employ(groups, "4", 12)
    groups.derive()
    assert extremes(groups, "statistical_unit_facet", "physical_region_path = '03.01'") == {(1, 12)}
    assert_agreement(groups)


def test_values_that_go_altogether_leave_no_statistics(groups: Register) -> None:
    groups.conn.execute("delete from register.stat_for_unit")
    groups.derive()
    for row in (*groups.history(), *groups.unit_facets(), *groups.history_facets()):
        assert row["stats_summary"] == {}
    assert_agreement(groups)


def test_words_and_truth_values_are_counted_and_leave(groups: Register) -> None:
    groups.conn.execute(
        "insert into register.stat_definition (code, type, name, priority) values ('mood', 'string', 'Mood', 8),"
        " ('open', 'bool', 'Open', 9)"
    )
    for ident, mood in (("1", "fine"), ("2", "fine"), ("3", "poor"), ("6", "poor")):
        groups.stat(ident, "mood", mood, "2025-12-01")
    groups.stat("1", "open", True, "2025-12-01")
    groups.derive()
    assert_agreement(groups)
    groups.conn.execute("update register.stat_for_unit set value_string = 'fine' where value_string = 'poor'")
    groups.conn.execute("delete from register.stat_for_unit where value_bool is not null")
    groups.derive()
    summary = groups.value(
        "select stats_summary from register.statistical_history where unit_type = 'legal_unit' limit 1"
    )
    assert summary["mood"] == {"type": "string", "counts": {"fine": 4}}
    assert "open" not in summary
    assert_agreement(groups)


def test_reports_that_drifted_are_refused_and_a_full_derivation_mends_them(groups: Register) -> None:
    groups.conn.execute("delete from register.statistical_history_facet_row")
    assert groups.rows("select * from register.check_register(false)") != []
    employ(groups, "6", 8)
    groups.derive()
    error = groups.value(
        "select error from worker.tasks where command = 'derive_statistical_history_facet' and error is not null"
    )
    assert "does not agree with the units it was made from" in error
    groups.value("select worker.enqueue_collect_changes('all')")
    groups.derive()
    assert groups.rows("select * from register.check_register(false)") == []
    assert extremes(groups, "statistical_unit_facet", "physical_region_path = '11.03'") == {(8, 8)}

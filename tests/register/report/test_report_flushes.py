"""Differences reach each report exactly once, also when rounds break between two reports."""

from __future__ import annotations

import re
from importlib.resources import files

import pytest

from tests.fixtures.often import some
from tests.fixtures.register_driver import Register
from tests.register.agreement import wrong_reports

TABLES = ("statistical_history_row", "statistical_unit_facet_row", "statistical_history_facet_row")


@pytest.fixture
def filled(reg: Register) -> Register:
    for ident, employees in (("1", 1), ("2", 5), ("3", 9)):
        reg.lu(ident, "2025-11-01", region="03.01", activity="A.01.1", employees=employees)
    reg.lu("4", "2025-11-01", "2026-01-10", name="Before", region="11.03", employees=4)
    reg.lu("4", "2026-01-10", name="After", region="11.03", employees=6)
    reg.derive()
    reg.conn.execute("update register.settings set rebuild_share = 1")
    return reg


def employ(reg: Register, ident: str, employees: int) -> None:
    reg.conn.execute(
        "update register.stat_for_unit set value_int = %s where legal_unit_id = %s", [employees, reg.unit_id(ident)]
    )


def move(reg: Register, ident: str, region: str) -> None:
    place = [reg.code("region", region), reg.unit_id(ident)]
    reg.conn.execute("update register.location set region_id = %s where legal_unit_id = %s", place)


def break_round(reg: Register, table: str) -> None:
    """A round that fails where it publishes to this table."""
    reg.conn.execute(
        f"create function pg_temp.fail() returns trigger language plpgsql as $$ begin raise 'broken'; end $$;"
        f" create trigger fail before insert or update or delete on register.{table}"
        f" for each statement execute function pg_temp.fail()"
    )
    reg.value("select worker.enqueue_collect_changes()")
    reg.derive()
    assert reg.value("select state from register.round order by id desc limit 1") == "broken"
    reg.conn.execute(f"drop trigger fail on register.{table}; drop function pg_temp.fail()")


def applied(reg: Register) -> dict[str, int]:
    return {r["report"]: r["applied_flush_id"] for r in reg.rows("select * from register.report_state")}


@pytest.mark.parametrize("table", some(TABLES, one_in=3))
def test_reports_that_a_broken_round_did_not_reach_catch_up(filled: Register, table: str) -> None:
    before = applied(filled)
    employ(filled, "1", 7)
    move(filled, "4", "46.26")
    break_round(filled, table)
    moved = [name for name, flush in applied(filled).items() if flush != before[name]]
    assert len(moved) == TABLES.index(table), "reports before the break have the change, the others do not"
    # A second flush on top: comes, goes and changes back, all before the last report has seen the first.
    employ(filled, "1", 2)
    employ(filled, "3", 2)
    move(filled, "4", "03.01")
    filled.value("select worker.enqueue_collect_changes()")
    filled.derive()
    assert filled.value("select state from register.round order by id desc limit 1") == "done"
    assert len(set(applied(filled).values())) == 1
    assert filled.value("select count(*) from register.statistical_unit_change") == 0
    assert wrong_reports(filled) == []
    filled.check()
    reports = filled.rows(
        "select info from worker.tasks where command = 'derive_reports' and state = 'completed'"
        " order by id desc limit 1"
    )
    assert reports[0]["info"]["rebuilt"] is None, "by differences"


@pytest.mark.long
def test_two_broken_rounds_are_caught_up_with_at_once(filled: Register) -> None:
    for employees in (7, 11):
        employ(filled, "2", employees)
        break_round(filled, "statistical_history_facet_row")
    employ(filled, "2", 0)
    filled.value("select worker.enqueue_collect_changes()")
    filled.derive()
    assert [r["state"] for r in filled.rows("select state from register.round order by id")][1:] == [
        "broken",
        "broken",
        "done",
    ]
    assert wrong_reports(filled) == []
    filled.check()


@pytest.mark.long
def test_holders_of_the_smallest_value_are_counted(reg: Register) -> None:
    """Else each of them that goes would have every unit of the type read again."""
    for ident, employees in (("1", 4), ("2", 4), ("3", 4), ("4", 9)):
        reg.lu(ident, "2025-11-01", region="03.01", activity="A.01.1", employees=employees)
    reg.derive()
    reg.conn.execute("update register.settings set rebuild_share = 1")
    smallest = (
        "select m.min::integer as value, m.min_count::integer as holders from register.statistical_history_row as h"
        " cross join unnest(h.moments) as m where h.year = 2025 and h.month is null and h.unit_type = 'legal_unit'"
    )
    assert reg.rows(smallest) == [{"value": 4, "holders": 3}], "as the smallest one that was reported"
    for ident, employees, value, holders in (
        ("1", 8, 4, 2),
        ("2", 8, 4, 1),
        ("3", 8, 8, 0),  # looked up; a value that nobody expected is not counted
        ("1", 9, 8, 2),  # looked up once more, and now expected
        ("2", 9, 8, 1),
    ):
        employ(reg, ident, employees)
        reg.derive()
        assert reg.rows(smallest) == [{"value": value, "holders": holders}]
    reg.check()


def test_facets_are_shared_out_by_their_key(filled: Register) -> None:
    """Among children of a large round, rebuilt as well as updated by differences; here everything is large."""
    plan = files("catchment_register").joinpath("sql/functions/report/plan_periods.sql").read_text("utf-8")
    small, replaced = re.subn(r"(c_(?:facets|changes) +constant integer :=) \d+", r"\1 1", plan)
    assert replaced == 2
    filled.conn.execute(small)
    shared = (
        "select max((payload ->> 'shares')::integer) from worker.tasks"
        " where command = 'derive_statistical_history_facet_period' and state = 'completed'"
        " and id > %s"
    )
    for edit in (
        lambda: (employ(filled, "1", 7), move(filled, "4", "46.26")),  # 1 was the smallest of its facet
        lambda: (employ(filled, "1", 1), employ(filled, "3", 2)),
        lambda: filled.value("select worker.enqueue_derive_reports()"),
    ):
        before = filled.value("select max(id) from worker.tasks")
        edit()
        filled.derive()
        assert filled.value(shared, before) > 1
        assert wrong_reports(filled) == []
        filled.check()

"""Which periods the reports have, and which a change reaches."""

from __future__ import annotations

from tests.fixtures.register_driver import Register
from tests.register.agreement import assert_agreement, failed


def months(reg: Register) -> list[str]:
    rows = reg.rows(
        "select distinct year || to_char(month, '\"-\"FM00') as m from register.statistical_history"
        " where resolution = 'year-month' order by 1"
    )
    return [row["m"] for row in rows]


def last_info(reg: Register, command: str) -> dict[str, object]:
    return reg.value("select info from worker.tasks where command = %s order by id desc limit 1", command)


def test_years_and_months_from_the_first_unit_to_today(reg: Register) -> None:
    reg.lu("1", "2025-11-20")
    reg.derive()
    assert months(reg) == ["2025-11", "2025-12", "2026-01", "2026-02"]
    years = reg.rows("select distinct year from register.statistical_history where resolution = 'year' order by 1")
    assert [y["year"] for y in years] == [2025, 2026]
    assert [y["year"] for y in reg.rows("select year from register.timesegments_years order by 1")] == [2025, 2026]


def test_history_reaches_a_hundred_years_back_at_most(reg: Register) -> None:
    reg.lu("1", "1890-01-01")
    reg.derive()
    assert reg.value("select min(year) from register.statistical_history") == 1926
    assert reg.value("select count(*) from register.statistical_history where resolution = 'year'") == 2 * 101
    assert reg.rows("select * from register.check_register(false)") == []


def test_the_period_after_a_change_is_counted_again_too(reg: Register) -> None:
    """Its units of before are those that changed."""
    reg.lu("1", "2023-01-01", "2024-06-01", name="A")
    reg.lu("1", "2024-06-01", name="B")
    reg.lu("2", "2023-01-01")
    reg.derive()
    reg.conn.execute("update register.settings set rebuild_share = 1")
    reg.conn.execute("update register.legal_unit set name = 'C' where name = 'A'")
    reg.conn.execute("update register.legal_unit set name = 'C' where name = 'B'")
    reg.derive()
    changes = "select sum(name_change_count) from register.statistical_history where unit_type = 'legal_unit'"
    assert reg.value(changes) == 0
    reg.conn.execute(
        "update register.legal_unit set name = 'D', valid_until = '2024-05-20' where valid_until = '2024-06-01'"
    )
    reg.derive()
    assert_agreement(reg)


def test_a_small_change_touches_its_own_periods_only(reg: Register) -> None:
    reg.lu("1", "2020-01-01")
    reg.lu("2", "2022-03-01", "2022-05-20", employees=1)
    reg.derive()
    reg.conn.execute("update register.settings set rebuild_share = 1")
    before = versions(reg)
    reg.conn.execute("update register.stat_for_unit set value_int = 2")
    reg.derive()
    after = versions(reg)
    touched = {key for key in after if after[key] != before.get(key)}
    assert {(year, month) for year, month, _ in touched} <= {(2022, m) for m in (None, 3, 4, 5, 6)} | {(2023, None)}
    assert {unit_type for _, _, unit_type in touched} == {"legal_unit", "enterprise"}
    assert_agreement(reg)


def test_children_may_share_the_facets_of_a_period(reg: Register) -> None:
    """As they do where a period has a quarter of a million of them."""
    plan = reg.value("select pg_get_functiondef('register.plan_periods(bigint, text)'::regprocedure)")
    assert "integer := 250000;" in plan
    reg.conn.execute(plan.replace("integer := 250000;", "integer := 1;"))
    for number, form in enumerate(("AS", "ENK", "AS", "ENK")):
        reg.lu(f"{number}", "2025-06-01", employees=number, legal_form=form)
    reg.lu("moves", "2025-03-01", "2025-10-01", employees=7, legal_form="AS")
    reg.lu("moves", "2025-10-01", employees=8, legal_form="ENK")
    reg.derive()
    payload = reg.value(
        "select payload from worker.tasks where command = 'derive_statistical_history_facet_period' order by id limit 1"
    )
    assert (payload["share"], payload["shares"] > 1) == (0, True)
    assert_agreement(reg)


def versions(reg: Register) -> dict[tuple[int, int | None, str], str]:
    rows = reg.rows(
        "select year, month, unit_type, ctid::text || xmin::text as version from register.statistical_history_row"
    )
    return {(r["year"], r["month"], r["unit_type"]): r["version"] for r in rows}


def test_a_new_month_comes_without_any_edit(reg: Register) -> None:
    reg.lu("1", "2025-12-20", employees=3)
    reg.derive()
    reg.today("2026-04-02")
    # What the schedule does each day.
    reg.value("select worker.enqueue_collect_changes()")
    reg.derive()
    assert months(reg) == ["2025-12", "2026-01", "2026-02", "2026-03", "2026-04"]
    assert reg.value("select kind from register.round order by id desc limit 1") == "roll"
    assert_agreement(reg)
    reg.today("2026-04-30")
    reg.value("select worker.enqueue_collect_changes()")
    reg.derive()
    assert reg.value("select count(*) from register.round") == 2, "the same month needs no round"


def test_today_may_go_back(reg: Register) -> None:
    reg.lu("1", "2025-12-20")
    reg.derive()
    reg.today("2026-01-31")
    reg.lu("2", "2025-12-20")
    reg.derive()
    assert months(reg) == ["2025-12", "2026-01"]
    assert_agreement(reg)


def test_reports_requested_by_hand_are_rebuilt_as_a_whole(reg: Register) -> None:
    reg.lu("1", "2025-12-20", employees=3)
    reg.derive()
    reg.conn.execute("delete from register.statistical_history_row where unit_type = 'legal_unit'")
    reg.conn.execute("update register.statistical_unit_facet_row set count = count + 1")
    for command in ("derive_statistical_history", "derive_statistical_unit_facet", "derive_statistical_history_facet"):
        reg.value(f"select worker.enqueue_{command}()")
        reg.derive()
        assert_agreement(reg)
    reg.value("select worker.enqueue_statistical_unit_facet_reduce()")
    reg.derive()
    assert last_info(reg, "statistical_unit_facet_reduce") == {"skipped": True}
    assert not failed(reg)


def test_nothing_to_report_is_no_failure(reg: Register) -> None:
    reg.value("select worker.enqueue_derive_reports()")
    reg.derive()
    assert not failed(reg)
    assert reg.history() == []
    assert reg.history_facets() == []

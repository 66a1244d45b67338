"""What people see while something is derived: busy from the change to the last report, and a percentage that grows."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.fixtures.register_driver import Register, RegisterDatabase
from tests.register.breaking import break_stage, mend_stage, wait_for_retry

STEP = "call worker.process_tasks(p_queue => 'analytics', p_batch_size => 1)"


def flags(reg: Register) -> tuple[bool, bool]:
    row = reg.rows(
        "select register.is_deriving_statistical_units() as units, register.is_deriving_reports() as reports"
    )[0]
    return row["units"], row["reports"]


def progress(reg: Register) -> dict[str, dict[str, Any]]:
    return {row["phase"]: row for row in reg.rows("select * from register.pipeline_progress()")}


def steps(reg: RegisterDatabase) -> Iterator[list[dict[str, Any]]]:
    """Run one task after the other, until none is left; yields what ran."""
    while True:
        reg.conn.execute(STEP)
        done = reg.value("select current_setting('worker.processed')::jsonb")
        if not done:
            return
        yield done


def fill(reg: Register) -> None:
    for number in range(6):
        reg.lu(str(number), "2025-01-01", employees=number, region="03.01")


def test_an_idle_register_is_idle(reg: Register) -> None:
    assert flags(reg) == (False, False)
    assert reg.value("select register.is_importing()") is False
    for phase in progress(reg).values():
        assert (phase["active"], phase["pending"], phase["step"], phase["percent"]) == (False, False, None, None)


def test_it_is_busy_from_the_change_to_the_last_report_without_a_gap(reg_db: RegisterDatabase) -> None:
    reg_db.conn.execute("update register.settings set batch_enterprises = 2")
    with reg_db.conn.transaction():
        fill(reg_db)
    seen = [flags(reg_db)]
    commands: list[str] = []
    for done in steps(reg_db):
        commands += [task["command"] for task in done]
        seen.append(flags(reg_db))
    assert commands[0] == "collect_changes"
    assert commands[-1] in ("derive_statistical_history_facet", "derive_statistical_history_facet_period")
    assert commands.count("statistical_unit_refresh_batch") == 3
    assert all(units or reports for units, reports in seen[:-1]), list(zip(commands, seen[1:], strict=True))
    assert seen[-1] == (False, False)
    flushed = commands.index("statistical_unit_flush_staging") + 1
    assert all(units for units, _ in seen[:flushed]), "units are derived until they are published"
    assert not any(units for units, _ in seen[flushed:]), "and not longer"
    assert all(reports for _, reports in seen[flushed:-1])


def test_the_percentage_of_a_phase_never_falls(reg_db: RegisterDatabase) -> None:
    reg_db.conn.execute("update register.settings set batch_enterprises = 2")
    with reg_db.conn.transaction():
        fill(reg_db)
    seen: dict[str, list[Any]] = {"units": [], "reports": []}
    told: list[tuple[Any, ...]] = []
    for _ in steps(reg_db):
        for phase, row in progress(reg_db).items():
            if row["active"]:
                seen[phase].append(row["percent"])
                told.append((row["step"], row["completed"], row["total"]))
    for phase, percents in seen.items():
        assert percents == sorted(percents), phase
        assert percents[0] < percents[-1] <= 100, phase
    assert ("derive_statistical_unit", 1, 3) in told
    assert ("derive_statistical_unit", 2, 3) in told
    assert {step for step, _, _ in told} >= {"derive_statistical_unit_continue", "derive_statistical_history_facet"}


def test_a_round_tells_how_many_units_it_derives(reg_db: RegisterDatabase) -> None:
    with reg_db.conn.transaction():
        fill(reg_db)
        reg_db.es("9", "0", "2025-01-01")
    reg_db.conn.execute(STEP)
    reg_db.conn.execute(STEP)
    for phase in progress(reg_db).values():
        assert phase["effective_establishment_count"] == 1
        assert phase["effective_legal_unit_count"] == 6
        assert phase["effective_enterprise_count"] == 6
        assert phase["effective_power_group_count"] == 0
    assert progress(reg_db)["reports"]["pending"] is True


def end_collections(reg: Register) -> None:
    """No collection is asked for any more, as between two tries of a round."""
    reg.conn.execute(
        "select worker.cancel(id) from worker.tasks where command = 'collect_changes' and state = 'pending'"
    )


def retry(reg: Register) -> None:
    wait_for_retry(reg)
    reg.value("select worker.enqueue_collect_changes()")
    reg.derive()


def test_a_round_that_broke_leaves_it_busy_until_its_changes_are_published(reg: Register) -> None:
    fill(reg)
    break_stage(reg, "statistical_unit_facet_reduce")
    reg.derive()
    assert reg.value("select state from register.round order by id desc limit 1") == "broken"
    assert flags(reg) == (True, True), "its changes wait for another round, and its units for the reports"
    mend_stage(reg, "statistical_unit_facet_reduce")
    retry(reg)
    assert flags(reg) == (False, False)


def test_a_derivation_of_everything_that_broke_leaves_it_busy(reg: Register) -> None:
    fill(reg)
    reg.derive()
    break_stage(reg, "statistical_unit_flush_staging")
    reg.value("select worker.enqueue_collect_changes('all')")
    reg.derive()
    assert reg.log() == []
    assert flags(reg) == (True, False)
    mend_stage(reg, "statistical_unit_flush_staging")
    retry(reg)
    assert flags(reg) == (False, False)


def test_reports_of_a_new_month_that_broke_leave_it_busy(reg: Register) -> None:
    fill(reg)
    reg.derive()
    reg.today("2026-03-01")
    assert flags(reg) == (False, False), "nobody has asked for them"
    break_stage(reg, "derive_statistical_unit_facet")
    reg.value("select worker.enqueue_collect_changes()")
    reg.derive()
    assert flags(reg) == (False, True)
    mend_stage(reg, "derive_statistical_unit_facet")
    retry(reg)
    assert flags(reg) == (False, False)


def test_an_open_round_whose_tasks_are_gone_leaves_it_busy(reg: Register) -> None:
    fill(reg)
    reg.value("select (register.take_changes(false)).id")
    end_collections(reg)
    assert flags(reg) == (True, False)
    reg.conn.execute("update register.round set flushed_at = now()")
    assert flags(reg) == (False, True)
    reg.conn.execute("delete from register.base_change_log")
    reg.conn.execute("update register.round set kind = 'roll', flushed_at = null")
    assert flags(reg) == (False, True)


@pytest.mark.parametrize(
    "state", ["pending", "processing", "waiting", "interrupted", "completed", "failed", "cancelled"]
)
def test_every_state_of_a_task_is_decided_on(reg: Register, state: str) -> None:
    expected = state in ("pending", "processing", "waiting", "interrupted")
    assert reg.value("select register.is_unsettled(%s)", state) is expected


def test_the_states_are_those_of_the_engine(reg: Register) -> None:
    constraint = reg.value(
        "select string_agg(pg_get_constraintdef(oid), ' ') from pg_constraint"
        " where conrelid = 'worker.outcome'::regclass"
    )
    for state in ("completed", "failed", "cancelled"):
        assert state in constraint
    assert reg.value("select register.is_unsettled('no such state')") is None

"""Rounds: one at a time, nothing lost when one breaks, nothing taken before it is committed."""

from __future__ import annotations

import json
from datetime import timedelta

import pytest

from tests.fixtures.register_driver import Register, RegisterDatabase
from tests.register.breaking import break_stage, drain, mend_stage, wait_for_retry
from tests.register.support import refused
from tests.register.unit_support import ENDS_ROUNDS, assert_right, derive, rows_of, without_reports

STAGES = [
    "derive_statistical_unit",
    "statistical_unit_refresh_batch",
    "statistical_unit_flush_staging",
    "derive_reports",
]


def states(reg: Register) -> list[str]:
    return [r["state"] for r in reg.rows("select state from register.round order by id")]


def retry_delay(reg: Register) -> timedelta:
    """How long the pending collection waits."""
    return reg.value(
        "select due_at - worker.now() from worker.tasks where command = 'collect_changes' and state = 'pending'"
    )


@pytest.fixture
def units(reg: Register) -> Register:
    without_reports(reg)
    reg.lu("1", "2020-01-01", employees=1)
    reg.lu("2", "2020-01-01", employees=2)
    return reg


def test_a_round_takes_what_was_logged_and_ends_without_a_trace(units: Register) -> None:
    derive(units)
    assert states(units) == ["done"]
    assert units.value("select count(*) from register.statistical_unit_row") == 4
    assert_right(units)


@pytest.mark.parametrize("stage", STAGES)
def test_a_round_that_breaks_gives_its_changes_back_and_is_tried_again(units: Register, stage: str) -> None:
    derive(units)
    units.conn.execute("update register.settings set batch_enterprises = 1")
    units.stat("1", "turnover", 5.5, "2020-01-01")
    units.stat("2", "turnover", 7.5, "2020-01-01")
    break_stage(units, stage)
    drain(units)
    assert states(units) == ["done", "broken"]
    assert [row["round_id"] for row in units.log()] == [None, None]
    assert units.value("select count(*) from register.statistical_unit_staging") == 0
    assert timedelta(0) < retry_delay(units) <= timedelta(seconds=4)
    mend_stage(units, stage)
    wait_for_retry(units)
    drain(units)
    assert states(units) == ["done", "broken", "done"]
    assert_right(units)


def test_a_round_goes_on_without_planner_statistics(units: Register) -> None:
    break_stage(units, "derive_statistical_unit_continue")
    drain(units)
    assert states(units) == ["done"]
    assert_right(units)


def test_each_failure_in_a_row_doubles_the_wait(units: Register) -> None:
    break_stage(units, "statistical_unit_flush_staging")
    drain(units)
    waits = [retry_delay(units)]
    for _ in range(3):
        wait_for_retry(units)
        drain(units)
        waits.append(retry_delay(units))
    rounded = [round(w.total_seconds()) for w in waits]
    assert rounded == [2, 4, 8, 16]
    assert units.value("select max(failures) from register.round") == 4


def test_the_wait_is_never_longer_than_five_minutes(units: Register) -> None:
    units.conn.execute(
        "insert into register.round (kind, state, today, ended_at, failures)"
        " values ('changes', 'broken', '2020-01-01', now(), 40)"
    )
    units.conn.execute("select worker.cancel(id) from worker.tasks where state = 'pending'")
    drain(units)
    units.conn.execute("select register.recover_rounds()")
    assert retry_delay(units) <= timedelta(minutes=5)


def test_after_a_success_the_count_is_reset(units: Register) -> None:
    break_stage(units, "derive_reports")
    drain(units)
    mend_stage(units, "derive_reports")
    wait_for_retry(units)
    drain(units)
    units.stat("1", "turnover", 1, "2020-01-01")
    break_stage(units, "derive_reports")
    drain(units)
    assert [r["failures"] for r in units.rows("select failures from register.round order by id")] == [1, 0, 1]


def test_a_new_edit_does_not_wait_for_the_retry(units: Register) -> None:
    break_stage(units, "derive_statistical_unit")
    drain(units)
    mend_stage(units, "derive_statistical_unit")
    units.stat("1", "turnover", 5, "2020-01-01")
    drain(units)
    assert states(units) == ["broken", "done"]
    assert_right(units)


def test_a_derivation_of_everything_that_broke_is_owed(units: Register) -> None:
    derive(units)
    units.value("select worker.enqueue_collect_changes('all')")
    break_stage(units, "statistical_unit_flush_staging")
    drain(units)
    mend_stage(units, "statistical_unit_flush_staging")
    wait_for_retry(units)
    drain(units)
    kinds = [(r["kind"], r["state"]) for r in units.rows("select kind, state from register.round order by id")]
    assert kinds == [("changes", "done"), ("all", "broken"), ("all", "done")]
    drain(units)
    assert len(states(units)) == 3


def test_units_asked_for_by_name_are_not_forgotten_when_that_breaks(units: Register) -> None:
    derive(units)
    unit = units.unit_id("1")
    units.value("select worker.enqueue_derive_statistical_unit(p_legal_unit_ids => %s)", f"{{[{unit},{unit + 1})}}")
    break_stage(units, "statistical_unit_flush_staging")
    drain(units)
    assert [row["legal_unit_ids"] for row in units.log()] == [f"{{[{unit},{unit + 1})}}"]
    mend_stage(units, "statistical_unit_flush_staging")
    wait_for_retry(units)
    drain(units)
    assert_right(units)


def test_edits_during_a_round_are_left_to_the_next(units: Register) -> None:
    round_id = units.value("select (register.take_changes(false)).id")
    units.stat("2", "turnover", 9, "2020-01-01")
    assert [row["round_id"] for row in units.log()][-1] is None
    units.conn.execute("select register.close_round(%s)", [round_id])
    assert [row["round_id"] for row in units.log()] == [None]


def test_a_second_round_cannot_begin(units: Register) -> None:
    units.value("select (register.open_round('changes')).id")
    with refused(units, "RG014") as caught:
        units.value("select (register.open_round('all')).id")
    assert "is open" in str(caught.value)


def test_a_stage_of_a_round_that_is_over_is_refused(units: Register) -> None:
    derive(units)
    payload = f'{{"round_id": {units.value("select max(id) from register.round")}}}'
    for stage in ("derive_statistical_unit", "statistical_unit_flush_staging", "derive_reports"):
        with refused(units, "RG009"):
            units.conn.execute("select register.enter_stage(%s, %s)", [payload, stage])


def test_reports_do_not_begin_before_the_units_are_published(units: Register) -> None:
    round_id = units.value("select (register.take_changes(false)).id")
    with refused(units, "RG009") as caught:
        units.conn.execute("select register.enter_stage(%s, 'derive_reports')", [f'{{"round_id": {round_id}}}'])
    assert "have not been published" in str(caught.value)


def test_a_flush_asked_for_by_hand_has_nothing_to_do(units: Register) -> None:
    derive(units)
    for command in ("statistical_unit_flush_staging", "derive_statistical_unit_continue"):
        units.value(f"select worker.enqueue_{command}()")
        drain(units)
        last = "select info from worker.tasks where command = %s order by id desc limit 1"
        assert units.value(last, command) == {"skipped": True}


def test_units_asked_for_without_naming_any_are_all(units: Register) -> None:
    units.conn.execute("select worker.cancel(id) from worker.tasks where state = 'pending'")
    units.conn.execute("select worker.enqueue('derive_statistical_unit')")
    # Whoever names some is merged with it, and takes nothing away.
    units.conn.execute("""select worker.enqueue('derive_statistical_unit', '{"legal_unit_ids": "{[1,2)}"}')""")
    drain(units)
    assert units.value("select kind from register.round order by id limit 1") == "all"
    assert len(rows_of(units, "legal_unit", units.unit_id("1"))) == 1


def test_the_stages_of_a_round_are_one_tree_and_follow_each_other(units: Register) -> None:
    units.conn.execute("update register.settings set batch_enterprises = 1")
    derive(units)
    rows = units.rows(
        "select t.command, p.command as parent, f.command as follows from worker.tasks as t"
        " left join worker.tasks as p on p.id = t.parent_id left join worker.tasks as f on f.id = t.follows_id"
    )
    assert {(r["command"], r["parent"], r["follows"]) for r in rows} == {
        ("collect_changes", None, None),
        ("derive_statistical_unit", None, "collect_changes"),
        ("statistical_unit_refresh_batch", "derive_statistical_unit", None),
        ("derive_statistical_unit_continue", None, "derive_statistical_unit"),
        ("statistical_unit_flush_staging", None, "derive_statistical_unit"),
        ("derive_reports", None, "derive_statistical_unit"),
    }


def test_planner_statistics_are_brought_up_to_date_once_a_round(units: Register) -> None:
    derive(units)
    info = units.value("select info from worker.tasks where command = 'derive_statistical_unit_continue'")
    assert "statistical_unit_staging" in info["analyzed"]
    runs = "select count(*) from worker.tasks where command = 'derive_statistical_unit_continue'"
    assert units.value(runs) == 1


def test_reports_that_are_behind_get_a_round_without_units(units: Register) -> None:
    derive(units)
    units.conn.execute(
        "update register.report_state set applied_flush_id = currval('register.flush_id'), through = '2026-02-28'"
    )
    units.value("select worker.enqueue_collect_changes()")
    drain(units)
    assert len(states(units)) == 1
    units.today("2026-03-01")
    units.value("select worker.enqueue_collect_changes()")
    drain(units)
    rolled = units.rows("select kind, state, rebuild from register.round order by id desc limit 1")
    assert rolled == [{"kind": "roll", "state": "done", "rebuild": True}]


def test_a_code_that_got_another_place_has_the_reports_rebuilt(units: Register) -> None:
    units.details("1", "2020-01-01", region="11.03")
    derive(units)
    units.conn.execute("update register.settings set rebuild_share = 1")
    units.conn.execute(
        "update register.report_state set applied_flush_id = currval('register.flush_id'), through = '2026-02-28'"
    )
    units.stat("1", "turnover", 1, "2020-01-01")
    derive(units)
    units.conn.execute("update register.region set path = '11.99' where path = '11.03'")
    derive(units)
    assert [r["rebuild"] for r in units.rows("select rebuild from register.round order by id")] == [True, False, True]


def test_rounds_of_long_ago_are_forgotten(units: Register) -> None:
    units.conn.execute(
        "insert into register.round (kind, state, today, ended_at) values"
        " ('changes', 'done', '2020-01-01', now() - interval '1 year'), ('changes', 'done', '2020-01-01', now())"
    )
    derive(units)
    assert len(states(units)) == 2


def test_a_worker_that_may_do_nothing_else_derives(reg_db: RegisterDatabase) -> None:
    reg_db.conn.execute(ENDS_ROUNDS)
    reg_db.conn.execute("grant execute on procedure register.derive_reports(jsonb, jsonb) to catchment_worker")
    reg_db.lu("1", "2020-01-01", employees=1)
    name = "worker_" + reg_db.conn.info.dbname
    reg_db.conn.execute(f"create role {name} login in role catchment_worker")
    try:
        with reg_db.connect(user=name) as plain:
            plain.execute("call worker.drain('analytics')")
        assert_right(reg_db)
        assert states(reg_db) == ["done"]
    finally:
        reg_db.conn.execute(f"drop role {name}")


def test_a_change_that_commits_late_is_collected_later(reg_db: RegisterDatabase) -> None:
    reg_db.conn.execute(ENDS_ROUNDS)
    unit = reg_db.lu("1", "2020-01-01")
    late = reg_db.connect(autocommit=False)
    late.execute("update register.legal_unit set name = 'Late' where id = %s", [unit])
    reg_db.conn.execute("call worker.drain('analytics')")
    (row,) = rows_of(reg_db, "legal_unit", unit)
    assert row["name"] == "Unit 1"
    late.commit()
    reg_db.conn.execute("call worker.drain('analytics')")
    (row,) = rows_of(reg_db, "legal_unit", unit)
    assert row["name"] == "Late"
    assert_right(reg_db)


def test_the_end_of_a_round_is_announced(reg_db: RegisterDatabase) -> None:
    reg_db.conn.execute(ENDS_ROUNDS)
    listener = reg_db.connect()
    listener.execute("listen register_round")
    reg_db.lu("1", "2020-01-01")
    reg_db.conn.execute("call worker.drain('analytics')")
    told = [json.loads(n.payload) for n in listener.notifies(timeout=20, stop_after=1)]
    assert told == [{"round_id": 1, "state": "done"}]


def test_an_open_round_without_tasks_is_given_back_by_the_next_collection(reg_db: RegisterDatabase) -> None:
    reg_db.conn.execute(ENDS_ROUNDS)
    reg_db.lu("1", "2020-01-01")
    # As if all its tasks had been deleted.
    reg_db.conn.execute("select register.take_changes(false)")
    reg_db.conn.execute("call worker.drain('analytics')")
    assert states(reg_db) == ["broken", "done"]
    assert_right(reg_db)


def test_a_round_at_work_is_not_given_back_from_elsewhere(reg_db: RegisterDatabase) -> None:
    reg_db.lu("1", "2020-01-01")
    at_work = reg_db.connect(autocommit=False)
    reg_db.conn.execute("select register.take_changes(false)")
    at_work.execute("""select register.enter_stage('{"round_id": 1}', 'derive_statistical_unit')""")
    assert reg_db.value("select register.recover_rounds()") is None
    assert states(reg_db) == ["open"]
    at_work.rollback()
    assert reg_db.value("select register.recover_rounds()") == 1

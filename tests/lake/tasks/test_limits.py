"""What bounds a parallel refresh: workers at a time, attempts, deadlines; and how it is stopped."""

from __future__ import annotations

from typing import Any

import pytest

from tests.fixtures.lake_case import foreign_client
from tests.fixtures.worker import wait_until
from tests.lake.tasks.conftest import ToldCrew
from tests.lake.tasks.crew import OPEN


def running(crew: ToldCrew, refresh_id: int) -> int:
    return [task["status"] for task in crew.subtasks(refresh_id)].count("claimed")


def most_at_a_time(crew: ToldCrew, refresh_id: int) -> int:
    """How many subtasks of a refresh ran at one time at most, by the times of their attempts."""
    rows = crew.case.pg(
        "select t.process_start_at, t.process_stop_at from worker.tasks as t join lake.refresh as r on r.task_id ="
        " t.parent_id where r.id = %s",
        refresh_id,
    )
    return max(sum(start <= at < stop for start, stop in rows) for at, _ in rows)


@pytest.mark.long
def test_no_more_subtasks_run_at_a_time_than_the_table_allows(told_crew: ToldCrew) -> None:
    told_crew.fill("narrow", properties="MAX_PARALLELISM = 2")
    gate = told_crew.gate("narrow")
    refresh_id = told_crew.request("narrow")
    wait_until(lambda: running(told_crew, refresh_id) == 2, seconds=60)
    gate.touch()
    row = told_crew.wait(refresh_id)
    assert row["state"] == "SUCCEEDED", row
    assert most_at_a_time(told_crew, refresh_id) == 2
    # Nothing but the deadline of the refresh bounds what a subtask takes: an hour, as long as nobody says otherwise.
    assert min(seconds for _, seconds in told_crew.starts("narrow")) > 3000
    told_crew.case.check("narrow")


@pytest.mark.long
def test_a_worker_that_comes_later_takes_subtasks(told_crew: ToldCrew) -> None:
    told_crew.fill("late")
    gate = told_crew.gate("late")
    refresh_id = told_crew.request("late")
    wait_until(lambda: running(told_crew, refresh_id) == 3, seconds=60)
    (late,) = told_crew.hire()
    # All the others are held at the gate.
    wait_until(lambda: late.pid in [pid for pid, _ in told_crew.starts("late")], seconds=60)
    assert running(told_crew, refresh_id) == 4
    gate.touch()
    assert told_crew.wait(refresh_id)["state"] == "SUCCEEDED"
    told_crew.case.check("late")


@pytest.mark.long
def test_a_subtask_is_tried_three_times_again_and_then_the_refresh_fails(told_crew: ToldCrew) -> None:
    told_crew.fill("flawed")
    told_crew.tell("flawed", fail=100, only=3)
    row = told_crew.wait(told_crew.request("flawed"), seconds=60)
    assert (row["state"], row["error_code"]) == ("FAILED", "INTERNAL")
    assert "Max retries exceeded: attempt 4 fails on purpose" in row["error_text"]
    subtasks = told_crew.subtasks(row["id"])
    (failed,) = [task for task in subtasks if task["error_message"] and "Max retries" in task["error_message"]]
    assert (failed["status"], failed["retry_count"]) == ("failed", 3)
    told_crew.wait_clean()
    told_crew.tell("flawed")
    told_crew.refresh("flawed")
    told_crew.case.check("flawed")


@pytest.mark.long
def test_a_refresh_whose_sources_changed_in_their_past_is_done_again(told_crew: ToldCrew) -> None:
    """A delete is dated into what the subtasks read: the join notices, and the round moves."""
    told_crew.fill("moved")
    case = told_crew.case
    case.sql("DELETE FROM moved_source WHERE k = 0")
    gate = told_crew.gate("moved")
    with foreign_client(case) as client:
        client.execute("BEGIN TRANSACTION")
        try:
            client.execute("DELETE FROM theirs.moved_source WHERE k BETWEEN 10 AND 19")
            case.make("moved_other", "i BIGINT")
            refresh_id = told_crew.request("moved")
            wait_until(lambda: running(told_crew, refresh_id) > 0, seconds=60)
        finally:
            client.execute("COMMIT")
        gate.touch()
    row = told_crew.wait(refresh_id)
    assert (row["state"], row["commit_snapshot"]) == ("SKIPPED", None), row
    ((again,),) = case.pg("select max(id) from lake.refresh where dt_id = %s", case.find("moved"))
    assert again > refresh_id
    assert told_crew.wait(again)["state"] == "SUCCEEDED"
    assert told_crew.publications(again) == 1
    assert case.sql("SELECT count(*) FROM moved") == [(389,)]
    case.check("moved")
    told_crew.wait_clean()


@pytest.mark.long
def test_a_subtask_that_fails_three_times_succeeds_at_last(told_crew: ToldCrew) -> None:
    told_crew.fill("shaky")
    told_crew.tell("shaky", fail=3, only=2)
    row = told_crew.refresh("shaky")
    counts = sorted(task["retry_count"] for task in told_crew.subtasks(row["id"]))
    assert counts[-2:] == [0, 3]
    told_crew.case.check("shaky")


@pytest.mark.long
def test_a_refresh_can_be_cancelled_in_the_middle_of_a_subtask(told_crew: ToldCrew) -> None:
    told_crew.fill("stopped")
    before = told_crew.case.rows("stopped")
    told_crew.tell("stopped", endless=True)
    refresh_id = told_crew.request("stopped")
    wait_until(lambda: running(told_crew, refresh_id) > 0, seconds=60)
    task_id = told_crew.case.refreshed(refresh_id)["task_id"]
    told_crew.case.pg("select worker.cancel(%s, 'enough')", task_id)
    row = told_crew.wait(refresh_id)
    assert row["state"] == "CANCELLED"
    assert told_crew.case.rows("stopped") == before
    told_crew.wait_clean()
    told_crew.tell("stopped")
    told_crew.refresh("stopped")
    told_crew.case.check("stopped")


def stopped_by_watch(crew: ToldCrew, table: str, change: str) -> dict[str, Any]:
    """Begin a refresh that never ends, change its row, and let the schedule look at it."""
    crew.fill(table)
    crew.tell(table, endless=True)
    refresh_id = crew.request(table)
    wait_until(lambda: running(crew, refresh_id) > 0, seconds=60)
    crew.case.pg(f"update lake.refresh set {change} where id = %s", refresh_id)

    def is_over() -> bool:
        crew.case.control.tick()
        return crew.case.refreshed(refresh_id)["state"] not in OPEN

    wait_until(is_over, seconds=60)
    crew.tell(table)
    crew.wait_clean()
    return crew.case.refreshed(refresh_id)


def test_a_refresh_past_its_deadline_is_stopped(told_crew: ToldCrew) -> None:
    row = stopped_by_watch(told_crew, "overdue", "deadline_at = worker.now() - interval '1 s'")
    assert (row["state"], row["error_code"]) == ("FAILED", "TIMEOUT")


@pytest.mark.long
def test_a_refresh_without_progress_is_stopped(told_crew: ToldCrew) -> None:
    row = stopped_by_watch(
        told_crew,
        "hanging",
        "plan = plan || '{\"no_progress_seconds\": 0.01}', planned_at = planned_at - interval '9 s'",
    )
    assert (row["state"], row["error_code"]) == ("FAILED", "NO_PROGRESS")

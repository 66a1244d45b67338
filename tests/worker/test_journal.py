"""What a worker says of Python attempts: each one once, when its end is recorded."""

from __future__ import annotations

import pytest

from catchment import TaskFailed
from tests.fixtures.worker import wait_until
from tests.worker.app import hold, parent, put, step
from tests.worker.crew import Crew


def test_completed_and_failed_attempts_are_logged_with_their_duration(crew: Crew) -> None:
    crew.hire()
    done = crew.enqueue(step, seconds=0.05)
    failed = crew.enqueue("failing", seconds=0.05)
    written = crew.enqueue(put, note="logged")
    crew.result(done)
    crew.result(written)
    with pytest.raises(TaskFailed):
        crew.result(failed)
    wait_until(lambda: len(crew.logged("task.processed")) == 3)
    seen = {line["task_id"]: line for line in crew.logged("task.processed")}
    assert [(seen[i]["command"], seen[i]["state"]) for i in (done, failed, written)] == [
        ("step", "completed"),
        ("failing", "failed"),
        ("put", "completed"),
    ]
    # Timers of the event loop may be early by a tick.
    assert seen[done]["duration_ms"] >= 45
    assert seen[failed]["duration_ms"] >= 45
    assert (seen[done]["error"], seen[failed]["error"]) == (None, "a child fails")
    assert (seen[done]["level"], seen[failed]["level"]) == ("info", "error")


def test_a_parent_that_waits_for_its_children_is_logged_as_waiting(crew: Crew) -> None:
    crew.hire()
    task = crew.enqueue(parent, key="a", count=2, seconds=0)
    assert crew.result(task) == 1
    wait_until(lambda: len([e for e in crew.logged("task.processed") if e["task_id"] == task]) == 2)
    assert [e["state"] for e in crew.logged("task.processed") if e["task_id"] == task] == ["waiting", "completed"]


def test_an_end_that_was_fenced_neither_counts_nor_is_logged_as_completed(crew: Crew) -> None:
    crew.hire(metrics_port=0)
    task = crew.enqueue(hold, key="lost")
    wait_until(lambda: len(crew.records.spans("lost")) == 1)
    fence = crew.engine.task(task)["fence"]
    # The worker hears of both at once, or it might end the task itself in between.
    with crew.engine.conn.transaction():
        crew.engine.value("select worker.cancel(%s)", task)
        crew.engine.value("select worker.settle(array[%s::bigint], array[%s::bigint], array['cancelled'])", task, fence)
    crew.records.open_gate("gate")
    wait_until(lambda: crew.scrape("worker_fenced_writes_total") == 1)
    assert crew.scrape("worker_tasks_completed_total") == 0
    assert crew.logged("task.processed") == []
    crew.result(crew.enqueue(step))
    wait_until(lambda: crew.scrape("worker_tasks_completed_total") == 1)


def test_nothing_is_logged_of_tasks_when_only_warnings_are_wanted(crew: Crew) -> None:
    crew.hire(1, "--log-level", "warning")
    crew.result(crew.enqueue(step))
    with pytest.raises(TaskFailed):
        crew.result(crew.enqueue("failing"))
    wait_until(lambda: [line["state"] for line in crew.logged("task.processed")] == ["failed"])

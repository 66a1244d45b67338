"""A handler that was stopped but still runs: its attempt is settled, it keeps its slot, and a stop does not wait for
it."""

from __future__ import annotations

import time

import pytest

from catchment import TaskCancelled, TaskFailed
from tests.fixtures.worker import wait_until
from tests.worker import poison
from tests.worker.app import put, step
from tests.worker.crew import Crew
from tests.worker.poison import nap, stubborn, stubborn_writer

APP = "tests.worker.poison:app"


@pytest.fixture
def crew(crew: Crew) -> Crew:
    for command in (*poison.app.commands, put, step):
        if command.name not in crew.client.commands:
            crew.client.commands.add(command)
    crew.client.sync.register()
    return crew


def test_a_handler_that_outlives_its_time_limit_is_left_behind_and_its_lane_goes_on(crew: Crew) -> None:
    crew.hire(app=APP, stop_grace_seconds=0.3, metrics_port=0, max_concurrent_tasks=20, lease_seconds=5)
    task = crew.enqueue(stubborn, key="a", lane="a")
    behind = crew.enqueue(nap, lane="a")
    with pytest.raises(TaskFailed, match="timed out") as caught:
        crew.result(task)
    assert caught.value.kind == "TimeoutError"
    crew.engine.value("select worker.skip_halted('poison', 'a')")
    assert crew.result(behind) == "rested"
    assert crew.records.spans("a")[0].end == float("inf")
    assert [line["task_id"] for line in crew.logged("task.left_behind")] == [task]
    wait_until(lambda: crew.scrape("worker_left_behind_tasks") == 1)
    wait_until(lambda: crew.engine.value("select available_capacity from worker.worker") == 19)

    crew.records.open_gate("gate")
    wait_until(lambda: crew.scrape("worker_left_behind_tasks") == 0)
    refused = {line["verb"]: line["error"] for line in crew.records.lines("refused")}
    assert set(refused) == {"progress", "spawn", "transaction"}
    assert all("given up" in error for error in refused.values())
    assert crew.records.lines("allowed") == []
    assert crew.engine.value("select attempt from worker.tasks where id = %s", task) == 1


def test_a_handler_that_swallows_its_cancellation_is_left_behind(crew: Crew) -> None:
    crew.hire(app=APP, stop_grace_seconds=0.3)
    crew.engine.conn.execute("update worker.command_registry set timeout = null where command = 'stubborn'")
    task = crew.enqueue(stubborn, key="a")
    wait_until(lambda: len(crew.records.spans("a")) == 1)
    crew.client.sync.task(task).cancel("not needed")
    with pytest.raises(TaskCancelled, match="not needed"):
        crew.result(task)
    assert crew.result(crew.enqueue(nap)) == "rested"


def test_a_stop_does_not_wait_for_a_handler_that_swallows_it(crew: Crew) -> None:
    (worker,) = crew.hire(app=APP, shutdown_grace_seconds=0.5)
    crew.engine.conn.execute("update worker.command_registry set timeout = null where command = 'stubborn'")
    task = crew.enqueue(stubborn, key="a", lane="a")
    wait_until(lambda: len(crew.records.spans("a")) == 1)
    began = time.monotonic()
    assert crew.stop(worker) == 0
    assert time.monotonic() - began < 10
    assert crew.engine.state(task) == "pending"
    assert crew.engine.task(task)["attempt"] == 0
    assert crew.registered() == 0
    assert crew.logged("worker.stopped")


def test_a_stop_does_not_wait_for_handlers_that_were_left_behind_before(crew: Crew) -> None:
    (worker,) = crew.hire(app=APP, stop_grace_seconds=0.3)
    task = crew.enqueue(stubborn, key="a")
    wait_until(lambda: crew.engine.state(task) == "failed")
    began = time.monotonic()
    assert crew.stop(worker) == 0
    assert time.monotonic() - began < 10


def test_the_transaction_of_a_handler_left_behind_is_cut_and_its_connection_free(crew: Crew) -> None:
    (worker,) = crew.hire(app=APP, stop_grace_seconds=0.3, transaction_connections=1)
    task = crew.enqueue(stubborn_writer, key="a")
    with pytest.raises(TaskFailed, match="timed out"):
        crew.result(task)
    crew.records.open_gate("other")
    assert crew.result(crew.enqueue("write", note="next")) == "written"
    crew.records.open_gate("gate")
    wait_until(lambda: crew.records.spans("a")[0].end < float("inf"))
    assert crew.result(crew.enqueue("write", note="after")) == "written"
    notes = crew.engine.conn.execute("select note from probe.effect order by note").fetchall()
    assert [row[0] for row in notes] == ["after", "next"]
    assert worker.poll() is None

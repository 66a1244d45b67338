"""Handlers of every kind, and every way they can end."""

from __future__ import annotations

import os
import signal
import time
from typing import Any

import pytest

from catchment import TaskCancelled, TaskFailed
from tests.fixtures.load import measured
from tests.fixtures.worker import wait_until
from tests.worker import wrapped
from tests.worker.app import (
    crash,
    digest,
    flaky,
    group,
    hold,
    odd,
    overdue,
    patient,
    plain,
    slow_at_first,
    spin,
    steered,
    step,
    swallow,
    tell,
)
from tests.worker.crew import Crew, is_alive
from tests.worker.probe import peak_overlap


def _failure(crew: Crew, command: Any, **payload: Any) -> TaskFailed:
    with pytest.raises(TaskFailed) as caught:
        crew.result(crew.enqueue(command, **payload))
    return caught.value


def test_results_come_through_the_app(staffed: Crew) -> None:
    assert staffed.result(staffed.enqueue(step, seq=41)) == 41


def test_errors_come_through_the_app(staffed: Crew) -> None:
    failure = _failure(staffed, "failing")
    assert (failure.kind, failure.message) == ("ValueError", "a child fails")
    assert "app.py" in failure.error["where"]


def test_plain_functions_run_in_threads_side_by_side(staffed: Crew) -> None:
    tasks = [staffed.enqueue(plain, key="threads", seconds=0.5) for _ in range(10)]
    names = {staffed.result(task) for task in tasks}
    assert all("catchment-handler" in name for name in names)
    assert peak_overlap(staffed.records.spans("threads")) == 10


def test_plain_functions_wait_for_a_thread_and_their_time_limit_waits_too(crew: Crew) -> None:
    crew.hire(worker_threads=2)
    crew.engine.conn.execute("update worker.command_registry set timeout = '1 second' where command = 'plain'")
    tasks = [crew.enqueue(plain, key="few", seconds=0.3) for _ in range(12)]
    for task in tasks:
        crew.result(task)
    assert peak_overlap(crew.records.spans("few")) == 2


def test_plain_functions_do_not_hold_up_async_ones(staffed: Crew) -> None:
    slow = staffed.enqueue(plain, key="slow", seconds=1)
    wait_until(lambda: len(staffed.records.spans("slow")) == 1)
    assert staffed.result(staffed.enqueue(step, key="beside", seq=1)) == 1
    assert staffed.engine.state(slow) == "processing"


def test_cpu_bound_handlers_run_in_processes_that_are_kept(staffed: Crew) -> None:
    answers = [staffed.result(staffed.enqueue(digest, text="a", rounds=1000)) for _ in range(4)]
    assert len({answer["digest"] for answer in answers}) == 1
    pids = {answer["pid"] for answer in answers}
    assert len(pids) <= 2
    assert pids.isdisjoint({os.getpid(), staffed.workers[0].pid})


def test_an_idle_process_that_died_is_replaced(staffed: Crew) -> None:
    pid = staffed.result(staffed.enqueue(digest, text="a", rounds=1))["pid"]
    os.kill(pid, signal.SIGKILL)
    wait_until(lambda: not is_alive(pid))
    tasks = [staffed.enqueue(digest, text="b", rounds=1) for _ in range(4)]
    assert pid not in [staffed.result(task)["pid"] for task in tasks]


def test_an_error_in_a_process_is_stored_as_any_other(staffed: Crew) -> None:
    failure = _failure(staffed, crash, how="raise")
    assert (failure.kind, failure.message) == ("LookupError", "not in the process")


def test_a_process_that_crashes_fails_its_task_alone(staffed: Crew) -> None:
    failure = _failure(staffed, crash, how="exit")
    assert failure.kind == "process"
    assert "exit code 3" in failure.message
    assert staffed.result(staffed.enqueue(digest, text="a", rounds=1))["digest"]


def test_a_process_past_its_time_limit_is_killed(staffed: Crew) -> None:
    staffed.result(staffed.enqueue(digest, text="the process has loaded its commands", rounds=1))
    failure = _failure(staffed, spin, key="spin")
    assert failure.kind == "TimeoutError"
    (run,) = staffed.records.spans("spin")
    wait_until(lambda: not is_alive(run.pid))


def test_a_cancelled_process_is_killed(staffed: Crew) -> None:
    staffed.engine.conn.execute("update worker.command_registry set timeout = null where command = 'spin'")
    task = staffed.enqueue(spin, key="spin on")
    wait_until(lambda: len(staffed.records.spans("spin on")) == 1)
    staffed.client.sync.task(task).cancel()
    with pytest.raises(TaskCancelled):
        staffed.result(task)
    wait_until(lambda: not is_alive(staffed.records.spans("spin on")[0].pid))


def test_an_async_handler_past_its_time_limit_fails(staffed: Crew) -> None:
    failure = _failure(staffed, "end_badly", how="hang")
    assert failure.kind == "TimeoutError"
    assert "timed out" in failure.message


def test_a_time_limit_counts_as_a_failed_attempt(staffed: Crew) -> None:
    assert staffed.result(staffed.enqueue(slow_at_first)) == 2


def test_a_plain_function_past_its_time_limit_fails_and_is_left_behind(staffed: Crew) -> None:
    failure = _failure(staffed, overdue, gate="overdue", key="overdue")
    assert failure.kind == "TimeoutError"
    assert staffed.records.spans("overdue")[0].end == float("inf")
    staffed.records.open_gate("overdue")
    wait_until(lambda: staffed.records.spans("overdue")[0].end < float("inf"))


def test_a_cancelled_async_handler_stops_where_it_waits(staffed: Crew) -> None:
    task = staffed.enqueue(hold, key="cancel", gate="never")
    wait_until(lambda: len(staffed.records.spans("cancel")) == 1)
    assert staffed.client.sync.task(task).cancel("not needed") == "cancelling"
    with pytest.raises(TaskCancelled, match="not needed"):
        staffed.result(task)
    assert staffed.records.spans("cancel")[0].end < float("inf")


def test_a_cancelled_plain_function_is_notified_and_waited_for(staffed: Crew) -> None:
    task = staffed.enqueue(patient, key="patient")
    wait_until(lambda: len(staffed.records.spans("patient")) == 1)
    staffed.client.sync.task(task).cancel()
    with pytest.raises(TaskCancelled):
        staffed.result(task)
    assert staffed.records.spans("patient")[0].end < float("inf")


def test_a_cancelled_plain_function_that_finishes_all_the_same_has_a_result(staffed: Crew) -> None:
    task = staffed.enqueue(patient, key="finishing", heeds=False)
    wait_until(lambda: len(staffed.records.spans("finishing")) == 1)
    staffed.client.sync.task(task).cancel()
    assert staffed.result(task) == "finished"


def test_a_handler_that_refuses_to_be_cancelled_harms_no_other(staffed: Crew) -> None:
    task = staffed.enqueue(swallow, key="swallow")
    wait_until(lambda: len(staffed.records.spans("swallow")) == 1)
    staffed.client.sync.task(task).cancel()
    assert staffed.result(task) == "finished all the same"
    for _ in range(5):
        assert _failure(staffed, group).kind == "ExceptionGroup"


@pytest.mark.parametrize("command", ["end_badly", "end_plainly"])
@pytest.mark.parametrize(
    ("how", "told"), [("cancel_itself", "cancelled itself"), ("exit", "2"), ("stop", "StopIteration")]
)
def test_a_handler_cannot_stop_its_worker_by_what_it_raises(staffed: Crew, command: str, how: str, told: str) -> None:
    beside = staffed.enqueue(step, seq=1, seconds=0.3)
    assert told in _failure(staffed, command, how=how).message
    assert staffed.result(beside) == 1
    assert staffed.engine.task(beside)["attempt"] == 1


def test_a_payload_that_no_longer_fits_fails_that_task_only(staffed: Crew) -> None:
    before = staffed.enqueue(step, key="fit", seq=1)
    misfit = staffed.engine.value("""select worker.enqueue('step', '{"key": "fit", "seq": "many"}')""")
    after = staffed.enqueue(step, key="fit", seq=2)
    assert [staffed.result(task) for task in (before, after)] == [1, 2]
    with pytest.raises(TaskFailed, match="seq") as caught:
        staffed.result(misfit)
    assert caught.value.kind == "ArgumentsInvalid"
    assert staffed.engine.task(misfit)["attempt"] == 1


def test_an_unknown_command_is_given_back_and_named(staffed: Crew) -> None:
    staffed.engine.command("ghost", handler_kind="python")
    task = staffed.enqueue("ghost")
    wait_until(
        lambda: staffed.engine.value(
            "select count(*) from worker.warning where task_id = %s and message ~ 'ghost'", task
        )
    )
    wait_until(lambda: staffed.engine.state(task) == "pending")
    assert staffed.engine.task(task)["attempt"] == 0
    assert staffed.engine.task(task)["due_at"] is not None
    assert staffed.result(staffed.enqueue(step, seq=1)) == 1


def test_a_failed_attempt_is_tried_again(staffed: Crew) -> None:
    task = staffed.enqueue(flaky, failures=2)
    assert staffed.result(task) == 3
    rows = staffed.engine.conn.execute("select error ->> 'message' from worker.attempt where task_id = %s", [task])
    assert [row[0] for row in rows] == ["attempt 1 fails", "attempt 2 fails"]


def test_an_idle_worker_does_not_wait_for_upkeep_to_try_again(staffed: Crew) -> None:
    """Four retries are due after 0.05 to 0.4 s; upkeep, once a second, would take three seconds and more for them."""
    with measured() as load:
        began = time.monotonic()
        assert staffed.result(staffed.enqueue(flaky, failures=4)) == 5
        assert time.monotonic() - began < load.bound(2.5)


def test_a_task_fails_when_its_attempts_are_used_up(staffed: Crew) -> None:
    failure = _failure(staffed, flaky, failures=99)
    assert failure.message == "attempt 5 fails"


def test_a_handler_can_say_when_to_try_again(staffed: Crew) -> None:
    assert staffed.result(staffed.enqueue(steered, how="later", key="later")) == 2
    first, second = staffed.records.spans("later")
    assert second.start - first.end >= 0.29


def test_a_handler_can_give_up_before_its_attempts_are_used_up(staffed: Crew) -> None:
    failure = _failure(staffed, steered, how="give_up", key="give up")
    assert failure.message == "it makes no sense"
    assert len(staffed.records.spans("give up")) == 1


def test_progress_is_seen_while_the_handler_runs(staffed: Crew) -> None:
    task = staffed.enqueue(tell, gate="told")
    wait_until(lambda: staffed.engine.task(task)["progress"] == {"done": 1, "total": 2, "message": "half way"})
    staffed.records.open_gate("told")
    staffed.result(task)


def test_progress_that_cannot_be_stored_harms_nobody(staffed: Crew) -> None:
    held = staffed.enqueue(hold, key="held", gate="odd")
    wait_until(lambda: len(staffed.records.spans("held")) == 1)
    staffed.records.open_gate("odd")
    assert staffed.result(staffed.enqueue(tell, gate="odd", is_odd=True)) is None
    staffed.result(held)
    (log,) = staffed.records.folder.glob("worker-*.log")
    wait_until(lambda: "progress.refused" in log.read_text())
    assert staffed.result(staffed.enqueue(step, seq=1)) == 1
    assert staffed.engine.task(held)["attempt"] == 1


@pytest.mark.parametrize("what", ["nul", "object", "inf"])
def test_a_result_that_cannot_be_stored_fails_that_task_only(staffed: Crew, what: str) -> None:
    beside = [staffed.enqueue(step, seq=n) for n in range(5)]
    failure = _failure(staffed, odd, what=what)
    assert failure.kind == "ResultRefused"
    assert [staffed.result(task) for task in beside] == list(range(5))


def test_a_large_result_is_kept(staffed: Crew) -> None:
    assert len(staffed.result(staffed.enqueue(odd, what="huge"))) == 2_000_000


def test_middlewares_go_around_every_handler_in_their_order(crew: Crew) -> None:
    for command in wrapped.app.commands:
        crew.client.commands.add(command)
    crew.hire(app="tests.worker.wrapped:app")
    task = crew.enqueue(wrapped.greet, name="you")
    assert crew.result(task) == "<you>"
    lines = [line["what"] for line in crew.records.lines()]
    assert lines == ["outer before", "inner before", "handler", "inner after", "outer after"]
    assert crew.result(crew.enqueue(wrapped.greet, name="")) == "rescued"
    assert crew.result(crew.enqueue(wrapped.greet_plainly, name="you")) == "<you>"
    whole = crew.enqueue(wrapped.greet_all, names=["a", "b"])
    assert crew.result(whole) == "<<a> <b>>"
    assert [line["join"] for line in crew.records.lines("outer before") if line["task"] == whole] == [False, True]

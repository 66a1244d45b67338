"""SIGTERM: running handlers finish, the rest is given back and has used no attempt."""

from __future__ import annotations

import re
import signal
import time

import pytest

from catchment.runtime.signals import EXIT_CODE
from tests.fixtures.worker import wait_until
from tests.sql.support import Hand
from tests.worker.app import block, hold, overdue, parent, patient, plain, step, tell_often
from tests.worker.crew import Crew


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_running_handlers_finish_and_nothing_more_is_claimed(crew: Crew, number: signal.Signals) -> None:
    (worker,) = crew.hire(max_concurrent_tasks=3)
    crew.enqueue_many(hold, [{"seq": n} for n in range(10)], by_key=False)
    wait_until(lambda: len(crew.records.spans()) == 3)
    before = len(crew.logged("worker.stopping"))  # of workers of other tests
    worker.send_signal(number)
    wait_until(lambda: len(crew.logged("worker.stopping")) > before)
    crew.records.open_gate("gate")
    assert worker.wait(timeout=60) == 0
    assert crew.states() == {"completed": 3, "pending": 7}
    assert crew.engine.value("select sum(attempt) from worker.tasks where state = 'pending'") == 0
    assert crew.registered() == 0
    crew.engine.check()


def test_claimed_tasks_that_have_not_started_are_given_back(crew: Crew) -> None:
    """A handler that keeps the event loop busy: the others of its claim wait in the worker when the signal comes."""
    (worker,) = crew.hire()
    crew.engine.value("select worker.pause_queue('work')")
    first = crew.enqueue(block, key="block", seconds=1.5)
    crew.enqueue_many(step, [{"key": "step", "seq": n} for n in range(20)], by_key=False)
    crew.engine.value("select worker.resume_queue('work')")
    wait_until(lambda: len(crew.records.spans("block")) == 1)
    assert crew.states() == {"processing": 21}
    assert crew.stop(worker) == 0
    assert crew.engine.state(first) == "completed"
    started = len(crew.records.spans("step"))
    assert crew.states().get("pending", 0) == 20 - started
    assert crew.engine.value("select coalesce(sum(attempt), 0) from worker.tasks where state = 'pending'") == 0


def test_after_the_grace_the_rest_is_given_back_without_using_an_attempt(crew: Crew) -> None:
    (worker,) = crew.hire(shutdown_grace_seconds=0.5)
    task = crew.enqueue(hold, key="a", lane="a")
    behind = crew.enqueue(step, key="a", seq=1, lane="a")
    wait_until(lambda: len(crew.records.spans("a")) == 1)
    assert crew.stop(worker) == 0
    assert crew.engine.state(task) == "pending"
    assert crew.engine.task(task)["attempt"] == 0
    _assert_given_back(crew, task)
    assert crew.engine.state(behind) == "pending"
    assert crew.engine.value("select count(*) from worker.running") == 0

    crew.hire()
    crew.records.open_gate("gate")
    crew.result(behind)
    assert crew.engine.task(task)["attempt"] == 1
    assert [span.seq for span in crew.records.spans("a")] == [0, 0, 1]


def test_plain_functions_that_do_not_end_do_not_keep_the_process(crew: Crew) -> None:
    """A thread cannot be stopped; after the grace its task is given back and the process ends all the same."""
    (worker,) = crew.hire(shutdown_grace_seconds=0.3)
    task = crew.enqueue(plain, key="a", seconds=60)
    wait_until(lambda: len(crew.records.spans("a")) == 1)
    assert crew.stop(worker) == 0
    assert crew.engine.state(task) == "pending"
    assert crew.engine.task(task)["attempt"] == 0


def test_a_cancelled_plain_function_that_does_not_end_does_not_keep_the_process(crew: Crew) -> None:
    (worker,) = crew.hire(shutdown_grace_seconds=0.3)
    task = crew.enqueue(plain, key="a", seconds=60)
    wait_until(lambda: len(crew.records.spans("a")) == 1)
    crew.client.sync.task(task).cancel()
    assert crew.stop(worker) == 0
    assert crew.engine.state(task) in ("cancelled", "pending")


def test_a_plain_function_left_behind_by_its_timeout_does_not_keep_the_process(crew: Crew) -> None:
    (worker,) = crew.hire(shutdown_grace_seconds=0.3)
    task = crew.enqueue(overdue, key="a", gate="never")
    wait_until(lambda: crew.engine.state(task) == "failed")
    assert crew.stop(worker) == 0


def test_a_plain_function_can_see_that_its_worker_stops(crew: Crew) -> None:
    (worker,) = crew.hire(shutdown_grace_seconds=0.3)
    task = crew.enqueue(patient, key="a")
    wait_until(lambda: len(crew.records.spans("a")) == 1)
    began = time.monotonic()
    assert crew.stop(worker) == 0
    assert time.monotonic() - began < 10
    assert crew.engine.state(task) == "pending"


def test_a_worker_that_is_to_stop_when_idle_does_all_there_is(crew: Crew) -> None:
    crew.enqueue_many(step, [{"key": f"{n % 5}", "seq": n, "seconds": 0.01} for n in range(50)])
    (worker,) = crew.hire(1, "--stop-when-idle")
    assert worker.wait(timeout=60) == 0
    assert crew.states() == {"completed": 50}


@pytest.mark.long
def test_a_worker_that_tells_of_progress_stops_when_asked_to(crew: Crew) -> None:
    """Its cancelled calls may end with an error of the query: that must not hide the cancellation."""
    for turn in range(4):
        (worker,) = crew.hire(shutdown_grace_seconds=0.2)
        task = crew.enqueue(tell_often, key=f"often {turn}")
        wait_until(lambda task=task: (crew.engine.task(task)["progress"] or {}).get("done", 0) > 100)
        # What it tells from now on is refused, so that queries end with errors just as they are cancelled.
        crew.engine.conn.execute("update worker.running set fence = fence + 1000000")
        assert crew.stop(worker) == 0
        crew.workers.clear()


def _assert_given_back(crew: Crew, task: int) -> None:
    """Its trace is who gave it back, and when; tasks that had not started have none."""
    rows = crew.engine.conn.execute("select task_id, state, error ->> 'message' from worker.attempt").fetchall()
    assert [(row[0], row[1]) for row in rows] == [(task, "released")]
    assert re.fullmatch(r"worker \d+ \(.+\) stopped", rows[0][2])


def _is_interrupted(crew: Crew, task: int) -> bool:
    """No worker is left whose upkeep would take the task over."""
    crew.engine.value("select worker.reset_abandoned_processing_tasks()")
    return crew.engine.state(task) == "interrupted"


def test_a_sql_handler_gets_the_grace_of_a_stop_and_no_more(crew: Crew) -> None:
    crew.engine.conn.execute("create procedure probe.nap(payload jsonb) language sql as $$ select pg_sleep(3600) $$")
    crew.engine.queue("sql")
    crew.engine.command("nap", "sql", handler_procedure="probe.nap")
    (worker,) = crew.hire(shutdown_grace_seconds=1)
    task = crew.engine.enqueue("nap")
    wait_until(lambda: crew.engine.state(task) == "processing")
    assert crew.stop(worker) == 0
    wait_until(lambda: _is_interrupted(crew, task))


@pytest.mark.long
def test_a_worker_whose_event_loop_never_comes_back_is_ended_after_its_time(crew: Crew) -> None:
    (worker,) = crew.hire(shutdown_grace_seconds=0.5)
    task = crew.enqueue(block, key="block", seconds=3600)
    wait_until(lambda: len(crew.records.spans("block")) == 1)
    worker.send_signal(signal.SIGTERM)
    assert worker.wait(timeout=40) == EXIT_CODE
    wait_until(lambda: _is_interrupted(crew, task))


def test_what_was_cancelled_while_no_worker_ran_does_not_start(crew: Crew) -> None:
    hand = Hand.hired(crew.engine.conn)
    root = crew.enqueue(parent, key="gone")
    spawns = [{"command": "step", "payload": {"key": "gone child", "seq": n}} for n in range(50)]
    assert hand.complete(hand.claim_one(queue=crew.engine.task(root)["queue"]), p_spawns=spawns) == "waiting"
    crew.engine.value("select worker.unregister_worker(%s)", hand.worker_id)
    assert crew.engine.value("select worker.cancel(%s)", root) == "cancelling"
    crew.hire()
    wait_until(lambda: crew.engine.task(root)["state"] == "cancelled")
    assert crew.records.spans("gone child") == []
    assert crew.states() == {"cancelled": 51}
    crew.engine.check()

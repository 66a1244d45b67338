"""Workers killed, stopped and blocked: every task is done, and what lost its claim changes nothing."""

from __future__ import annotations

import signal
import time

import pytest

from tests.fixtures.load import measured
from tests.fixtures.worker import wait_until
from tests.worker.app import block, digest, hold, parent, step
from tests.worker.crew import Crew, is_alive
from tests.worker.probe import overlaps


def test_the_task_of_a_killed_worker_is_taken_over(crew: Crew) -> None:
    task = crew.enqueue(hold, key="a")
    (victim,) = crew.hire()
    wait_until(lambda: len(crew.records.spans("a")) == 1)
    (heir,) = crew.hire()
    with measured() as load:
        crew.kill(victim)
        wait_until(lambda: len(crew.records.spans("a")) == 2)
        waited = crew.records.spans("a")[1].start - crew.records.deaths[victim.pid]
        # Its lock is free for half a second before it counts as dead, and upkeep looks every second.
        assert waited < load.bound(0.5 + 1.1 + 1)
    crew.records.open_gate("gate")
    crew.result(task)
    assert crew.engine.task(task)["attempt"] == 2
    assert [span.pid for span in crew.records.spans("a")] == [victim.pid, heir.pid]
    assert overlaps(crew.records.spans()) == []


@pytest.mark.long
def test_a_scope_goes_on_when_its_worker_is_killed(crew: Crew) -> None:
    task = crew.enqueue(parent, key="a", count=20, seconds=0.2)
    (victim,) = crew.hire(max_concurrent_tasks=4)
    wait_until(lambda: crew.settled() >= 4)
    crew.kill(victim)
    crew.hire()
    assert crew.result(task) == sum(range(20))
    assert len({span.seq for span in crew.records.spans("a child")}) == 20
    crew.wait_settled(22)
    crew.engine.check()


def test_a_stopped_worker_loses_its_claims_and_cannot_write_when_it_comes_back(crew: Crew) -> None:
    (paused,) = crew.hire(lease_seconds=1.5)
    task = crew.enqueue(hold, key="a")
    wait_until(lambda: len(crew.records.spans("a")) == 1)
    (other,) = crew.hire(lease_seconds=1.5)
    with measured() as load:
        paused.send_signal(signal.SIGSTOP)
        stopped = time.monotonic()
        wait_until(lambda: len(crew.records.spans("a")) == 2)
        assert crew.records.spans("a")[1].start - stopped < load.bound(1.5 + 1.1 + 1)

    paused.send_signal(signal.SIGCONT)
    wait_until(lambda: crew.records.spans("a")[0].end < float("inf"))  # cancelled: its gate is still shut
    assert crew.engine.state(task) == "processing"
    crew.records.open_gate("gate")
    crew.result(task)
    assert crew.engine.task(task)["attempt"] == 2
    assert [span.pid for span in crew.records.spans("a")] == [paused.pid, other.pid]

    crew.kill(other)
    assert crew.result(crew.enqueue(step, key="after", seq=5)) == 5
    assert crew.records.spans("after")[0].pid == paused.pid, "the worker that came back does not work any more"
    crew.engine.check()


def test_an_end_that_arrives_after_the_takeover_is_refused(crew: Crew) -> None:
    """The handler returns at the very moment of waking up, before its worker can know that it was given up."""
    (paused,) = crew.hire(lease_seconds=1.5)
    task = crew.enqueue(step, key="a", seq=1, seconds=1)
    wait_until(lambda: len(crew.records.spans("a")) == 1)
    paused.send_signal(signal.SIGSTOP)
    crew.hire(lease_seconds=1.5)
    crew.result(task)
    done = crew.engine.task(task)
    paused.send_signal(signal.SIGCONT)
    crew.result(crew.enqueue(step, key="after"))
    wait_until(lambda: crew.registered() == 2)
    assert crew.engine.task(task) == done
    assert done["attempt"] == 2


def test_a_blocked_event_loop_does_not_lose_its_claims(crew: Crew) -> None:
    (blocked,) = crew.hire(lease_seconds=1.2, max_concurrent_tasks=5)
    held = crew.enqueue(hold, key="held")
    wait_until(lambda: len(crew.records.spans("held")) == 1)
    task = crew.enqueue(block, key="blocked", seconds=3)
    wait_until(lambda: len(crew.records.spans("blocked")) == 1)
    crew.hire(lease_seconds=1.2)
    crew.result(task)
    crew.records.open_gate("gate")
    crew.result(held)
    assert crew.attempts() == {1}
    assert {span.pid for span in crew.records.spans()} == {blocked.pid}


@pytest.mark.long
def test_a_task_that_kills_its_workers_fails_in_the_end(crew: Crew) -> None:
    task = crew.enqueue(hold, key="killer")
    for n in range(1, 6):
        (worker,) = crew.hire()
        wait_until(lambda n=n: len(crew.records.spans("killer")) == n)
        crew.kill(worker)
    crew.hire()
    wait_until(lambda: crew.engine.state(task) == "failed")
    assert "died" in crew.engine.task(task)["error"]
    assert len(crew.records.spans("killer")) == 5


def test_processes_of_a_killed_worker_do_not_stay(crew: Crew) -> None:
    (worker,) = crew.hire()
    pid = crew.result(crew.enqueue(digest, text="a", rounds=1))["pid"]
    crew.kill(worker)
    wait_until(lambda: not is_alive(pid))

"""Tasks of one lane run one after another and in order, whichever worker runs them."""

from __future__ import annotations

import random
import time
from typing import Any

import pytest

from tests.fixtures.often import often
from tests.fixtures.worker import wait_until
from tests.sql.support import Hand
from tests.worker.app import flaky, hold, mark, step
from tests.worker.crew import Crew
from tests.worker.probe import disorder, overlaps, peak_overlap


def _rounds(lanes: int, length: int, **more: Any) -> list[dict[str, Any]]:
    """Payloads in rounds: the first of all lanes, then the second of all."""
    return [{"key": f"lane {k}", "seq": n, **more} for n in range(length) for k in range(lanes)]


@pytest.mark.parametrize("workers", often(2, now_and_then=[1, 3]))
def test_each_lane_is_serial_and_ordered_while_lanes_overlap(crew: Crew, workers: int) -> None:
    lanes, length = 100, 10
    crew.enqueue_many(step, _rounds(lanes, length, seconds=0.002))
    crew.hire(workers)
    crew.wait_settled(lanes * length, seconds=80)
    spans = crew.records.spans()
    assert len(spans) == lanes * length
    assert disorder(spans) == []
    assert overlaps(spans) == []
    assert peak_overlap(spans) > 1
    assert crew.states() == {"completed": lanes * length}
    crew.engine.check()


def test_next_task_sees_what_the_one_before_committed_last(crew: Crew) -> None:
    ids = crew.enqueue_many(mark, _rounds(10, 10))
    crew.hire(2)
    crew.wait_settled(100)
    assert [crew.result(task) for task in ids] == [True] * 100


def test_next_task_does_not_begin_before_the_end_of_the_first_is_recorded(crew: Crew, connect: Any) -> None:
    first = crew.enqueue(hold, lane="a", key="a", seq=0)
    second = crew.enqueue(step, lane="a", key="a", seq=1)
    crew.hire(2)
    wait_until(lambda: len(crew.records.spans("a")) == 1)
    with connect(autocommit=False) as recorder:
        recorder.execute("select from worker.running where id = %s for update", [first])
        crew.records.open_gate("gate")
        wait_until(lambda: crew.records.spans("a")[0].end < float("inf"))
        time.sleep(0.5)  # long enough for a task to start that should not
        assert len(crew.records.spans("a")) == 1
        assert crew.engine.state(second) == "pending"
    assert crew.result(second) == 1


@pytest.mark.long
def test_other_lanes_go_ahead_beside_a_busy_one_with_a_long_line(crew: Crew) -> None:
    crew.hire()
    busy = crew.enqueue(hold, lane="busy", key="busy")
    wait_until(lambda: crew.engine.state(busy) == "processing")
    crew.enqueue_many(step, [{"key": "busy", "seq": n} for n in range(1, 501)])
    other = crew.enqueue(step, lane="other", key="other", seq=7)
    assert crew.result(other) == 7
    assert crew.engine.value("select last_value from worker.fence") == 2, "tasks were claimed that could not start"
    crew.records.open_gate("gate")
    crew.wait_settled(502)
    assert disorder(crew.records.spans()) == []


def test_a_task_given_back_runs_in_its_place_and_has_used_no_attempt(crew: Crew) -> None:
    first, second = crew.enqueue_many(step, [{"key": "a", "seq": n} for n in range(2)])
    hand = Hand.hired(crew.engine.conn)
    claim = hand.claim_one()
    assert claim.id == first
    crew.hire()
    other = crew.enqueue(step, key="b")
    crew.result(other)
    assert crew.engine.state(second) == "pending"

    assert hand.release(claim) == "pending"
    assert crew.result(second) == 1
    assert [span.seq for span in crew.records.spans("a")] == [0, 1]
    assert crew.engine.task(first)["attempt"] == 1


def test_a_lane_keeps_its_order_while_one_task_is_retried(crew: Crew) -> None:
    crew.enqueue_many(flaky, [{"key": "a", "seq": n, "failures": 2 if n == 4 else 0} for n in range(10)])
    crew.hire(3)
    crew.wait_settled(10)
    spans = crew.records.spans("a")
    assert [span.seq for span in spans] == [0, 1, 2, 3, 4, 4, 4, 5, 6, 7, 8, 9]
    assert overlaps(spans) == []


def test_a_lane_keeps_its_order_when_its_worker_is_killed_in_the_middle(crew: Crew) -> None:
    crew.enqueue_many(step, [{"key": "a", "seq": n, "seconds": 0.1} for n in range(10)])
    crew.hire(3)
    wait_until(lambda: len(crew.records.spans("a")) >= 4)
    at_work = crew.records.spans("a")[-1].pid
    crew.kill(next(worker for worker in crew.workers if worker.pid == at_work))
    crew.wait_settled(10)
    spans = crew.records.spans("a")
    assert disorder(spans) == []
    assert overlaps(spans) == []
    assert {span.seq for span in spans} == set(range(10))
    assert crew.states() == {"completed": 10}


@pytest.mark.timeout(300)
@pytest.mark.parametrize("length", often(20, now_and_then=[100]))
def test_order_survives_workers_killed_at_random(crew: Crew, length: int) -> None:
    lanes, kills = 100, 4
    crew.enqueue_many(step, _rounds(lanes, length, seconds=0.002))
    crew.hire(3)
    chance = random.Random(11)
    for n in range(kills):
        crew.wait_settled(lanes * length * (n + 1) // (kills + 2) + chance.randrange(3 * length), seconds=120)
        crew.kill(chance.choice(crew.workers))
        crew.hire()
    crew.wait_settled(lanes * length, seconds=200)
    spans = crew.records.spans()
    assert disorder(spans) == []
    assert overlaps(spans) == []
    assert len({(span.key, span.seq) for span in spans}) == lanes * length, "tasks were lost"
    assert crew.states() == {"completed": lanes * length}
    crew.engine.check()

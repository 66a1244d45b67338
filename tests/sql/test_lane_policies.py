"""What a lane does after a final failure, and the lane that is the top level of a serial queue."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from psycopg import Connection

from tests.fixtures.engine import Engine
from tests.sql.support import Hand, advance_clock, message, python_work, refused

Connect = Callable[..., Connection]


def _fail_the_first(hand: Hand, *, lane: str | None, count: int = 3) -> list[int]:
    tasks = [hand.engine.enqueue(lane=lane) for _ in range(count)]
    claim = hand.claim_one()
    assert claim.id == tasks[0]
    hand.fail(claim)
    hand.engine.check()
    return tasks


@pytest.mark.parametrize("declared_by", ["queue", "command"])
def test_lane_may_go_on(engine: Engine, declared_by: str) -> None:
    hand = python_work(engine, on_failure="continue" if declared_by == "command" else None)
    if declared_by == "queue":
        engine.conn.execute("update worker.queue_registry set on_failure = 'continue'")
    tasks = _fail_the_first(hand, lane="a")
    assert hand.claim_one().id == tasks[1]
    engine.check()


@pytest.mark.parametrize("declared_by", ["queue", "command"])
@pytest.mark.parametrize(("mode", "lane"), [("concurrent", "a"), ("serial", None)])
def test_lane_may_cancel_the_rest(engine: Engine, declared_by: str, mode: str, lane: str | None) -> None:
    hand = python_work(engine, mode, on_failure="cancel_rest" if declared_by == "command" else None)
    if declared_by == "queue":
        engine.conn.execute("update worker.queue_registry set on_failure = 'cancel_rest'")
    tasks = _fail_the_first(hand, lane=lane)
    assert [engine.state(t) for t in tasks] == ["failed", "cancelled", "cancelled"]
    assert engine.task(tasks[1])["error"] == f"task {tasks[0]} in front of it failed"
    assert hand.claim() == []
    later = engine.enqueue(lane=lane)
    assert hand.claim_one().id == later
    engine.check()


def test_cancel_rest_leaves_other_lanes_alone(engine: Engine) -> None:
    hand = python_work(engine, on_failure="cancel_rest")
    other = engine.enqueue(lane="b")
    held = hand.claim_one()
    waiting = engine.enqueue(lane="b")
    _fail_the_first(hand, lane="a")
    hand.complete(held)
    assert engine.state(other) == "completed"
    assert hand.claim_one().id == waiting
    engine.check()


def test_policy_of_the_command_wins_over_that_of_the_queue(engine: Engine) -> None:
    hand = python_work(engine, on_failure="continue")
    engine.conn.execute("update worker.queue_registry set on_failure = 'halt'")
    tasks = _fail_the_first(hand, lane="a")
    assert hand.claim_one().id == tasks[1]


def test_serial_queue_goes_on_after_a_failure(engine: Engine) -> None:
    hand = python_work(engine, "serial")
    tasks = _fail_the_first(hand, lane=None)
    assert hand.claim_one().id == tasks[1]
    engine.check()


def test_serial_queue_runs_one_top_level_task_at_a_time(engine: Engine) -> None:
    hand = python_work(engine, "serial")
    first, second = engine.enqueue(), engine.enqueue()
    (claim,) = hand.claim(5)
    assert claim.id == first
    assert hand.claim(5) == []
    engine.check()
    hand.complete(claim)
    assert hand.claim_one().id == second
    engine.check()


def test_serial_queue_excludes_across_connections(committed: Engine, connect: Connect) -> None:
    one, two = python_work(committed, "serial"), Hand.hired(connect())
    committed.enqueue()
    second = committed.enqueue()
    with committed.conn.transaction():
        held = one.claim_one()
        assert two.claim(5) == []
    assert two.claim(5) == []
    one.complete(held)
    assert two.claim_one().id == second
    committed.check()


def test_serial_queue_waits_for_a_retry(engine: Engine) -> None:
    hand = python_work(engine, "serial", max_attempts=2, retry_delay="10 seconds", retry_jitter=0)
    first, _ = _fail_the_first(hand, lane=None, count=2)
    assert hand.claim() == []
    urgent = engine.enqueue(priority=1)
    assert hand.claim() == []
    advance_clock(engine, "11 seconds")
    claim = hand.claim_one()
    assert claim.id == first
    hand.complete(claim)
    assert hand.claim_one().id == urgent
    engine.check()


def test_scope_in_a_lane_of_a_serial_queue_is_retried(engine: Engine) -> None:
    hand = python_work(engine, "serial")
    first = engine.enqueue(lane="a")
    hand.complete(hand.claim_one(), p_spawns=[{"command": "act"}])
    hand.fail(hand.claim_one())
    assert engine.state(first) == "failed"
    engine.check()
    engine.value("select worker.retry(%s)", first)
    engine.check()
    assert engine.enqueue() is not None
    hand.complete(hand.claim_one())
    assert engine.state(first) == "completed"
    engine.check()
    assert len(hand.claim()) == 1
    engine.check()


def test_cancel_rest_on_a_serial_queue_with_lanes_leaves_no_lane_behind(engine: Engine) -> None:
    hand = python_work(engine, "serial", on_failure="cancel_rest")
    first = engine.enqueue()
    rest = [engine.enqueue(lane="a"), engine.enqueue(lane="a"), engine.enqueue()]
    claim = hand.claim_one()
    assert claim.id == first
    hand.fail(claim)
    engine.check()
    assert [engine.state(task) for task in rest] == ["cancelled"] * 3
    later = engine.enqueue(lane="a")
    while claims := hand.claim():
        hand.complete(claims[0])
    assert engine.state(later) == "completed"
    engine.check()


def test_lane_name_must_not_be_empty(engine: Engine) -> None:
    with refused(engine, "CM018") as error:
        engine.enqueue(lane="")
    assert message(error).startswith("the lane of act is empty")

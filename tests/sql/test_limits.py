"""Limits: so many tasks at a time, so many starts in a period, per queue and per key, whoever claims."""

from __future__ import annotations

import pytest

from tests.fixtures.engine import Engine
from tests.sql.support import Hand, advance_clock, enqueue_in, message, python_work, refused, stop_clock


@pytest.fixture
def hand(engine: Engine) -> Hand:
    stop_clock(engine)
    return python_work(engine, max_attempts=2, retry_delay="10 seconds", retry_jitter=0)


def _limit(hand: Hand, **columns: object) -> None:
    sets = ", ".join(f"{name} = %s" for name in columns)
    hand.engine.conn.execute(
        f"update worker.command_registry set {sets} where command = 'act'",  # type: ignore[arg-type]
        list(columns.values()),
    )


def _limit_queue(hand: Hand, **columns: object) -> None:
    sets = ", ".join(f"{name} = %s" for name in columns)
    hand.engine.conn.execute(
        f"update worker.queue_registry set {sets} where queue = 'work'",  # type: ignore[arg-type]
        list(columns.values()),
    )


def test_key_holds_no_more_tasks_than_its_limit(hand: Hand) -> None:
    _limit(hand, limit_key=["tenant"], max_running=2)
    first = [hand.engine.enqueue(tenant="a") for _ in range(4)]
    other = hand.engine.enqueue(tenant="b")
    claims = hand.claim(10)
    assert [c.id for c in claims] == [*first[:2], other]
    assert hand.claim(10) == []
    hand.engine.check()
    hand.complete(claims[0])
    assert [c.id for c in hand.claim(10)] == [first[2]]
    hand.engine.check()


def test_limit_without_a_key_is_that_of_the_command(hand: Hand) -> None:
    _limit(hand, limit_key=[], max_running=1)
    hand.engine.enqueue(tenant="a")
    hand.engine.enqueue(tenant="b")
    assert len(hand.claim(10)) == 1
    assert hand.claim(10) == []


def test_waiting_task_says_that_a_limit_holds_it(hand: Hand) -> None:
    _limit(hand, limit_key=[], max_running=1)
    hand.engine.enqueue()
    second = hand.engine.enqueue()
    hand.claim(10)
    assert hand.engine.task(second)["waits_for"] == "limit"
    assert hand.engine.state(second) == "pending"


def test_urgent_task_is_let_in_first(hand: Hand) -> None:
    _limit(hand, limit_key=[], max_running=1)
    hand.engine.enqueue()
    (running,) = hand.claim(10)
    hand.engine.enqueue()
    urgent = hand.engine.enqueue(priority=1)
    hand.claim(10)
    hand.complete(running)
    assert [c.id for c in hand.claim(10)] == [urgent]


def test_retry_keeps_its_place_within_the_limit(hand: Hand) -> None:
    _limit(hand, limit_key=[], max_running=1)
    first, second = hand.engine.enqueue(), hand.engine.enqueue()
    hand.fail(hand.claim_one())
    assert hand.claim(10) == []
    hand.engine.check()
    advance_clock(hand.engine, "11 seconds")
    (again,) = hand.claim(10)
    assert again.id == first
    hand.fail(again)
    assert [c.id for c in hand.claim(10)] == [second]
    hand.engine.check()


def test_failed_task_that_is_retried_by_hand_waits_for_the_limit_again(hand: Hand) -> None:
    _limit(hand, limit_key=[], max_running=1)
    first, second = hand.engine.enqueue(), hand.engine.enqueue()
    hand.fail(hand.claim_one(), retryable=False)
    running = hand.claim_one()
    assert running.id == second
    hand.engine.value("select worker.retry(%s)", first)
    assert hand.claim(10) == []
    hand.complete(running)
    assert hand.claim_one().id == first
    hand.engine.check()


def test_cancelled_tasks_leave_their_gate(hand: Hand) -> None:
    _limit(hand, limit_key=[], max_running=1)
    waiting_in_ready, behind, last = (hand.engine.enqueue() for _ in range(3))
    hand.engine.value("select worker.let_in()")
    hand.engine.value("select worker.cancel(%s)", behind)
    hand.engine.value("select worker.cancel(%s)", waiting_in_ready)
    hand.engine.check()
    assert hand.claim_one().id == last


def test_parent_holds_its_place_until_its_children_have_settled(hand: Hand) -> None:
    _limit(hand, limit_key=["tenant"], max_running=1)
    parent, second = hand.engine.enqueue(tenant="a"), hand.engine.enqueue(tenant="a")
    hand.complete(hand.claim_one(), p_spawns=[{"command": "act", "payload": {"tenant": "b"}}])
    (child,) = hand.claim(10)
    assert hand.engine.task(child.id)["parent_id"] == parent
    hand.complete(child)
    assert hand.claim_one().id == second
    hand.engine.check()


def _failed_parent(hand: Hand, **options: object) -> int:
    """A settled scope of tenant a with one failed child of tenant b."""
    parent = hand.engine.enqueue(tenant="a")
    hand.complete(hand.claim_one(), p_spawns=[{"command": "act", "payload": {"tenant": "b"}}], **options)
    hand.fail(hand.claim_one(), retryable=False)
    assert hand.engine.state(parent) == "failed"
    return parent


def test_retried_parent_waits_for_its_place(hand: Hand) -> None:
    _limit(hand, limit_key=["tenant"], max_running=1)
    parent = _failed_parent(hand)
    hand.engine.enqueue(tenant="a")
    running = hand.claim_one()
    assert hand.engine.value("select worker.retry(%s)", parent) == "pending"
    assert hand.claim(10) == []
    assert hand.engine.task(parent)["waits_for"] == "limit"
    hand.engine.check()
    hand.complete(running)
    (child,) = hand.claim(10)
    assert hand.engine.task(child.id)["parent_id"] == parent
    hand.engine.enqueue(tenant="a")
    assert hand.claim(10) == []
    hand.engine.check()
    hand.complete(child)
    assert hand.engine.state(parent) == "completed"
    assert len(hand.claim(10)) == 1
    hand.engine.check()


def test_retried_parent_that_is_cancelled_before_it_has_its_place_cancels_its_follow_ups(hand: Hand) -> None:
    _limit(hand, limit_key=["tenant"], max_running=1)
    parent = _failed_parent(hand, p_follow_ups=[{"command": "act", "payload": {"tenant": "c"}}])
    hand.engine.enqueue(tenant="a")
    hand.claim_one()
    hand.engine.value("select worker.retry(%s)", parent)
    assert hand.engine.value("select worker.cancel(%s)", parent) == "cancelled"
    assert set(hand.engine.states().values()) == {"processing", "failed", "cancelled"}
    hand.engine.check()


def test_retried_parent_with_a_due_time_waits_for_its_place_alone(hand: Hand) -> None:
    _limit(hand, limit_key=["tenant"], max_running=1)
    parent = _failed_parent(hand)
    hand.engine.conn.execute(
        "update worker.task set scheduled_at = worker.now() + interval '1 hour' where id = %s", [parent]
    )
    assert hand.engine.value("select worker.retry(%s)", parent) == "pending"
    assert hand.engine.task(parent)["waits_for"] is None
    hand.engine.value("select worker.let_in()")
    hand.complete(hand.claim_one())
    assert hand.engine.state(parent) == "completed"
    hand.engine.check()


def test_parent_with_nothing_left_to_run_gives_back_no_place(hand: Hand) -> None:
    _limit(hand, limit_key=["tenant"], max_running=1)
    parent = hand.engine.enqueue(tenant="a")
    hand.complete(hand.claim_one(), p_spawns=[{"command": "act", "payload": {"tenant": "b"}}])
    child = hand.claim_one()
    hand.engine.value("select worker.cancel(%s)", parent)
    hand.complete(child)
    assert hand.engine.state(parent) == "cancelled"
    hand.engine.enqueue(tenant="a")
    hand.claim_one()
    assert hand.engine.value("select worker.retry(%s)", parent) == "completed"
    hand.engine.check()


def test_rate_limits_the_starts_in_each_period(hand: Hand) -> None:
    _limit(hand, limit_key=["tenant"], rate=2, rate_per="10 seconds")
    for _ in range(5):
        hand.engine.enqueue(tenant="a")
    for claim in hand.claim(10):
        hand.complete(claim)
    assert hand.claim(10) == []
    advance_clock(hand.engine, "5 seconds")
    assert len(hand.claim(10)) == 1
    advance_clock(hand.engine, "1 hour")
    assert len(hand.claim(10)) == 2
    hand.engine.check()


def test_scheduled_task_comes_to_its_gate_when_it_is_due(hand: Hand) -> None:
    _limit(hand, limit_key=[], max_running=1)
    due = enqueue_in(hand.engine, "1 minute")
    now = hand.engine.enqueue()
    running = hand.claim_one()
    assert running.id == now
    advance_clock(hand.engine, "2 minutes")
    assert hand.claim(10) == []
    hand.complete(running)
    assert hand.claim_one().id == due
    hand.engine.check()


def test_follow_up_comes_to_its_gate_when_its_root_completed(hand: Hand) -> None:
    _limit(hand, limit_key=["tenant"], max_running=1)
    hand.engine.enqueue(tenant="a")
    root = hand.engine.enqueue(tenant="b")
    busy, rooted = hand.claim(10)
    assert rooted.id == root
    hand.complete(rooted, p_follow_ups=[{"command": "act", "payload": {"tenant": "a"}}])
    assert hand.claim(10) == []
    hand.complete(busy)
    assert hand.claim_one().payload == {"tenant": "a"}
    hand.engine.check()


def test_limited_command_takes_no_lane(hand: Hand) -> None:
    _limit(hand, limit_key=[], max_running=1)
    with refused(hand.engine, "CM024") as caught:
        hand.engine.enqueue(lane="a")
    assert "has a limit per key" in message(caught)


def test_limit_and_dedup_exclude_each_other(hand: Hand) -> None:
    with refused(hand.engine, "23514"):
        _limit(hand, limit_key=[], max_running=1, dedup=[])


def test_gate_that_nobody_used_for_an_hour_is_forgotten(hand: Hand) -> None:
    _limit(hand, limit_key=["tenant"], max_running=1)
    hand.engine.enqueue(tenant="a")
    hand.complete(hand.claim_one())
    assert hand.engine.value("select count(*) from worker.gate") == 1
    advance_clock(hand.engine, "2 hours")
    hand.engine.value("select worker.rouse_limited()")
    assert hand.engine.value("select count(*) from worker.gate") == 0


def test_queue_runs_no_more_attempts_than_its_limit(hand: Hand) -> None:
    _limit_queue(hand, max_running=2)
    for _ in range(4):
        hand.engine.enqueue()
    claims = hand.claim(10)
    assert len(claims) == 2
    assert hand.claim(10) == []
    hand.complete(claims[0])
    assert len(hand.claim(10)) == 1


def test_queue_limit_holds_for_handlers_of_both_kinds(hand: Hand) -> None:
    engine = hand.engine
    engine.conn.execute(
        "insert into worker.command_registry (command, queue, handler_procedure) values ('in_sql', 'work', 'probe.act')"
    )
    _limit_queue(hand, max_running=1)
    engine.enqueue()
    (running,) = hand.claim(10)
    in_sql = engine.enqueue("in_sql")
    engine.process()
    assert engine.state(in_sql) == "pending"
    hand.complete(running)
    engine.process()
    assert engine.state(in_sql) == "completed"


def test_rate_of_a_queue_limits_the_attempts_in_each_period(hand: Hand) -> None:
    _limit_queue(hand, rate=3, rate_per="1 minute")
    for _ in range(5):
        hand.engine.enqueue()
    assert len(hand.claim(2)) == 2
    assert len(hand.claim(10)) == 1
    assert hand.claim(10) == []
    advance_clock(hand.engine, "20 seconds")
    assert len(hand.claim(10)) == 1

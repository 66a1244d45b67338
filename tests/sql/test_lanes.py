"""Lanes: strict order and mutual exclusion per key, across connections, each task with its whole scope."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from psycopg import Connection

from tests.fixtures.engine import Engine
from tests.sql.support import Hand, advance_clock, enqueue_in, hint, message, python_work, refused

Connect = Callable[..., Connection]


@pytest.fixture
def hand(engine: Engine) -> Hand:
    return python_work(engine, max_attempts=2, retry_delay="10 seconds", retry_jitter=0)


def _lane_state(engine: Engine, lane: str = "a") -> str | None:
    return engine.value("select state from worker.lanes where lane = %s", lane)


def _run_all(hand: Hand) -> list[int]:
    """Complete whatever can be claimed, one by one; returns the ids in order."""
    order: list[int] = []
    while claims := hand.claim():
        order.append(claims[0].id)
        hand.complete(claims[0])
    return order


def test_tasks_of_a_lane_run_in_order_one_at_a_time(hand: Hand) -> None:
    tasks = [hand.engine.enqueue(lane="a") for _ in range(3)]
    for task in tasks:
        (claim,) = hand.claim(5)
        assert claim.id == task
        assert hand.claim(5) == []
        hand.engine.check()
        hand.complete(claim)
    assert hand.claim() == []
    hand.engine.check()


def test_lane_says_what_it_is_doing(hand: Hand) -> None:
    hand.engine.enqueue(lane="a")
    hand.engine.enqueue(lane="a")
    assert _lane_state(hand.engine) == "ready"
    claim = hand.claim_one()
    assert _lane_state(hand.engine) == "running"
    hand.release(claim)
    assert _lane_state(hand.engine) == "ready"
    hand.complete(hand.claim_one(), p_spawns=[{"command": "act"}])
    assert _lane_state(hand.engine) == "waiting"
    hand.fail(hand.claim_one(), retryable=False)
    assert _lane_state(hand.engine) == "halted"
    hand.engine.check()


def test_lanes_do_not_wait_for_each_other(hand: Hand) -> None:
    firsts = [hand.engine.enqueue(lane=lane) for lane in "abc"]
    seconds = [hand.engine.enqueue(lane=lane) for lane in "abc"]
    loose = hand.engine.enqueue()
    claims = hand.claim(10)
    assert {c.id for c in claims} == {*firsts, loose}
    for claim in claims:
        hand.complete(claim)
    assert {c.id for c in hand.claim(10)} == set(seconds)
    hand.engine.check()


def test_priority_does_not_change_the_order_within_a_lane(hand: Hand) -> None:
    first = hand.engine.enqueue(lane="a", priority=500)
    second = hand.engine.enqueue(lane="a", priority=1)
    assert _run_all(hand) == [first, second]


def test_lane_excludes_across_connections(committed: Engine, connect: Connect) -> None:
    one = python_work(committed)
    two = Hand.hired(connect())
    first, second = committed.enqueue(lane="a"), committed.enqueue(lane="a")
    other = committed.enqueue(lane="b")
    held = one.claim_one()
    assert held.id == first
    assert [c.id for c in two.claim(5)] == [other]
    one.complete(held)
    assert [c.id for c in two.claim(5)] == [second]
    committed.check()


def test_claim_in_an_open_transaction_holds_the_lane(committed: Engine, connect: Connect) -> None:
    one = python_work(committed)
    first = committed.enqueue(lane="a")
    committed.enqueue(lane="a")
    with committed.conn.transaction():
        assert one.claim_one().id == first
        assert Hand.hired(connect()).claim(5) == []
    committed.check()


def test_next_task_starts_only_after_the_commit_of_its_predecessor(committed: Engine, connect: Connect) -> None:
    one, two = python_work(committed), Hand.hired(connect())
    committed.enqueue(lane="a")
    second = committed.enqueue(lane="a")
    held = one.claim_one()
    with committed.conn.transaction():
        one.complete(held)
        assert two.claim() == []
    assert two.claim_one().id == second
    committed.check()


def test_retry_keeps_its_place_and_blocks_the_lane(hand: Hand) -> None:
    first, second = hand.engine.enqueue(lane="a"), hand.engine.enqueue(lane="a")
    assert hand.fail(hand.claim_one()) == "pending"
    assert hand.claim() == []
    assert _lane_state(hand.engine) == "waiting"
    hand.engine.check()
    advance_clock(hand.engine, "11 seconds")
    assert _run_all(hand) == [first, second]
    hand.engine.check()


def test_interrupted_and_released_tasks_keep_the_lane(hand: Hand) -> None:
    first, second = hand.engine.enqueue(lane="a"), hand.engine.enqueue(lane="a")
    assert hand.interrupt(hand.claim_one()) == "interrupted"
    hand.engine.check()
    claim = hand.claim_one()
    assert claim.id == first
    hand.release(claim)
    hand.engine.check()
    assert _run_all(hand) == [first, second]


def test_scope_holds_its_lane_until_it_has_closed(hand: Hand) -> None:
    first, second = hand.engine.enqueue(lane="a"), hand.engine.enqueue(lane="a")
    hand.complete(hand.claim_one(), p_spawns=[{"command": "act"}])
    assert _lane_state(hand.engine) == "waiting"
    (child,) = hand.claim(5)
    assert hand.engine.task(child.id)["parent_id"] == first
    assert hand.claim(5) == []
    hand.engine.check()
    hand.complete(child)
    assert hand.claim_one().id == second
    hand.engine.check()


def test_failed_head_halts_its_lane_and_no_other(hand: Hand) -> None:
    first, second = hand.engine.enqueue(lane="a"), hand.engine.enqueue(lane="a")
    other = hand.engine.enqueue(lane="b")
    claims = {c.id: c for c in hand.claim(5)}
    hand.fail(claims[first], retryable=False)
    hand.complete(claims[other])
    assert hand.claim(5) == []
    assert (hand.engine.state(first), hand.engine.state(second)) == ("failed", "pending")
    assert _lane_state(hand.engine) == "halted"
    hand.engine.check()


def test_parent_failed_by_a_child_halts_its_lane(hand: Hand) -> None:
    hand.engine.enqueue(lane="a")
    hand.engine.enqueue(lane="a")
    hand.complete(hand.claim_one(), p_spawns=[{"command": "act"}])
    hand.fail(hand.claim_one(), retryable=False)
    assert hand.claim() == []
    assert _lane_state(hand.engine) == "halted"
    hand.engine.check()


def test_skip_halted_lets_the_lane_go_on(hand: Hand) -> None:
    first, second = hand.engine.enqueue(lane="a"), hand.engine.enqueue(lane="a")
    hand.fail(hand.claim_one(), retryable=False)
    assert hand.engine.value("select worker.skip_halted('work', 'a')") == first
    assert _run_all(hand) == [second]
    assert hand.engine.state(first) == "failed"
    hand.engine.check()


def test_skip_of_a_lane_that_is_not_halted_is_refused(hand: Hand) -> None:
    hand.engine.enqueue(lane="a")
    with refused(hand.engine, "CM027") as error:
        hand.engine.value("select worker.skip_halted('work', 'a')")
    assert "is not halted" in message(error)


def test_retry_of_a_halted_head_goes_before_the_rest(hand: Hand) -> None:
    first, second = hand.engine.enqueue(lane="a"), hand.engine.enqueue(lane="a")
    hand.fail(hand.claim_one(), retryable=False)
    assert hand.engine.value("select worker.retry(%s)", first) == "pending"
    hand.engine.check()
    assert _run_all(hand) == [first, second]
    hand.engine.check()


def test_retry_of_a_skipped_task_goes_to_the_end_of_its_lane(hand: Hand) -> None:
    first, second, third = (hand.engine.enqueue(lane="a") for _ in range(3))
    hand.fail(hand.claim_one(), retryable=False)
    hand.engine.value("select worker.skip_halted('work', 'a')")
    hand.engine.value("select worker.retry(%s)", first)
    hand.engine.check()
    assert _run_all(hand) == [second, third, first]
    hand.engine.check()


def test_a_skipped_task_that_is_retried_and_fails_halts_its_lane_again(hand: Hand) -> None:
    first = hand.engine.enqueue(lane="a")
    hand.fail(hand.claim_one(), retryable=False)
    hand.engine.value("select worker.skip_halted('work', 'a')")
    hand.engine.value("select worker.retry(%s)", first)
    hand.fail(hand.claim_one(), retryable=False)
    assert _lane_state(hand.engine) == "halted"
    hand.engine.check()


def test_retry_of_a_skipped_scope_waits_for_a_free_lane(hand: Hand) -> None:
    first, second = hand.engine.enqueue(lane="a"), hand.engine.enqueue(lane="a")
    hand.complete(hand.claim_one(), p_spawns=[{"command": "act"}])
    hand.fail(hand.claim_one(), retryable=False)
    hand.engine.value("select worker.skip_halted('work', 'a')")
    with refused(hand.engine, "CM008") as error:
        hand.engine.value("select worker.retry(%s)", first)
    assert f"busy with task {second}" in message(error)
    assert "let that task settle" in hint(error)
    hand.complete(hand.claim_one())
    hand.engine.value("select worker.retry(%s)", first)
    assert _lane_state(hand.engine) == "waiting"
    hand.engine.check()
    hand.complete(hand.claim_one())
    assert hand.engine.state(first) == "completed"
    assert _lane_state(hand.engine) is None
    hand.engine.check()


def test_cancelled_head_does_not_halt_its_lane(hand: Hand) -> None:
    first, second = hand.engine.enqueue(lane="a"), hand.engine.enqueue(lane="a")
    hand.release(hand.claim_one())
    assert hand.engine.value("select worker.cancel(%s)", first) == "cancelled"
    assert hand.claim_one().id == second
    hand.engine.check()


def test_cancelled_task_in_the_middle_is_passed_over(hand: Hand) -> None:
    first, second, third = (hand.engine.enqueue(lane="a") for _ in range(3))
    hand.engine.value("select worker.cancel(%s)", second)
    assert _run_all(hand) == [first, third]
    hand.engine.check()


def test_future_task_does_not_block_its_lane_and_enters_when_due(hand: Hand) -> None:
    future = enqueue_in(hand.engine, "1 hour", lane="a")
    now = hand.engine.enqueue(lane="a")
    assert _run_all(hand) == [now]
    assert _lane_state(hand.engine) is None
    busy = hand.engine.enqueue(lane="a")
    claim = hand.claim_one()
    assert claim.id == busy
    advance_clock(hand.engine, "2 hours")
    later = hand.engine.enqueue(lane="a")
    assert hand.claim() == []
    hand.engine.check()
    hand.complete(claim)
    assert set(_run_all(hand)) == {future, later}
    hand.engine.check()


def test_lane_row_is_gone_when_the_lane_is_idle(hand: Hand) -> None:
    for n in range(50):
        hand.engine.enqueue(lane=f"lane {n}")
    assert hand.engine.value("select count(*) from worker.lane") == 0
    assert len(_run_all(hand)) == 50
    assert hand.engine.value("select count(*) from worker.lane") == 0
    assert hand.engine.value("select count(*) from worker.arrival") == 0
    hand.engine.check()


def test_bulk_enqueue_keeps_the_order_of_each_lane(hand: Hand) -> None:
    ids = hand.engine.value(
        "select worker.enqueue_many('act', array_agg('{}'::jsonb), p_lanes => array_agg((n %% 3)::text order by n))"
        " from generate_series(0, 29) as n"
    )
    order = _run_all(hand)
    for lane in range(3):
        mine = ids[lane::3]
        assert [task for task in order if task in mine] == mine
    hand.engine.check()


def test_late_committer_with_a_smaller_id_is_not_lost(committed: Engine, connect: Connect) -> None:
    hand = python_work(committed)
    slow = connect(autocommit=False)
    early = Engine(slow).enqueue(lane="a")
    middle, last = committed.enqueue(lane="a"), committed.enqueue(lane="a")
    claim = hand.claim_one()
    assert claim.id == middle
    slow.commit()
    committed.check()
    hand.complete(claim)
    assert set(_run_all(hand)) == {early, last}
    assert _lane_state(committed) is None
    committed.check()


def test_late_committer_to_a_lane_that_went_idle_is_not_lost(committed: Engine, connect: Connect) -> None:
    hand = python_work(committed)
    slow = connect(autocommit=False)
    early = Engine(slow).enqueue(lane="a")
    quick = committed.enqueue(lane="a")
    assert _run_all(hand) == [quick]
    slow.commit()
    assert _run_all(hand) == [early]
    committed.check()


def test_open_enqueue_does_not_stop_the_lane_nor_other_enqueues(committed: Engine, connect: Connect) -> None:
    hand = python_work(committed)
    slow = connect(autocommit=False)
    Engine(slow).enqueue(lane="a")
    committed.conn.execute("set lock_timeout = '200ms'")
    tasks = [committed.enqueue(lane="a") for _ in range(3)]
    assert _run_all(hand) == tasks
    committed.check()

"""Priority: smaller first, ties by arrival; ageing keeps the rest alive; nothing urgent hides behind a claim's hint."""

from __future__ import annotations

import time
from collections.abc import Callable

import pytest
from psycopg import Connection

from tests.fixtures.engine import Engine
from tests.sql.support import Hand, advance_clock, python_work

Connect = Callable[..., Connection]


@pytest.fixture
def hand(engine: Engine) -> Hand:
    return python_work(engine)


def _age(engine: Engine, after: str) -> int:
    advance_clock(engine, after)
    return engine.value("select worker.age_ready()")


def test_default_priority_is_constant(engine: Engine) -> None:
    engine.command("urgent", priority=5)
    assert {engine.task(engine.enqueue())["priority"] for _ in range(3)} == {100}
    assert engine.task(engine.enqueue("urgent"))["priority"] == 5


@pytest.mark.parametrize("mode", ["serial", "concurrent"])
def test_smaller_priority_runs_first_and_ties_by_arrival(engine: Engine, mode: str) -> None:
    engine.conn.execute("update worker.queue_registry set mode = %s where queue = 'work'", [mode])
    for note, priority in (("c", None), ("d", None), ("a", -5), ("e", 200), ("b", 1)):
        engine.enqueue(note=note, priority=priority)
    engine.process()
    assert engine.notes() == ["a", "b", "c", "d", "e"]


def test_priority_orders_the_children_of_a_scope(engine: Engine) -> None:
    engine.enqueue(spawn=[{"note": "b"}, {"note": "c"}, {"note": "a", "priority": 1}])
    engine.drain()
    assert engine.notes() == ["a", "b", "c"]


def test_children_go_before_the_top_level_whatever_the_priority(hand: Hand) -> None:
    parent = hand.engine.enqueue()
    hand.complete(hand.claim_one(), p_spawns=[{"command": "act", "priority": 900}])
    hand.engine.enqueue(priority=1)
    assert hand.engine.children(parent) == [hand.claim_one().id]


def test_claim_returns_tasks_in_order(hand: Hand) -> None:
    tasks = [hand.engine.enqueue(priority=p) for p in (30, 10, 20, 10)]
    assert [c.id for c in hand.claim(10)] == [tasks[1], tasks[3], tasks[2], tasks[0]]


def test_urgent_task_is_not_hidden_behind_the_hint(hand: Hand) -> None:
    tasks = [hand.engine.enqueue() for _ in range(6)]
    assert [c.id for c in hand.claim(2)] == tasks[:2]
    urgent = hand.engine.enqueue(priority=1)
    assert [c.id for c in hand.claim(2)] == [urgent, tasks[2]]
    more_urgent = hand.engine.enqueue(priority=0)
    assert [c.id for c in hand.claim(2)] == [more_urgent, tasks[3]]
    hand.engine.check()


def test_interrupted_task_is_not_hidden_behind_the_hint(hand: Hand) -> None:
    tasks = [hand.engine.enqueue() for _ in range(4)]
    first, _ = hand.claim(2)
    hand.interrupt(first)
    assert [c.id for c in hand.claim(2)] == [tasks[0], tasks[2]]


def test_task_made_urgent_by_update_is_not_hidden_behind_the_hint(hand: Hand) -> None:
    tasks = [hand.engine.enqueue() for _ in range(6)]
    hand.claim(2)
    hand.engine.conn.execute("update worker.tasks set priority = 1 where id = %s", [tasks[5]])
    assert hand.claim_one().id == tasks[5]


def test_released_task_behind_the_hint_is_found_when_nothing_else_is_left(hand: Hand) -> None:
    tasks = [hand.engine.enqueue() for _ in range(3)]
    first, _ = hand.claim(2)
    hand.release(first)
    assert {hand.claim_one().id, hand.claim_one().id} == {tasks[0], tasks[2]}
    hand.engine.check()


def test_late_committer_behind_the_hint_is_found(committed: Engine, connect: Connect) -> None:
    hand = python_work(committed)
    slow = connect(autocommit=False)
    early = Engine(slow).enqueue()
    quick = committed.enqueue()
    assert hand.claim_one().id == quick
    slow.commit()
    assert hand.claim_one().id == early


def test_ageing_moves_long_waiting_tasks_to_an_earlier_band(hand: Hand) -> None:
    old, younger = hand.engine.enqueue(priority=100), hand.engine.enqueue(priority=50)
    assert _age(hand.engine, "30 seconds") == 0
    for _ in range(4):
        assert _age(hand.engine, "61 seconds") == 2
    fresh = hand.engine.enqueue(priority=65)
    assert [c.id for c in hand.claim(3)] == [younger, old, fresh]
    assert hand.engine.task(old)["priority"] == 100
    hand.engine.check()


def test_ageing_lets_no_task_starve(hand: Hand) -> None:
    """A claim's hint lives for a second; then even a task that aged into the band of the hint is found."""
    starving = hand.engine.enqueue(priority=40)
    until = time.monotonic() + 10
    while hand.engine.state(starving) != "processing" and time.monotonic() < until:
        hand.engine.enqueue(priority=5)
        claim = hand.claim_one()
        if claim.id != starving:
            hand.complete(claim)
        hand.engine.enqueue(priority=5)
        _age(hand.engine, "61 seconds")
    assert hand.engine.state(starving) == "processing"


def test_ageing_goes_no_further_than_zero(hand: Hand) -> None:
    hand.engine.enqueue(priority=15)
    hand.engine.enqueue(priority=-3)
    for _ in range(4):
        _age(hand.engine, "61 seconds")
    bands = hand.engine.conn.execute("select band from worker.ready order by band").fetchall()
    assert bands == [(-3,), (0,)]


def test_ageing_leaves_a_queue_of_one_priority_alone(hand: Hand) -> None:
    for _ in range(3):
        hand.engine.enqueue()
    assert _age(hand.engine, "1 hour") == 0


def test_ageing_can_be_tuned_and_turned_off_by_queue(hand: Hand) -> None:
    hand.engine.enqueue(priority=100)
    hand.engine.enqueue(priority=50)
    hand.engine.conn.execute("update worker.queue_registry set age_step = 0")
    assert _age(hand.engine, "1 hour") == 0
    hand.engine.conn.execute("update worker.queue_registry set age_step = 60, age_every = '2 hours'")
    assert _age(hand.engine, "30 minutes") == 0
    assert _age(hand.engine, "1 hour") == 2


def test_max_priority_takes_only_what_is_urgent_enough(engine: Engine) -> None:
    engine.enqueue(note="urgent", priority=10)
    engine.enqueue(note="normal")
    engine.process(p_max_priority=50)
    assert engine.notes() == ["urgent"]
    engine.process()
    assert engine.notes() == ["urgent", "normal"]

"""UPDATE of a task under a limit: its place at the gate goes to the next, whatever is changed."""

from __future__ import annotations

import threading

import pytest

from tests.fixtures.engine import Engine
from tests.fixtures.server import Connect
from tests.sql.support import Hand, advance_clock, enqueue_in, python_work, stop_clock, wait_until

PUT_OFF = "update worker.tasks set scheduled_at = worker.now() + interval '1 hour' where id = %s"
TO_TENANT = "update worker.tasks set payload = jsonb_build_object('tenant', %s::text) where id = %s"


@pytest.fixture
def hand(engine: Engine) -> Hand:
    stop_clock(engine)
    return python_work(engine, limit_key=["tenant"], max_running=1)


def _let_in(hand: Hand) -> None:
    hand.engine.value("select worker.let_in()")


def _held(hand: Hand) -> dict[str, int]:
    """Tasks let in, by tenant, of the gates that count any."""
    rows = hand.engine.conn.execute(
        "select distinct t.payload ->> 'tenant', g.held from worker.gate as g join worker.task as t on t.gate = g.gate"
        " where g.held > 0"
    )
    return dict(rows.fetchall())


def test_a_task_that_was_let_in_and_is_put_off_gives_its_place_back(hand: Hand) -> None:
    first, second = hand.engine.enqueue(tenant="a"), hand.engine.enqueue(tenant="a")
    _let_in(hand)
    hand.engine.conn.execute(PUT_OFF, [first])
    hand.engine.check()
    claim = hand.claim_one()
    assert claim.id == second
    hand.complete(claim)
    assert hand.claim(10) == []
    assert _held(hand) == {}
    advance_clock(hand.engine, "2 hours")
    assert hand.claim_one().id == first
    hand.engine.check()


def test_a_task_that_waits_at_its_gate_can_be_put_off(hand: Hand) -> None:
    first, second = hand.engine.enqueue(tenant="a"), hand.engine.enqueue(tenant="a")
    claim = hand.claim_one()
    hand.engine.conn.execute(PUT_OFF, [second])
    hand.complete(claim)
    assert claim.id == first
    assert hand.claim(10) == []
    assert hand.engine.task(second)["waits_for"] == "scheduled"
    hand.engine.check()
    advance_clock(hand.engine, "2 hours")
    assert hand.claim_one().id == second
    hand.engine.check()


def test_a_put_off_task_that_is_due_at_once_again_waits_for_its_turn(hand: Hand) -> None:
    later = enqueue_in(hand.engine, "1 hour", tenant="a")
    hand.engine.enqueue(tenant="a")
    running = hand.claim_one()
    hand.engine.conn.execute("update worker.tasks set scheduled_at = null where id = %s", [later])
    assert hand.claim(10) == []
    assert hand.engine.task(later)["waits_for"] == "limit"
    hand.complete(running)
    assert hand.claim_one().id == later
    hand.engine.check()


def test_a_start_that_the_rate_allowed_is_given_back_by_a_task_that_is_put_off(hand: Hand) -> None:
    hand.engine.conn.execute(
        "update worker.command_registry set rate = 1, rate_per = '1 hour', max_running = null where command = 'act'"
    )
    first, second = hand.engine.enqueue(tenant="a"), hand.engine.enqueue(tenant="a")
    _let_in(hand)
    hand.engine.conn.execute(PUT_OFF, [first])
    assert hand.claim_one().id == second
    assert hand.claim(10) == []
    hand.engine.check()


@pytest.mark.parametrize("is_let_in", [True, False])
def test_a_payload_of_another_key_moves_the_task_to_that_gate(hand: Hand, is_let_in: bool) -> None:
    hand.engine.enqueue(tenant="b")
    running = hand.claim_one()
    moved, behind = hand.engine.enqueue(tenant="a"), hand.engine.enqueue(tenant="a")
    if is_let_in:
        _let_in(hand)
    hand.engine.conn.execute(TO_TENANT, ["b", moved])
    hand.engine.check()
    assert [c.id for c in hand.claim(10)] == [behind]
    hand.engine.check()
    hand.complete(running)
    assert [c.id for c in hand.claim(10)] == [moved]
    assert _held(hand) == {"a": 1, "b": 1}
    hand.engine.check()


def test_payload_and_due_time_of_a_let_in_task_change_at_once(hand: Hand) -> None:
    moved, behind = hand.engine.enqueue(tenant="a"), hand.engine.enqueue(tenant="a")
    _let_in(hand)
    hand.engine.conn.execute(
        "update worker.tasks set payload = '{\"tenant\": \"b\"}', scheduled_at = worker.now() + interval '1 hour',"
        " priority = 3 where id = %s",
        [moved],
    )
    assert [c.id for c in hand.claim(10)] == [behind]
    hand.engine.check()
    advance_clock(hand.engine, "2 hours")
    assert [c.id for c in hand.claim(10)] == [moved]
    assert _held(hand) == {"a": 1, "b": 1}
    hand.engine.check()


def test_priority_decides_who_is_let_in_next(hand: Hand) -> None:
    tasks = [hand.engine.enqueue(tenant="a") for _ in range(3)]
    running = hand.claim_one()
    hand.engine.conn.execute("update worker.tasks set priority = 1 where id = %s", [tasks[2]])
    hand.complete(running)
    assert hand.claim_one().id == tasks[2]
    hand.engine.check()


def test_a_cancelled_task_that_had_moved_leaves_its_new_gate(hand: Hand) -> None:
    moved, behind = hand.engine.enqueue(tenant="a"), hand.engine.enqueue(tenant="b")
    _let_in(hand)
    hand.engine.conn.execute(PUT_OFF, [behind])
    hand.engine.conn.execute(TO_TENANT, ["b", moved])
    _let_in(hand)
    hand.engine.conn.execute("update worker.tasks set state = 'cancelled' where id = %s", [moved])
    hand.engine.check()
    assert _held(hand) == {}
    advance_clock(hand.engine, "2 hours")
    assert hand.claim_one().id == behind


@pytest.mark.parametrize("lane", [None, "a"])
def test_a_task_given_back_for_a_while_can_be_changed(engine: Engine, lane: str | None) -> None:
    """It waits as a retry does and has used no attempt."""
    stop_clock(engine)
    hand = python_work(engine)
    first, second = engine.enqueue(lane=lane), engine.enqueue(lane=lane)
    claim = hand.claim_one()
    engine.value(
        "select state from worker.settle(array[%s::bigint], array[%s::bigint], array['released'],"
        " array['{\"retry_after\": 5}'::jsonb])",
        claim.id,
        claim.fence,
    )
    assert engine.task(first)["waits_for"] == "retry"
    engine.conn.execute("update worker.tasks set priority = 1, payload = '{\"new\": 1}' where id = %s", [first])
    engine.check()
    engine.conn.execute(PUT_OFF, [first])
    engine.check()
    assert [c.id for c in hand.claim(10)] == [second]
    advance_clock(engine, "2 hours")
    assert [c.payload for c in hand.claim(10)] == ([] if lane else [{"new": 1}])
    engine.check()


def test_an_update_follows_a_task_that_is_let_in_meanwhile(committed: Engine, connect: Connect) -> None:
    hand = python_work(committed, limit_key=["tenant"], max_running=1)
    task = committed.enqueue(tenant="a")
    gatekeeper = connect(autocommit=False)
    gatekeeper.execute("select worker.let_in()")
    updates = connect()
    thread = threading.Thread(target=lambda: updates.execute(PUT_OFF, [task]))
    thread.start()
    wait_until(
        committed, "select exists (select from pg_locks where pid = %s and not granted)", updates.info.backend_pid
    )
    gatekeeper.commit()
    thread.join()
    assert committed.task(task)["waits_for"] == "scheduled"
    assert hand.claim(10) == []
    committed.check()

"""How the children of a scope are ordered: all at once, or one after another by priority, then arrival."""

from __future__ import annotations

import pytest

from tests.fixtures.engine import Engine
from tests.sql.support import Hand, advance_clock, python_work


def _ready(engine: Engine, parent: int) -> list[int]:
    """Children that could start now."""
    return [
        row[0]
        for row in engine.conn.execute(
            "select id from worker.tasks where parent_id = %s and state = 'pending' and waits_for is null order by id",
            [parent],
        )
    ]


def _serial_scope(hand: Hand, *spawns: dict[str, object], **options: object) -> tuple[int, list[int]]:
    parent = hand.engine.enqueue()
    spawned = [{"command": "act"} | s for s in spawns]
    hand.complete(hand.claim_one(), p_spawns=spawned, p_child_mode="serial", **options)
    return parent, hand.engine.children(parent)


def test_children_are_concurrent_by_default(engine: Engine) -> None:
    parent = engine.enqueue(spawn=[{}, {}, {}])
    engine.process()
    assert engine.task(parent)["child_mode"] == "concurrent"
    assert _ready(engine, parent) == engine.children(parent)


def test_serial_children_run_by_priority_then_arrival(engine: Engine) -> None:
    engine.enqueue(
        child_mode="serial",
        spawn=[{"note": "c"}, {"note": "d"}, {"note": "b", "priority": 5}, {"note": "a", "priority": 1}, {"note": "e"}],
    )
    engine.drain()
    assert engine.notes() == ["a", "b", "c", "d", "e"]
    engine.check()


def test_one_serial_child_at_a_time_is_ready(engine: Engine) -> None:
    hand = python_work(engine)
    parent, (first, second, third) = _serial_scope(hand, {}, {}, {})
    assert _ready(engine, parent) == [first]
    claims = hand.claim(3)
    assert [c.id for c in claims] == [first]
    assert hand.claim(3) == []
    engine.check()
    hand.complete(claims[0])
    assert _ready(engine, parent) == [second]
    hand.complete(hand.claim_one())
    assert _ready(engine, parent) == [third]
    hand.complete(hand.claim_one())
    assert engine.state(parent) == "completed"
    engine.check()


def test_serial_scope_goes_on_after_a_failure(engine: Engine) -> None:
    parent = engine.enqueue(child_mode="serial", spawn=[{"fail": "no"}, {"note": "second"}])
    engine.drain()
    assert engine.notes() == ["second"]
    assert engine.state(parent) == "failed"
    engine.check()


def test_retrying_serial_child_is_not_overtaken(engine: Engine) -> None:
    hand = python_work(engine, max_attempts=2, retry_delay="10 seconds", retry_jitter=0)
    _, (first, _) = _serial_scope(hand, {}, {})
    hand.fail(hand.claim_one())
    assert hand.claim() == []
    engine.check()
    advance_clock(engine, "11 seconds")
    assert hand.claim_one().id == first
    engine.check()


def test_serial_scope_with_cancel_siblings_runs_nothing_after_a_failure(engine: Engine) -> None:
    hand = python_work(engine)
    parent, (_, second) = _serial_scope(hand, {}, {}, p_on_child_failure="cancel_siblings")
    hand.fail(hand.claim_one())
    engine.value("select worker.sweep_cancelled()")
    assert engine.state(second) == "cancelled"
    assert engine.state(parent) == "failed"
    engine.check()


def test_cancelled_serial_child_makes_room_for_the_next(engine: Engine) -> None:
    hand = python_work(engine)
    parent, (first, second, third) = _serial_scope(hand, {}, {}, {})
    assert engine.value("select worker.cancel(%s)", second) == "cancelled"
    assert _ready(engine, parent) == [first]
    engine.value("select worker.cancel(%s)", first)
    assert _ready(engine, parent) == [third]
    engine.check()


def test_serial_sibling_spawned_by_a_child_joins_the_line(engine: Engine) -> None:
    engine.enqueue(child_mode="serial", spawn=[{"note": "a", "sibling": [{"note": "c"}]}, {"note": "b"}])
    engine.drain()
    assert engine.notes() == ["a", "b", "c"]
    engine.check()


def test_serial_sibling_spawned_by_the_last_child_runs(engine: Engine) -> None:
    parent = engine.enqueue(child_mode="serial", spawn=[{"note": "a", "sibling": [{"note": "b"}, {"note": "c"}]}])
    engine.drain()
    assert engine.notes() == ["a", "b", "c"]
    assert engine.state(parent) == "completed"
    engine.check()


def test_scheduled_serial_child_does_not_hold_up_the_others(engine: Engine) -> None:
    hand = python_work(engine)
    later = engine.value("select worker.now() + interval '1 hour'").isoformat()
    _, (scheduled, other) = _serial_scope(hand, {"scheduled_at": later}, {})
    engine.check()
    claim = hand.claim_one()
    assert claim.id == other
    advance_clock(engine, "2 hours")
    assert hand.claim() == []
    engine.check()
    hand.complete(claim)
    assert hand.claim_one().id == scheduled
    engine.check()


def test_scheduled_serial_child_runs_when_it_is_due_and_alone(engine: Engine) -> None:
    hand = python_work(engine)
    later = engine.value("select worker.now() + interval '1 hour'").isoformat()
    parent, (first, _) = _serial_scope(hand, {"scheduled_at": later}, {"scheduled_at": later})
    assert hand.claim(2) == []
    engine.check()
    advance_clock(engine, "2 hours")
    (claim,) = hand.claim(2)
    assert claim.id == first
    engine.check()
    hand.complete(claim)
    hand.complete(hand.claim_one())
    assert engine.state(parent) == "completed"
    engine.check()


def test_due_time_of_the_active_serial_child_lets_the_next_go(engine: Engine) -> None:
    hand = python_work(engine)
    parent, (first, second) = _serial_scope(hand, {}, {})
    engine.conn.execute(
        "update worker.tasks set scheduled_at = worker.now() + interval '1 hour' where id = %s", [first]
    )
    assert _ready(engine, parent) == [second]
    engine.check()


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("p_child_mode => 'serial'", "p_child_mode => 'concurrent'"),
        ("p_parent_id => null", "p_child_mode => 'serial'"),
        ("p_on_child_failure => 'cancel_siblings'", "p_on_child_failure => 'wait'"),
        ("p_on_child_failure => 'wait'", "p_on_child_failure => 'cancel_siblings'"),
    ],
)
def test_second_spawn_with_another_policy_is_refused(engine: Engine, first: str, second: str) -> None:
    engine.conn.execute(
        f"create procedure probe.mixed(payload jsonb) language plpgsql as"
        f" $$ begin call worker.spawn('act', {first}); call worker.spawn('act', {second}); end; $$"
    )
    engine.command("mixed", handler_procedure="probe.mixed")
    task = engine.enqueue("mixed")
    engine.process()
    error = engine.task(task)["error_detail"]
    assert error["kind"] == "CM022"
    assert "first spawn" in error["hint"]
    assert engine.children(task) == []
    engine.check()


def test_second_spawn_without_a_policy_takes_that_of_the_first(engine: Engine) -> None:
    engine.conn.execute(
        """create procedure probe.mixed(payload jsonb) language plpgsql as $$
           begin
             call worker.spawn('act', p_child_mode => 'serial', p_on_child_failure => 'cancel_siblings');
             call worker.spawn('act');
           end; $$"""
    )
    engine.command("mixed", handler_procedure="probe.mixed")
    task = engine.enqueue("mixed")
    engine.process()
    assert engine.task(task)["child_mode"] == "serial"
    assert len(_ready(engine, task)) == 1
    engine.check()


def test_unknown_child_mode_and_policy_are_refused(engine: Engine) -> None:
    for payload in ({"child_mode": "random"}, {"on_failure": "shrug"}):
        task = engine.enqueue(spawn=[{}], **payload)
        engine.process()
        row = engine.task(task)
        assert row["error_detail"]["kind"] == "CM018"
        assert "is unknown, expected" in row["error"]
    engine.check()


def test_retried_serial_scope_reopens_its_child_scopes_one_after_another(engine: Engine) -> None:
    engine.conn.execute("update worker.queue_registry set max_depth = 3 where queue = 'work'")
    broken = {"note": "inner", "spawn": [{"note": "leaf", "fail": "broken"}]}
    root = engine.enqueue(child_mode="serial", spawn=[broken, {"note": "plain", "fail": "broken"}, broken])
    engine.drain()
    assert engine.state(root) == "failed"
    engine.conn.execute("update worker.task set payload = payload - 'fail'")
    assert engine.value("select worker.retry(%s)", root) == "waiting"
    engine.check()
    assert [engine.state(child) for child in engine.children(root)] == ["waiting", "pending", "pending"]
    engine.drain()
    assert set(engine.states().values()) == {"completed"}
    engine.check()


def test_late_child_has_its_turn_while_all_its_siblings_are_scheduled(committed: Engine) -> None:
    hand = python_work(committed)
    later = committed.value("select worker.now() + interval '1 hour'").isoformat()
    parent, (scheduled,) = _serial_scope(hand, {"scheduled_at": later})
    late = committed.value("select worker.spawn_child('act', '{}', %s)", parent)
    assert _ready(committed, parent) == [late]
    committed.check()
    last = committed.value("select worker.spawn_child('act', '{}', %s)", parent)
    assert _ready(committed, parent) == [late]
    committed.value("select worker.cancel(%s)", scheduled)
    for child in (late, last):
        claim = hand.claim_one()
        assert claim.id == child
        hand.complete(claim)
        committed.check()
    assert committed.state(parent) == "failed"  # one was cancelled

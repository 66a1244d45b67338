"""A handler that snoozes: its attempt ends without a failure, and its task runs again later, in its place."""

from __future__ import annotations

from typing import Any

import pytest
from psycopg.types.json import Jsonb

from tests.fixtures.engine import Engine
from tests.sql.support import Claim, Hand, advance_clock, attempts, python_work, refused, stop_clock

WAITS = """
create procedure probe.waits(payload jsonb) language plpgsql as $$
begin
  insert into probe.effect values (worker.current_task_id(), 'tried');
  call worker.spawn('act');
  if not exists (select from probe.effect where note = 'ready') then
    perform worker.snooze((payload ->> 'delay')::interval, payload ->> 'reason');
    raise 'not reached';
  end if;
end; $$;
create procedure probe.at_time(payload jsonb) language plpgsql as $$
begin
  set local datestyle = 'SQL, DMY';
  perform worker.sleep_until((payload ->> 'at')::timestamptz);
  insert into probe.effect values (worker.current_task_id(), 'it is time');
end; $$;
"""


@pytest.fixture
def hand(engine: Engine) -> Hand:
    stop_clock(engine)
    return python_work(engine, max_attempts=2, retry_delay="1 second", retry_jitter=0)


def _snooze(hand: Hand, claim: Claim, **when: Any) -> str:
    return hand.engine.value(
        "select state from worker.settle(array[%s::bigint], array[%s::bigint], array['snoozed'], array[%s::jsonb])",
        claim.id,
        claim.fence,
        Jsonb(when),
    )


def test_a_snooze_is_a_start_and_no_failure(hand: Hand) -> None:
    task = hand.engine.enqueue()
    row: dict[str, Any] = {}
    for times in range(1, 5):
        claim = hand.claim_one()
        assert claim.attempt == times
        assert _snooze(hand, claim, retry_after=60, message="no answer yet") == "pending"
        row = hand.engine.task(task)
        assert (row["state"], row["waits_for"], row["attempt"], row["snoozes"]) == ("pending", "snooze", times, times)
        assert row["due_at"].startswith(f"2030-01-01T00:0{times}:00")
        assert hand.claim() == []
        hand.engine.check()
        advance_clock(hand.engine, "1 minute")
    assert attempts(hand.engine, task) == []
    kept = hand.engine.value("select to_jsonb(s) - 'at' from worker.snoozed as s where task_id = %s", task)
    assert kept == {"task_id": task, "times": 4, "until": row["due_at"], "reason": "no answer yet"}
    # Both failures are still to be had.
    assert hand.fail(hand.claim_one()) == "pending"
    advance_clock(hand.engine, "1 minute")
    assert hand.fail(hand.claim_one()) == "failed"
    assert hand.engine.task(task)["attempt"] == 6


def test_interruptions_are_counted_apart_from_snoozes(hand: Hand) -> None:
    task = hand.engine.enqueue()
    for _ in range(4):
        hand.interrupt(hand.claim_one())
        _snooze(hand, hand.claim_one(), retry_after=1)
        advance_clock(hand.engine, "1 second")
    assert hand.interrupt(hand.claim_one()) == "failed"
    assert hand.engine.task(task)["error"] == "worker died 5 times"


def test_a_snoozing_head_holds_its_lane(hand: Hand) -> None:
    first = hand.engine.enqueue(lane="a")
    second = hand.engine.enqueue(lane="a")
    other = hand.engine.enqueue(lane="b")
    claims = {claim.id: claim for claim in hand.claim(3)}
    assert sorted(claims) == [first, other]
    _snooze(hand, claims[first], retry_after=60)
    hand.complete(claims[other])
    assert hand.claim(3) == []
    assert hand.engine.value("select state from worker.lanes where lane = 'a'") == "waiting"
    hand.engine.check()
    advance_clock(hand.engine, "1 minute")
    again = hand.claim_one()
    assert again.id == first
    hand.complete(again)
    assert hand.claim_one().id == second
    hand.engine.check()


def test_a_serial_queue_waits_for_a_snoozing_task(engine: Engine) -> None:
    stop_clock(engine)
    hand = python_work(engine, "serial")
    first = engine.enqueue()
    _snooze(hand, hand.claim_one(), retry_after=60)
    urgent = engine.enqueue(priority=1)
    assert hand.claim() == []
    engine.check()
    advance_clock(engine, "1 minute")
    claim = hand.claim_one()
    assert claim.id == first
    hand.complete(claim)
    assert hand.claim_one().id == urgent


def test_a_task_keeps_its_place_in_a_limit_while_it_snoozes(engine: Engine) -> None:
    stop_clock(engine)
    hand = python_work(engine, limit_key=[], max_running=1)
    first = engine.enqueue()
    second = engine.enqueue()
    _snooze(hand, hand.claim_one(), retry_after=60)
    assert hand.claim(2) == []
    engine.check()
    advance_clock(engine, "1 minute")
    claim = hand.claim_one()
    assert claim.id == first
    hand.complete(claim)
    assert hand.claim_one().id == second
    engine.check()


def test_a_snoozing_child_keeps_its_turn_in_a_serial_scope_and_its_parent_open(hand: Hand) -> None:
    root = hand.engine.enqueue()
    spawns = [{"command": "act", "payload": {}}] * 2
    hand.complete(hand.claim_one(), p_spawns=spawns, p_child_mode="serial")
    first, second = hand.engine.children(root)
    claim = hand.claim_one()
    assert claim.id == first
    _snooze(hand, claim, retry_after=60)
    assert hand.claim(2) == []
    hand.engine.check()
    advance_clock(hand.engine, "1 minute")
    assert hand.claim_one().id == first
    assert hand.engine.state(root) == "waiting"
    assert hand.engine.state(second) == "pending"


def test_a_snoozing_task_can_be_cancelled(hand: Hand) -> None:
    task = hand.engine.enqueue(lane="a")
    follower = hand.engine.enqueue(lane="a")
    _snooze(hand, hand.claim_one(), retry_after=60)
    assert hand.engine.value("select worker.cancel(%s)", task) == "cancelled"
    assert hand.claim_one().id == follower
    hand.engine.check()


def test_a_task_that_was_cancelled_before_it_snoozes_is_cancelled(hand: Hand) -> None:
    task = hand.engine.enqueue()
    claim = hand.claim_one()
    assert hand.engine.value("select worker.cancel(%s)", task) == "cancelling"
    assert _snooze(hand, claim, retry_after=60) == "cancelled"
    assert hand.engine.value("select count(*) from worker.snoozed") == 0
    hand.engine.check()


def test_a_join_can_snooze(hand: Hand) -> None:
    hand.engine.conn.execute("update worker.command_registry set join_procedure = 'app:join'")
    root = hand.engine.enqueue()
    hand.complete(hand.claim_one(), p_spawns=[{"command": "act", "payload": {}}])
    hand.complete(hand.claim_one())
    join = hand.claim_one()
    assert (join.id, join.phase) == (root, 1)
    _snooze(hand, join, retry_after=60)
    assert hand.engine.state(root) == "waiting"
    hand.engine.check()
    advance_clock(hand.engine, "1 minute")
    again = hand.claim_one()
    assert (again.id, again.phase) == (root, 1)
    assert hand.complete(again) == "completed"


@pytest.mark.parametrize(
    ("when", "due"),
    [
        ({"until": "2030-01-01T00:05:00+00:00"}, "2030-01-01 00:05:00+00"),
        ({"until": "1970-01-01T00:00:00+00:00"}, "2030-01-01 00:00:00.1+00"),
        ({"until": "infinity"}, "2130-01-01 00:00:00+00"),
        ({"until": "tomorrow week"}, "2030-01-01 00:01:00+00"),
        ({"retry_after": 0}, "2030-01-01 00:00:00.1+00"),
        ({"retry_after": "soon"}, "2030-01-01 00:01:00+00"),
        ({}, "2030-01-01 00:01:00+00"),
    ],
)
def test_whatever_a_worker_asks_for_the_task_gets_a_due_time(hand: Hand, when: dict[str, Any], due: str) -> None:
    task = hand.engine.enqueue()
    _snooze(hand, hand.claim_one(), **when)
    assert hand.engine.value("select due_at = %s from worker.tasks where id = %s", due, task)


def test_snooze_task_is_fenced_and_checks_its_time(hand: Hand) -> None:
    task = hand.engine.enqueue()
    claim = hand.claim_one()
    snooze = "select worker.snooze_task(%s, %s, %s::timestamptz, 'why')"
    for until in (None, "infinity", "2131-01-01"):
        with refused(hand.engine, "CM040"):
            hand.engine.value(snooze, task, claim.fence, until)
    with refused(hand.engine, "CM001"):
        hand.engine.value(snooze, task, claim.fence - 1, "2030-01-02")
    assert hand.engine.value(snooze, task, claim.fence, "2030-01-02") == "pending"
    assert hand.engine.value("select reason from worker.snoozed where task_id = %s", task) == "why"
    with refused(hand.engine, "CM001"):
        hand.engine.value(snooze, task, claim.fence, "2030-01-02")


def test_a_sql_handler_snoozes_and_leaves_nothing_of_its_attempt(engine: Engine) -> None:
    stop_clock(engine)
    engine.conn.execute(WAITS)
    engine.command("waits", handler_procedure="probe.waits")
    task = engine.enqueue("waits", delay="5 minutes", reason="the file is not there")
    for times in range(1, 4):
        (done,) = engine.process()
        assert (done["state"], done["error"]) == ("snoozed", "the file is not there")
        assert engine.task(task)["snoozes"] == times
        assert (engine.notes(), engine.children(task)) == ([], [])
        engine.check()
        engine.drain()
        advance_clock(engine, "5 minutes")
    engine.conn.execute("insert into probe.effect values (null, 'ready')")
    engine.drain()
    row = engine.task(task)
    assert (row["state"], row["attempt"], row["snoozes"]) == ("completed", 4, 3)


def test_a_sql_handler_sleeps_until_a_time_and_goes_on_then(engine: Engine) -> None:
    stop_clock(engine)
    engine.conn.execute(WAITS)
    engine.command("at_time", handler_procedure="probe.at_time")
    task = engine.enqueue("at_time", at="2030-03-02 01:00:00+00")
    engine.drain()
    assert engine.value("select due_at = '2030-03-02 01:00:00+00' from worker.tasks where id = %s", task)
    stop_clock(engine, "2030-03-02 01:00:00+00")
    engine.drain()
    assert engine.state(task) == "completed"
    assert engine.notes() == ["it is time"]


@pytest.mark.parametrize(
    "call",
    [
        "worker.snooze(null)",
        "worker.snooze('-1 second')",
        "worker.snooze('101 years')",
        "worker.snooze('1 second')",
        "worker.sleep_until(null)",
        "worker.sleep_until('infinity')",
    ],
)
def test_a_bad_snooze_and_one_outside_a_handler_are_refused(engine: Engine, call: str) -> None:
    with refused(engine, "CM042" if "'1 second" in call else "CM040"):
        engine.conn.execute(f"select {call}")  # type: ignore[arg-type]


def test_snoozes_are_deleted_with_their_task(hand: Hand) -> None:
    hand.engine.enqueue()
    _snooze(hand, hand.claim_one(), retry_after=1)
    advance_clock(hand.engine, "1 second")
    hand.complete(hand.claim_one())
    advance_clock(hand.engine, "1 month")
    assert hand.engine.value("select worker.delete_settled(worker.now(), worker.now(), 10)") == 1
    assert hand.engine.value("select count(*) from worker.snoozed") == 0

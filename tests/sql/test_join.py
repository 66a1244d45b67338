"""A join: the second phase of a task, run once after all of its children completed."""

from __future__ import annotations

import pytest

from tests.fixtures.engine import Engine
from tests.sql.support import FLAKY, Hand, advance_clock, attempts, message, python_work, refused

# The join does what payload.join says.
JOIN = """
create procedure probe.join(payload jsonb, inout info jsonb) language plpgsql as $$
begin
  call probe.act(coalesce(payload -> 'join', '{"note": "joined"}'), info);
end; $$;
"""


@pytest.fixture
def joining(engine: Engine) -> Engine:
    """Command ``joined``: spawns as act does, and then joins."""
    engine.conn.execute(JOIN)
    engine.command("joined", join_procedure="probe.join", max_attempts=2, retry_delay="10 seconds", retry_jitter=0)
    return engine


def test_join_runs_once_after_the_last_child(joining: Engine) -> None:
    task = joining.enqueue("joined", spawn=[{"note": "a"}, {"note": "b"}])
    joining.process()
    joining.process(p_mode="child", p_batch_size=1)
    assert joining.task(task)["waits_for"] == "children"
    joining.process(p_mode="child", p_batch_size=1)
    row = joining.task(task)
    assert (row["state"], row["waits_for"]) == ("waiting", "join")
    joining.check()
    joining.drain()
    assert joining.notes() == ["a", "b", "joined"]
    assert joining.state(task) == "completed"
    joining.check()


def test_task_without_children_has_no_join(joining: Engine) -> None:
    task = joining.enqueue("joined", note="alone")
    joining.drain()
    assert joining.notes() == ["alone"]
    assert joining.state(task) == "completed"


def test_join_sees_what_the_children_left(joining: Engine) -> None:
    joining.conn.execute(
        """create or replace procedure probe.join(payload jsonb, inout info jsonb) language sql as $$
           select jsonb_build_object('seen', jsonb_agg(c.info ->> 'n' order by c.id))
             from worker.tasks as c where c.parent_id = worker.current_task_id() $$"""
    )
    task = joining.enqueue("joined", spawn=[{"info": {"n": 1}}, {"info": {"n": 2}}])
    joining.drain()
    assert joining.task(task)["info"] == {"n": 3, "seen": ["1", "2"]}


def test_info_of_the_join_wins(joining: Engine) -> None:
    task = joining.enqueue("joined", spawn=[{"info": {"n": 1}}], info={"n": 2, "m": 2}, join={"info": {"n": 3}})
    joining.drain()
    assert joining.task(task)["info"] == {"n": 3, "m": 2}


def test_failed_join_is_tried_again_alone(joining: Engine) -> None:
    joining.conn.execute(FLAKY)
    joining.conn.execute("update worker.command_registry set join_procedure = 'probe.flaky' where command = 'joined'")
    task = joining.enqueue("joined", fail_times=1, note="phase", spawn=[{"note": "child"}])
    joining.conn.execute(
        """create or replace procedure probe.flaky(payload jsonb, inout info jsonb) language plpgsql as $$
           begin
             if nextval('probe.tries') <= 1 then raise exception 'not yet'; end if;
             insert into probe.effect (note) values ('joined');
           end; $$"""
    )
    joining.drain()
    assert joining.state(task) == "waiting"
    joining.check()
    advance_clock(joining, "11 seconds")
    joining.drain()
    assert joining.notes() == ["phase", "child", "joined"]
    row = joining.task(task)
    assert (row["state"], row["attempt"]) == ("completed", 1)
    assert [a["error"]["message"] for a in attempts(joining, task)] == ["not yet"]
    joining.check()


def test_join_that_keeps_failing_fails_the_task(joining: Engine) -> None:
    task = joining.enqueue("joined", spawn=[{"note": "child"}], join={"fail": "no way"})
    joining.drain()
    advance_clock(joining, "11 seconds")
    joining.drain()
    row = joining.task(task)
    assert (row["state"], row["error"]) == ("failed", "no way")
    assert joining.notes() == ["child"]
    joining.check()


def test_retry_of_a_task_whose_join_failed_runs_the_join_alone(joining: Engine) -> None:
    joining.conn.execute("update worker.command_registry set max_attempts = 1")
    task = joining.enqueue("joined", spawn=[{"note": "child"}], join={"fail": "no"})
    joining.drain()
    assert joining.state(task) == "failed"
    joining.conn.execute(
        """create or replace procedure probe.join(payload jsonb, inout info jsonb) language sql as $$
           insert into probe.effect (note) values ('joined') returning null::jsonb $$"""
    )
    assert joining.value("select worker.retry(%s)", task) == "waiting"
    joining.check()
    joining.drain()
    assert joining.notes() == ["child", "joined"]
    assert joining.state(task) == "completed"
    joining.check()


def test_failed_joins_below_a_serial_scope_run_again_one_after_another(joining: Engine) -> None:
    joining.conn.execute("update worker.queue_registry set max_depth = 2 where queue = 'work'")
    joining.conn.execute("update worker.command_registry set max_attempts = 1")
    child = {"command": "joined", "spawn": [{"note": "leaf"}], "join": {"fail": "no"}}
    root = joining.enqueue(child_mode="serial", spawn=[child, child])
    joining.drain()
    assert joining.state(root) == "failed"
    joining.conn.execute("update worker.task set payload = payload - 'join'")
    assert joining.value("select worker.retry(%s)", root) == "waiting"
    assert [joining.state(task) for task in joining.children(root)] == ["waiting", "pending"]
    joining.check()
    joining.drain()
    assert joining.notes() == ["leaf", "leaf", "joined", "joined"]
    assert set(joining.states().values()) == {"completed"}
    joining.check()


def test_join_may_make_follow_ups(joining: Engine) -> None:
    task = joining.enqueue("joined", spawn=[{}], join={"note": "joined", "follow_up": [{"note": "after"}]})
    joining.drain()
    assert joining.notes() == ["joined", "after"]
    assert joining.state(task) == "completed"
    joining.check()


def test_join_may_not_spawn(joining: Engine) -> None:
    joining.conn.execute("update worker.command_registry set max_attempts = 1")
    task = joining.enqueue("joined", spawn=[{}], join={"spawn": [{}]})
    joining.drain()
    row = joining.task(task)
    assert (row["state"], row["error_detail"]["kind"]) == ("failed", "CM005")
    assert len(joining.children(task)) == 1
    joining.check()


def test_join_of_a_python_task_may_not_spawn(engine: Engine) -> None:
    hand = python_work(engine, join_procedure="by.name")
    task = _waiting_for_its_join(hand)
    claim = hand.claim_one()
    with refused(engine, "CM005") as error:
        hand.complete(claim, p_spawns=[{"command": "act"}])
    assert message(error) == f"task {task} takes no children: its join is running"
    hand.complete(claim)
    assert engine.state(task) == "completed"
    engine.check()


@pytest.mark.parametrize("fate", ["failed", "cancelled"])
def test_join_does_not_run_unless_every_child_completed(joining: Engine, fate: str) -> None:
    task = joining.enqueue("joined", spawn=[{"fail": "no"} if fate == "failed" else {}, {}])
    joining.process()
    if fate == "cancelled":
        joining.value("select worker.cancel(%s)", joining.children(task)[0])
    joining.drain()
    assert joining.notes() == []
    assert joining.state(task) == "failed"
    joining.check()


def test_join_runs_after_the_failed_children_were_retried(joining: Engine) -> None:
    task = joining.enqueue("joined", spawn=[{"fail": "no", "note": "x"}, {"note": "y"}])
    joining.drain()
    assert joining.state(task) == "failed"
    joining.conn.execute("update worker.task set payload = payload - 'fail' where parent_id = %s", [task])
    joining.value("select worker.retry(%s)", task)
    joining.drain()
    assert joining.notes() == ["y", "x", "joined"]
    assert joining.state(task) == "completed"
    joining.check()


def _waiting_for_its_join(hand: Hand, **enqueue: object) -> int:
    task = hand.engine.enqueue(**enqueue)
    hand.complete(hand.claim_one(), p_spawns=[{"command": "act"}])
    hand.complete(hand.claim_one())
    assert hand.engine.task(task)["waits_for"] == "join"
    return task


def test_lane_is_held_until_the_join_has_ended(engine: Engine) -> None:
    hand = python_work(engine, join_procedure="by.name")
    task = _waiting_for_its_join(hand, lane="a")
    behind = engine.enqueue(lane="a")
    assert engine.value("select state from worker.lanes") == "waiting"
    claim = hand.claim_one()
    assert (claim.id, claim.phase) == (task, 1)
    assert hand.claim() == []
    engine.check()
    hand.complete(claim)
    assert hand.claim_one().id == behind
    engine.check()


def test_serial_queue_waits_for_the_join(engine: Engine) -> None:
    hand = python_work(engine, mode="serial", join_procedure="by.name")
    task = _waiting_for_its_join(hand)
    engine.enqueue()
    (claim,) = hand.claim(2)
    assert (claim.id, claim.phase) == (task, 1)
    engine.check()


def test_cancelled_task_does_not_join(engine: Engine) -> None:
    hand = python_work(engine, join_procedure="by.name")
    task = _waiting_for_its_join(hand)
    assert engine.value("select worker.cancel(%s)", task) == "cancelling"
    engine.value("select worker.sweep_cancelled()")
    assert hand.claim() == []
    assert engine.state(task) == "cancelled"
    engine.check()


def test_cancelled_task_does_not_retry_its_join(engine: Engine) -> None:
    hand = python_work(engine, join_procedure="by.name", max_attempts=2)
    task = _waiting_for_its_join(hand)
    hand.fail(hand.claim_one())
    engine.value("select worker.cancel(%s)", task)
    engine.value("select worker.sweep_cancelled()")
    assert engine.state(task) == "cancelled"
    engine.check()


def test_interrupted_join_runs_again(engine: Engine) -> None:
    hand = python_work(engine, join_procedure="by.name")
    task = _waiting_for_its_join(hand)
    hand.interrupt(hand.claim_one())
    engine.check()
    claim = hand.claim_one()
    assert (claim.id, claim.phase) == (task, 1)
    hand.complete(claim)
    assert engine.state(task) == "completed"
    engine.check()

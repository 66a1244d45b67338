"""worker.retry: a settled task runs again; of a scope, only what did not complete."""

from __future__ import annotations

from tests.fixtures.engine import Engine
from tests.sql.support import advance_clock, enqueue_in, hint, message, python_work, refused


def _repair(engine: Engine) -> None:
    """From now on nothing fails."""
    engine.conn.execute("update worker.task set payload = payload - 'fail'")


def test_failed_task_runs_again_and_counts_on(engine: Engine) -> None:
    task = engine.enqueue(fail="no", note="ran")
    engine.process()
    _repair(engine)
    assert engine.value("select worker.retry(%s)", task) == "pending"
    engine.check()
    engine.process()
    row = engine.task(task)
    assert (row["state"], row["attempt"]) == ("completed", 2)
    assert engine.notes() == ["ran"]
    engine.check()


def test_cancelled_task_runs_again(engine: Engine) -> None:
    task = engine.enqueue(note="ran")
    engine.value("select worker.cancel(%s)", task)
    engine.value("select worker.retry(%s)", task)
    engine.process()
    assert engine.notes() == ["ran"]
    engine.check()


def test_retried_task_may_fail_as_often_as_a_new_one(engine: Engine) -> None:
    hand = python_work(engine, max_attempts=2, retry_delay="0", retry_jitter=0)
    task = engine.enqueue()
    assert [hand.fail(hand.claim_one()) for _ in range(2)] == ["pending", "failed"]
    engine.value("select worker.retry(%s)", task)
    assert [hand.fail(hand.claim_one()) for _ in range(2)] == ["pending", "failed"]
    assert engine.task(task)["attempt"] == 4


def test_retried_task_keeps_its_place_in_a_serial_queue(engine: Engine) -> None:
    task = engine.enqueue(fail="no", note="old")
    engine.process()
    engine.enqueue(note="new")
    _repair(engine)
    engine.value("select worker.retry(%s)", task)
    engine.process()
    assert engine.notes() == ["old", "new"]


def test_task_that_is_not_settled_or_completed_is_refused(engine: Engine) -> None:
    hand = python_work(engine)
    done = engine.enqueue()
    hand.complete(hand.claim_one())
    running = engine.enqueue()
    hand.claim_one()
    for task, state in ((done, "completed"), (running, "processing"), (engine.enqueue(), "pending")):
        with refused(engine, "CM008") as error:
            engine.value("select worker.retry(%s)", task)
        assert f"task {task} is {state}" in message(error)
    with refused(engine, "CM009"):
        engine.value("select worker.retry(987654321)")


def test_parent_failed_by_a_child_is_not_retried_by_itself(engine: Engine) -> None:
    engine.command("sturdy", max_attempts=5, retry_delay="0")
    parent = engine.enqueue("sturdy", spawn=[{"fail": "no"}])
    engine.drain()
    row = engine.task(parent)
    assert (row["state"], row["attempt"]) == ("failed", 1)


def test_retry_of_a_parent_runs_its_failed_children_again_and_no_others(engine: Engine) -> None:
    parent = engine.enqueue(note="parent", spawn=[{"note": "good"}, {"note": "bad", "fail": "no"}])
    engine.drain()
    assert engine.state(parent) == "failed"
    _repair(engine)
    assert engine.value("select worker.retry(%s)", parent) == "waiting"
    engine.check()
    engine.drain()
    assert engine.notes() == ["parent", "good", "bad"]
    assert engine.state(parent) == "completed"
    assert engine.task(parent)["error"] is None
    engine.check()


def test_retry_of_a_parent_runs_its_cancelled_children_too(engine: Engine) -> None:
    parent = engine.enqueue(
        spawn=[{"fail": "no", "note": "a"}, {"note": "b"}, {"note": "c"}], on_failure="cancel_siblings"
    )
    engine.drain()
    assert engine.state(parent) == "failed"
    _repair(engine)
    engine.value("select worker.retry(%s)", parent)
    engine.check()
    engine.drain()
    assert engine.notes() == ["a", "b", "c"]
    assert engine.state(parent) == "completed"
    engine.check()


def test_retry_of_a_serial_scope_keeps_one_child_at_a_time(engine: Engine) -> None:
    parent = engine.enqueue(
        child_mode="serial", spawn=[{"fail": "no", "note": "a"}, {"note": "b"}, {"fail": "no", "note": "c"}]
    )
    engine.drain()
    _repair(engine)
    engine.value("select worker.retry(%s)", parent)
    engine.check()
    engine.drain()
    assert engine.notes() == ["b", "a", "c"]
    assert engine.state(parent) == "completed"
    engine.check()


def test_retry_of_a_root_reaches_every_level(engine: Engine) -> None:
    engine.conn.execute("update worker.queue_registry set max_depth = 2 where queue = 'work'")
    tree = [{"spawn": [{"fail": "no", "note": "deep"}, {"note": "fine"}]}, {"note": "flat"}]
    root = engine.enqueue(spawn=tree)
    engine.drain()
    assert engine.state(root) == "failed"
    _repair(engine)
    engine.value("select worker.retry(%s)", root)
    engine.check()
    engine.drain()
    assert sorted(engine.notes()) == ["deep", "fine", "flat"]
    assert set(engine.states().values()) == {"completed"}
    engine.check()


def test_child_of_a_settled_parent_is_refused_and_names_the_parent(engine: Engine) -> None:
    parent = engine.enqueue(spawn=[{"fail": "no"}])
    engine.drain()
    (child,) = engine.children(parent)
    with refused(engine, "CM008") as error:
        engine.value("select worker.retry(%s)", child)
    assert f"Retry task {parent}" in hint(error)
    engine.check()


def test_child_of_an_open_scope_runs_again_alone(engine: Engine) -> None:
    parent = engine.enqueue(spawn=[{"fail": "no", "note": "a"}, {"note": "b"}])
    engine.process()
    engine.process(p_mode="child", p_batch_size=1)
    failed = engine.children(parent)[0]
    assert engine.state(failed) == "failed"
    _repair(engine)
    assert engine.value("select worker.retry(%s)", failed) == "pending"
    engine.check()
    engine.drain()
    assert engine.state(parent) == "completed"
    engine.check()


def test_task_cancelled_before_it_was_due_waits_for_its_time_again(engine: Engine) -> None:
    hand = python_work(engine)
    tasks = [enqueue_in(engine, "1 hour"), enqueue_in(engine, "1 hour", lane="a")]
    for task in tasks:
        engine.value("select worker.cancel(%s)", task)
        assert engine.value("select worker.retry(%s)", task) == "pending"
    assert hand.claim(5) == []
    engine.check()
    advance_clock(engine, "2 hours")
    assert {claim.id for claim in hand.claim(5)} == set(tasks)
    engine.check()


def test_follow_up_cancelled_by_hand_waits_for_its_root_again(engine: Engine) -> None:
    root = engine.enqueue(spawn=[{"note": "child"}], follow_up=[{"note": "after"}])
    engine.process()
    follower = engine.value("select id from worker.tasks where follows_id = %s", root)
    engine.value("select worker.cancel(%s)", follower)
    engine.value("select worker.retry(%s)", follower)
    assert engine.task(follower)["waits_for"] == "follow_up"
    engine.check()
    engine.drain()
    assert engine.notes() == ["child", "after"]
    engine.check()


def test_retry_twice_is_refused_the_second_time(engine: Engine) -> None:
    parent = engine.enqueue(spawn=[{"fail": "no"}])
    engine.drain()
    engine.value("select worker.retry(%s)", parent)
    with refused(engine, "CM008"):
        engine.value("select worker.retry(%s)", parent)
    engine.check()


def test_scope_that_was_cancelled_as_its_last_child_completed_is_not_opened_again(engine: Engine) -> None:
    hand = python_work(engine)
    engine.conn.execute("update worker.queue_registry set max_depth = 3 where queue = 'work'")
    child = {"command": "act"}
    root = engine.enqueue()
    hand.complete(hand.claim_one(), p_spawns=[child, child], p_child_mode="serial")
    first, outer = engine.children(root)
    hand.fail(hand.claim_one(), retryable=False)
    hand.complete(hand.claim_one(), p_spawns=[child])
    (inner,) = engine.children(outer)
    hand.complete(hand.claim_one(), p_spawns=[child])
    leaf = hand.claim_one()
    engine.value("select worker.cancel(%s)", inner)
    hand.complete(leaf)
    assert [engine.state(task) for task in (inner, outer, root)] == ["cancelled", "failed", "failed"]

    assert engine.value("select worker.retry(%s)", root) == "waiting"
    assert [engine.state(task) for task in (inner, outer, first)] == ["completed", "completed", "pending"]
    engine.check()
    hand.complete(hand.claim_one())
    assert set(engine.states().values()) == {"completed"}
    engine.check()

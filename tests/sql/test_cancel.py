"""Cancel is a request: the root is marked first and settles last; between, its subtree settles or is told to stop."""

from __future__ import annotations

import threading
from collections.abc import Callable

import pytest
from psycopg import Connection

from tests.fixtures.engine import Engine
from tests.sql.support import (
    SIGNAL,
    Hand,
    advance_clock,
    attempts,
    enqueue_in,
    message,
    python_work,
    refused,
    start_work,
    wait_until,
)

Connect = Callable[..., Connection]
CANCEL = "select worker.cancel(%s, 'not needed')"


@pytest.fixture
def hand(engine: Engine) -> Hand:
    """Python tasks on a concurrent queue that allows grandchildren."""
    hand = python_work(engine, max_attempts=2)
    engine.conn.execute("update worker.queue_registry set max_depth = 3 where queue = 'work'")
    return hand


def _spawns(count: int = 1) -> list[dict[str, str]]:
    return [{"command": "act"}] * count


def _sweep(engine: Engine) -> None:
    engine.value("select worker.sweep_cancelled()")


def test_pending_task_is_cancelled_at_once(engine: Engine) -> None:
    task = engine.enqueue(note="ran")
    assert engine.value(CANCEL, task) == "cancelled"
    row = engine.task(task)
    assert (row["state"], row["error"], row["attempt"]) == ("cancelled", "not needed", 0)
    assert row["completed_at"] is not None
    engine.process()
    assert engine.notes() == []
    engine.check()


def test_scheduled_and_retrying_tasks_are_cancelled_at_once(hand: Hand) -> None:
    scheduled = enqueue_in(hand.engine, "1 hour")
    retrying = hand.engine.enqueue()
    hand.fail(hand.claim_one())
    for task in (scheduled, retrying):
        assert hand.engine.value(CANCEL, task) == "cancelled"
    advance_clock(hand.engine, "2 hours")
    assert hand.claim(5) == []
    hand.engine.check()


def test_settled_task_stays_what_it_is(engine: Engine) -> None:
    done, failed = engine.enqueue(), engine.enqueue(fail="no")
    engine.process()
    assert [engine.value(CANCEL, t) for t in (done, failed)] == ["completed", "failed"]
    assert [engine.state(t) for t in (done, failed)] == ["completed", "failed"]


def test_unknown_task_is_refused(engine: Engine) -> None:
    with refused(engine, "CM009") as error:
        engine.value(CANCEL, 987654321)
    assert "no task 987654321" in message(error)


def test_running_task_is_notified_and_settles_as_it_ends(hand: Hand) -> None:
    task = hand.engine.enqueue()
    claim = hand.claim_one()
    assert hand.engine.value(CANCEL, task) == "cancelling"
    _sweep(hand.engine)
    assert hand.engine.state(task) == "processing"
    assert hand.fail(claim, message="I was told to stop") == "cancelled"
    assert hand.engine.task(task)["error"] == "not needed"
    assert [a["state"] for a in attempts(hand.engine, task)] == ["cancelled"]
    hand.engine.check()


def test_running_task_that_completes_anyway_has_completed(hand: Hand) -> None:
    task = hand.engine.enqueue()
    claim = hand.claim_one()
    hand.engine.value(CANCEL, task)
    assert hand.complete(claim) == "completed"
    _sweep(hand.engine)
    assert hand.engine.value("select count(*) from worker.cancel_request") == 0
    hand.engine.check()


def test_cancelled_attempt_is_not_tried_again(hand: Hand) -> None:
    for end in (hand.fail, hand.interrupt, hand.release):
        task = hand.engine.enqueue()
        claim = hand.claim_one()
        hand.engine.value(CANCEL, task)
        assert end(claim) == "cancelled"
        assert hand.engine.state(task) == "cancelled"
    hand.engine.check()


def test_cancelled_task_may_not_open_a_scope(hand: Hand) -> None:
    task = hand.engine.enqueue()
    claim = hand.claim_one()
    hand.engine.value(CANCEL, task)
    with refused(hand.engine, "CM011"):
        hand.complete(claim, p_spawns=_spawns())
    assert hand.fail(claim) == "cancelled"
    assert hand.engine.children(task) == []
    hand.engine.check()


def test_waiting_task_settles_after_its_unstarted_children(hand: Hand) -> None:
    task = hand.engine.enqueue()
    hand.complete(hand.claim_one(), p_spawns=_spawns(3))
    assert hand.engine.value(CANCEL, task) == "cancelling"
    assert hand.engine.state(task) == "waiting"
    _sweep(hand.engine)
    assert set(hand.engine.states().values()) == {"cancelled"}
    assert hand.engine.task(task)["error"] == "not needed"
    assert hand.engine.value("select count(*) from worker.cancel_request") == 0
    hand.engine.check()


def test_waiting_task_settles_after_its_running_child(hand: Hand) -> None:
    task = hand.engine.enqueue()
    hand.complete(hand.claim_one(), p_spawns=_spawns(2))
    running = hand.claim_one()
    hand.engine.value(CANCEL, task)
    _sweep(hand.engine)
    assert hand.engine.state(task) == "waiting"
    assert hand.claim() == []
    hand.engine.check()
    hand.fail(running)
    assert set(hand.engine.states().values()) == {"cancelled"}
    hand.engine.check()


def test_every_level_of_a_subtree_is_cancelled(hand: Hand) -> None:
    root = hand.engine.enqueue()
    hand.complete(hand.claim_one(), p_spawns=_spawns(2))
    opener, runner = hand.claim(2)
    hand.complete(opener, p_spawns=_spawns(2))
    deep = hand.claim_one()
    hand.complete(deep, p_spawns=_spawns())
    hand.engine.value(CANCEL, root)
    _sweep(hand.engine)
    assert {t: s for t, s in hand.engine.states().items() if s != "cancelled"} == {
        root: "waiting",
        runner.id: "processing",
    }
    with refused(hand.engine, "CM011"):
        hand.complete(runner, p_spawns=_spawns())
    hand.fail(runner)
    assert set(hand.engine.states().values()) == {"cancelled"}
    hand.engine.check()


def test_cancelled_child_fails_its_parent_and_spares_its_siblings(hand: Hand) -> None:
    parent = hand.engine.enqueue()
    hand.complete(hand.claim_one(), p_spawns=_spawns(2))
    first, second = hand.engine.children(parent)
    assert hand.engine.value(CANCEL, first) == "cancelled"
    hand.complete(hand.claim_one())
    assert hand.engine.state(second) == "completed"
    assert hand.engine.task(parent)["error"] == "1 of 2 children cancelled: act: not needed"
    hand.engine.check()


def test_only_the_subtree_is_cancelled(hand: Hand) -> None:
    root = hand.engine.enqueue()
    hand.complete(hand.claim_one(), p_spawns=_spawns(2))
    opener, sibling = hand.claim(2)
    hand.complete(opener, p_spawns=_spawns(2))
    assert hand.engine.value(CANCEL, opener.id) == "cancelling"
    _sweep(hand.engine)
    assert hand.engine.state(opener.id) == "cancelled"
    assert hand.engine.state(root) == "waiting"
    assert hand.complete(sibling) == "completed"
    assert hand.engine.state(root) == "failed"
    hand.engine.check()


def test_spawn_into_a_cancelled_scope_is_refused(hand: Hand) -> None:
    task = hand.engine.enqueue()
    hand.complete(hand.claim_one(), p_spawns=_spawns())
    child = hand.claim_one()
    hand.engine.value(CANCEL, task)
    with refused(hand.engine, "CM011"):
        hand.engine.value("insert into worker.tasks (command, parent_id) values ('act', %s)", task)
    with refused(hand.engine, "CM011"):
        hand.complete(child, p_spawns=[{"command": "act", "is_sibling": True}])
    assert hand.fail(child) == "pending"
    _sweep(hand.engine)
    assert hand.engine.state(task) == "cancelled"
    hand.engine.check()


@pytest.mark.parametrize("max_running", [None, 50])
def test_nothing_below_a_cancelled_task_starts_before_its_request_is_carried_out(
    hand: Hand, max_running: int | None
) -> None:
    root = hand.engine.enqueue(priority=1)
    hand.complete(hand.claim_one(), p_spawns=_spawns(3))
    opener = hand.claim_one()
    hand.complete(opener, p_spawns=_spawns(4))
    hand.engine.conn.execute("update worker.queue_registry set max_running = %s where queue = 'work'", [max_running])
    other = hand.engine.enqueue()
    assert hand.engine.value(CANCEL, root) == "cancelling"
    assert [claim.id for claim in hand.claim(2)] == [other]
    _sweep(hand.engine)
    assert hand.engine.state(root) == "cancelled"
    assert hand.engine.value("select count(*) from worker.tasks where state = 'cancelled'") == 8
    hand.engine.check()


def test_a_join_that_was_asked_to_stop_does_not_start(hand: Hand) -> None:
    hand.engine.command("gather", handler_kind="python", join_procedure="join")
    task = hand.engine.enqueue("gather")
    hand.complete(hand.claim_one(), p_spawns=_spawns())
    hand.complete(hand.claim_one())
    assert hand.engine.value(CANCEL, task) == "cancelling"
    assert hand.claim() == []
    _sweep(hand.engine)
    assert hand.engine.state(task) == "cancelled"
    hand.engine.check()


def test_siblings_of_a_failed_child_do_not_start_before_they_are_cancelled(hand: Hand) -> None:
    parent = hand.engine.enqueue()
    hand.complete(hand.claim_one(), p_spawns=_spawns(3), p_on_child_failure="cancel_siblings")
    child = hand.claim_one()
    assert hand.fail(child, retryable=False) == "failed"
    assert hand.claim(5) == []
    _sweep(hand.engine)
    assert hand.engine.state(parent) == "failed"
    hand.engine.check()


def test_cancelling_twice_changes_nothing(hand: Hand) -> None:
    task = hand.engine.enqueue()
    hand.complete(hand.claim_one(), p_spawns=_spawns())
    assert [hand.engine.value("select worker.cancel(%s, %s)", task, why) for why in ("first", "second")] == [
        "cancelling"
    ] * 2
    _sweep(hand.engine)
    assert hand.engine.task(task)["error"] == "first"
    assert hand.engine.value(CANCEL, task) == "cancelled"
    hand.engine.check()


def test_process_tasks_carries_cancels_out(engine: Engine) -> None:
    parent = engine.enqueue(spawn=[{"note": "child"}])
    engine.process()
    engine.value(CANCEL, parent)
    assert engine.process() == []
    assert engine.state(parent) == "cancelled"
    assert engine.notes() == []
    engine.check()


def test_cancel_waits_for_a_claim_that_has_not_committed(committed: Engine, connect: Connect) -> None:
    hand = python_work(committed)
    task = committed.enqueue()
    answers: list[str] = []
    with committed.conn.transaction():
        claim = hand.claim_one()
        other = connect()
        thread = threading.Thread(target=lambda: answers.append(Engine(other).value(CANCEL, task)))
        thread.start()
        waits = "select exists (select from pg_stat_activity where pid = %s and wait_event_type = 'Lock')"
        wait_until(committed, waits, other.info.backend_pid)
    thread.join()
    assert answers == ["cancelling"]
    assert hand.fail(claim) == "cancelled"
    committed.check()


def test_cancel_waits_for_a_spawn_below_that_has_not_committed_as_long_as_its_caller_allows(
    committed: Engine, connect: Connect
) -> None:
    hand = python_work(committed)
    committed.conn.execute("update worker.queue_registry set max_depth = 3 where queue = 'work'")
    root = committed.enqueue()
    hand.complete(hand.claim_one(), p_spawns=_spawns())
    child = hand.claim_one()
    hand.complete(child, p_spawns=_spawns())
    other = connect()
    with other.transaction():
        other.execute("select worker.spawn_child('act', '{}', %s)", [child.id])
        committed.conn.execute("set lock_timeout = '100ms'")
        with refused(committed, "55P03"):
            committed.value(CANCEL, root)
        assert committed.value("select count(*) from worker.cancel_request") == 0
    assert committed.value(CANCEL, root) == "cancelling"
    _sweep(committed)
    assert set(committed.states().values()) == {"cancelled"}
    committed.check()


@pytest.mark.parametrize("spawn", [[], [{"note": "child"}]], ids=["plain", "that has spawned"])
def test_running_sql_handler_is_stopped_through_its_backend(
    committed: Engine, connect: Connect, spawn: list[object]
) -> None:
    task = committed.enqueue(spawn=spawn, follow_up=spawn, sleep=30)
    after = committed.enqueue(note="next")
    thread = start_work(connect())
    wait_until(committed, "select exists (select from pg_stat_activity where wait_event = 'PgSleep')")
    committed.conn.execute("set lock_timeout = '1s'")
    assert committed.value(CANCEL, task) == "cancelling"
    committed.value(SIGNAL)
    thread.join()
    assert committed.task(task)["error"] == "not needed"
    assert committed.states() == {task: "cancelled", after: "completed"}
    committed.check()

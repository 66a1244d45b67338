"""A paused queue starts nothing, keeps everything, and stays paused until told otherwise."""

from __future__ import annotations

from collections.abc import Callable

from psycopg import Connection

from tests.fixtures.engine import Engine
from tests.sql.support import Hand, advance_clock, python_work

Connect = Callable[..., Connection]


def test_paused_queue_takes_tasks_and_starts_none(engine: Engine) -> None:
    engine.value("select worker.pause_queue('work')")
    task = engine.enqueue(note="ran")
    assert engine.process() == []
    assert engine.state(task) == "pending"
    engine.value("select worker.resume_queue('work')")
    engine.process()
    assert engine.notes() == ["ran"]
    engine.check()


def test_paused_queue_starts_no_python_task(engine: Engine) -> None:
    hand = python_work(engine)
    engine.enqueue(lane="a")
    engine.value("select worker.pause_queue('work')")
    assert hand.claim() == []
    engine.value("select worker.resume_queue('work')")
    assert len(hand.claim()) == 1


def test_running_task_of_a_paused_queue_goes_on_and_its_children_wait(engine: Engine) -> None:
    hand = python_work(engine)
    task = engine.enqueue()
    claim = hand.claim_one()
    engine.value("select worker.pause_queue('work')")
    assert hand.complete(claim, p_spawns=[{"command": "act"}]) == "waiting"
    assert hand.claim() == []
    engine.value("select worker.resume_queue('work')")
    hand.complete(hand.claim_one())
    assert engine.state(task) == "completed"
    engine.check()


def test_other_queues_go_on(engine: Engine) -> None:
    engine.queue("other")
    engine.command("elsewhere", "other")
    engine.value("select worker.pause_queue('work')")
    engine.enqueue(note="paused")
    engine.enqueue("elsewhere", note="ran")
    engine.process(None)
    assert engine.notes() == ["ran"]


def test_pause_ends_by_itself_at_its_time(engine: Engine) -> None:
    engine.value("select worker.pause_queue('work', worker.now() + interval '1 hour')")
    engine.enqueue(note="ran")
    assert engine.value("select is_paused from worker.queues where queue = 'work'")
    assert engine.process() == []
    advance_clock(engine, "61 minutes")
    assert not engine.value("select is_paused from worker.queues where queue = 'work'")
    engine.process()
    assert engine.notes() == ["ran"]


def test_task_that_falls_due_while_paused_runs_after_the_pause(engine: Engine) -> None:
    engine.value(
        "select worker.enqueue('act', '{\"note\": \"ran\"}', p_scheduled_at => worker.now() + interval '1 hour')"
    )
    engine.value("select worker.pause_queue('work')")
    advance_clock(engine, "2 hours")
    assert engine.process() == []
    engine.value("select worker.resume_queue('work')")
    engine.process()
    assert engine.notes() == ["ran"]
    engine.check()


def test_task_of_a_paused_queue_can_be_cancelled(engine: Engine) -> None:
    task = engine.enqueue()
    engine.value("select worker.pause_queue('work')")
    assert engine.value("select worker.cancel(%s)", task) == "cancelled"
    engine.check()


def test_pause_is_seen_by_every_connection_and_outlives_its_own(committed: Engine, connect: Connect) -> None:
    python_work(committed)
    committed.enqueue()
    passing = connect()
    passing.execute("select worker.pause_queue('work')")
    passing.close()
    hand = Hand.hired(connect())
    assert hand.claim() == []
    assert committed.value("select paused_at is not null from worker.queue_registry where queue = 'work'")
    connect().execute("select worker.resume_queue('work')")
    assert len(hand.claim()) == 1
    committed.check()

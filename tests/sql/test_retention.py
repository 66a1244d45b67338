"""task_cleanup deletes settled trees by the age of their root, and nothing that is still of use."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from psycopg import Connection
from psycopg.types.json import Jsonb

from tests.fixtures.engine import Engine
from tests.sql.support import advance_clock, python_work


def _clean(engine: Engine, **payload: object) -> dict[str, int]:
    """One run of the command; returns its info."""
    task = engine.enqueue("task_cleanup", **payload)
    engine.process("maintenance", p_batch_size=1)
    return engine.task(task)["info"]


def _keep(engine: Engine, **days: int) -> None:
    """What the owner says: the payload of the schedule."""
    engine.conn.execute("update worker.schedule set payload = %s where name = 'task_cleanup'", [Jsonb(days)])


def _left(engine: Engine) -> set[int]:
    return {task for task in engine.states() if engine.task(task)["command"] != "task_cleanup"}


def test_completed_tasks_go_after_a_week_and_others_after_a_month(engine: Engine) -> None:
    done, failed = engine.enqueue(), engine.enqueue(fail="no")
    engine.process()
    cancelled = engine.enqueue()
    engine.value("select worker.cancel(%s)", cancelled)
    advance_clock(engine, "6 days")
    assert _clean(engine) == {"deleted_trees": 0}
    assert _left(engine) == {done, failed, cancelled}
    advance_clock(engine, "2 days")
    _clean(engine)
    assert _left(engine) == {failed, cancelled}
    advance_clock(engine, "23 days")
    _clean(engine)
    assert _left(engine) == set()
    engine.check()


def test_tree_goes_as_a_whole(engine: Engine) -> None:
    engine.conn.execute("update worker.queue_registry set max_depth = 2 where queue = 'work'")
    engine.enqueue(spawn=[{"spawn": [{}, {}]}, {}])
    engine.drain()
    assert len(_left(engine)) == 5
    advance_clock(engine, "8 days")
    assert _clean(engine) == {"deleted_trees": 1}
    assert _left(engine) == set()
    assert engine.value("select count(*) from worker.scope") == 0
    assert engine.value("select count(*) from worker.outcome where id not in (select id from worker.task)") == 0
    engine.check()


def test_completed_children_of_a_failed_root_stay_with_it(engine: Engine) -> None:
    root = engine.enqueue(spawn=[{}, {"fail": "no"}])
    engine.drain()
    advance_clock(engine, "8 days")
    _clean(engine)
    assert _left(engine) == {root, *engine.children(root)}
    engine.value("select worker.retry(%s)", root)
    engine.check()


def test_attempts_and_warnings_go_with_their_task(engine: Engine) -> None:
    engine.command("noisy", after_procedure="probe.nowhere")
    engine.enqueue("noisy", fail="no")
    engine.process()
    counts = "select (select count(*) from worker.attempt), (select count(*) from worker.warning)"
    assert engine.conn.execute(counts).fetchone() == (1, 1)
    advance_clock(engine, "31 days")
    _clean(engine)
    assert engine.conn.execute(counts).fetchone() == (0, 0)


def test_unsettled_tasks_stay_however_old(engine: Engine) -> None:
    waiting = engine.enqueue(spawn=[{}, {}])
    engine.process()
    engine.process(p_mode="child", p_batch_size=1)
    pending = engine.enqueue()
    advance_clock(engine, "1 year")
    _clean(engine)
    assert _left(engine) == {waiting, *engine.children(waiting), pending}
    engine.check()


def test_head_of_a_halted_lane_stays_so_that_it_can_be_retried(engine: Engine) -> None:
    hand = python_work(engine)
    head, behind = engine.enqueue(lane="a"), engine.enqueue(lane="a")
    hand.fail(hand.claim_one())
    advance_clock(engine, "1 year")
    _clean(engine)
    assert _left(engine) == {head, behind}
    engine.value("select worker.retry(%s)", head)
    assert hand.claim_one().id == head
    engine.check()


def test_ages_can_be_chosen(engine: Engine) -> None:
    engine.enqueue()
    failed = engine.enqueue(fail="no")
    engine.process()
    advance_clock(engine, "2 days")
    _keep(engine, completed_days=1)
    assert _clean(engine, completed_days=3) == {"deleted_trees": 0}
    assert _clean(engine) == {"deleted_trees": 1}
    assert _left(engine) == {failed}
    _keep(engine, failed_days=1)
    assert _clean(engine) == {"deleted_trees": 1}
    assert _left(engine) == set()


def test_a_task_cannot_delete_sooner_than_the_schedule_says(engine: Engine) -> None:
    """Whoever may enqueue can make one."""
    kept = {engine.enqueue(), engine.enqueue(fail="no")}
    engine.process()
    engine.value("select worker.write_audit('ada', 'operator', 'task.retry', 'task 1', '{}', 'done')")
    advance_clock(engine, "2 days")
    sooner = {"completed_days": 0, "failed_days": -1, "audit_days": 0}
    assert _clean(engine, **sooner) == {"deleted_trees": 0}
    assert _left(engine) == kept
    assert engine.value("select count(*) from worker.audit") == 1
    engine.conn.execute("delete from worker.schedule")
    assert _clean(engine, **sooner) == {"deleted_trees": 0}


def test_cleanup_works_in_batches_and_asks_for_another_run(engine: Engine) -> None:
    for _ in range(5):
        engine.enqueue()
    engine.process()
    advance_clock(engine, "8 days")
    assert _clean(engine, batch=2) == {"deleted_trees": 2}
    assert engine.value("select count(*) from worker.tasks where command = 'task_cleanup' and state = 'pending'") == 1
    engine.drain("maintenance")
    assert _left(engine) == set()
    engine.check()


def test_rows_of_the_audit_table_go_after_three_months(engine: Engine) -> None:
    write = "select worker.write_audit('ada', 'operator', 'task.retry', 'task 1', '{}', 'done')"
    engine.value(write)
    advance_clock(engine, "89 days")
    assert _clean(engine) == {"deleted_trees": 0}
    engine.value(write)
    advance_clock(engine, "2 days")
    assert _clean(engine)["deleted_audit"] == 1
    assert engine.value("select count(*) from worker.audit") == 1
    _keep(engine, audit_days=1)
    assert _clean(engine)["deleted_audit"] == 1


def test_follow_up_outlives_its_root(engine: Engine) -> None:
    engine.enqueue(follow_up=[{"note": "after"}])
    engine.process(p_batch_size=1)
    advance_clock(engine, "8 days")
    assert _clean(engine) == {"deleted_trees": 1}
    engine.process()
    assert engine.notes() == ["after"]
    engine.check()


def test_tree_that_another_transaction_spawns_into_is_left_for_the_next_time(
    committed: Engine, connect: Callable[..., Connection[Any]]
) -> None:
    committed.conn.execute("update worker.queue_registry set max_depth = 3 where queue = 'work'")
    other, (root, free) = connect(autocommit=False), (committed.enqueue(spawn=[{"spawn": [{}]}]) for _ in range(2))
    committed.process(p_batch_size=2)
    committed.process(p_batch_size=1)
    (middle,) = committed.children(root)
    assert committed.state(middle) == "waiting"
    other.execute("select worker.spawn_child('act', '{}', %s)", [middle])
    committed.conn.execute("set lock_timeout = '2s'")
    committed.drain()
    assert [committed.state(task) for task in (root, free)] == ["completed", "completed"]
    clean = "select worker.delete_settled('infinity', 'infinity', 100)"
    assert committed.value(clean) == 1
    assert _left(committed) == {root, *committed.children(root), *committed.children(middle)}
    other.rollback()
    assert committed.value(clean) == 1
    assert _left(committed) == set()

"""Children that enter a scope which is already open: counted with their transaction, refused once it is too late."""

from __future__ import annotations

from collections.abc import Callable

import psycopg
import pytest
from psycopg import Connection

from tests.fixtures.engine import Engine
from tests.sql.support import hint, message, python_work, refused

INSERT = (
    """insert into worker.tasks (command, parent_id, payload) values ('act', %s, '{"note": "late"}') returning id"""
)


def _open_scope(engine: Engine, **options: object) -> int:
    parent = engine.enqueue(spawn=[{"note": "early"}], **options)
    engine.process()
    assert engine.state(parent) == "waiting"
    return parent


def test_insert_into_a_waiting_scope_is_a_spawn(engine: Engine) -> None:
    parent = _open_scope(engine)
    child = engine.value(INSERT, parent)
    assert engine.task(child)["depth"] == 1
    engine.process()
    assert engine.notes() == ["early", "late"]
    assert engine.state(parent) == "completed"
    engine.check()


def test_insert_is_counted_at_commit(committed: Engine) -> None:
    parent = _open_scope(committed)
    committed.value(INSERT, parent)
    assert committed.task(parent)["progress"]["total"] == 2
    committed.check()
    committed.drain()
    assert committed.state(parent) == "completed"
    committed.check()


def test_many_inserts_of_one_transaction_are_counted_together(committed: Engine) -> None:
    parents = [_open_scope(committed)]
    committed.queue("other")
    committed.command("elsewhere", "other")
    parents.append(committed.enqueue("elsewhere", spawn=[{"command": "elsewhere"}]))
    committed.process("other")
    with committed.conn.transaction():
        for parent in parents * 3:
            committed.value(INSERT, parent)
    assert [committed.task(p)["progress"]["total"] for p in parents] == [4, 4]
    committed.check()


def test_rolled_back_insert_leaves_no_trace(committed: Engine) -> None:
    parent = _open_scope(committed)
    with committed.conn.transaction(force_rollback=True):
        committed.value(INSERT, parent)
    with committed.conn.transaction():
        committed.value(INSERT, parent)
        with committed.conn.transaction(force_rollback=True):
            committed.value(INSERT, parent)
    assert committed.task(parent)["progress"]["total"] == 2
    committed.check()


def test_children_at_work_elsewhere_do_not_close_a_scope_over_a_counted_child(
    committed: Engine, connect: Callable[..., Connection]
) -> None:
    parent = _open_scope(committed)
    Engine(connect()).value(INSERT, parent)
    committed.process(p_mode="child", p_batch_size=1)
    assert committed.state(parent) == "waiting"
    committed.drain()
    assert committed.state(parent) == "completed"
    committed.check()


def test_insert_that_commits_after_the_scope_has_closed_is_refused(
    committed: Engine, connect: Callable[..., Connection]
) -> None:
    parent = _open_scope(committed)
    late = connect(autocommit=False)
    Engine(late).value(INSERT, parent)
    committed.process()
    assert committed.state(parent) == "completed"
    with pytest.raises(psycopg.Error) as error:
        late.commit()
    assert error.value.sqlstate == "CM005"
    assert len(committed.children(parent)) == 1
    committed.check()


def test_insert_that_commits_after_the_cancel_is_refused(committed: Engine, connect: Callable[..., Connection]) -> None:
    parent = _open_scope(committed)
    late = connect(autocommit=False)
    Engine(late).value(INSERT, parent)
    assert committed.value("select worker.cancel(%s)", parent) == "cancelling"
    with pytest.raises(psycopg.Error) as error:
        late.commit()
    assert error.value.sqlstate == "CM005"
    committed.drain()
    assert committed.state(parent) == "cancelled"
    committed.check()


def test_insert_into_a_scope_below_a_cancelled_root_is_refused(engine: Engine) -> None:
    hand = python_work(engine)
    engine.conn.execute("update worker.queue_registry set max_depth = 2 where queue = 'work'")
    root = engine.enqueue()
    hand.complete(hand.claim_one(), p_spawns=[{"command": "act"}])
    child = hand.claim_one()
    hand.complete(child, p_spawns=[{"command": "act"}])
    engine.value("select worker.cancel(%s)", root)
    with refused(engine, "CM011"):
        engine.value(INSERT, child.id)


def test_insert_with_a_parent_and_a_lane_is_refused(engine: Engine) -> None:
    parent = _open_scope(engine)
    with refused(engine, "CM007") as error:
        engine.value("insert into worker.tasks (command, parent_id, lane) values ('act', %s, 'a')", parent)
    assert f"child of task {parent}" in message(error)
    assert "child mode" in hint(error)


def test_insert_under_a_child_is_too_deep(engine: Engine) -> None:
    hand = python_work(engine)
    engine.conn.execute("update worker.queue_registry set max_depth = 2 where queue = 'work'")
    engine.enqueue()
    hand.complete(hand.claim_one(), p_spawns=[{"command": "act"}])
    child = hand.claim_one()
    hand.complete(child, p_spawns=[{"command": "act"}])
    engine.conn.execute("update worker.queue_registry set max_depth = 1 where queue = 'work'")
    with refused(engine, "CM006"):
        engine.value(INSERT, child.id)


def test_insert_under_a_task_that_is_not_open_is_refused(engine: Engine) -> None:
    done = engine.enqueue()
    engine.process()
    pending = engine.enqueue()
    for parent in (done, pending, 987654321):
        with refused(engine, "CM005") as error:
            engine.value(INSERT, parent)
        assert "takes no children" in message(error)


def test_late_child_of_a_serial_scope_waits_for_its_turn(engine: Engine) -> None:
    parent = engine.enqueue(child_mode="serial", spawn=[{"note": "a"}, {"note": "b"}])
    engine.process()
    engine.value(INSERT, parent)
    engine.process()
    assert engine.notes() == ["a", "b", "late"]
    assert engine.state(parent) == "completed"
    engine.check()


def test_child_may_spawn_into_another_open_scope(engine: Engine) -> None:
    engine.queue("other")
    engine.command("elsewhere", "other")
    open_one = engine.enqueue("elsewhere", spawn=[{"command": "elsewhere"}])
    engine.process("other")
    engine.conn.execute(
        """create procedure probe.give(payload jsonb) language plpgsql as $$
           begin call worker.spawn('elsewhere', p_parent_id => (payload ->> 'to')::bigint); end; $$"""
    )
    engine.command("give", handler_procedure="probe.give")
    giver = engine.enqueue("give", to=open_one)
    engine.process()
    assert engine.state(giver) == "completed"
    assert engine.task(open_one)["progress"]["total"] == 2
    engine.check()
    engine.drain("other")
    assert engine.state(open_one) == "completed"
    engine.check()

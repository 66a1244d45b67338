"""Bulks: a task that retries or cancels what matched a filter when it was asked for, and nothing else."""

from __future__ import annotations

from typing import Any

import psycopg
import pytest
from psycopg import Connection
from psycopg.types.json import Jsonb

from tests.fixtures.engine import Engine
from tests.sql.support import advance_clock


def start(engine: Engine, verb: str, **values: Any) -> int:
    return engine.value("select worker.start_bulk(%s, %s, p_actor => 'ada')", verb, Jsonb(values))


def run(engine: Engine) -> None:
    """All batches, and what is called after them."""
    engine.drain("bulk_changes")
    engine.conn.execute("call worker.run_after_calls(false)")


def row(engine: Engine, task_id: int) -> dict[str, Any]:
    return engine.value("select to_jsonb(b) from worker.bulk as b where task_id = %s", task_id)


def count(engine: Engine, verb: str, **values: Any) -> tuple[int, bool]:
    counted = engine.conn.execute("select * from worker.count_bulk(%s, %s)", [verb, Jsonb(values)]).fetchone()
    assert counted is not None
    return counted[0], counted[1]


@pytest.fixture
def two(engine: Engine) -> Engine:
    """With a second command and a second queue."""
    engine.queue("mail", mode="concurrent")
    engine.command("send", "mail")
    return engine


def test_a_retry_takes_what_had_failed_when_it_was_asked_for(two: Engine) -> None:
    failed = [two.enqueue("send", fail=f"no {n}") for n in range(3)]
    other, done = two.enqueue(fail="no"), two.enqueue("send")
    two.drain("mail")
    two.drain()
    assert count(two, "retry", queue="mail") == (3, True)
    assert count(two, "retry", error="NO 1", made_after="2020-01-01T00:00Z") == (1, True)
    assert count(two, "retry", state="cancelled") == (0, True)
    bulk = start(two, "retry", command="send", queue="mail")
    later = two.enqueue("send", fail="later")
    two.drain("mail")
    run(two)
    states = two.states()
    assert [states[task] for task in failed] == ["pending"] * 3
    assert (states[other], states[done], states[later], states[bulk]) == ("failed", "completed", "failed", "completed")
    seen = row(two, bulk)
    assert (seen["expected"], seen["done"], seen["skipped"], seen["problem"]) == (3, 3, 0, None)
    audit = two.conn.execute("select actor, action, subject, result, detail from worker.audit").fetchall()
    assert audit == [("ada", "tasks.retry.end", f"task {bulk}", "done", "completed: 3 tasks retried, 0 skipped")]
    two.check()


def test_one_that_fails_again_is_not_retried_twice(engine: Engine) -> None:
    """Whatever the size of a batch: what fails after the request is behind it."""
    failed = engine.enqueue(fail="no")
    engine.drain()
    bulk = start(engine, "retry")
    engine.process("bulk_changes", p_batch_size=1)  # spawns the first batch
    engine.value("select worker.retry(%s)", failed)
    advance_clock(engine, "1 minute")
    engine.drain()
    assert engine.state(failed) == "failed"
    run(engine)
    assert engine.state(failed) == "failed"
    assert (engine.state(bulk), row(engine, bulk)["done"]) == ("completed", 0)


def test_a_filter_may_be_the_children_of_one_task(engine: Engine) -> None:
    scopes = [engine.enqueue(spawn=[{"fail": "no"}, {"fail": "no"}]) for _ in range(2)]
    engine.drain()
    assert count(engine, "retry", parent=scopes[0]) == (2, True)
    below = [child for scope in scopes for child in engine.children(scope)]
    assert count(engine, "retry", parent=scopes[0], ids=below) == (2, True)
    start(engine, "retry", parent=scopes[0])
    run(engine)
    assert [engine.state(task) for task in scopes] == ["waiting", "failed"]
    for verb, said in (("cancel", "cancel takes none"), ("retry", "cannot be read")):
        with pytest.raises(psycopg.Error, match=said), engine.conn.transaction():
            start(engine, verb, parent="x")


def test_a_filter_may_be_some_tasks_by_their_ids(two: Engine) -> None:
    """Of those that are named, the ones that can be changed; cancelled ones too are retried."""
    failed, left = (two.enqueue(fail="no") for _ in range(2))
    two.drain()
    pending, lane, scheduled = two.enqueue("send"), *(two.enqueue("send", lane="a") for _ in range(2))
    cancelled, parent = two.enqueue("send"), two.enqueue("send", spawn=[{"command": "send"}])
    two.value("select worker.cancel(%s)", cancelled)
    two.process("mail", p_batch_size=1, p_max_priority=None)
    named = [failed, failed, cancelled, pending, scheduled, parent, 987_654_321]
    assert count(two, "retry", ids=named) == (2, True)
    assert count(two, "retry", ids=named, state="failed") == (1, True)
    assert count(two, "retry", ids=named, queue="mail") == (1, True)
    waiting = [task for task in named if two.states().get(task) in ("pending", "waiting")]
    assert count(two, "cancel", ids=named) == (len(waiting), True)
    start(two, "retry", ids=[failed, cancelled])
    start(two, "cancel", ids=[scheduled, parent])
    run(two)
    states = two.states()
    assert (states[failed], states[left], states[cancelled]) == ("pending", "failed", "pending")
    assert (states[scheduled], states[parent]) == ("cancelled", "cancelled")
    assert "cancelled" not in (states[pending], states[lane])
    two.check()


def test_a_failed_child_comes_back_with_its_parent(engine: Engine) -> None:
    parent = engine.enqueue(spawn=[{"command": "act", "fail": "no"}, {"fail": "no"}, {}])
    engine.drain()
    first, second, third = engine.children(parent)
    bulk = start(engine, "retry", error="no")
    run(engine)
    states = engine.states()
    assert [states[task] for task in (parent, first, second, third)] == ["waiting", "pending", "pending", "completed"]
    assert row(engine, bulk)["skipped"] == 0
    engine.check()


def test_a_cancel_takes_what_was_there_with_everything_under_it(two: Engine) -> None:
    parent = two.enqueue(spawn=[{}, {}])
    two.process(p_batch_size=1)
    waiting, mail = two.enqueue(), two.enqueue("send")
    assert count(two, "cancel") == (5, True)
    assert count(two, "cancel", state="waiting") == (1, True)
    assert count(two, "cancel", state="pending", top=True) == (2, True)
    bulk = start(two, "cancel", queue="work")
    later = two.enqueue()
    run(two)
    two.value("select worker.sweep_cancelled()")
    states = two.states()
    assert [states[task] for task in (parent, *two.children(parent), waiting)] == ["cancelled"] * 4
    assert (states[mail], states[later], states[bulk]) == ("pending", "pending", "completed")
    assert row(two, bulk)["skipped"] == 0
    two.check()


def test_a_bulk_can_be_cancelled_and_does_not_cancel_itself(engine: Engine) -> None:
    engine.enqueue()
    bulk = start(engine, "cancel")
    other = start(engine, "cancel", command="nothing")
    assert engine.value("select worker.cancel(%s)", other) == "cancelled"
    run(engine)
    assert engine.state(bulk) == "completed"
    said = engine.conn.execute("select subject, result, detail from worker.audit order by subject").fetchall()
    assert said == [
        (f"task {bulk}", "done", "completed: 1 tasks cancelled, 0 skipped"),
        (f"task {other}", "failed", "cancelled: 0 tasks cancelled, 0 skipped"),
    ]


def test_many_tasks_are_many_batches_and_one_that_cannot_be_changed_is_skipped(engine: Engine) -> None:
    engine.command("once", dedup=["n"])
    engine.conn.execute("select worker.enqueue_many('act', array_fill('{}'::jsonb, array[600]))")
    bulk = start(engine, "cancel")
    engine.process("bulk_changes")
    engine.process("bulk_changes", p_batch_size=1)
    assert 0 < row(engine, bulk)["done"] <= 250
    # The trigger stands for whatever may be wrong with one of them.
    engine.conn.execute(
        "create function probe.no() returns trigger language plpgsql as $$ begin if new.id = 600 then"
        " raise 'stuck'; end if; return new; end $$"
    )
    engine.conn.execute("create trigger no before insert on worker.outcome for each row execute function probe.no()")
    engine.conn.execute("alter table worker.outcome enable always trigger no")
    ids = [task for task, state in engine.states().items() if state == "pending" and task != bulk]
    assert ids
    run(engine)
    seen = row(engine, bulk)
    assert (engine.state(bulk), seen["expected"]) == ("completed", 600)
    assert seen["done"] + seen["skipped"] == 600
    assert len(engine.children(bulk)) >= 3
    assert engine.task(bulk)["info"]["done"] == seen["done"]


def test_a_count_stops(engine: Engine) -> None:
    engine.conn.execute("select worker.enqueue_many('act', array_fill('{}'::jsonb, array[30]))")
    assert engine.conn.execute("select * from worker.count_bulk('cancel', '{}', 10)").fetchall() == [(10, False, 0)]


@pytest.mark.parametrize(
    ("verb", "values", "said"),
    [
        ("delete", {}, "the verb is 'delete', expected retry or cancel"),
        ("retry", {"limit": 5}, "the filter has the key limit, expected some of state"),
        ("retry", {"state": "pending"}, "the filter has the state pending, and retry is for tasks that are failed"),
        ("cancel", {"made_after": "soon"}, "the filter cannot be read"),
        ("cancel", [1], "the filter is [1], expected an object"),
        ("cancel", {"ids": 5}, "the filter has the ids 5, expected an array of 1 to 1000 ids"),
        ("cancel", {"ids": []}, "the filter has the ids [], expected an array of 1 to 1000 ids"),
        ("retry", {"ids": [*range(1001)]}, "the filter has the ids [0, 1, 2,"),
        ("retry", {"ids": ["x"]}, "the filter cannot be read"),
    ],
)
def test_a_wrong_filter_is_named(engine: Engine, verb: str, values: Any, said: str) -> None:
    with pytest.raises(psycopg.Error) as caught:
        engine.conn.execute("select worker.start_bulk(%s, %s)", [verb, Jsonb(values)])
    assert caught.value.sqlstate == "CM018"
    assert str(caught.value).startswith(said)


def test_who_may_only_enqueue_gains_nothing_by_the_command(engine: Engine, tx: Connection[Any]) -> None:
    victim = engine.enqueue()
    genuine = start(engine, "cancel", command="nothing")
    bulk_id = row(engine, genuine)["id"]
    for payload in ({}, {"bulk": bulk_id, "filter": {}}):
        forged = engine.enqueue("bulk_cancel", **payload)
        run(engine)
        assert engine.state(forged) == "failed"
    assert engine.state(victim) == "pending"
    (may,) = tx.execute(
        "select array_agg(has_function_privilege(r, 'worker.start_bulk'::regproc, 'execute'))"
        " from unnest(array['catchment_enqueue', 'catchment_read', 'catchment_worker']) as r"
    ).fetchone() or (None,)
    assert may == [False, False, True]

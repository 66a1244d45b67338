"""worker.retry_failed: the failed children of a scope run again, also while it waits for the others."""

from __future__ import annotations

from typing import Any

from tests.fixtures.engine import Engine
from tests.sql.support import hint, message, refused

# Fails as long as the table is empty.
FLAKY = """
create table probe.repaired ();
create procedure probe.flaky(payload jsonb) language plpgsql as $$
begin
  if not exists (select from probe.repaired) then
    raise exception 'broken';
  end if;
end;
$$
"""


def flaky_scope(engine: Engine, *children: dict[str, Any], **options: Any) -> int:
    """Children of command ``flaky`` that have failed, and one more that has not started."""
    engine.conn.execute(FLAKY)
    engine.queue("deep", mode="concurrent", max_depth=None)
    engine.command("tree", "deep")
    engine.command("flaky", "deep", handler_procedure="probe.flaky", **options)
    task = engine.enqueue("tree", spawn=[*children, {"command": "tree", "priority": 200}])
    engine.process("deep", p_mode="top")
    engine.process("deep", p_mode="child", p_max_priority=100)
    assert engine.state(task) == "waiting"
    return task


def retry_failed(engine: Engine, task: int, most: int = 10_000) -> int:
    number = engine.value("select worker.retry_failed(%s, %s)", task, most)
    engine.check()
    return number


def repair(engine: Engine) -> None:
    engine.conn.execute("insert into probe.repaired default values")


def test_failed_children_come_back_while_their_scope_is_open(engine: Engine) -> None:
    task = flaky_scope(engine, *[{"command": "flaky"}] * 3)
    first, second, third, last = engine.children(task)
    assert retry_failed(engine, task, most=2) == 2
    assert [engine.state(one) for one in (first, second, third, last)] == ["pending", "pending", "failed", "pending"]
    assert retry_failed(engine, task) == 1
    repair(engine)
    engine.drain("deep")
    assert engine.state(task) == "completed"
    assert engine.task(first)["attempt"] == 2
    engine.check()


def test_a_failed_child_scope_runs_what_failed_in_it(engine: Engine) -> None:
    inner = {"command": "tree", "spawn": [{"command": "flaky"}, {"command": "tree"}]}
    task = flaky_scope(engine, inner, {"command": "flaky"})
    scope, plain, last = engine.children(task)
    broken, fine = engine.children(scope)
    engine.process("deep", p_mode="child", p_max_priority=100)
    assert [engine.state(one) for one in (scope, plain, broken, fine)] == ["failed", "failed", "failed", "completed"]
    assert retry_failed(engine, task) == 2
    states = [engine.state(one) for one in (scope, plain, broken, fine, last)]
    assert states == ["waiting", "pending", "pending", "completed", "pending"]
    repair(engine)
    engine.drain("deep")
    assert engine.state(task) == "completed"
    engine.check()


def test_children_under_a_limit_wait_for_their_place(engine: Engine) -> None:
    task = flaky_scope(engine, *[{"command": "flaky"}] * 3, limit_key=[], max_running=1)
    for _ in range(3):
        engine.process("deep", p_mode="child", p_max_priority=100)
    assert retry_failed(engine, task) == 3
    repair(engine)
    engine.drain("deep")
    assert engine.state(task) == "completed"
    engine.check()


def test_children_that_were_folded_share_the_retry(engine: Engine) -> None:
    twins = [{"command": "flaky", "key": 1}] * 2
    task = flaky_scope(engine, *twins, dedup=["key"])
    assert retry_failed(engine, task) == 1
    repair(engine)
    engine.drain("deep")
    assert engine.state(task) == "completed"
    engine.check()


def test_a_settled_scope_is_retried_as_a_whole(engine: Engine) -> None:
    task = flaky_scope(engine, {"command": "flaky"})
    engine.value("select worker.cancel(%s)", task)
    engine.drain("deep")
    assert engine.state(task) == "cancelled"
    assert retry_failed(engine, task) == 2
    assert engine.state(task) == "waiting"


def test_what_cannot_be_retried_is_refused(engine: Engine) -> None:
    task = flaky_scope(engine, {"command": "flaky"})
    engine.value("select worker.cancel(%s)", task)
    with refused(engine, "CM008") as caught:
        engine.value("select worker.retry_failed(%s)", task)
    assert message(caught) == f"the scope of task {task} takes no retry of its children now"
    assert hint(caught).startswith(f"Wait until task {task} has settled")
    serial = engine.enqueue("tree", child_mode="serial", spawn=[{"command": "flaky"}, {"command": "tree"}])
    engine.process("deep", p_mode="top")
    engine.process("deep", p_mode="child", p_batch_size=1)
    with refused(engine, "CM008"):
        engine.value("select worker.retry_failed(%s)", serial)
    fine = engine.enqueue("tree", spawn=[{"command": "tree"}])
    engine.process("deep", p_mode="top")
    with refused(engine, "CM008") as caught:
        engine.value("select worker.retry_failed(%s)", fine)
    assert message(caught) == f"no child of task {fine} has failed"
    with refused(engine, "CM009"):
        engine.value("select worker.retry_failed(%s)", 999_999)
    engine.check()

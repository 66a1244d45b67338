"""What a worker may not ask for, and what still happens to tasks that never ran."""

from __future__ import annotations

from typing import Any

import psycopg
import pytest

from tests.fixtures.engine import Engine
from tests.fixtures.server import Connect

AFTER = """
create procedure probe.after(payload jsonb) language sql as $$
  insert into probe.effect values (null, 'after ' || (payload ->> 'name'))
$$
"""


@pytest.fixture
def held(engine: Engine) -> tuple[Engine, int, int]:
    """The engine with a Python task that a worker has claimed, its id and fence."""
    engine.command("python_act", handler_kind="python")
    engine.enqueue("python_act")
    worker_id = engine.value("select worker_id from worker.register_worker('test')")
    claimed = engine.value("select to_jsonb(c) from worker.claim_tasks(%s, '{work}', 1) as c", worker_id)
    return engine, claimed["id"], claimed["fence"]


def refused(engine: Engine, sql: str, *parameters: Any) -> str | None:
    """The SQLSTATE of a statement that must fail."""
    with pytest.raises(psycopg.Error) as caught, engine.conn.transaction():
        engine.value(sql, *parameters)
    return caught.value.sqlstate


def test_a_request_that_settle_does_not_know_is_refused_and_changes_nothing(held: tuple[Engine, int, int]) -> None:
    engine, task_id, fence = held
    assert (
        refused(engine, "select worker.settle(array[%s::bigint], array[%s::bigint], '{done}')", task_id, fence)
        == "CM018"
    )
    assert engine.state(task_id) == "processing"
    engine.check()


def test_a_worker_that_lost_its_claim_is_refused_even_if_it_spawned(held: tuple[Engine, int, int]) -> None:
    engine, task_id, fence = held
    sql = 'select worker.complete_task(%s, %s, p_spawns => \'[{"command": "act", "payload": {}}]\')'
    assert refused(engine, sql, task_id, fence + 1) == "CM001"
    assert engine.children(task_id) == []


def test_retrying_a_completed_task_is_refused_with_a_hint(engine: Engine) -> None:
    task_id = engine.enqueue()
    engine.drain()
    assert refused(engine, "select worker.retry(%s)", task_id) == "CM008"


def test_after_hook_runs_for_a_follow_up_that_is_cancelled_with_its_root(engine: Engine) -> None:
    engine.conn.execute(AFTER)
    engine.command("hooked", after_procedure="probe.after")
    engine.enqueue(spawn=[{"fail": "no"}], follow_up=[{"command": "hooked", "name": "follow-up"}])
    engine.drain()
    assert engine.notes() == ["after follow-up"]


def test_after_hook_runs_for_what_a_lane_cancels_behind_a_failed_task(engine: Engine) -> None:
    engine.conn.execute(AFTER)
    engine.queue("strict", on_failure="cancel_rest")
    engine.command("hooked", "strict", after_procedure="probe.after")
    engine.enqueue("hooked", name="first", fail="no")
    engine.enqueue("hooked", name="second")
    engine.drain("strict")
    assert sorted(engine.notes()) == ["after first", "after second"]


def test_a_scope_cancelled_while_its_last_child_completed_completes_when_retried(
    committed: Engine, connect: Connect
) -> None:
    parent = committed.enqueue(spawn=[{}])
    committed.process()
    other = connect()
    with other.transaction():
        other.execute("select worker.begin_session('work', null)")
        row = other.execute("select id, fence from worker.begin_tasks('work', 0, null)").fetchone()
    assert committed.value("select worker.cancel(%s)", parent) == "cancelling"
    other.execute("select worker.complete_task(%s, %s)", row)
    assert committed.state(parent) == "cancelled"

    assert committed.value("select worker.retry(%s)", parent) == "completed"
    committed.check()

"""worker.tasks is a closed surface: what INSERT, UPDATE, DELETE and COPY may do, and what they refuse."""

from __future__ import annotations

from typing import Any

import pytest

from tests.fixtures.engine import Engine
from tests.sql.support import FLAKY, advance_clock, hint, message, python_work, refused

# A value of its type for every column that an INSERT may not set.
ENGINE_COLUMNS: dict[str, Any] = {
    "id": 1,
    "state": "completed",
    "depth": 1,
    "child_mode": "serial",
    "attempt": 1,
    "max_attempts": 5,
    "created_at": "2030-01-01",
    "process_start_at": "2030-01-01",
    "process_stop_at": "2030-01-01",
    "completed_at": "2030-01-01",
    "process_duration_ms": 1,
    "completion_duration_ms": 1,
    "worker_pid": 1,
    "error": "no",
    "info": "{}",
    "queue": "work",
    "handler_kind": "sql",
    "root_id": -1,
    "follows_id": -1,
    "merged_into": 1,
    "fence": 1,
    "waits_for": "lane",
    "due_at": "2030-01-01",
    "progress": "{}",
    "result": "{}",
    "error_detail": "{}",
    "snoozes": 1,
    "cancel_reason": "no",
    "worker_id": 1,
}


def test_every_column_is_either_open_or_tested_as_closed(engine: Engine) -> None:
    columns = engine.conn.execute(
        "select attname from pg_attribute where attrelid = 'worker.tasks'::regclass and attnum > 0"
    ).fetchall()
    open_ones = {"command", "payload", "priority", "scheduled_at", "lane", "parent_id"}
    assert {c[0] for c in columns} == open_ones | set(ENGINE_COLUMNS)


def test_insert_enqueues(engine: Engine) -> None:
    engine.conn.execute("""insert into worker.tasks (command, payload) values ('act', '{"note": "ran"}')""")
    engine.process()
    assert engine.notes() == ["ran"]
    engine.check()


def test_insert_without_payload_gives_an_empty_object(engine: Engine) -> None:
    task = engine.value("insert into worker.tasks (command) values ('act') returning id")
    assert engine.task(task)["payload"] == {}


def test_insert_sets_priority_due_time_and_lane(engine: Engine) -> None:
    task = engine.value(
        "insert into worker.tasks (command, priority, scheduled_at, lane)"
        " values ('act', 7, worker.now() + interval '1 hour', 'customer 1') returning id"
    )
    row = engine.task(task)
    assert (row["priority"], row["lane"], row["waits_for"]) == (7, "customer 1", "scheduled")
    assert row["due_at"] == row["scheduled_at"]
    engine.check()


def test_insert_returns_ids_of_many_rows_in_order(engine: Engine) -> None:
    rows = engine.conn.execute(
        "insert into worker.tasks (command, payload)"
        " select 'act', jsonb_build_object('note', n) from generate_series(1, 5) as n returning id, payload ->> 'note'"
    ).fetchall()
    assert [r[1] for r in rows] == ["1", "2", "3", "4", "5"]
    assert [r[0] for r in rows] == list(engine.states())
    engine.process()
    assert engine.notes() == ["1", "2", "3", "4", "5"]


def test_copy_enqueues(engine: Engine) -> None:
    with engine.conn.cursor().copy("copy worker.tasks (command, payload) from stdin") as copy:
        for n in range(3):
            copy.write_row(("act", f'{{"note": "{n}"}}'))
    engine.process()
    assert engine.notes() == ["0", "1", "2"]
    engine.check()


def test_insert_of_a_column_that_is_the_engines_is_refused(engine: Engine) -> None:
    for column, value in ENGINE_COLUMNS.items():
        with refused(engine, "CM007") as error:
            engine.conn.execute(f"insert into worker.tasks (command, {column}) values ('act', %s)", [value])
        assert "may set command, payload, priority, scheduled_at, lane and parent_id" in message(error)
        assert "worker.follow_up" in hint(error)
    assert engine.states() == {}


def test_update_of_a_column_that_is_the_engines_is_refused(engine: Engine) -> None:
    task = engine.enqueue()
    for column, value in (ENGINE_COLUMNS | {"queue": "other", "handler_kind": "python"}).items():
        with refused(engine, "CM007") as error:
            engine.conn.execute(f"update worker.tasks set {column} = %s", [value])
        assert f"task {task}" in message(error)
        assert "worker.complete_task" in hint(error)


def test_update_of_what_only_insert_may_set_is_refused(engine: Engine) -> None:
    engine.enqueue()
    for change in ("command = 'other'", "lane = 'x'", "parent_id = 1"):
        with refused(engine, "CM007"):
            engine.conn.execute(f"update worker.tasks set {change}")


def test_update_to_a_state_that_is_the_engines_is_refused(engine: Engine) -> None:
    task = engine.enqueue()
    for state in ("completed", "failed", "processing", "waiting", "interrupted", None):
        with refused(engine, "CM007"):
            engine.conn.execute("update worker.tasks set state = %s", [state])
    assert engine.state(task) == "pending"


def test_update_changes_the_payload_of_a_task_never_tried(engine: Engine) -> None:
    engine.enqueue(note="old")
    engine.conn.execute("""update worker.tasks set payload = '{"note": "new"}'""")
    engine.process()
    assert engine.notes() == ["new"]


def test_update_to_a_payload_that_is_no_object_is_refused(engine: Engine) -> None:
    engine.enqueue(note="old")
    with refused(engine, "CM004"):
        engine.conn.execute("update worker.tasks set payload = '[1]'")
    engine.process()
    assert engine.notes() == ["old"]


def test_update_of_the_priority_changes_the_order(engine: Engine) -> None:
    engine.enqueue(note="first")
    second = engine.enqueue(note="second")
    engine.conn.execute("update worker.tasks set priority = 1 where id = %s", [second])
    engine.process()
    assert engine.notes() == ["second", "first"]


def test_update_of_the_due_time_puts_a_ready_task_off_and_back(engine: Engine) -> None:
    task = engine.enqueue()
    engine.conn.execute("update worker.tasks set scheduled_at = worker.now() + interval '1 hour'")
    engine.process()
    assert engine.state(task) == "pending"
    engine.check()
    engine.conn.execute("update worker.tasks set scheduled_at = null")
    engine.process()
    assert engine.state(task) == "completed"
    engine.check()


def test_due_time_of_a_lanes_head_lets_the_lane_go_on(engine: Engine) -> None:
    hand = python_work(engine)
    head, second, third = (engine.enqueue(lane="a") for _ in range(3))
    hand.release(hand.claim_one())
    engine.conn.execute("update worker.tasks set scheduled_at = worker.now() + interval '1 hour' where id = %s", [head])
    engine.check()
    claim = hand.claim_one()
    assert claim.id == second
    engine.conn.execute(
        "update worker.tasks set scheduled_at = worker.now() + interval '1 hour' where id = %s", [third]
    )
    hand.complete(claim)
    assert hand.claim() == []
    engine.check()
    advance_clock(engine, "2 hours")
    assert hand.claim_one().id in (head, third)
    engine.check()


def test_update_of_many_rows_at_once(engine: Engine) -> None:
    for n in range(3):
        engine.enqueue(note=str(n))
    engine.conn.execute("update worker.tasks set priority = 1000 - id, payload = payload || '{\"seen\": true}'")
    engine.process()
    assert engine.notes() == ["2", "1", "0"]


def test_update_of_a_task_being_retried_is_refused(engine: Engine) -> None:
    engine.conn.execute(FLAKY)
    engine.command("flaky", handler_procedure="probe.flaky", max_attempts=2)
    task = engine.enqueue("flaky", fail_times=1)
    engine.process()
    assert engine.state(task) == "pending"
    for change in ("payload = '{}'", "priority = 1", "scheduled_at = '2040-01-01'"):
        with refused(engine, "CM007") as error:
            engine.conn.execute(f"update worker.tasks set {change}")
        assert "has been tried" in message(error)
        assert "enqueue another" in hint(error)


@pytest.mark.parametrize("state", ["processing", "completed"])
def test_update_of_a_started_task_is_refused(engine: Engine, state: str) -> None:
    hand = python_work(engine)
    task = engine.enqueue()
    claim = hand.claim_one()
    if state == "completed":
        hand.complete(claim)
    assert engine.state(task) == state
    with refused(engine, "CM007"):
        engine.conn.execute("update worker.tasks set payload = '{\"new\": 1}'")


def test_update_of_state_to_cancelled_cancels(engine: Engine) -> None:
    task = engine.enqueue()
    engine.conn.execute("update worker.tasks set state = 'cancelled'")
    assert engine.state(task) == "cancelled"
    engine.check()


def test_update_of_state_to_pending_retries(engine: Engine) -> None:
    task = engine.enqueue(fail="no")
    engine.process()
    assert engine.state(task) == "failed"
    engine.conn.execute("update worker.tasks set state = 'pending'")
    assert engine.state(task) == "pending"
    engine.check()


def test_update_of_state_to_pending_of_a_completed_task_is_refused(engine: Engine) -> None:
    engine.enqueue()
    engine.process()
    with refused(engine, "CM008"):
        engine.conn.execute("update worker.tasks set state = 'pending'")


def test_delete_is_refused_and_says_what_to_use(engine: Engine) -> None:
    task = engine.enqueue()
    with refused(engine, "CM007") as error:
        engine.conn.execute("delete from worker.tasks")
    assert f"task {task}" in message(error)
    assert "worker.cancel" in hint(error)
    assert "task_cleanup" in hint(error)

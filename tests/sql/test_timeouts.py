"""A task has the time its command declares; past it, the attempt fails as timed out."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from psycopg import Connection

from tests.fixtures.engine import Engine
from tests.sql.support import SIGNAL, advance_clock, attempts, python_work, start_work, wait_until

Connect = Callable[..., Connection]


@pytest.mark.parametrize("spawn", [[], [{"note": "child"}]], ids=["plain", "that has spawned"])
def test_sql_handler_past_its_timeout_fails(committed: Engine, connect: Connect, spawn: list[object]) -> None:
    committed.command("slow", timeout="50 milliseconds")
    task = committed.enqueue("slow", spawn=spawn, sleep=30)
    thread = start_work(connect())
    wait_until(committed, "select worker.expire_deadlines() > 0")
    wait_until(committed, "select exists (select from pg_stat_activity where wait_event = 'PgSleep')")
    committed.value(SIGNAL)
    thread.join()
    row = committed.task(task)
    assert (row["state"], row["error"], row["error_detail"]["kind"]) == (
        "failed",
        "timed out after 00:00:00.05",
        "timeout",
    )
    committed.check()


def test_deadline_that_has_not_passed_is_left_alone(engine: Engine) -> None:
    hand = python_work(engine, timeout="1 minute")
    task = engine.enqueue()
    hand.claim_one()
    assert engine.value("select worker.expire_deadlines()") == 0
    assert engine.task(task)["due_at"] is not None
    advance_clock(engine, "2 minutes")
    assert engine.value("select worker.expire_deadlines()") == 1
    assert engine.value("select worker.expire_deadlines()") == 0


def test_attempt_that_timed_out_is_tried_again_where_declared(engine: Engine) -> None:
    hand = python_work(engine, timeout="1 minute", max_attempts=2)
    task = engine.enqueue()
    claim = hand.claim_one()
    advance_clock(engine, "2 minutes")
    engine.value("select worker.expire_deadlines()")
    assert hand.fail(claim) == "pending"
    # A Python worker keeps the time itself, so it says itself why the attempt failed.
    assert attempts(engine, task)[0]["error"]["kind"] == "error"
    engine.check()


def test_attempt_that_completes_past_its_deadline_has_completed(engine: Engine) -> None:
    hand = python_work(engine, timeout="1 minute")
    task = engine.enqueue()
    claim = hand.claim_one()
    advance_clock(engine, "2 minutes")
    engine.value("select worker.expire_deadlines()")
    assert hand.complete(claim) == "completed"
    assert engine.task(task)["error"] is None
    engine.check()


def test_every_attempt_has_the_whole_time(engine: Engine) -> None:
    hand = python_work(engine, timeout="1 minute", max_attempts=2, retry_delay="0", retry_jitter=0)
    engine.enqueue()
    hand.fail(hand.claim_one())
    advance_clock(engine, "50 seconds")
    hand.claim_one()
    advance_clock(engine, "50 seconds")
    assert engine.value("select worker.expire_deadlines()") == 0


def test_task_without_a_timeout_has_no_deadline(engine: Engine) -> None:
    hand = python_work(engine)
    task = engine.enqueue()
    hand.claim_one()
    advance_clock(engine, "1 year")
    assert engine.value("select worker.expire_deadlines()") == 0
    assert engine.task(task)["due_at"] is None

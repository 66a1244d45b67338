"""Recurring tasks: a due schedule enqueues one task and moves on in the same step, whatever became of the last."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime

import pytest
from psycopg import Connection

from tests.fixtures.engine import Engine
from tests.sql.support import advance_clock, refused, stop_clock

Connect = Callable[..., Connection]


@pytest.fixture
def hourly(engine: Engine) -> Engine:
    """Schedule ``hourly`` runs command ``act``; its first time has been set and has come."""
    stop_clock(engine)
    engine.conn.execute("delete from worker.schedule")
    engine.conn.execute(
        """insert into worker.schedule (name, command, payload, every)
           values ('hourly', 'act', '{"note": "tick"}', '1 hour')"""
    )
    assert _fire(engine) is None
    advance_clock(engine, "1 hour")
    return engine


def _due(engine: Engine) -> list[str]:
    return [row[0] for row in engine.conn.execute("select name from worker.due_schedules()")]


def _fire(engine: Engine, name: str = "hourly") -> int | None:
    return engine.value("select worker.fire_schedule(%s, worker.now() + interval '1 hour')", name)


def test_new_schedule_only_gets_its_first_time(engine: Engine) -> None:
    stop_clock(engine)
    engine.conn.execute("delete from worker.schedule")
    engine.conn.execute("insert into worker.schedule (name, command, every) values ('hourly', 'act', '1 hour')")
    assert _due(engine) == ["hourly"]
    assert _fire(engine) is None
    assert engine.states() == {}
    assert _due(engine) == []


def test_due_schedule_enqueues_its_task_and_moves_on(hourly: Engine) -> None:
    assert _due(hourly) == ["hourly"]
    task = _fire(hourly)
    assert task is not None
    assert hourly.task(task)["payload"] == {"note": "tick"}
    assert _due(hourly) == []
    now: datetime = hourly.value("select worker.now()")
    assert hourly.value("select last_at from worker.schedule") == now
    assert hourly.value("select next_at > worker.now() from worker.schedule")


def test_schedule_that_is_not_due_does_not_fire(hourly: Engine) -> None:
    assert _fire(hourly) is not None
    assert _fire(hourly) is None
    assert len(hourly.states()) == 1


@pytest.mark.parametrize("fate", ["failed", "pending", "cancelled"])
def test_schedule_fires_again_whatever_became_of_the_last_run(hourly: Engine, fate: str) -> None:
    if fate == "failed":
        hourly.conn.execute("""update worker.schedule set payload = '{"fail": "no"}'""")
    first = _fire(hourly)
    assert first is not None
    if fate == "failed":
        hourly.process()
    elif fate == "cancelled":
        hourly.value("select worker.cancel(%s)", first)
    assert hourly.state(first) == fate
    advance_clock(hourly, "1 hour")
    second = _fire(hourly)
    assert second not in (None, first)


def test_missed_times_are_made_up_for_by_one_run(hourly: Engine) -> None:
    advance_clock(hourly, "10 hours")
    assert _fire(hourly) is not None
    assert _due(hourly) == []


def test_disabled_schedule_does_not_fire(hourly: Engine) -> None:
    hourly.conn.execute("update worker.schedule set enabled = false")
    assert _due(hourly) == []
    assert _fire(hourly) is None


def test_unknown_schedule_does_not_fire(engine: Engine) -> None:
    assert _fire(engine, "nowhere") is None


def test_of_two_workers_one_fires(committed: Engine, connect: Connect) -> None:
    committed.conn.execute("delete from worker.schedule")
    committed.conn.execute(
        "insert into worker.schedule (name, command, every, next_at)"
        " values ('hourly', 'act', '1 hour', now() - interval '1 minute')"
    )
    other = Engine(connect())
    other.conn.execute("set lock_timeout = '300ms'")
    with committed.conn.transaction():
        assert _fire(committed) is not None
        assert _fire(other) is None
    assert _fire(other) is None
    assert len(committed.states()) == 1


def test_schedule_and_its_task_are_written_together(committed: Engine) -> None:
    committed.conn.execute("delete from worker.schedule")
    committed.conn.execute(
        "insert into worker.schedule (name, command, every, next_at)"
        " values ('hourly', 'act', '1 hour', now() - interval '1 minute')"
    )
    with committed.conn.transaction(force_rollback=True):
        assert _fire(committed) is not None
    assert _due(committed) == ["hourly"]
    assert committed.states() == {}


def test_schedule_has_one_rhythm(engine: Engine) -> None:
    for columns, values in (
        ("every, cron", "'1 hour', '* * * * *'"),
        ("enabled", "true"),
        ("every", "'10 milliseconds'"),
        ("every, payload", "'1 hour', '[]'"),
    ):
        with refused(engine, "23514"):
            engine.conn.execute(f"insert into worker.schedule (name, command, {columns}) values ('x', 'act', {values})")
    with refused(engine, "23503"):
        engine.conn.execute("insert into worker.schedule (name, command, every) values ('x', 'nowhere', '1 hour')")


def test_cleanup_is_scheduled_from_the_start(engine: Engine) -> None:
    assert engine.value("select command from worker.schedule where every = '1 day'") == "task_cleanup"

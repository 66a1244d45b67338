"""Run, pause and resume a schedule by hand."""

from __future__ import annotations

import psycopg
import pytest

from tests.fixtures.engine import Engine
from tests.sql.support import advance_clock, stop_clock

NOW = "2030-01-01 12:00:00+00"


@pytest.fixture
def hourly(engine: Engine) -> Engine:
    stop_clock(engine, NOW)
    engine.conn.execute("insert into worker.schedule (name, command, cron) values ('hourly', 'act', '30 * * * *')")
    engine.conn.execute("delete from worker.schedule where name <> 'hourly'")
    engine.value("select worker.fire_schedules()")
    return engine


def _next(engine: Engine) -> str:
    return engine.value("select to_char(next_at at time zone 'UTC', 'HH24:MI') from worker.schedule")


def test_a_run_by_hand_leaves_the_next_time_and_is_in_the_history(hourly: Engine) -> None:
    first = hourly.value("select worker.run_schedule('hourly')")
    assert (hourly.task(first)["command"], _next(hourly)) == ("act", "12:30")
    advance_clock(hourly, "31 minutes")
    hourly.value("select worker.fire_schedules()")
    second = hourly.value("select last_task_id from worker.schedule")
    assert hourly.value("select recent_ids from worker.schedule") == [second, first]
    more = [hourly.value("select worker.run_schedule('hourly')") for _ in range(12)]
    assert hourly.value("select recent_ids from worker.schedule") == more[:-11:-1]


def test_a_paused_schedule_does_not_fire_and_makes_up_for_nothing(hourly: Engine) -> None:
    hourly.value("select worker.pause_schedule('hourly')")
    advance_clock(hourly, "5 hours")
    assert hourly.value("select worker.fire_schedules()") == 0
    assert hourly.value("select worker.run_schedule('hourly')") is not None
    hourly.value("select worker.resume_schedule('hourly')")
    assert (hourly.value("select worker.fire_schedules()"), _next(hourly)) == (0, "17:30")
    # Twice is once.
    hourly.value("select worker.resume_schedule('hourly')")
    advance_clock(hourly, "31 minutes")
    assert hourly.value("select worker.fire_schedules()") == 1


@pytest.mark.parametrize("verb", ["run", "pause", "resume"])
def test_a_schedule_that_is_not_there_is_refused(engine: Engine, verb: str) -> None:
    with pytest.raises(psycopg.Error, match="schedule is 'nightly'") as caught, engine.conn.transaction():
        engine.value(f"select worker.{verb}_schedule('nightly')")
    assert caught.value.sqlstate == "CM018"

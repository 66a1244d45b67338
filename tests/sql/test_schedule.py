"""Recurring tasks: a due schedule enqueues one task and moves on in the same step, whatever became of the last."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta

import pytest
from psycopg import Connection

from tests.fixtures.engine import Engine
from tests.fixtures.often import some_rows
from tests.sql.support import advance_clock, hint, message, refused, stop_clock

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
    return engine.value("select worker.fire_schedule(%s)", name)


def test_new_schedule_only_gets_its_first_time(engine: Engine) -> None:
    stop_clock(engine)
    engine.conn.execute("delete from worker.schedule")
    engine.conn.execute("insert into worker.schedule (name, command, every) values ('hourly', 'act', '1 hour')")
    assert _due(engine) == ["hourly"]
    assert _fire(engine) is None
    assert engine.states() == {}
    assert _due(engine) == []
    assert engine.value("select last_at from worker.schedule") is None


def test_upkeep_names_only_schedules_that_fired(hourly: Engine) -> None:
    hourly.conn.execute("insert into worker.schedule (name, command, every) values ('new', 'act', '1 hour')")
    fired = hourly.value("select worker.keep_engine()")["fired"]
    assert [(each["schedule"], each["id"]) for each in fired] == [
        ("hourly", hourly.value("select last_task_id from worker.schedule where name = 'hourly'"))
    ]
    # The time of one that fired in what is the future now is forgotten, and nothing is said.
    advance_clock(hourly, "-5 hours")
    assert "fired" not in hourly.value("select worker.keep_engine()")


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
def test_schedule_fires_again_whatever_the_outcome_of_the_last_run(hourly: Engine, fate: str) -> None:
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


def test_schedule_counts_on_from_its_time_and_not_from_when_it_was_noticed(hourly: Engine) -> None:
    due = hourly.value("select next_at from worker.schedule")
    advance_clock(hourly, "3 hours 10 minutes")
    assert _fire(hourly) is not None
    assert hourly.value("select next_at from worker.schedule") == due + timedelta(hours=4)


@pytest.mark.parametrize("rhythm", ["every = '1 hour'", "every = null, cron = '0 * * * *'"], ids=["interval", "cron"])
def test_schedule_goes_on_when_the_clock_is_set_back(hourly: Engine, rhythm: str) -> None:
    assert _fire(hourly) is not None
    hourly.conn.execute(f"update worker.schedule set {rhythm}")
    _fire(hourly)
    advance_clock(hourly, "-5 hours")
    assert _due(hourly) == ["hourly"]
    assert _fire(hourly) is None
    assert _due(hourly) == []
    assert _waits(hourly) <= timedelta(hours=1)
    advance_clock(hourly, "1 hour")
    assert _fire(hourly) is not None
    # One that was to begin late still does.
    hourly.conn.execute("update worker.schedule set next_at = worker.now() + interval '5 hours'")
    advance_clock(hourly, "1 hour")
    assert _due(hourly) == []


def test_fired_schedule_names_its_task(hourly: Engine) -> None:
    task = _fire(hourly)
    assert hourly.value("select last_task_id from worker.schedule") == task


def _waits(engine: Engine) -> timedelta:
    return engine.value("select next_at - worker.now() from worker.schedule")


def test_new_interval_fires_after_one_interval_at_the_latest(hourly: Engine) -> None:
    hourly.conn.execute("update worker.schedule set every = '2 hours'")
    assert _fire(hourly) is not None  # what was due stays due
    assert _waits(hourly) == timedelta(hours=2)
    hourly.conn.execute("update worker.schedule set every = '1 minute'")
    assert _waits(hourly) == timedelta(minutes=1)
    hourly.conn.execute("update worker.schedule set every = '3 hours'")
    assert _waits(hourly) == timedelta(minutes=1)
    hourly.conn.execute("update worker.schedule set every = '1 hour', next_at = worker.now() + interval '5 hours'")
    assert _waits(hourly) == timedelta(hours=5)


def test_new_cron_expression_counts_from_now(hourly: Engine) -> None:
    hourly.conn.execute("update worker.schedule set every = null, cron = '@yearly'")
    assert _fire(hourly) is None
    hourly.conn.execute("update worker.schedule set cron = '@hourly'")
    assert _fire(hourly) is None
    assert _waits(hourly) == timedelta(hours=1)


@pytest.mark.parametrize(
    ("rhythm", "says"),
    some_rows(
        [
            ({"cron": "0 0 30 2 *"}, "'0 0 30 2 *' never fires"),
            ({"cron": "0 0 31 4,6,9-11/2 *"}, "never fires"),
            ({"cron": "61 * * * *"}, "its minute is '61', expected 0 to 59"),
            ({"cron": "* 24 * * *"}, "its hour is '24'"),
            ({"cron": "* * 0 * *"}, "its day of the month is '0'"),
            ({"cron": "* * * 13 *"}, "its month is '13', expected 1 to 12 or jan to dec"),
            ({"cron": "* * * * 8"}, "its day of the week is '8', expected 0 to 6 or sun to sat"),
            ({"cron": "* * * * moo"}, "its day of the week is 'moo'"),
            ({"cron": "*/0 * * * *"}, "its minute is '*/0'"),
            ({"cron": "1,,2 * * * *"}, "its minute is ''"),
            ({"cron": "-5 * * * *"}, "its minute is '-5'"),
            ({"cron": "whenever"}, "'whenever' has 1 fields, expected five"),
            ({"cron": ""}, "'' has 0 fields"),
            ({"cron": "* * * * * *"}, "has 6 fields"),
            ({"cron": "@reboot"}, "has 1 fields"),
            ({"cron": "0 0 * * *", "timezone": ""}, "time zone '' is unknown"),
            ({"cron": "0 0 * * *", "timezone": "Europe"}, "time zone 'Europe' is unknown"),
            ({"cron": "0 0 * * *", "timezone": "Europe/Olso"}, "time zone 'Europe/Olso' is unknown"),
            ({"cron": "0 0 * * *", "timezone": "XYZ+3"}, "time zone 'XYZ+3' is unknown"),
            ({"every": "1 hour", "timezone": "Mars/Olympus"}, "time zone 'Mars/Olympus' is unknown"),
            ({"every": "0"}, "expected one second to 100 years"),
            ({"every": "-1 hour"}, "expected one second to 100 years"),
            ({"every": "10 milliseconds"}, "expected one second to 100 years"),
            ({"every": "1 month -40 days"}, "expected one second to 100 years"),
            ({"every": "101 years"}, "expected one second to 100 years"),
            ({"every": "178000000 years"}, "expected one second to 100 years"),
            ({"every": "2147483647 days"}, "expected one second to 100 years"),
        ],
        one_in=3,
    ),
    ids=str,
)
def test_rhythm_that_could_never_work_is_refused_at_entry(engine: Engine, rhythm: dict[str, str], says: str) -> None:
    names = ", ".join(rhythm)
    marks = ", ".join(["%s"] * len(rhythm))
    with refused(engine, "CM016") as caught:
        engine.conn.execute(
            f"insert into worker.schedule (name, command, {names}) values ('x', 'act', {marks})", list(rhythm.values())
        )
    assert says in message(caught)
    assert hint(caught)
    engine.conn.execute("insert into worker.schedule (name, command, every) values ('x', 'act', '1 hour')")
    with refused(engine, "CM016"):
        sets = ", ".join(f"{name} = %s" for name in rhythm) + (", every = null" if "cron" in rhythm else "")
        engine.conn.execute(f"update worker.schedule set {sets} where name = 'x'", list(rhythm.values()))


def test_the_list_of_time_zones_is_read_once_for_each(engine: Engine) -> None:
    """It costs 25 ms: a worker with a thousand schedules could not declare them within its lease."""
    insert = "insert into worker.schedule (name, command, cron, timezone) values (%s, 'act', '0 6 * * *', 'XYZ+3')"
    with refused(engine, "CM016"):
        engine.conn.execute(insert, ["first"])
    engine.conn.execute("alter table worker.schedule disable trigger check_schedule")
    engine.conn.execute(insert, ["first"])
    engine.conn.execute("alter table worker.schedule enable trigger check_schedule")
    engine.conn.execute(insert, ["second"])


def test_interval_of_infinity_is_refused(engine: Engine) -> None:
    if engine.conn.info.server_version < 170000:
        pytest.skip("intervals are finite before PostgreSQL 17")
    with refused(engine, "CM016"):
        engine.conn.execute("insert into worker.schedule (name, command, every) values ('x', 'act', 'infinity')")


@pytest.mark.parametrize("every", ["1 month", "100 years", "90061.5 seconds", "1 day"])
@pytest.mark.parametrize("next_at", ["-infinity", "0044-03-15 BC", "2029-12-31 23:59:59.5"])
def test_next_time_of_any_interval_is_after_now_and_within_one_interval(
    engine: Engine, every: str, next_at: str
) -> None:
    stop_clock(engine)
    engine.conn.execute("delete from worker.schedule")
    engine.conn.execute("alter table worker.schedule disable trigger check_schedule")  # as a restore may put it there
    engine.conn.execute(
        "insert into worker.schedule (name, command, every, next_at) values ('x', 'act', %s, %s)", [every, next_at]
    )
    assert _fire(engine, "x") is not None
    assert engine.value(
        "select next_at > worker.now() and next_at <= worker.now() + extract(epoch from every) * interval '1 second'"
        " from worker.schedule"
    )


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
        ("every, payload", "'1 hour', '[]'"),
    ):
        with refused(engine, "23514"):
            engine.conn.execute(f"insert into worker.schedule (name, command, {columns}) values ('x', 'act', {values})")
    with refused(engine, "23503"):
        engine.conn.execute("insert into worker.schedule (name, command, every) values ('x', 'nowhere', '1 hour')")


def test_cleanup_is_scheduled_from_the_start(engine: Engine) -> None:
    assert engine.value("select command from worker.schedule where every = '1 day'") == "task_cleanup"

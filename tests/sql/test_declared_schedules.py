"""Schedules in the code of apps: workers declare them, several versions and apps do not disturb each other."""

from __future__ import annotations

import random
import threading
from datetime import datetime
from typing import Any

import pytest
from psycopg.types.json import Jsonb

from catchment.sql import ENGINE
from tests.fixtures.engine import Engine
from tests.fixtures.server import Connect
from tests.sql.support import advance_clock, hint, message, refused, stop_clock

OLD = {"name": "digest", "command": "act", "cron": "0 6 * * *", "timezone": "Europe/Oslo"}
NEW = {**OLD, "cron": "0 7 * * *"}
# By name, as the engine locks them.
ALL_DUE = """
update worker.schedule as s
   set next_at = now()
  from (select name from worker.schedule where is_declared order by name for update) as d
 where d.name = s.name
"""


@pytest.fixture
def fleet(engine: Engine) -> Engine:
    stop_clock(engine, "2030-01-01 12:00Z")
    engine.conn.execute("delete from worker.schedule")
    engine.command("send", handler_kind="python", handler_procedure="shop.mail:send")
    return engine


def _start(engine: Engine, *schedules: dict[str, Any]) -> int:
    """A worker that has these schedules in its code; it lives until it ends."""
    worker = engine.value(
        "select worker_id from worker.register_worker('w', p_lease => '100 days', p_has_lock => false,"
        " p_python_queues => '{work}', p_python_commands => '{send}')"
    )
    _declare(engine, worker, *schedules)
    return worker


def _declare(engine: Engine, worker: int, *schedules: dict[str, Any]) -> None:
    engine.value("select worker.declare_schedules(%s, %s)", worker, Jsonb(schedules))


def _end(engine: Engine, worker: int) -> None:
    engine.value("select worker.unregister_worker(%s)", worker)


def _crons(engine: Engine) -> dict[str, str]:
    return dict(engine.conn.execute("select name, cron from worker.schedule order by name").fetchall())


def _upkeep(engine: Engine) -> int:
    """A round of upkeep and of chores; how many tasks schedules have made."""
    before = len(engine.states())
    engine.value("select worker.keep_engine()")
    engine.value("select worker.chores()")
    assert engine.value("select count(*) from worker.trouble") == 0
    return len(engine.states()) - before


def _next(engine: Engine) -> datetime:
    return engine.value("select next_at from worker.schedule where name = 'digest'")


def _doctor(engine: Engine) -> list[tuple[str, str]]:
    rows = engine.conn.execute(ENGINE.query("doctor")).fetchall()
    return [(level, finding) for level, subject, finding, _ in rows if subject == "schedule digest"]


def test_a_worker_that_starts_again_changes_nothing(fleet: Engine) -> None:
    first = _start(fleet, OLD)
    _upkeep(fleet)
    before = fleet.value("select to_jsonb(s) || jsonb_build_object('xmin', s.xmin::text) from worker.schedule as s")
    assert before["is_declared"]
    assert before["next_at"] is not None
    _declare(fleet, first, OLD)
    _end(fleet, first)
    _start(fleet, OLD)
    _start(fleet, OLD)
    _upkeep(fleet)
    after = fleet.value("select to_jsonb(s) || jsonb_build_object('xmin', s.xmin::text) from worker.schedule as s")
    assert after == before


def test_a_pause_survives_a_redeploy(fleet: Engine) -> None:
    old = _start(fleet, OLD)
    fleet.value("select worker.pause_schedule('digest')")
    _end(fleet, old)
    _start(fleet, NEW)
    assert _crons(fleet) == {"digest": "0 7 * * *"}
    assert fleet.value("select enabled from worker.schedule") is False
    advance_clock(fleet, "2 days")
    assert _upkeep(fleet) == 0
    assert _doctor(fleet) == [("info", "paused")]


def test_of_two_versions_the_new_one_counts_whichever_starts_last(fleet: Engine) -> None:
    old = _start(fleet, OLD)
    advance_clock(fleet, "1 minute")
    new = _start(fleet, NEW)
    assert _crons(fleet) == {"digest": "0 7 * * *"}
    # The old one crashes and starts again while the deploy continues.
    _end(fleet, old)
    advance_clock(fleet, "1 minute")
    old = _start(fleet, OLD)
    _upkeep(fleet)
    assert _crons(fleet) == {"digest": "0 7 * * *"}
    # A rollback: only the old one is left.
    _end(fleet, new)
    _upkeep(fleet)
    assert _crons(fleet) == {"digest": "0 6 * * *"}
    _end(fleet, old)


def test_what_left_the_code_fires_no_more_and_goes_after_a_week(fleet: Engine) -> None:
    old = _start(fleet, OLD)
    new = _start(fleet)
    _upkeep(fleet)
    advance_clock(fleet, "1 day")
    assert _upkeep(fleet) == 1  # an old worker still has it
    _end(fleet, old)
    advance_clock(fleet, "1 day")
    assert _upkeep(fleet) == 0
    assert fleet.value("select worker.upkeep_is_due()") is False
    assert _doctor(fleet)[0][0] == "info"
    assert "does not fire; it is deleted at 2030-01-09" in _doctor(fleet)[0][1]
    assert fleet.value("select is_declared and not is_in_code from worker.schedule_figures()")
    advance_clock(fleet, "5 days")
    _upkeep(fleet)
    assert _crons(fleet) == {"digest": "0 6 * * *"}
    advance_clock(fleet, "2 days")
    _upkeep(fleet)
    assert _crons(fleet) == {}
    assert fleet.value("select count(*) from worker.schedule_source") == 0
    _end(fleet, new)


def test_a_paused_one_that_left_the_code_is_kept(fleet: Engine) -> None:
    old = _start(fleet, OLD)
    fleet.value("select worker.pause_schedule('digest')")
    _end(fleet, old)
    _start(fleet)
    advance_clock(fleet, "30 days")
    _upkeep(fleet)
    assert _crons(fleet) == {"digest": "0 6 * * *"}
    _start(fleet, OLD)
    assert fleet.value("select enabled from worker.schedule") is False


def test_while_the_app_is_down_its_times_are_missed_ones(fleet: Engine) -> None:
    """Another app, which has live workers, neither fires nor loses them."""
    shop = _start(fleet, {**OLD, "missed": "all"})
    _start(fleet, {"name": "bill", "command": "act", "every": "1 day"})
    _upkeep(fleet)
    _end(fleet, shop)
    advance_clock(fleet, "3 days")
    assert _upkeep(fleet) == 1  # bill
    _start(fleet, {**OLD, "missed": "all"})
    assert _upkeep(fleet) == 3


def test_a_schedule_made_by_sql_is_not_taken_over(fleet: Engine) -> None:
    fleet.conn.execute("insert into worker.schedule (name, command, every) values ('digest', 'act', '1 hour')")
    worker = _start(fleet)
    with refused(fleet, "CM013") as caught:
        _declare(fleet, worker, OLD)
    assert "digest was made by SQL" in message(caught)
    assert "delete from worker.schedule where name = 'digest'" in hint(caught)


def test_what_the_server_cannot_fire_is_refused(fleet: Engine) -> None:
    worker = _start(fleet)
    with refused(fleet, "CM016") as caught:
        _declare(fleet, worker, {**OLD, "timezone": "Mars/Olympus"})
    assert "time zone 'Mars/Olympus' is unknown" in message(caught)


def test_a_change_by_sql_of_what_is_in_code_is_undone(fleet: Engine) -> None:
    _start(fleet, OLD)
    fleet.conn.execute("update worker.schedule set cron = '5 5 * * *'")
    _upkeep(fleet)
    assert _crons(fleet) == {"digest": "0 6 * * *"}


def test_a_new_payload_keeps_the_next_time_and_a_new_expression_counts_from_now(fleet: Engine) -> None:
    old = _start(fleet, OLD)
    _upkeep(fleet)
    before = _next(fleet)
    advance_clock(fleet, "1 minute")
    newer = _start(fleet, {**OLD, "payload": {"note": "x"}})
    assert (_next(fleet), fleet.value("select payload from worker.schedule")) == (before, {"note": "x"})
    _end(fleet, old)
    _end(fleet, newer)
    _start(fleet, {**OLD, "cron": "0 20 * * *"})
    _upkeep(fleet)
    assert _next(fleet) < before


def test_doctor_names_two_apps_with_one_name(fleet: Engine) -> None:
    _start(fleet, OLD)
    advance_clock(fleet, "1 minute")
    _start(fleet, {**OLD, "command": "send"})
    assert _doctor(fleet) == [
        ("warning", "live workers have it in their code for the commands act and send: it fires the one that was new"
         " last, send"),
    ]  # fmt: skip


def test_doctor_names_schedules_whose_command_no_worker_has(fleet: Engine) -> None:
    fleet.conn.execute("insert into worker.schedule (name, command, every) values ('digest', 'send', '1 hour')")
    assert _doctor(fleet) == [("warning", "no live worker has its command send: its tasks wait")]
    worker = _start(fleet)
    assert _doctor(fleet) == []
    _end(fleet, worker)


@pytest.mark.parametrize(
    ("columns", "says"),
    [
        ({"cron": "0 0 30 2 *", "every": None}, "cannot fire: cron expression '0 0 30 2 *' never fires"),
        ({"cron": "0 6 * * *", "every": None, "timezone": "Europe/Olso"}, 'time zone "Europe/Olso" not recognized'),
        ({"every": "200 years"}, "every is 200 years"),
    ],
    ids=["never", "zone", "interval"],
)
def test_doctor_and_the_list_know_broken_ones(fleet: Engine, columns: dict[str, Any], says: str) -> None:
    fleet.conn.execute("insert into worker.schedule (name, command, every) values ('digest', 'act', '1 hour')")
    fleet.conn.execute("alter table worker.schedule disable trigger check_schedule")  # as a restore may put it there
    sets = ", ".join(f"{name} = %s" for name in columns)
    fleet.conn.execute(f"update worker.schedule set {sets}, next_at = null", list(columns.values()))
    ((level, finding),) = _doctor(fleet)
    assert level == "error"
    assert says in finding
    assert says.removeprefix("cannot fire: ") in fleet.value("select problem from worker.schedule_figures()")


def test_workers_that_start_at_once_do_not_disturb_each_other(committed: Engine, connect: Connect) -> None:
    """Each declares its schedules in another order, while others do and while schedules fire."""
    schedules = [{"name": f"s{n}", "command": "act", "every": "1 second"} for n in range(8)]
    problems: list[BaseException] = []

    def start(seed: int) -> None:
        engine, draw = Engine(connect()), random.Random(seed)
        try:
            for _ in range(15):
                worker = _start(engine, *draw.sample(schedules, 6))
                engine.conn.execute(ALL_DUE)
                engine.value("select worker.fire_schedules()")
                engine.value("select worker.adopt_schedules()")
                _end(engine, worker)
        except BaseException as error:  # shown by the test
            problems.append(error)

    threads = [threading.Thread(target=start, args=[seed]) for seed in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120)
    assert problems == []
    assert len(_crons(committed)) == 9
    assert committed.value("select max(cardinality(worker_ids)) from worker.schedule_source") <= 5

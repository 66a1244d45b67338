"""What becomes of times that were missed, and of times that come while a run is not settled."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from tests.fixtures.engine import Engine
from tests.fixtures.often import some, some_rows
from tests.sql.support import advance_clock, refused, stop_clock

# The server is down from 12:30 to 15:30. Its run of 12:00 is settled by then, or not. By policy: what becomes of the
# times of 13, 14 and 15 o'clock, and the states of all runs.
DOWN = [
    ("one", "allow", "settled", ["15 made from 13"], ["completed", "pending"]),
    ("one", "allow", "open", ["15 made from 13"], ["pending", "pending"]),
    ("one", "skip", "settled", ["15 made from 13"], ["completed", "pending"]),
    ("one", "skip", "open", ["15 overlap from 13"], ["pending"]),
    ("one", "wait", "settled", ["15 made from 13"], ["completed", "pending"]),
    ("one", "wait", "open", [], ["pending"]),
    ("one", "cancel", "settled", ["15 made from 13"], ["completed", "pending"]),
    ("one", "cancel", "open", ["15 made from 13"], ["cancelled", "pending"]),
    ("all", "allow", "settled", ["13 made", "14 made", "15 made"], ["completed", "pending", "pending", "pending"]),
    ("all", "allow", "open", ["13 made", "14 made", "15 made"], ["pending", "pending", "pending", "pending"]),
    ("all", "skip", "settled", ["13 made", "14 overlap", "15 overlap"], ["completed", "pending"]),
    ("all", "skip", "open", ["13 overlap", "14 overlap", "15 overlap"], ["pending"]),
    ("all", "wait", "settled", ["13 made"], ["completed", "pending"]),
    ("all", "wait", "open", [], ["pending"]),
    ("all", "cancel", "settled", ["13 made", "14 made", "15 made"], ["completed", "cancelled", "cancelled", "pending"]),
    ("all", "cancel", "open", ["13 made", "14 made", "15 made"], ["cancelled", "cancelled", "cancelled", "pending"]),
    ("skip", "allow", "settled", ["15 missed from 13"], ["completed"]),
    ("skip", "allow", "open", ["15 missed from 13"], ["pending"]),
    ("skip", "skip", "settled", ["15 missed from 13"], ["completed"]),
    ("skip", "skip", "open", ["15 missed from 13"], ["pending"]),
    ("skip", "wait", "settled", ["15 missed from 13"], ["completed"]),
    ("skip", "wait", "open", [], ["pending"]),
    ("skip", "cancel", "settled", ["15 missed from 13"], ["completed"]),
    ("skip", "cancel", "open", ["15 missed from 13"], ["pending"]),
]


def _hourly(engine: Engine, **columns: object) -> None:
    """A schedule of every full hour that has made its run of 12:00."""
    stop_clock(engine, "2030-01-01 11:30Z")
    engine.conn.execute("delete from worker.schedule")
    row = {"name": "hourly", "command": "act", "cron": "0 * * * *", "timezone": "Europe/Oslo", **columns}
    engine.conn.execute(
        f"insert into worker.schedule ({', '.join(row)}) values ({', '.join(['%s'] * len(row))})", list(row.values())
    )
    _fire(engine)
    stop_clock(engine, "2030-01-01 12:00:01Z")
    assert _fire(engine) == 1


def _fire(engine: Engine) -> int:
    return engine.value("select worker.fire_schedules()")


def _hour(moment: datetime) -> str:
    return f"{moment.astimezone(UTC):%-H}"


def _history(engine: Engine) -> list[str]:
    """All but the run of 12:00, the oldest first."""
    rows = engine.conn.execute("select due_at, fate, missed_from from worker.schedule_run order by n").fetchall()
    return [f"{_hour(due)} {fate}" + (f" from {_hour(since)}" if since else "") for due, fate, since in rows][1:]


def _states(engine: Engine) -> list[str]:
    return list(engine.states().values())


@pytest.mark.parametrize(("missed", "overlap", "last", "history", "states"), some_rows(DOWN, one_in=3))
def test_three_hours_without_a_server(
    engine: Engine, missed: str, overlap: str, last: str, history: list[str], states: list[str]
) -> None:
    _hourly(engine, missed=missed, overlap=overlap)
    if last == "settled":
        engine.process()
    stop_clock(engine, "2030-01-01 15:30Z")
    _fire(engine)
    assert (_history(engine), _states(engine)) == (history, states)
    if overlap != "wait":
        assert _hour(engine.value("select next_at from worker.schedule")) == "16"
        stop_clock(engine, "2030-01-01 16:00:30Z")
        _fire(engine)
        assert _history(engine)[len(history) :] == [
            "16 overlap" if overlap == "skip" and "pending" in states else "16 made"
        ]
    # Whatever it is, nothing is decided twice.
    before = _history(engine)
    _fire(engine)
    assert _history(engine) == before


@pytest.mark.parametrize(
    ("missed", "history"),
    [
        ("one", ["15 made from 13", "16 made"]),
        ("all", ["13 made", "14 made", "15 made", "16 made"]),
        ("skip", ["15 made from 13", "16 made"]),  # it could not be made sooner
    ],
)
def test_a_time_that_waits_is_made_when_the_run_before_it_has_settled(
    engine: Engine, missed: str, history: list[str]
) -> None:
    _hourly(engine, missed=missed, overlap="wait")
    stop_clock(engine, "2030-01-01 15:30Z")
    assert _fire(engine) == 0
    assert engine.value("select worker.upkeep_is_due()") is False
    engine.process()
    for expected in history[:-1]:
        assert _fire(engine) == 1
        assert _history(engine)[-1] == expected
        assert _fire(engine) == 0
        engine.process()
    assert _fire(engine) == 0
    stop_clock(engine, "2030-01-01 16:00:30Z")
    assert _fire(engine) == 1
    assert _history(engine) == history


@pytest.mark.parametrize("late", ["59 seconds", "61 seconds"])
def test_a_time_is_missed_after_a_minute(engine: Engine, late: str) -> None:
    _hourly(engine, missed="skip")
    stop_clock(engine, "2030-01-01 13:00Z")
    advance_clock(engine, late)
    assert _fire(engine) == (late == "59 seconds")
    assert _history(engine) == ["13 made" if late == "59 seconds" else "13 missed"]


def test_all_missed_times_of_seven_days_are_made_a_hundred_at_a_time(engine: Engine) -> None:
    _hourly(engine, missed="all")
    advance_clock(engine, "30 days")
    rounds = []
    while engine.value("select count(*) from worker.due_schedules()"):
        before = len(_history(engine))
        _fire(engine)
        rounds.append(len(_history(engine)) - before)
    assert rounds == [100, 68]
    # The one that is further away than that is made all the same.
    _hourly(engine, missed="all", cron="0 12 1 1 *", timezone="UTC")
    advance_clock(engine, "375 days")
    assert (_fire(engine), _history(engine)) == (1, ["12 made"])


@pytest.mark.parametrize("every", some(["1 second", "90 seconds", "1 day"], one_in=2))
@pytest.mark.parametrize(("missed", "made"), [("one", 1), ("skip", None), ("all", None)])
def test_intervals_have_the_same_policies(engine: Engine, every: str, missed: str, made: int | None) -> None:
    stop_clock(engine, "2030-01-01 12:00Z")
    engine.conn.execute("delete from worker.schedule")
    engine.conn.execute(
        "insert into worker.schedule (name, command, every, missed) values ('x', 'act', %s, %s)", [every, missed]
    )
    _fire(engine)
    stop_clock(engine, "2030-01-02 12:01:15Z")
    _fire(engine)
    seconds = {"1 second": 1, "90 seconds": 90, "1 day": 86400}[every]
    due = 86475 // seconds
    late = 86475 % seconds
    assert len(engine.states()) == {"one": 1, "skip": int(late <= 60), "all": min(due, 100)}[missed]
    assert made is None or len(engine.states()) == made


def test_a_run_gets_the_time_it_is_for_its_lane_and_its_priority(engine: Engine) -> None:
    _hourly(engine, missed="all", due_key="at", lane="reports", priority=7, payload='{"at": "never", "note": "x"}')
    stop_clock(engine, "2030-01-01 14:20Z")
    _fire(engine)
    rows = engine.conn.execute(
        "select payload ->> 'at', payload ->> 'note', lane, priority from worker.tasks order by id"
    )
    assert rows.fetchall() == [(f"2030-01-01T{hour}:00:00.000000Z", "x", "reports", 7) for hour in (12, 13, 14)]
    by_hand = engine.value("select worker.run_schedule('hourly')")
    assert engine.task(by_hand)["payload"]["at"] == "2030-01-01T14:20:00.000000Z"
    assert _history(engine)[-1] == "14 by_hand"


def test_a_run_by_hand_counts_as_the_run_before(engine: Engine) -> None:
    _hourly(engine, overlap="skip")
    engine.process()
    stop_clock(engine, "2030-01-01 12:30Z")
    engine.value("select worker.run_schedule('hourly')")
    stop_clock(engine, "2030-01-01 13:00:01Z")
    assert (_fire(engine), _history(engine)[-1]) == (0, "13 overlap")
    engine.process()
    stop_clock(engine, "2030-01-01 14:00:01Z")
    assert _fire(engine) == 1


def test_history_keeps_the_last_thousand_times(engine: Engine) -> None:
    _hourly(engine)
    engine.conn.execute("update worker.schedule set runs = 5000")
    engine.conn.execute(
        "insert into worker.schedule_run (schedule, n, due_at, at, fate)"
        " select 'hourly', n, worker.now(), worker.now(), 'missed' from generate_series(4001, 5000) as n"
    )
    engine.value("select worker.run_schedule('hourly')")
    ends = engine.conn.execute("select min(n), max(n), count(*) from worker.schedule_run").fetchone()
    assert ends == (4002, 5001, 1000)
    newest = engine.conn.execute("select n, outcome, state from worker.schedule_history('hourly', 2)").fetchall()
    assert newest == [(5001, "by_hand", "pending"), (5000, "missed", None)]
    with refused(engine, "CM018") as caught:
        engine.value("select worker.schedule_history('hourli')")
    assert "Did you mean hourly?" in (caught.value.diag.message_hint or "")


@pytest.mark.parametrize(
    "columns", [{"missed": "never"}, {"overlap": "maybe"}, {"due_key": ""}, {"lane": ""}, {"name": ""}], ids=str
)
def test_policies_that_there_are_not_are_refused_by_the_table(engine: Engine, columns: dict[str, str]) -> None:
    with refused(engine, "23514"):
        _hourly(engine, **columns)


@pytest.mark.parametrize(
    "cron",
    some(
        [
            "0 0 29 2 */7",  # every forty years at times
            "0 0 31 */11 *",
            ",".join(["*"] * 200) + " * * * *",
            "0-59/1 0-23/1 1-31/1 1-12/1 0-7/1",
        ],
        one_in=2,
    ),
    ids=range(4),
)
def test_strange_expressions_cost_next_to_nothing(engine: Engine, cron: str) -> None:
    engine.conn.execute("set local statement_timeout = '10s'")
    engine.value(
        "select count(worker.next_cron(%s, 'Europe/Oslo', timestamptz '2030-01-01' + n * interval '1 day'))"
        " from generate_series(1, 20) as n",
        cron,
    )
    # However long nobody has looked.
    assert engine.value(
        "select worker.last_time(null, %s, 'Europe/Oslo', '1950-01-01', '2030-01-01') >= '1980-01-01'", cron
    )


def test_an_expression_without_end_is_refused(engine: Engine) -> None:
    with refused(engine, "CM016") as caught:
        engine.value("select worker.next_cron(%s, 'UTC', now())", ",".join(["1"] * 1_000_000) + " * * * *")
    assert "expected at most 500" in (caught.value.diag.message_primary or "")

"""When a table's turn comes, and when it does not."""

from __future__ import annotations

from datetime import timedelta

import psycopg
import pytest

from catchment.errors import TableRefused
from tests.fixtures.lake_case import LakeCase
from tests.lake.schedule.support import MINUTE, START, add, at, snapshots, states, tasks, tick, work

PERIODS = [
    ("1 second", 0, 1),
    ("3 seconds", 0, 1),
    ("4 seconds", 0, 2),
    ("1 minute", 0, 16),
    ("64 seconds", 0, 32),
    ("1 hour", 0, 1024),
    # What is left of the lag after a refresh that takes most of it.
    ("1 minute", 50_000, 8),
    ("1 minute", 90_000, 1),
]


def test_periods_are_powers_of_two_within_half_of_the_lag(lake_case: LakeCase) -> None:
    for lag, chain_ms, seconds in PERIODS:
        assert lake_case.pg("select lake.period(%s::interval, %s)", lag, chain_ms) == [(seconds,)], (lag, chain_ms)


def test_a_table_is_tried_once_in_each_of_its_turns(lake_case: LakeCase) -> None:
    lake_case.make("s", "k BIGINT, n BIGINT", [(1, 1)])
    add(lake_case, "d", "s")
    assert tick(lake_case)["due"] == 1
    assert work(lake_case) == ["d"]
    for seconds, due in ((1, 0), (15, 0), (16, 1), (17, 0), (31.5, 0), (32, 1)):
        assert tick(lake_case, seconds)["due"] == due, seconds


@pytest.mark.long
def test_missed_turns_are_not_made_up_for(lake_case: LakeCase) -> None:
    lake_case.make("s", "k BIGINT, n BIGINT", [(1, 1)])
    add(lake_case, "d", "s")
    tick(lake_case)
    work(lake_case)
    assert tick(lake_case, 1000)["due"] == 1
    assert tick(lake_case, 1001)["due"] == 0
    assert lake_case.pg("select count(*) from lake.round") == [(2,)]


def test_a_turn_is_skipped_while_the_last_one_still_runs(lake_case: LakeCase) -> None:
    lake_case.make("s", "k BIGINT, n BIGINT", [(1, 1)])
    add(lake_case, "d", "s")
    tick(lake_case)
    lake_case.add("s", [(2, 2)])
    assert tick(lake_case, 16)["due"] == 0
    assert tick(lake_case, 48)["due"] == 0
    assert tasks(lake_case) == 1
    work(lake_case)
    assert tick(lake_case, 49)["due"] == 1


def test_connected_tables_wait_for_each_other_and_others_do_not(lake_case: LakeCase) -> None:
    lake_case.make("s", "k BIGINT, n BIGINT", [(1, 1)])
    add(lake_case, "a", "s")
    add(lake_case, "b", "a")
    add(lake_case, "alone", "s")
    tick(lake_case)
    refresh_id, fence = _begin(lake_case, "alone")
    lake_case.control.fail_refresh(refresh_id, fence, "QUERY", "no")
    # a runs still: b is due with it, alone is due by itself.
    assert tick(lake_case, 16)["due"] == 1
    ((names,),) = lake_case.pg(
        "select array_agg(d.name) from lake.refresh as r join lake.dt as d on d.id = r.dt_id"
        " where r.round_id = (select max(id) from lake.round)"
    )
    assert names == ["alone"]


def _begin(case: LakeCase, name: str) -> tuple[int, int]:
    ((refresh_id,),) = case.pg(
        "select r.id from lake.refresh as r join lake.dt as d on d.id = r.dt_id"
        " where d.name = %s and r.task_id is not null",
        name,
    )
    order = case.control.begin_refresh(refresh_id, case.next_fence(), MINUTE)
    return refresh_id, order.fence


@pytest.mark.long
def test_a_disabled_scheduler_and_downstream_without_readers_are_left_to_people(lake_case: LakeCase) -> None:
    lake_case.make("s", "k BIGINT, n BIGINT", [(1, 1)])
    manual = add(lake_case, "manual", "s", scheduler=False)
    add(lake_case, "unread", "s", lag=None)
    assert tick(lake_case)["due"] == 0
    assert snapshots(lake_case) == {"manual": None, "unread": None}
    lake_case.control.request_round([manual.dt_id])
    assert work(lake_case) == ["manual"]


def test_a_failed_table_is_tried_again_in_its_next_turn(lake_case: LakeCase) -> None:
    lake_case.make("s", "k BIGINT, n BIGINT", [(1, 1)])
    add(lake_case, "d", "s")
    tick(lake_case)
    work(lake_case, fail=["d"])
    assert states(lake_case) == {"d": "FAILED"}
    assert tick(lake_case, 15)["due"] == 0
    assert tick(lake_case, 16)["due"] == 1
    work(lake_case)
    assert states(lake_case) == {"d": "SUCCEEDED"}


def test_the_tick_is_a_task_that_comes_as_often_as_the_smallest_lag_asks(lake_case: LakeCase) -> None:
    schedule = "select every, enabled from worker.schedule where name = 'lake_tick'"
    assert lake_case.pg(schedule) == [(MINUTE, False)]
    lake_case.make("s", "k BIGINT, n BIGINT", [(1, 1)])
    add(lake_case, "slow", "s", lag=timedelta(hours=3))
    assert lake_case.pg(schedule) == [(MINUTE, True)]
    quick = add(lake_case, "quick", "s", lag=timedelta(seconds=20))
    assert lake_case.pg(schedule) == [(timedelta(seconds=5), True)]
    lake_case.control.request_round([quick.dt_id])
    assert lake_case.pg(schedule) == [(timedelta(seconds=1), True)]
    work(lake_case)
    tick(lake_case)
    lake_case.pg("select worker.enqueue('lake_tick')")
    lake_case.pg("call worker.drain('lake_schedule')")
    assert lake_case.pg("select state, info ? 'due' from worker.tasks where command = 'lake_tick'") == [
        ("completed", True)
    ]


def test_two_ticks_at_once_are_one(lake_case: LakeCase) -> None:
    lake_case.make("s", "k BIGINT, n BIGINT", [(1, 1)])
    add(lake_case, "d", "s")
    with lake_case.control.connection() as conn, conn.transaction():
        conn.execute("select lake.tick()")
        assert tick(lake_case) == {"busy": 1}
    assert lake_case.pg("select count(*) from lake.round") == [(1,)]


def test_a_lake_that_is_not_written_stays_fresh(lake_case: LakeCase) -> None:
    lake_case.make("s", "k BIGINT, n BIGINT", [(1, 1)])
    add(lake_case, "d", "s")
    tick(lake_case)
    work(lake_case, [])
    tick(lake_case, 160)
    assert at(lake_case, START, "select data_at from lake.frontier") == START + timedelta(seconds=160)


@pytest.mark.long
def test_a_table_that_depends_on_the_time_is_computed_in_an_idle_lake_too(lake_case: LakeCase) -> None:
    lake_case.make("s", "k BIGINT, n BIGINT", [(1, 1)])
    add(lake_case, "clock", "s", is_always_due=True)
    add(lake_case, "below", "clock")
    tick(lake_case)
    work(lake_case, [])
    before = snapshots(lake_case)
    tick(lake_case, 16)
    # Nothing was written since, and still it is a task; what it then writes is seen below, at the same data snapshot.
    assert work(lake_case) == ["clock", "below"]
    assert snapshots(lake_case) == before
    assert lake_case.pg("select distinct state from lake.refresh") == [("SUCCEEDED",)]


def test_nothing_to_refresh_is_refused(lake_case: LakeCase) -> None:
    with pytest.raises(TableRefused, match="none of the tables"):
        lake_case.control.request_round([4711])


def test_a_session_with_advisory_locks_of_the_same_names_stops_neither_ticks_nor_rounds(lake_case: LakeCase) -> None:
    lake_case.make("s", "k BIGINT, n BIGINT", [(1, 1)])
    table = add(lake_case, "d", "s")
    with psycopg.connect(lake_case.dsn, autocommit=True) as stranger:
        for name in ("lake.tick", "lake.round"):
            stranger.execute("select pg_advisory_lock(hashtextextended(%s, 0))", [name])
        assert tick(lake_case)["due"] == 1
        work(lake_case)
        with psycopg.connect(lake_case.dsn, options="-c lock_timeout=5s") as conn:
            conn.execute("select lake.request_round(%s)", [[table.dt_id]])
    assert lake_case.pg("select count(*) from lake.round") == [(2,)]


@pytest.mark.long
def test_a_table_whose_first_refresh_failed_has_its_turns_and_no_more(lake_case: LakeCase) -> None:
    """A failed first refresh ends the turn of the table, whether the schedule or a person asked for it."""
    lake_case.make("s", "k BIGINT, n BIGINT", [(1, 1)])
    table = add(lake_case, "d", "s", lag=timedelta(hours=1))
    at(lake_case, START, "select lake.request_round(array[%s], 'create')", table.dt_id)
    work(lake_case, fail=["d"])
    # A turn is 1024 s long for this lag.
    due: list[int] = []
    for seconds in range(0, 1200, 60):
        due.append(tick(lake_case, seconds)["due"])
        work(lake_case, fail=["d"])
    assert 1 <= sum(due) <= 3

"""How old data may be, and how old they were."""

from __future__ import annotations

from datetime import datetime, timedelta

import pytest

from tests.fixtures.lake_case import LakeCase
from tests.lake.schedule.support import MINUTE, START, add, at, snapshots, states, tick, work


def _lags(case: LakeCase) -> dict[str, timedelta | None]:
    return dict(case.pg("select d.name, e.lag from lake.dt as d join lake.effective_lag as e on e.dt_id = d.id"))


def test_downstream_is_the_smallest_lag_of_those_who_read_it(lake_case: LakeCase) -> None:
    lake_case.make("s", "k BIGINT, n BIGINT", [(1, 1)])
    add(lake_case, "a", "s", lag=None)
    assert _lags(lake_case) == {"a": None}
    add(lake_case, "b", "a", lag=None)
    add(lake_case, "c", "b", lag=timedelta(hours=1))
    add(lake_case, "d", "b", lag=timedelta(minutes=10))
    # e has a lag of its own; what reads e does not reach through it.
    add(lake_case, "e", "b", lag=timedelta(hours=2))
    add(lake_case, "f", "e", lag=timedelta(minutes=1))
    ten = timedelta(minutes=10)
    assert _lags(lake_case) == {
        "a": ten,
        "b": ten,
        "c": timedelta(hours=1),
        "d": ten,
        "e": timedelta(hours=2),
        "f": MINUTE,
    }


@pytest.mark.long
def test_readers_that_are_not_refreshed_by_themselves_ask_for_nothing(lake_case: LakeCase) -> None:
    lake_case.make("s", "k BIGINT, n BIGINT", [(1, 1)])
    add(lake_case, "a", "s", lag=None)
    quick = add(lake_case, "quick", "a", lag=MINUTE)
    add(lake_case, "manual", "a", lag=timedelta(seconds=1), scheduler=False)
    assert _lags(lake_case)["a"] == MINUTE
    lake_case.control.suspend(quick.dt_id)
    assert _lags(lake_case)["a"] is None


def test_a_table_with_a_lag_brings_what_it_reads_up_to_date(lake_case: LakeCase) -> None:
    lake_case.make("s", "k BIGINT, n BIGINT", [(1, 1)])
    add(lake_case, "a", "s", lag=None)
    add(lake_case, "b", "a", lag=MINUTE)
    tick(lake_case)
    assert work(lake_case) == ["a", "b"]
    # A reader with a small lag takes a table with a large one along.
    add(lake_case, "slow", "s", lag=timedelta(days=1))
    add(lake_case, "quick", "slow", lag=MINUTE)
    tick(lake_case, 16)
    work(lake_case)
    head = lake_case.add("s", [(2, 2)])
    tick(lake_case, 32)
    assert sorted(work(lake_case)) == ["a", "b", "quick", "slow"]
    assert set(snapshots(lake_case).values()) == {head}


def test_lag_counts_from_the_data_and_not_from_the_end_of_the_refresh(lake_case: LakeCase) -> None:
    lake_case.make("s", "k BIGINT, n BIGINT", [(1, 1)])
    add(lake_case, "d", "s")
    tick(lake_case)
    lake_case.add("s", [(2, 2)])
    work(lake_case)
    # It finished just now, but holds what was there when the round began.
    assert at(lake_case, START + MINUTE, "select lag from lake.tables") == MINUTE


def test_what_a_refresh_takes_makes_its_turns_come_earlier(lake_case: LakeCase) -> None:
    lake_case.make("s", "k BIGINT, n BIGINT", [(1, 1)])
    add(lake_case, "a", "s", lag=None)
    add(lake_case, "b", "a", lag=MINUTE)
    tick(lake_case)
    work(lake_case)
    lake_case.pg("update lake.dt set expected_ms = 25000")
    # 60 s - 2 * 25 s - 1 s: 8 s is the largest period that fits.
    assert lake_case.pg("select chain_ms from lake.effective_lag as e join lake.dt on id = dt_id where name = 'b'") == [
        (50_000,)
    ]
    assert tick(lake_case, 7)["due"] == 0
    assert tick(lake_case, 8)["due"] == 1
    # With what it reads.
    assert states(lake_case) == {"a": "SUCCEEDED", "b": "SUCCEEDED"}
    assert lake_case.pg("select distinct data_at from lake.frontier") == [(START + timedelta(seconds=8),)]


def _history(case: LakeCase, dt_id: int, entries: list[tuple[float, float]], action: str = "full") -> None:
    """Refreshes by data time and the time they became visible, in seconds after the start."""
    with case.control.connection() as conn:
        for data, seen in entries:
            data_at, seen_at = (START + timedelta(seconds=value) for value in (data, seen))
            ((round_id,),) = conn.execute(
                "insert into lake.round (trigger, snapshot, data_at, created_at, closed_at)"
                " values ('scheduled', 1, %s, %s, %s) returning id",
                [data_at, data_at, seen_at],
            ).fetchall()
            conn.execute(
                "insert into lake.refresh (round_id, dt_id, generation, state, action, created_at, started_at,"
                " finished_at) values (%s, %s, 1, 'SUCCEEDED', %s, %s, %s, %s)",
                [round_id, dt_id, action, data_at, data_at, seen_at],
            )


def _stats(case: LakeCase, dt_id: int, since: datetime, until: datetime) -> tuple[float, float, float | None]:
    row = at(
        case,
        until,
        "select array[extract(epoch from mean_lag), extract(epoch from max_lag), within_target]::float8[]"
        " from lake.lag_stats(%s, %s)",
        dt_id,
        since,
    )
    return tuple(row)


def test_lag_is_measured_as_the_saw_tooth_that_it_is(lake_case: LakeCase) -> None:
    lake_case.make("s", "k BIGINT, n BIGINT", [(1, 1)])
    table = add(lake_case, "d", "s", lag=timedelta(seconds=60))
    # Visible from 10 with data of 0, from 50 with data of 40: 10 … 50, then 10 … 110 at the end.
    _history(lake_case, table.dt_id, [(0, 10), (40, 50)])
    mean, largest, share = _stats(lake_case, table.dt_id, START, START + timedelta(seconds=150))
    assert mean == pytest.approx((40 * 30 + 100 * 60) / 140)
    assert largest == pytest.approx(110)
    assert share == pytest.approx((40 + 50) / 140)
    # Of what lies before the time that is asked for, only the rest counts.
    mean, largest, _ = _stats(lake_case, table.dt_id, START + timedelta(seconds=30), START + timedelta(seconds=50))
    assert (mean, largest) == (pytest.approx(40), pytest.approx(50))


@pytest.mark.long
def test_a_table_that_was_never_filled_or_has_no_lag_has_no_share(lake_case: LakeCase) -> None:
    lake_case.make("s", "k BIGINT, n BIGINT", [(1, 1)])
    empty, free = add(lake_case, "empty", "s"), add(lake_case, "free", "s", lag=None)
    _history(lake_case, free.dt_id, [(0, 10)])
    assert _stats(lake_case, empty.dt_id, START, START + MINUTE) == (None, None, None)
    assert _stats(lake_case, free.dt_id, START, START + MINUTE) == (35, 60, None)


@pytest.mark.long
def test_lag_stays_what_it_was_when_refreshes_are_forgotten(lake_case: LakeCase) -> None:
    lake_case.make("s", "k BIGINT, n BIGINT", [(1, 1)])
    table = add(lake_case, "d", "s", lag=timedelta(hours=1))
    hour, end = 3600, START + timedelta(days=3)
    _history(lake_case, table.dt_id, [(0, 10)])
    _history(lake_case, table.dt_id, [(n * hour, n * hour + n) for n in range(1, 72)], "no_data")
    asked = "select to_jsonb(s) from lake.lag_stats(%s, %s) as s"
    since = START + timedelta(hours=12.5)
    before = at(lake_case, end, asked, table.dt_id, since)
    assert (before["refreshes"], before["max_lag"]) == (59, "01:01:11")
    for day in (2, 3):
        at(lake_case, START + timedelta(days=day), "select lake.forget_history()")
        assert at(lake_case, end, asked, table.dt_id, since) == before
    assert lake_case.pg("select count(*) from lake.refresh where action = 'no_data'") == [(24,)]
    assert lake_case.pg("select cardinality(seen_at) from lake.idle order by until") == [(23,), (24,)]
    # In the end the times go as all history does.
    at(lake_case, START + timedelta(days=31.5), "select lake.forget_history()")
    assert lake_case.pg("select cardinality(seen_at) from lake.idle order by until") == [(24,), (23,)]

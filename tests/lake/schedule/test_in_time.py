"""A table whose refresh takes a good part of its lag gets its turns early enough."""

from __future__ import annotations

from datetime import timedelta

import pytest

from tests.fixtures.lake_case import LakeCase
from tests.lake.control.support import begin, publish
from tests.lake.schedule.support import START, add, at, tasks, tick, work

LAG = timedelta(seconds=2)


def ended(case: LakeCase, seconds: float) -> None:
    """The refresh under way is published and over, so many seconds after the start."""
    ((refresh_id,),) = case.pg("select id from lake.refresh where finished_at is null")
    order = begin(case, refresh_id)
    publish(case, order, [(1, 1)])
    at(
        case,
        START + timedelta(seconds=seconds),
        "select lake.finish_refresh(%s, %s)::text",
        refresh_id,
        order.fence,
    )


def ticks(case: LakeCase) -> int:
    return tasks(case, "lake_schedule")


def test_the_next_tick_comes_at_once_when_a_round_took_most_of_the_lag(lake_case: LakeCase) -> None:
    lake_case.make("s", "k BIGINT, n BIGINT", [(1, 1)])
    add(lake_case, "d", "s", lag=LAG)
    before = ticks(lake_case)
    tick(lake_case)
    assert ticks(lake_case) == before
    lake_case.add("s", [(2, 2)])
    # The turn of second 1 is left out: the refresh still runs. Without the tick at 1.2 its data would be 3 s old.
    assert tick(lake_case, 1)["due"] == 0
    ended(lake_case, 1.2)
    assert ticks(lake_case) == before + 1
    assert tick(lake_case, 1.2)["due"] == 1


def test_it_is_due_when_it_would_be_late_after_another_tick(lake_case: LakeCase) -> None:
    lake_case.make("s", "k BIGINT, n BIGINT", [(1, 1)])
    add(lake_case, "d", "s", lag=timedelta(seconds=9))
    tick(lake_case)
    work(lake_case)
    # The period is 4 s; but 5 s are what the refresh takes, and the tick after the next one would be too late.
    lake_case.pg("update lake.dt set expected_ms = 5000")
    assert lake_case.pg("select lake.period('9 seconds', 5000)") == [(2,)]
    assert tick(lake_case, 1)["due"] == 0
    lake_case.pg("update lake.dt set expected_ms = 6600")
    assert tick(lake_case, 1)["due"] == 1


@pytest.mark.long
def test_no_tick_follows_a_round_without_work_or_one_that_was_quick(lake_case: LakeCase) -> None:
    lake_case.make("s", "k BIGINT, n BIGINT", [(1, 1)])
    add(lake_case, "d", "s", lag=LAG)
    before = ticks(lake_case)
    tick(lake_case)
    ended(lake_case, 0.4)
    tick(lake_case, 2)
    tick(lake_case, 4)
    assert ticks(lake_case) == before
    assert lake_case.pg("select count(*) from lake.round where closed_at is null") == [(0,)]


@pytest.mark.long
def test_the_expected_time_counts_from_when_a_refresh_could_start(lake_case: LakeCase) -> None:
    """Waiting for a worker is a part of what makes a table late."""
    lake_case.make("s", "k BIGINT, n BIGINT", [(1, 1)])
    add(lake_case, "d", "s", lag=timedelta(minutes=1))
    tick(lake_case)
    ended(lake_case, 3)
    assert lake_case.pg("select expected_ms from lake.dt") == [(3000,)]

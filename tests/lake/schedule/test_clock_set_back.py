"""The server's clock is set back: the schedule continues, and no table is younger than now."""

from __future__ import annotations

from datetime import timedelta

import pytest

from tests.fixtures.lake_case import LakeCase
from tests.lake.schedule.support import START, add, at, snapshots, states, tick, work

BACK = -3600


def test_tables_have_their_turns_and_their_lag_is_not_negative(lake_case: LakeCase) -> None:
    lake_case.make("s", "k BIGINT, n BIGINT", [(1, 1)])
    add(lake_case, "d", "s")
    tick(lake_case)
    work(lake_case)
    head = lake_case.add("s", [(2, 2)])
    now = START + timedelta(seconds=BACK)
    assert at(lake_case, now, "select lag from lake.tables") == timedelta(0)
    assert at(lake_case, now, "select mean_lag is null from lake.lag_stats(%s, %s)", lake_case.find("d"), now)
    assert tick(lake_case, BACK)["due"] == 1
    assert work(lake_case) == ["d"]
    assert snapshots(lake_case) == {"d": head}
    assert at(lake_case, now, "select data_at from lake.frontier") == now
    # From then on as ever.
    for seconds, due in ((1, 0), (15, 0), (16, 1), (17, 0)):
        assert tick(lake_case, BACK + seconds)["due"] == due, seconds


@pytest.mark.parametrize("is_always_due", [False, True])
def test_a_round_at_the_same_snapshot_is_the_newer_one(lake_case: LakeCase, is_always_due: bool) -> None:
    lake_case.make("s", "k BIGINT, n BIGINT", [(1, 1)])
    add(lake_case, "d", "s", is_always_due=is_always_due)
    tick(lake_case)
    work(lake_case, [])
    tick(lake_case, BACK)
    assert work(lake_case, []) == (["d"] if is_always_due else [])
    assert states(lake_case) == {"d": "SUCCEEDED"}
    now = START + timedelta(seconds=BACK)
    assert at(lake_case, now, "select lag from lake.tables") == timedelta(0)


def test_a_table_that_fails_is_tried_once_in_each_turn(lake_case: LakeCase) -> None:
    lake_case.make("s", "k BIGINT, n BIGINT", [(1, 1)])
    add(lake_case, "d", "s")
    tick(lake_case)
    work(lake_case)
    lake_case.add("s", [(2, 2)])
    tick(lake_case, BACK)
    work(lake_case, fail=["d"])
    assert tick(lake_case, BACK + 1)["due"] == 0
    assert tick(lake_case, BACK + 16)["due"] == 1


@pytest.mark.long
def test_upkeep_is_asked_for_and_predictions_learn(lake_case: LakeCase) -> None:
    lake_case.make("s", "k BIGINT, n BIGINT", [(1, 1)])
    table = add(lake_case, "d", "s")
    tick(lake_case)
    now = START + timedelta(seconds=BACK)
    at(lake_case, now, "select lake.tick()")
    assert at(lake_case, now, "select greatest(swept_at, maintained_at, tidied_at) from lake.lake") == now
    for when, ms in ((START, 1.0), (now, 2.0)):
        for _ in range(20):
            at(lake_case, when, "select lake.add_sample(%s, 'full', 1, %s)", table.dt_id, ms)
    assert {row[2] for row in lake_case.control.cost_samples(table.dt_id)} == {2.0}

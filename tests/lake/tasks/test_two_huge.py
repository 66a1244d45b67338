"""Coordinators that wait hold no worker: as many parallel refreshes as workers do not stand in each other's way."""

from __future__ import annotations

import pytest

from tests.lake.tasks.crew import LakeCrew

# Whatever there is to do is more than a process may use, so every refresh is spread, however few workers are free.
ALWAYS = {"CATCHMENT_PARALLEL_MEMORY_SHARE": "0.0000001"}
TABLES = ("a", "b", "c")


@pytest.mark.long
def test_more_huge_refreshes_than_workers_come_to_an_end(lake_crew: LakeCrew) -> None:
    case = lake_crew.case
    case.make("source", "k BIGINT, v BIGINT")
    case.sql("INSERT INTO source SELECT i, i FROM range(500) AS r(i)")
    for name in TABLES:
        case.create(f"CREATE DYNAMIC TABLE {name} TARGET_LAG = '1 day' AS SELECT k, max(v) AS m FROM source GROUP BY k")
    refreshes = [lake_crew.request(name) for name in TABLES]
    lake_crew.hire(2, settings=ALWAYS)
    rows = [lake_crew.wait(refresh_id, seconds=90) for refresh_id in refreshes]
    assert [(row["state"], row["figures"]["subtasks"]) for row in rows] == [("SUCCEEDED", 8)] * 3
    for name in TABLES:
        case.check(name)
    lake_crew.wait_clean()

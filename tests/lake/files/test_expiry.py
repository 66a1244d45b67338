"""Snapshots and files that are too old go once a day, if the lake says so."""

from __future__ import annotations

import os
from datetime import timedelta
from pathlib import Path

import pytest

from catchment.errors import LakeError
from catchment.lake.files.expiry import expire_by_schedule, remove_orphans
from tests.fixtures.lake_case import LakeCase

DAY = timedelta(days=1)
TOTALS = "CREATE DYNAMIC TABLE totals TARGET_LAG = '1 hour' AS SELECT k, sum(v) AS v FROM source GROUP BY k"


def snapshots(case: LakeCase) -> int:
    return case.pg("select count(*) from public.ducklake_snapshot")[0][0]


def grow_old(case: LakeCase) -> None:
    case.pg("update public.ducklake_snapshot set snapshot_time = snapshot_time - interval '10 days'")


def left(folder: Path, name: str, *, days: float) -> Path:
    """A file that a writer of a source has left."""
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("half of a file")
    at = path.stat().st_mtime - days * 86400
    os.utime(path, (at, at))
    return path


@pytest.fixture
def totals(lake_case: LakeCase) -> LakeCase:
    lake_case.make("source", "k BIGINT, v BIGINT", [(1, 1), (2, 2)])
    lake_case.create(TOTALS)
    for number in range(4):
        lake_case.add("source", [(3, number)])
        lake_case.refresh("totals")
    return lake_case


def test_by_default_nothing_of_others_goes(totals: LakeCase) -> None:
    grow_old(totals)
    before, orphan = snapshots(totals), left(totals.folder / "main/source", "half.parquet", days=10)
    assert expire_by_schedule(totals.duck, totals.control) == {"files": 0, "snapshots": 0, "orphans": 0}
    assert (snapshots(totals), orphan.exists()) == (before, True)


def test_what_is_older_than_the_lake_says_goes_once_a_day(totals: LakeCase) -> None:
    totals.pg("update lake.lake set expire_after = '3 days', orphans_after = '2 days'")
    grow_old(totals)
    old = left(totals.folder / "main/source", "half.parquet", days=3)
    young = left(totals.folder / "main/source", "young.parquet", days=1)
    done = expire_by_schedule(totals.duck, totals.control)
    assert done["snapshots"] > 0
    assert (done["orphans"], old.exists(), young.exists()) == (1, False, True)
    totals.check("totals")
    totals.add("source", [(4, 4)])
    totals.refresh("totals")
    totals.check("totals")
    asked = "select count(*) from worker.tasks where command = 'lake_expire'"
    totals.pg("select lake.request_upkeep()")
    assert totals.pg(asked) == [(0,)]
    totals.pg("update lake.lake set expired_at = expired_at - interval '25 hours'")
    totals.pg("select lake.request_upkeep()")
    totals.pg("select lake.request_upkeep()")
    assert totals.pg(asked) == [(1,)]
    totals.pg("select worker.cancel(id, 'done') from worker.tasks where command = 'lake_expire'")
    totals.pg("update lake.lake set expired_at = expired_at - interval '25 hours'")
    totals.pg("select lake.request_upkeep()")
    assert totals.pg(asked) == [(2,)]


@pytest.mark.long
def test_files_of_another_lake_in_the_same_place_are_not_orphans(totals: LakeCase) -> None:
    theirs = left(totals.folder / "dt-other/t1g1", "theirs.parquet", days=10)
    with pytest.raises(LakeError, match="another lake has its data in"):
        remove_orphans(totals.duck, totals.control, DAY)
    assert theirs.exists()


@pytest.mark.long
def test_less_than_a_day_is_refused(totals: LakeCase) -> None:
    with pytest.raises(LakeError, match="younger than 1 day never go"):
        remove_orphans(totals.duck, totals.control, timedelta(hours=23))

"""Files of a table are kept in order without changing it; snapshots go when nobody needs them."""

from __future__ import annotations

from datetime import timedelta

import pytest

from catchment.errors import LakeError
from catchment.lake.maintain import expire, maintain_table
from catchment.lake.settings import LakeSettings
from tests.fixtures.lake import SETTINGS, LakeCase
from tests.lake.refresh.test_incremental import TABLE, filled, refreshed

PER_KEY = f"{TABLE} SELECT k, max(v) AS v FROM many GROUP BY k"


@pytest.fixture
def many(lake_case: LakeCase) -> LakeCase:
    """A table with a hundred keys, and a dynamic table with a row for each; files are compacted from 8 on."""
    lake_case.make("many", "k BIGINT, v BIGINT")
    lake_case.sql("INSERT INTO many SELECT i, i FROM range(100) AS r(i)")
    lake_case.duck.configure(LakeSettings(**{**SETTINGS, "lake_compact_files": 7}))
    filled(lake_case, PER_KEY)
    return lake_case


def content(case: LakeCase, at: int) -> list[tuple[object, ...]]:
    return case.sql(f"SELECT * FROM dt AT (VERSION => {at}) ORDER BY ALL")


def test_many_small_files_become_few(many: LakeCase) -> None:
    for k in range(8):
        many.sql(f"UPDATE many SET v = v + 1000 WHERE k = {k}")
        many.refresh("dt")
    before, at = many.rows("dt"), many.head()
    done = maintain_table(many.duck, many.control, many.find("dt"))
    assert done.before.files >= 8
    assert done.after.files < done.before.files
    assert done.after.deleted == 0
    assert many.rows("dt") == before
    assert content(many, at) == before
    many.check("dt")
    found = refreshed(many, "UPDATE many SET v = v + 1 WHERE k = 50")
    assert (found["action"], found["reason"], found["inserted"]) == ("incremental", None, 1)


def test_table_in_order_is_left_alone(many: LakeCase) -> None:
    head = many.head()
    done = maintain_table(many.duck, many.control, many.find("dt"))
    assert done.before == done.after
    assert many.head() == head


def test_table_below_follows_a_compacted_one(many: LakeCase) -> None:
    """It is keyed by row ids of the table above, which compaction changes."""
    many.create(
        "CREATE DYNAMIC TABLE below TARGET_LAG = '1 minute' REFRESH_MODE = INCREMENTAL"
        " AS SELECT k, v FROM dt WHERE v >= 0"
    )
    many.refresh("below")
    for k in range(8):
        many.sql(f"UPDATE many SET v = v + 1000 WHERE k = {k}")
        many.refresh("below")
    maintain_table(many.duck, many.control, many.find("dt"))
    many.sql("UPDATE many SET v = v + 1 WHERE k = 50")
    found = many.refresh("below")
    many.check("below")
    assert (found["action"], found["reason"]) == ("full", "ROWID_CHANGED")


def test_only_snapshots_that_nobody_needs_expire(many: LakeCase) -> None:
    many.sql("INSERT INTO many VALUES (500, 1)")
    many.refresh("dt")
    many.sql("INSERT INTO many VALUES (501, 1)")
    pinned, before = many.control.pinned_snapshot(), many.rows("dt")
    assert expire(many.duck, many.control) == 0, "nothing is a day old"
    many.pg("update public.ducklake_snapshot set snapshot_time = snapshot_time - interval '2 days'")
    assert expire(many.duck, many.control) > 0
    ((oldest,),) = many.pg("select min(snapshot_id) from lake.ducklake_snapshot")
    assert oldest == pinned
    assert many.rows("dt") == before
    assert refreshed(many)["action"] == "incremental"


def test_young_snapshots_are_never_expired(many: LakeCase) -> None:
    with pytest.raises(LakeError, match=r"0:05:00 is less"):
        expire(many.duck, many.control, timedelta(minutes=5))


@pytest.mark.long
def test_sixty_small_refreshes_take_the_same_time(many: LakeCase) -> None:
    """The last ones are not slower than the first: files and deletes do not pile up in what a refresh reads."""
    times: list[float] = []
    for turn in range(60):
        many.sql(f"UPDATE many SET v = v + 1 WHERE k = {turn}")
        found = many.refresh("dt")
        times.append(found["figures"]["compute_ms"] + found["figures"]["publish_ms"])
        if turn % 10 == 9:
            maintain_table(many.duck, many.control, many.find("dt"))
    many.check("dt")
    first, last = sorted(times[5:20])[7], sorted(times[45:])[7]
    print(f"median of refreshes 6 to 20: {first:.0f} ms, of the last 15: {last:.0f} ms")
    assert last < 3 * first

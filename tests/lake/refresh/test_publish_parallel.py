"""What subtasks write, and the one commit that takes it: final files, whole buckets or single rows, never twice."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from catchment.errors import ClaimLost, LakeError
from catchment.lake.duck.catalog import files_with_deletes
from catchment.lake.refresh.window import ReadingBroken
from tests.fixtures.lake import LakeStates
from tests.fixtures.lake_case import LakeCase
from tests.lake.refresh.inline import Parallel, refresh_in_buckets, spread

ROWS = 4000


@pytest.fixture
def wide(lake_states: LakeStates, tmp_path: Path) -> Iterator[LakeCase]:
    """A table of 4,000 rows in 8 storage buckets."""
    with lake_states.copy(_wide, tmp_path / "lake") as case:
        yield case
        assert case.temporary() == []


def _wide(lake_case: LakeCase) -> None:
    lake_case.make("source", "k BIGINT, v BIGINT")
    lake_case.sql(f"INSERT INTO source SELECT i, i FROM range({ROWS}) AS r(i)")
    lake_case.create(
        "CREATE DYNAMIC TABLE dt TARGET_LAG = '1 day' REFRESH_MODE = INCREMENTAL"
        " AS SELECT k, max(v) AS m FROM source GROUP BY k"
    )
    refresh_in_buckets(lake_case, "dt")


def change(case: LakeCase, where: str) -> None:
    with case.commit_lock():
        case.sql(f"UPDATE source SET v = v + 1 WHERE {where}")


def finish(one: Parallel) -> dict[str, Any]:
    row = one.publish()
    assert one.sweep() == 0
    assert one.case.leftovers() == {}
    one.case.check("dt")
    return row


def physical(case: LakeCase) -> int:
    return case.pg("select physical_id from lake.dt")[0][0]


def live_files(case: LakeCase) -> set[str]:
    rows = case.pg(
        "select path from lake.ducklake_data_file where table_id = %s and end_snapshot is null", physical(case)
    )
    return {path for (path,) in rows}


def buckets_with_deletes(case: LakeCase) -> set[int]:
    with case.control.connection() as conn:
        return files_with_deletes(conn, physical(case))


@pytest.mark.long
def test_a_first_fill_is_in_its_final_files_at_once(wide: LakeCase) -> None:
    found = live_files(wide)
    assert len(found) == 8
    assert all(path.startswith("__b=") and "/r1-f1-8-" in path for path in found)
    assert wide.pg("select buckets from lake.dt") == [(8,)]
    notes = wide.notes()
    assert sum('"refresh": 1,' in note for _, note in notes) == 1


@pytest.mark.long
def test_few_rows_are_deleted_and_added(wide: LakeCase) -> None:
    before = live_files(wide)
    change(wide, "k % 100 = 0")
    one = spread(wide, "dt")
    one.compute_all()
    assert all(not result.rewritten for result in one.results)
    assert sum(result.rows for result in one.results) == ROWS / 100
    row = finish(one)
    assert (row["inserted"], row["deleted"], row["rows_after"]) == (ROWS / 100, ROWS / 100, ROWS)
    # What it took, were it done in one task, for the predictions to come.
    samples = {action: (units, ms) for action, units, ms in wide.control.cost_samples(wide.find("dt"))}
    assert set(samples) == {"incremental", "reinitialize"}
    units, took = samples["incremental"]
    assert units > ROWS / 100
    assert took > 1000 * row["figures"]["subtask_seconds"]
    assert before < live_files(wide)
    assert buckets_with_deletes(wide)


@pytest.mark.long
def test_a_bucket_that_loses_many_rows_is_rewritten(wide: LakeCase) -> None:
    before = live_files(wide)
    change(wide, "k % 2 = 0")
    one = spread(wide, "dt")
    one.compute_all()
    assert {bucket for result in one.results for bucket in result.rewritten} == set(range(8))
    assert sum(result.rows for result in one.results) == ROWS
    row = finish(one)
    assert (row["inserted"], row["deleted"], row["rows_after"]) == (ROWS / 2, ROWS / 2, ROWS)
    assert not before & live_files(wide)
    assert buckets_with_deletes(wide) == set()


@pytest.mark.long
def test_a_bucket_that_has_lost_rows_before_is_rewritten(wide: LakeCase) -> None:
    """Deleting from such a file again could be dated wrongly beside another writer."""
    for _ in range(2):
        change(wide, "k % 100 = 0")
        one = spread(wide, "dt")
        one.compute_all()
        finish(one)
    assert buckets_with_deletes(wide) == set()


@pytest.mark.long
def test_more_ranges_than_storage_buckets_share_them(wide: LakeCase) -> None:
    change(wide, "k % 2 = 0")
    one = spread(wide, "dt", parallel_min_buckets=32)
    assert (one.plan.total, one.plan.buckets) == (32, 8)
    one.compute_all()
    assert all(not result.rewritten for result in one.results)
    finish(one)


@pytest.mark.long
def test_a_refresh_that_changes_nothing_makes_no_commit(wide: LakeCase) -> None:
    head = wide.head()
    with wide.commit_lock():
        wide.sql("UPDATE source SET k = k, v = v WHERE k % 3 = 0")
        wide.sql("INSERT INTO source SELECT k, v - 1 FROM source")
    one = spread(wide, "dt")
    one.compute_all()
    row = finish(one)
    assert (row["state"], row["inserted"], row["commit_snapshot"]) == ("SUCCEEDED", 0, None)
    assert wide.head() == head + 2


@pytest.mark.long
def test_a_file_is_never_registered_twice(wide: LakeCase) -> None:
    change(wide, "k % 100 = 0")
    one = spread(wide, "dt")
    one.compute_all()
    one.results.append(dataclasses.replace(one.results[0], inserted=0, deleted=0, deletes=None))
    with pytest.raises(LakeError, match="second time"):
        one.publish()
    one.results.pop()
    finish(one)
    taken = one.results[0].files[0]
    change(wide, "k % 100 = 0")
    again = spread(wide, "dt")
    again.compute_all()
    again.results[0] = dataclasses.replace(again.results[0], files=(taken,), rows=one.results[0].rows)
    with pytest.raises(LakeError):
        again.publish()
    wide.check("dt")


def test_a_file_that_is_not_what_its_subtask_said_is_refused(wide: LakeCase) -> None:
    change(wide, "k % 2 = 0")
    one = spread(wide, "dt")
    one.compute_all()
    path = one.results[0].files[0]
    wide.sql(f"COPY (SELECT CAST(1 AS BIGINT) AS k, CAST(1 AS BIGINT) AS m) TO '{path}' (FORMAT parquet)")
    with pytest.raises(LakeError, match="files have"):
        one.publish()
    one.results[0] = one.compute(one.ranges[0], attempt=2)
    finish(one)


@pytest.mark.long
def test_a_lost_attempt_is_swept_and_does_no_harm(wide: LakeCase) -> None:
    change(wide, "k % 2 = 0")
    one = spread(wide, "dt")
    lost = one.compute(one.ranges[0], attempt=1)
    one.results = [one.compute(keys, attempt=2) for keys in one.ranges]
    assert all(Path(path).exists() for path in lost.files)
    finish(one)
    assert not any(Path(path).exists() for path in lost.files)


def test_an_older_join_cannot_publish(wide: LakeCase) -> None:
    change(wide, "k % 2 = 0")
    one = spread(wide, "dt")
    one.compute_all()
    row = finish(one)
    with pytest.raises(ClaimLost):
        one.publish()
    assert wide.refreshed(one.refresh_id) == row


def test_a_source_whose_past_changed_while_it_was_read_is_noticed(wide: LakeCase) -> None:
    change(wide, "k % 2 = 0")
    one = spread(wide, "dt")
    one.compute_all()
    wide.pg(
        "update lake.refresh set plan = jsonb_set(plan, '{reads,0,rows}', to_jsonb(%s)) where id = %s",
        ROWS + 1,
        one.refresh_id,
    )
    with pytest.raises(ReadingBroken, match="rows"):
        one.publish()
    assert wide.control.refresh_state(one.refresh_id).state == "EXECUTING"
    before, fence = wide.refreshed(one.refresh_id), wide.control.refresh_state(one.refresh_id).fence
    with wide.control.connection() as conn:
        assert wide.control.repeat_refresh(one.refresh_id, fence, 1, conn=conn)
        again = wide.refreshed(one.refresh_id)
        assert (again["state"], again["plan"], again["figures"]["repeats"]) == ("EXECUTING", None, 1)
        assert again["task_id"] > before["task_id"]
        assert not wide.control.repeat_refresh(one.refresh_id, fence, 1, conn=conn)
        with pytest.raises(ClaimLost):
            wide.control.repeat_refresh(one.refresh_id, fence - 1, 1, conn=conn)


@pytest.mark.long
def test_a_repair_leaves_nothing_that_another_client_has_written(lake_case: LakeCase) -> None:
    """Rows that are there twice, and rows in storage buckets that are those of no range."""
    lake_case.make("source", "k BIGINT, v BIGINT")
    lake_case.sql("INSERT INTO source SELECT i, i FROM range(40) AS r(i)")
    lake_case.create(
        "CREATE DYNAMIC TABLE dt TARGET_LAG = '1 day' REFRESH_MODE = INCREMENTAL"
        " AS SELECT k, max(v) AS m FROM source GROUP BY k"
    )
    lake_case.refresh("dt")
    physical = f'lake.dt."t{lake_case.find("dt")}g1"'
    lake_case.sql(f"INSERT INTO {physical} SELECT * FROM {physical} WHERE k < 5")
    lake_case.sql(f"INSERT INTO {physical} SELECT * REPLACE (k + 100 AS k, 77 AS __b) FROM {physical} WHERE k < 3")
    row = refresh_in_buckets(lake_case, "dt", parallel_min_buckets=4, parallel_buckets_per_worker=1)
    assert (row["action"], row["reason"], row["rows_after"]) == ("repair", "FOREIGN_WRITE", 40)
    lake_case.check("dt")


@pytest.mark.long
def test_an_empty_table_that_stays_empty_is_published_too(lake_case: LakeCase) -> None:
    """First filled, then repaired: both are written whole, and there is nothing to write."""
    lake_case.make("source", "k BIGINT, v BIGINT", [(1, 1)])
    lake_case.create(
        "CREATE DYNAMIC TABLE dt TARGET_LAG = '1 day' AS SELECT k, max(v) AS m FROM source WHERE v > 5 GROUP BY k"
    )
    few = {"parallel_min_buckets": 2, "parallel_buckets_per_worker": 1}
    row = refresh_in_buckets(lake_case, "dt", **few)
    assert (row["state"], row["action"], row["rows_after"]) == ("SUCCEEDED", "reinitialize", 0)
    physical = f'lake.dt."t{lake_case.find("dt")}g1"'
    lake_case.sql(f"INSERT INTO {physical} (k, m, __b) VALUES (9, 9, 0)")
    lake_case.sql(f"DELETE FROM {physical}")
    row = refresh_in_buckets(lake_case, "dt", **few)
    assert (row["state"], row["action"], row["rows_after"]) == ("SUCCEEDED", "repair", 0)
    lake_case.check("dt")


@pytest.mark.long
def test_a_table_that_has_grown_gets_more_storage_buckets(lake_case: LakeCase) -> None:
    lake_case.make("source", "k BIGINT, v BIGINT", [(1, 1)])
    lake_case.create("CREATE DYNAMIC TABLE dt TARGET_LAG = '1 day' REFRESH_MODE = FULL AS SELECT k, v FROM source")
    lake_case.refresh("dt")
    lake_case.sql("INSERT INTO source SELECT i, i FROM range(4000) AS r(i)")
    lake_case.refresh("dt", lake_wholesale_above=1)
    assert lake_case.pg("select buckets from lake.dt") == [(1,)]
    lake_case.sql("INSERT INTO source VALUES (5, 5)")
    row = refresh_in_buckets(lake_case, "dt", lake_rows_per_bucket=500)
    assert row["action"] == "full"
    assert lake_case.pg("select buckets from lake.dt") == [(16,)]
    lake_case.check("dt")

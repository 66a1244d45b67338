"""Files of a table are kept in order without changing it; snapshots go when nobody needs them."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from catchment.errors import LakeError
from catchment.lake.choose.outcome import Done
from catchment.lake.choose.parallel import Decision
from catchment.lake.duck.catalog import file_health
from catchment.lake.duck.duck import Never
from catchment.lake.files.expiry import expire
from catchment.lake.files.maintain import maintain_table
from catchment.lake.refresh.refresh import run
from tests.fixtures.lake import LakeStates
from tests.fixtures.lake_case import LakeCase, foreign_client
from tests.lake.refresh.test_incremental import TABLE, filled, refreshed

PER_KEY = f"{TABLE} SELECT k, max(v) AS v FROM many GROUP BY k"


@pytest.fixture
def many(lake_states: LakeStates, tmp_path: Path) -> Iterator[LakeCase]:
    """A table with a hundred keys, and a dynamic table with a row for each; files are compacted from 8 on."""
    with lake_states.copy(_many, tmp_path / "lake") as case:
        yield case


def _many(lake_case: LakeCase) -> None:
    lake_case.make("many", "k BIGINT, v BIGINT")
    lake_case.sql("INSERT INTO many SELECT i, i FROM range(100) AS r(i)")
    lake_case.pg("update lake.lake set compact_files = 7")
    filled(lake_case, PER_KEY)


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


def test_one_place_says_when_a_table_is_compacted(many: LakeCase) -> None:
    many.sql("UPDATE many SET v = v + 1000 WHERE k < 10")
    many.refresh("dt")

    def asked(compact_files: int) -> int:
        many.pg(f"update lake.lake set compact_files = {compact_files}, maintained_at = null")
        many.pg("select lake.request_upkeep()")
        ((count,),) = many.pg("select count(*) from worker.tasks where command = 'lake_maintain'")
        return count

    assert (asked(2), many.control.is_crowded(many.find("dt"))) == (0, False)
    done = maintain_table(many.duck, many.control, many.find("dt"))
    assert (done.before.files, done.after.files) == (2, 2)
    assert (asked(1), many.control.is_crowded(many.find("dt"))) == (1, True)
    assert maintain_table(many.duck, many.control, many.find("dt")).after.files == 1


def test_compaction_in_the_middle_of_a_refresh_leaves_it_as_it_is(many: LakeCase) -> None:
    for k in range(2):
        many.sql(f"UPDATE many SET v = v + 1000 WHERE k = {k}")
        many.refresh("dt")
    many.sql("UPDATE many SET v = v + 1 WHERE k BETWEEN 5 AND 20")
    files: list[int] = []

    def compacted(_estimate: object, _keys: object) -> Decision:
        """Asked when the keys are known and nothing is written yet."""
        with foreign_client(many) as client, many.commit_lock():
            for call in ("merge_adjacent_files", "rewrite_data_files", "merge_adjacent_files"):
                rewrite = ", delete_threshold => 0.01" if call == "rewrite_data_files" else ""
                client.execute(f"CALL ducklake_{call}('theirs', 't1g1', schema => 'dt'{rewrite})")
        with many.control.connection() as conn:
            files.append(file_health(conn, order.physical_id).files)
        return Decision(False, 1, "test")

    order = many.begin(many.request("dt"))
    done = run(many.duck, many.control, order, many.settings, Never(), compacted)
    assert isinstance(done, Done)
    many.control.finish_refresh(order.refresh_id, order.fence, done.figures)
    assert files == [1]
    found = done.publication
    assert (found.action, found.reason, found.inserted, found.deleted) == ("incremental", None, 16, 16)
    many.check("dt")
    assert refreshed(many, "UPDATE many SET v = v + 1 WHERE k = 50")["action"] == "incremental"


@pytest.mark.long
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


@pytest.mark.long
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

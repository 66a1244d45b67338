"""Files of refreshes: where they go, how they are written down, and how they are removed."""

from __future__ import annotations

from pathlib import Path

from catchment.lake.control.control import Control
from catchment.lake.duck.address import LakeAddress
from catchment.lake.duck.duck import Duck
from catchment.lake.files import storage
from catchment.lake.settings import LakeSettings
from catchment.lake.types import BucketRange
from tests.fixtures.lake import install_lake
from tests.fixtures.lake_case import SETTINGS, LakeCase, list_scratch
from tests.fixtures.s3 import Bucket
from tests.lake.control.support import add_table, begin, content, refresh, start


def test_every_attempt_at_every_bucket_has_a_separate_file(lake_case: LakeCase) -> None:
    order = begin(lake_case, start(lake_case, add_table(lake_case, "d")))
    paths = {
        storage.bucket_path("/lake/dt/t5g1/", bucket, order, keys, attempt)
        for bucket in (0, 3)
        for keys in (BucketRange(0, 8), BucketRange(1, 8), BucketRange(1, 16), BucketRange(None, 8))
        for attempt in (1, 2)
    }
    assert len(paths) == 16
    named = f"/lake/dt/t5g1/__b=3/r{order.refresh_id}-f{order.fence}-16-1-a2-"
    assert len([path for path in paths if path.startswith(named)]) == 1


def test_removed_files_are_gone_with_their_empty_scratch_folders(lake_case: LakeCase) -> None:
    scratch = storage.scratch_dir(lake_case.address, 17)
    mine = [f"{scratch}keys/p=1/data_0.parquet", f"{scratch}deletes/1.parquet"]
    other = f"{storage.scratch_dir(lake_case.address, 18)}keys/x.parquet"
    data = f"{lake_case.content}/t1g1/__b=0/r17-8-0-a1.parquet"
    storage.make_folders([*mine, other, data])
    for path in (*mine, other, data):
        Path(path).write_text("")
    assert list_scratch(lake_case.duck, lake_case.address) == sorted([*mine, other])
    assert storage.remove(lake_case.duck, lake_case.control, [*mine, data, f"{scratch}never/was.parquet"]) == [
        *mine,
        data,
        f"{scratch}never/was.parquet",
    ]
    assert list_scratch(lake_case.duck, lake_case.address) == [other]
    assert not Path(scratch).exists()
    assert Path(data).parent.exists()


def test_a_file_that_cannot_be_removed_is_not_said_to_be_gone(lake_case: LakeCase) -> None:
    folder = f"{storage.scratch_dir(lake_case.address, 17)}keys"
    Path(folder).mkdir(parents=True)
    assert storage.remove(lake_case.duck, lake_case.control, [folder]) == []


def test_files_are_written_down_before_they_exist_and_forgotten_when_they_are_gone(lake_case: LakeCase) -> None:
    control = lake_case.control
    control.note_artifacts(17, 100, 5, "data", ["/a", "/b", "/a"])
    control.note_artifacts(17, 101, 6, "data", ["/b"])
    control.note_artifacts(17, 100, 5, "data", ["/b"])  # an older attempt does not take it back
    assert lake_case.pg("select path, task_id, fence from lake.artifact order by path") == [
        ("/a", 100, 5),
        ("/b", 101, 6),
    ]
    assert lake_case.leftovers() == {"artifacts": ["/a", "/b"]}
    assert control.forget_artifacts(["/a", "/c"]) == 1
    assert control.forget_artifacts(["/b"]) == 1
    assert lake_case.leftovers() == {}


def test_unregistered_files_of_ours_are_leftovers(lake_case: LakeCase) -> None:
    table = add_table(lake_case, "d")
    refresh(lake_case, table, [(1, 1)])
    path = f"{lake_case.content}/t{table.dt_id}g1/__b=0/r1-8-0-a1.parquet"
    lake_case.sql(f"COPY (SELECT 2::BIGINT AS k, 2::BIGINT AS n) TO '{path}' (FORMAT parquet)")
    assert lake_case.leftovers() == {"files": [path]}
    lake_case.sql(
        "CALL ducklake_add_data_files('lake', ?, ?, schema => 'dt', hive_partitioning => true)",
        [f"t{table.dt_id}g1", [path]],
    )
    assert lake_case.leftovers() == {}
    assert content(lake_case, "d") == [(1, 1), (2, 2)]


def test_objects_in_a_bucket_are_removed_and_no_other(db: str, bucket: Bucket) -> None:
    settings = LakeSettings(**SETTINGS, **bucket.settings)
    address = LakeAddress(bucket.url)
    install_lake(db, address, settings)
    duck, control = Duck.open(db, settings), Control(db)
    duck.run("CREATE TABLE lake.t AS SELECT i AS a FROM range(10) t(i)")
    duck.run("DELETE FROM t WHERE a = 1")
    duck.run("DELETE FROM t WHERE a = 2")  # now an older delete file waits on DuckLake's list
    scratch = storage.scratch_dir(address, 17)
    mine = [f"{scratch}keys/p=1/data_0.parquet", f"{bucket.url}dt/t1g1/__b=0/r17-8-0-a1.parquet"]
    kept = bucket.objects()
    storage.make_folders(mine)
    for path in mine:
        duck.run(f"COPY (SELECT 1 AS a) TO '{path}' (FORMAT parquet)")
    assert list_scratch(duck, address) == mine[:1]
    assert len(bucket.objects()) == len(kept) + 2
    assert storage.remove(duck, control, [*mine, f"{scratch}never/was.parquet"]) == [
        *mine,
        f"{scratch}never/was.parquet",
    ]
    assert bucket.objects() == kept
    with control.connection() as conn:
        waiting = conn.execute(
            "select data_file_id < 1000 from public.ducklake_files_scheduled_for_deletion"
        ).fetchall()
    assert waiting == [(True,)]
    assert duck.rows("SELECT count(*) FROM t") == [(8,)]
    control.close()
    duck.close()

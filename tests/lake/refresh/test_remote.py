"""A parallel refresh whose files are objects of a bucket, where nothing is a folder and only DuckLake can remove."""

from __future__ import annotations

from pathlib import Path

from catchment.lake.duck.address import LakeAddress
from catchment.lake.duck.duck import Duck
from catchment.lake.settings import LakeSettings
from tests.fixtures.lake import install_lake
from tests.fixtures.lake_case import SETTINGS, LakeCase
from tests.fixtures.s3 import Bucket
from tests.lake.refresh.inline import refresh_in_buckets


def test_a_lake_in_a_bucket_is_refreshed_in_ranges_and_nothing_is_left(db: str, bucket: Bucket, tmp_path: Path) -> None:
    settings = LakeSettings(**SETTINGS, **bucket.settings)
    install_lake(db, LakeAddress(bucket.url), settings)
    Duck.open(db, settings)
    case = LakeCase(db, tmp_path, bucket.settings)
    case.address = LakeAddress(bucket.url)
    try:
        case.make("source", "k BIGINT, v BIGINT")
        case.sql("INSERT INTO source SELECT i % 300, i FROM range(1000) AS r(i)")
        case.create(
            "CREATE DYNAMIC TABLE dt TARGET_LAG = '1 day' REFRESH_MODE = INCREMENTAL"
            " AS SELECT k, max(v) AS m FROM source GROUP BY k"
        )
        refresh_in_buckets(case, "dt")
        with case.commit_lock():
            case.sql("UPDATE source SET v = v + 1 WHERE k % 3 = 0")
        row = refresh_in_buckets(case, "dt")
        assert (row["action"], row["inserted"]) == ("incremental", 100)
        case.check("dt")
        assert case.leftovers() == {}
        names = bucket.objects()
        assert not [name for name in names if "/catchment/" in name]
        known = {
            f"lake/{case.content.name}/t1g1/{path}"
            for (path,) in case.pg(
                "select f.path from lake.ducklake_data_file as f join lake.dt as d on d.physical_id = f.table_id"
            )
        }
        assert {name for name in names if "__b=" in name} - {
            f"lake/{case.content.name}/t1g1/{path}"
            for (path,) in case.pg("select path from public.ducklake_delete_file")
        } == known
    finally:
        case.close()

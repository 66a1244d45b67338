"""A lake whose data are in a bucket: the same refreshes, and a clear error when the store is gone."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from catchment.errors import LakeUnavailable
from catchment.lake.duck.address import LakeAddress
from catchment.lake.files.maintain import maintain_table
from catchment.lake.settings import LakeSettings
from tests.fixtures.lake import install_lake
from tests.fixtures.lake_case import SETTINGS, LakeCase
from tests.fixtures.s3 import Bucket


@pytest.fixture
def s3_case(db: str, bucket: Bucket, tmp_path: Path) -> Iterator[LakeCase]:
    install_lake(db, LakeAddress(bucket.url), LakeSettings(**SETTINGS, **bucket.settings))
    case = LakeCase(db, tmp_path / "unused", bucket.settings)
    case.pg("update lake.lake set compact_files = 2")
    case.address = LakeAddress(bucket.url)
    yield case
    case.close()


@pytest.mark.long
def test_refreshes_on_a_bucket(s3_case: LakeCase, bucket: Bucket) -> None:
    case = s3_case
    case.make("orders", "k BIGINT, v BIGINT")
    case.sql("INSERT INTO orders SELECT i % 10, i FROM range(100) AS r(i)")
    case.create(
        "CREATE DYNAMIC TABLE dt TARGET_LAG = '1 minute' REFRESH_MODE = INCREMENTAL AS"
        " SELECT k, max(v) AS v FROM orders GROUP BY k"
    )
    case.refresh("dt")
    case.check("dt")
    for k in range(3):
        case.sql(f"UPDATE orders SET v = v + 1000 WHERE k = {k}")
        assert case.refresh("dt")["action"] == "incremental"
    case.check("dt")
    done = maintain_table(case.duck, case.control, case.find("dt"))
    assert done.after.files < done.before.files
    case.check("dt")
    assert any(key.startswith(f"lake/{case.content.name}/t1g1/__b=0/") for key in bucket.objects())


def test_store_that_is_gone(s3_case: LakeCase, bucket: Bucket) -> None:
    case = s3_case
    case.make("orders", "k BIGINT, v BIGINT", [[1, 1]])
    case.create("CREATE DYNAMIC TABLE dt TARGET_LAG = '1 minute' AS SELECT k, max(v) AS v FROM orders GROUP BY k")
    for key in bucket.objects():
        bucket.client.delete_object(Bucket=bucket.name, Key=key)
    bucket.client.delete_bucket(Bucket=bucket.name)
    with pytest.raises(LakeUnavailable, match="does not answer as it should") as caught:
        case.refresh("dt")
    assert (caught.value.code, "CATCHMENT_S3_KEY_ID" in (caught.value.hint or "")) == ("STORAGE", True)
    assert case.temporary() == []

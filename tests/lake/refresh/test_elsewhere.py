"""Ranges that are computed without a catalog, as on a node of a cluster: the same rows, and every file is noted."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from catchment.errors import LakeError
from catchment.lake.duck.address import LakeAddress
from catchment.lake.duck.duck import Duck
from catchment.lake.duck.extract import Inlined
from catchment.lake.settings import LakeSettings
from tests.fixtures.lake import LakeStates, install_lake
from tests.fixtures.lake_case import SETTINGS, LakeCase
from tests.fixtures.s3 import Bucket
from tests.lake.fuzz.together import Together
from tests.lake.refresh.inline import refresh_in_buckets, spread
from tests.lake.refresh.test_buckets import SHAPES, _shop, change
from tests.lake.refresh.test_lake_fuzz import new_seed

TWO = {"parallel_min_buckets": 2, "parallel_buckets_per_worker": 1}


@pytest.fixture
def shop(lake_states: LakeStates, tmp_path: Path) -> Iterator[LakeCase]:
    with lake_states.copy(_shop, tmp_path / "lake") as case:
        yield case
        assert case.leftovers() == {}
        assert case.temporary() == []


def make(case: LakeCase, query: str, *properties: str) -> None:
    case.create(
        f"CREATE DYNAMIC TABLE dt TARGET_LAG = '1 day' REFRESH_MODE = INCREMENTAL {' '.join(properties)} AS {query}"
    )


def alter(case: LakeCase) -> None:
    """The files of a source have columns by other names than the table, and lack one that it has."""
    case.sql("ALTER TABLE orders RENAME amount TO price")
    case.sql("ALTER TABLE orders ADD COLUMN amount DECIMAL(12,2) DEFAULT 1.5")
    case.sql("INSERT INTO orders SELECT id + 20000, customer, region, day, 1, 2 FROM orders WHERE id % 40 = 0")


def test_rows_of_a_join_of_files_with_other_columns_and_deletes(shop: LakeCase) -> None:
    alter(shop)
    make(shop, SHAPES["rows of a join"])
    refresh_in_buckets(shop, "dt", **TWO)
    change(shop)
    row = refresh_in_buckets(shop, "dt", is_elsewhere=True, **TWO)
    assert (row["action"], row["plan"] is not None) == ("incremental", True)
    shop.check("dt")


@pytest.mark.long
@pytest.mark.parametrize("strategy", ["HASH_RANGE", "MODULO"])
@pytest.mark.parametrize("shape", SHAPES)
def test_every_shape(shop: LakeCase, shape: str, strategy: str) -> None:
    if strategy == "MODULO" and shape != "integer key":
        pytest.skip("its key is no integer")
    make(shop, SHAPES[shape], f"PARALLEL_STRATEGY = {strategy}")
    refresh_in_buckets(shop, "dt", is_elsewhere=True)
    shop.check("dt")
    for _ in range(3):
        change(shop)
        refresh_in_buckets(shop, "dt", is_elsewhere=True)
        shop.check("dt")


@pytest.mark.long
def test_what_goes_wrong_there_is_raised_here_and_leaves_no_file(shop: LakeCase, tmp_path: Path) -> None:
    make(shop, SHAPES["recomputed"])
    refresh_in_buckets(shop, "dt", **TWO)
    change(shop)
    one = spread(shop, "dt", **TWO)
    one.is_elsewhere = True
    hidden = Path(f"{one.plan.keys_folder(1)}p={one.ranges[0].partition}")
    hidden.rename(tmp_path / "away")
    with pytest.raises(LakeError, match="0 are there") as raised:
        one.compute(one.ranges[0])
    assert raised.value.code == "STORAGE"
    (tmp_path / "away").rename(hidden)
    one.compute_all()
    one.publish()
    assert one.sweep() == 0
    shop.check("dt")


def test_a_body_that_was_not_heard_of_shares_no_file_with_the_worker_that_computes_in_its_place(shop: LakeCase) -> None:
    make(shop, SHAPES["recomputed"])
    refresh_in_buckets(shop, "dt", **TWO)
    with shop.commit_lock():
        shop.sql("UPDATE orders SET amount = amount + 100 WHERE id % 100 = 4")
    one = spread(shop, "dt", **TWO)
    one.is_elsewhere = True
    unheard = [one.compute(keys) for keys in one.ranges]
    one.is_elsewhere = False
    one.compute_all()
    for there, here in zip(unheard, one.results, strict=True):
        assert there.deletes
        assert {*there.files, there.deletes}.isdisjoint({*here.files, here.deletes})
    one.publish()
    assert one.sweep() == 0
    shop.check("dt")


@pytest.mark.long
def test_a_source_with_inlined_rows_is_refused(shop: LakeCase) -> None:
    shop.sql("CALL lake.set_option('data_inlining_row_limit', 10, table_name => 'names')")
    make(shop, SHAPES["rows of a join"])
    shop.sql("INSERT INTO names VALUES (1000, 'inlined')")
    one = spread(shop, "dt")
    one.is_elsewhere = True
    with pytest.raises(Inlined, match="inlined in the catalog"):
        one.compute(one.ranges[0])
    one.is_elsewhere = False
    one.compute_all()
    one.publish()
    assert one.sweep() == 0


@pytest.mark.long
def test_data_in_a_bucket(db: str, bucket: Bucket, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in bucket.settings.items():
        monkeypatch.setenv(f"CATCHMENT_{name.upper()}", str(value))
    settings = LakeSettings(**SETTINGS, **bucket.settings)
    install_lake(db, LakeAddress(bucket.url), settings)
    Duck.open(db, settings)
    case = LakeCase(db, tmp_path, bucket.settings)
    case.address = LakeAddress(bucket.url)
    try:
        case.make("source", "k BIGINT, v BIGINT")
        case.sql("INSERT INTO source SELECT i % 300, i FROM range(1000) AS r(i)")
        make(case, "SELECT k, max(v) AS m FROM source GROUP BY k")
        refresh_in_buckets(case, "dt", is_elsewhere=True)
        with case.commit_lock():
            case.sql("UPDATE source SET v = v + 1 WHERE k % 3 = 0")
        row = refresh_in_buckets(case, "dt", is_elsewhere=True)
        assert (row["action"], row["inserted"]) == ("incremental", 100)
        case.check("dt")
        assert case.leftovers() == {}
        assert not [name for name in bucket.objects() if "/catchment/" in name]
    finally:
        case.close()


@pytest.mark.long
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("place", range(6))
def test_tables_that_read_each_other_equal_their_definitions(place: int, lake_case: LakeCase) -> None:
    run = Together(lake_case, new_seed(place), definitions=6, is_elsewhere=True)
    run.play(6)
    assert lake_case.temporary() == []
    assert lake_case.leftovers() == {}

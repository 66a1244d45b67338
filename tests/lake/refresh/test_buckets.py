"""A refresh computed in ranges gives what its definition gives, whatever the shape, the strategy and the change."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from catchment.errors import LakeError
from catchment.lake.choose import partition
from catchment.lake.files import sweep
from catchment.lake.tables import lifecycle
from catchment.lake.tasks import attempts
from catchment.lake.tasks.app import lake_bucket
from catchment.lake.tasks.process import LakeProcess
from catchment.lake.types import BucketRange, TableRef
from catchment.task.context import Context
from tests.fixtures.lake import LakeStates, cloned_lake
from tests.fixtures.lake_case import LakeCase
from tests.fixtures.often import often
from tests.lake.refresh.inline import refresh_in_buckets, spread

ORDERS = "id BIGINT, customer BIGINT, region VARCHAR, day DATE, amount DECIMAL(12,2)"
# Negative, NULL, skewed and huge keys.
FILL = """
INSERT INTO orders
SELECT i, CASE WHEN i % 13 = 0 THEN NULL WHEN i % 3 = 0 THEN -7 ELSE i % 97 - 40 END,
       CASE WHEN i % 11 = 0 THEN NULL ELSE 'r' || i % 5 END, DATE '2024-01-01' + CAST(i % 40 AS INTEGER), i % 100 / 10.0
  FROM range(3000) AS r(i)
"""
CHANGE = """
UPDATE orders SET amount = amount + 1, customer = CASE WHEN id % 4 = 0 THEN customer - 1 ELSE customer END
 WHERE id % 5 = 0
"""


@pytest.fixture
def shop(lake_states: LakeStates, tmp_path: Path) -> Iterator[LakeCase]:
    with lake_states.copy(_shop, tmp_path / "lake") as case:
        yield case
        assert case.leftovers() == {}
        assert case.temporary() == []


def _shop(lake_case: LakeCase) -> None:
    lake_case.make("orders", ORDERS)
    lake_case.sql(FILL)
    lake_case.make("names", "customer BIGINT, name VARCHAR", [(i, f"n{i}") for i in range(-40, 60, 2)])


def change(case: LakeCase) -> None:
    with case.commit_lock():
        case.sql(CHANGE)
        case.sql("DELETE FROM orders WHERE id % 17 = 0")
        case.sql(
            "INSERT INTO orders (id, customer, region, day, amount)"
            " SELECT id + 10000, NULL, 'new', day, amount FROM orders WHERE id % 50 = 0"
        )
        case.sql("UPDATE names SET name = name || '!' WHERE customer % 3 = 0")


FEW = {"parallel_min_buckets": 4, "parallel_buckets_per_worker": 1}
"""Four ranges are enough where only the result matters."""

TWICE = ("recomputed", "rows of a join")
"""Shapes that are changed once more: what was deleted before is in other files then."""

SHAPES = {
    "integer key": "SELECT customer, count(*) AS n, sum(amount) AS s FROM orders GROUP BY customer",
    "recomputed": "SELECT customer, max(amount) AS m FROM orders GROUP BY customer HAVING count(*) > 3",
    "composite key": "SELECT region, day, max(amount) AS m, count(*) AS n FROM orders GROUP BY ALL",
    "rows of a join": "SELECT o.id, o.amount, n.name FROM orders o LEFT JOIN names n USING (customer)",
    "union": "SELECT customer, max(amount) AS m FROM orders GROUP BY 1 UNION ALL SELECT customer, 1 FROM names",
    "distinct": "SELECT DISTINCT region, customer FROM orders",
    "window": "SELECT id, rank() OVER (PARTITION BY customer ORDER BY amount, id) AS r FROM orders",
}
EVERY_RUN = ["rows of a join"]


@pytest.mark.parametrize("shape", often(*EVERY_RUN, now_and_then=sorted(SHAPES.keys() - EVERY_RUN)))
def test_every_shape_is_filled_and_refreshed_in_ranges(shop: LakeCase, shape: str) -> None:
    shop.create(f"CREATE DYNAMIC TABLE dt TARGET_LAG = '1 day' REFRESH_MODE = INCREMENTAL AS {SHAPES[shape]}")
    filled = refresh_in_buckets(shop, "dt", **FEW)
    assert (filled["action"], filled["reason"]) == ("reinitialize", "FIRST_FILL")
    shop.check("dt")
    for _ in range(2 if shape in TWICE else 1):
        change(shop)
        done = refresh_in_buckets(shop, "dt", **FEW)
        assert done["action"] == "incremental"
        assert done["keys"] > 0
        shop.check("dt")


@pytest.mark.long
@pytest.mark.parametrize("strategy", often("modulo", now_and_then=["hash_range"]))
def test_negative_and_null_keys_are_kept_by_every_strategy(shop: LakeCase, strategy: str) -> None:
    shop.create(
        f"CREATE DYNAMIC TABLE dt TARGET_LAG = '1 day' REFRESH_MODE = INCREMENTAL PARALLEL_STRATEGY = {strategy}"
        " AS SELECT customer, max(amount) AS m, min(id) AS i FROM orders GROUP BY customer"
    )
    refresh_in_buckets(shop, "dt", **FEW)
    shop.check("dt")
    found = {row[0] for row in shop.rows("dt")}
    assert {None, -7, -40} <= found
    change(shop)
    one = spread(shop, "dt")
    assert any(keys.partition is None for keys in one.ranges) == (strategy == "modulo")
    one.compute_all()
    one.publish()
    assert one.sweep() == 0
    shop.check("dt")


@pytest.mark.long
def test_source_partitions_become_ranges_when_the_key_has_them(shop: LakeCase) -> None:
    shop.sql("ALTER TABLE orders SET PARTITIONED BY (region)")
    shop.create(
        "CREATE DYNAMIC TABLE dt TARGET_LAG = '1 day' REFRESH_MODE = INCREMENTAL PARALLEL_STRATEGY = partition"
        " AS SELECT region, customer, max(amount) AS m FROM orders GROUP BY ALL"
    )
    refresh_in_buckets(shop, "dt")
    shop.check("dt")
    change(shop)
    one = spread(shop, "dt")
    specs = [keys.spec for keys in one.ranges]
    assert {"k1": None} in specs
    assert {"k1": "r1"} in specs
    assert len(specs) == len({str(spec) for spec in specs})
    halves = partition.halve(one.ranges[specs.index({"k1": "r1"})]) or ()
    rest = [keys for keys in one.ranges if keys.spec != {"k1": "r1"}]
    one.results = [one.compute(keys) for keys in (*halves, *rest)]
    assert all(result.inserted for result in one.results[:2])
    one.publish()
    assert one.sweep() == 0
    shop.check("dt")


@pytest.mark.long
def test_only_ranges_with_touched_keys_are_made(shop: LakeCase) -> None:
    shop.create(
        "CREATE DYNAMIC TABLE dt TARGET_LAG = '1 day' REFRESH_MODE = INCREMENTAL"
        " AS SELECT id, max(amount) AS m FROM orders GROUP BY id"
    )
    refresh_in_buckets(shop, "dt")
    shop.sql("UPDATE orders SET amount = amount + 1 WHERE id IN (5, 6)")
    one = spread(shop, "dt", parallel_min_buckets=256)
    assert one.plan.total == 256
    assert 1 <= len(one.ranges) <= 2
    one.compute_all()
    row = one.publish()
    assert (row["keys"], row["inserted"], row["deleted"]) == (2, 2, 2)
    assert one.sweep() == 0
    shop.check("dt")


@pytest.mark.long
def test_a_subtask_gets_ids_and_ranges_and_reads_its_own_keys(shop: LakeCase, tmp_path: Path) -> None:
    shop.create(
        "CREATE DYNAMIC TABLE dt TARGET_LAG = '1 day' REFRESH_MODE = INCREMENTAL"
        " AS SELECT customer, max(amount) AS m FROM orders GROUP BY customer"
    )
    refresh_in_buckets(shop, "dt")
    change(shop)
    one = spread(shop, "dt")
    folders = {keys.partition: Path(f"{one.plan.keys_folder(1)}p={keys.partition}") for keys in one.ranges}
    counts = {
        place: shop.sql(f"SELECT count(*) FROM read_parquet('{folder}/*.parquet')")[0][0]
        for place, folder in folders.items()
    }
    assert sum(counts.values()) == shop.refreshed(one.refresh_id)["keys"]
    # Only the file of the range is read: without it the range cannot be computed, and the others can.
    (hidden := folders[one.ranges[0].partition]).rename(tmp_path / "away")
    with pytest.raises(LakeError, match=f"wrote {counts[one.ranges[0].partition]} keys .* 0 are there") as raised:
        one.compute(one.ranges[0])
    assert raised.value.code == "STORAGE"
    one.results = [one.compute(keys) for keys in one.ranges[1:]]
    (tmp_path / "away").rename(hidden)
    one.results.append(one.compute(one.ranges[0]))
    one.publish()
    assert one.sweep() == 0
    shop.check("dt")


@pytest.mark.long
def test_a_folder_whose_name_looks_like_a_pattern(server: str, lake_template: str, tmp_path: Path) -> None:
    folder = tmp_path / "la[k]e *?"
    with cloned_lake(server, lake_template, folder) as dsn, closing(LakeCase(dsn, folder)) as case:
        case.make("source", "k BIGINT, v BIGINT")
        case.sql("INSERT INTO source SELECT i, i FROM range(40) AS r(i)")
        case.create(
            "CREATE DYNAMIC TABLE dt TARGET_LAG = '1 day' REFRESH_MODE = INCREMENTAL"
            " AS SELECT k, max(v) AS m FROM source GROUP BY k"
        )
        case.refresh("dt")
        case.sql("UPDATE source SET v = v + 1")
        row = refresh_in_buckets(case, "dt", **FEW)
        assert (row["keys"], row["inserted"]) == (40, 40)
        case.check("dt")
        assert case.leftovers() == {}
        assert not list((folder / "catchment").rglob("*.parquet"))


@pytest.mark.long
def test_halves_of_a_range_are_the_range(shop: LakeCase) -> None:
    shop.create(
        "CREATE DYNAMIC TABLE dt TARGET_LAG = '1 day' REFRESH_MODE = INCREMENTAL"
        " AS SELECT customer, max(amount) AS m FROM orders GROUP BY customer"
    )
    one = spread(shop, "dt")
    first, *rest = one.ranges
    place, total = first.partition or 0, first.total
    halves = [BucketRange(place, total * 2), BucketRange(place + total, total * 2)]
    one.results = [one.compute(keys) for keys in [*halves, *rest]]
    one.publish()
    assert one.sweep() == 0
    shop.check("dt")
    change(shop)
    again = spread(shop, "dt")
    first, *rest = again.ranges
    place, total = first.partition or 0, first.total
    halves = [BucketRange(place, total * 2), BucketRange(place + total, total * 2)]
    again.results = [again.compute(keys) for keys in [*halves, *rest]]
    again.publish()
    assert again.sweep() == 0
    shop.check("dt")


def test_a_plan_for_another_definition_is_not_carried_out(shop: LakeCase) -> None:
    shop.create("CREATE DYNAMIC TABLE dt TARGET_LAG = '1 day' AS SELECT id, max(amount) AS m FROM orders GROUP BY id")
    one = spread(shop, "dt")
    shop.pg('update lake.refresh set plan = plan || \'{"definition_hash": "another"}\' where id = %s', one.refresh_id)
    with pytest.raises(LakeError, match="definition") as raised:
        one.compute(one.ranges[0])
    assert raised.value.code == "DEFINITION_CHANGED"
    shop.pg("update lake.refresh set plan = null where id = %s", one.refresh_id)
    with pytest.raises(LakeError, match="no plan"):
        one.compute(one.ranges[0])


def test_a_range_past_the_deadline_of_its_refresh_is_not_tried_again(shop: LakeCase) -> None:
    shop.create("CREATE DYNAMIC TABLE dt TARGET_LAG = '1 day' AS SELECT id, max(amount) AS m FROM orders GROUP BY id")
    one = spread(shop, "dt")
    shop.pg("update lake.refresh set deadline_at = worker.now() - interval '1 s' where id = %s", one.refresh_id)
    lake = LakeProcess(shop.dsn, shop.settings, shop.control)
    with pytest.raises(attempts.Failed, match="CATCHMENT_PARALLEL_TIMEOUT_SECONDS") as raised:
        attempts.run_bucket(lake, Context.local(max_attempts=9), one.refresh_id, one.ranges[0], "1/0", lake_bucket)
    assert raised.value.code == "TIMEOUT"


def test_an_unfinished_refresh_keeps_its_files_and_a_failed_one_does_not(shop: LakeCase) -> None:
    shop.create("CREATE DYNAMIC TABLE dt TARGET_LAG = '1 day' AS SELECT id, max(amount) AS m FROM orders GROUP BY id")
    one = spread(shop, "dt")
    one.compute_all()
    assert one.sweep() == 0
    assert shop.leftovers()["files"]
    order = shop.begin(one.refresh_id)
    shop.control.fail_refresh(one.refresh_id, order.fence, "QUERY", "the test says so")
    assert one.sweep() == 0
    assert shop.leftovers() == {}


@pytest.mark.long
def test_files_of_a_table_that_was_dropped_meanwhile_are_swept(shop: LakeCase) -> None:
    shop.create("CREATE DYNAMIC TABLE dt TARGET_LAG = '1 day' AS SELECT id, max(amount) AS m FROM orders GROUP BY id")
    one = spread(shop, "dt")
    one.compute_all()
    lifecycle.drop(shop.duck, shop.control, TableRef("main", "dt"))
    assert sweep.sweep(shop.duck, shop.control, shop.settings) == 0


@pytest.mark.long
def test_a_file_that_may_still_be_written_is_looked_for_again(shop: LakeCase) -> None:
    shop.create("CREATE DYNAMIC TABLE dt TARGET_LAG = '1 day' AS SELECT id, max(amount) AS m FROM orders GROUP BY id")
    one = spread(shop, "dt")
    lost = one.compute(one.ranges[0], attempt=1)
    shop.pg(
        "insert into worker.attempt (task_id, attempt, state, ended_at, error)"
        " values (0, 1, 'interrupted', worker.now(), '{}')"
    )
    one.results = [one.compute(keys, attempt=2) for keys in one.ranges]
    one.publish()
    assert one.sweep() > 0
    # The process that was taken for dead writes once more, after its file was removed.
    Path(lost.files[0]).write_bytes(b"late")
    shop.pg("update lake.artifact set made_at = made_at - interval '1 hour'")
    assert one.sweep() == 0
    assert not Path(lost.files[0]).exists()
    shop.check("dt")

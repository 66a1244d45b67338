"""Every key belongs to exactly one range, whatever its type, sign or strategy; and what cannot be cut is refused."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from catchment.errors import TableRefused
from catchment.lake.choose import partition
from catchment.lake.delta.analyse import analyse
from catchment.lake.delta.buckets import belongs, storage_bucket
from catchment.lake.delta.buckets import hash_expression as h_of
from catchment.lake.query.trees import column, text
from catchment.lake.settings import LakeSettings
from catchment.lake.types import BucketRange, Definition, Properties, SourceTable, Strategy, TableRef
from tests.fixtures.often import some, some_rows
from tests.lake.fuzz.memory import Memory, open_duckdb

DEFAULTS = LakeSettings()
KEYS: dict[str, st.SearchStrategy[Any]] = {
    "BIGINT": st.integers(-(2**63), 2**63 - 1),
    "VARCHAR": st.text(st.characters(blacklist_characters="\0", blacklist_categories=("Cs",)), max_size=8),
    "UUID": st.uuids().map(str),
    "DATE": st.dates().map(str),
    "DECIMAL(18,2)": st.decimals(-(10**15), 10**15, places=2, allow_nan=False).map(str),
}


@pytest.mark.parametrize(
    ("keys", "workers", "expected"),
    [(1, 1, 8), (1, 2, 8), (1, 4, 16), (1, 5, 32), (10_000_000, 4, 16), (17_000_000, 4, 32), (10**9, 16, 256)],
)
def test_there_are_more_ranges_than_workers_and_none_is_too_big(keys: int, workers: int, expected: int) -> None:
    assert partition.bucket_count(keys, workers, DEFAULTS) == expected


def test_bounds_that_are_no_powers_of_two_are_kept() -> None:
    assert partition.bucket_count(10**9, 4, LakeSettings(parallel_max_buckets=100)) == 64
    assert partition.bucket_count(1, 1, LakeSettings(parallel_min_buckets=5)) == 8
    assert partition.bucket_count(1, 1, LakeSettings(parallel_min_buckets=1, parallel_buckets_per_worker=1)) == 1


def test_only_ranges_with_keys_are_cut_the_biggest_first() -> None:
    found = partition.cut(8, {0: 5, 3: 70, 4: 0, -1: 1})
    assert found == [BucketRange(3, 8), BucketRange(0, 8), BucketRange(None, 8)]


def test_a_whole_table_is_cut_into_all_ranges() -> None:
    assert partition.cut_all(4, Strategy.HASH_RANGE) == [BucketRange(place, 4) for place in range(4)]
    assert partition.cut_all(4, Strategy.MODULO)[-1] == BucketRange(None, 4)


def test_halving_ends_somewhere() -> None:
    keys = BucketRange(7, 8)
    while (halves := partition.halve(keys)) is not None:
        assert {half.partition for half in halves} == {keys.partition, (keys.partition or 0) + keys.total}
        keys = halves[1]
    assert keys.total == partition.MOST_RANGES
    assert partition.halve(BucketRange(None, 8)) is None


def test_a_partition_is_halved_by_the_hash_of_its_keys() -> None:
    spec = {"k1": "2024"}
    planned = BucketRange(1, 3, spec)
    assert partition.half_of(planned, 3) is None
    halves = partition.halve(planned)
    assert halves is not None
    first, second = halves
    assert halves == (BucketRange(1, 6, spec), BucketRange(4, 6, spec))
    assert [partition.half_of(half, 3) for half in (first, second)] == [(0, 2), (1, 2)]
    assert [partition.half_of(half, 3) for half in partition.halve(second) or ()] == [(1, 4), (3, 4)]
    assert {half.partition % 3 for half in (first, second) if half.partition is not None} == {1}


@pytest.mark.parametrize(("total", "buckets"), [(8, 64), (8, 8), (16, 4), (1, 4), (4, 1), (256, 256)])
def test_storage_buckets_of_all_ranges_are_all_storage_buckets(total: int, buckets: int) -> None:
    ranges = partition.cut_all(total, Strategy.HASH_RANGE)
    owned = [partition.storage_of(keys, buckets) or frozenset() for keys in ranges]
    assert frozenset().union(*owned) == frozenset(range(buckets))
    for h in (0, 1, 12_345, 2**31 - 2):
        assert h % buckets in owned[h % total]
    is_alone = sum(map(len, owned)) == buckets
    assert all(partition.owns_storage(keys, buckets) is is_alone for keys in ranges)


def test_null_has_a_separate_storage_bucket_and_a_partition_may_be_anywhere() -> None:
    assert partition.storage_of(BucketRange(None, 8), 4) == {-1}
    assert partition.owns_storage(BucketRange(None, 8), 4)
    assert partition.storage_of(BucketRange(0, 1, {"k1": "x"}), 4) is None
    assert not partition.owns_storage(BucketRange(0, 1, {"k1": "x"}), 4)


def _rows(kinds: list[str], rows: list[tuple[Any, ...]], expressions: list[str]) -> list[tuple[Any, ...]]:
    with open_duckdb() as duckdb:
        casts = ", ".join(f"CAST(? AS {kind})" for kind in kinds)
        names = ", ".join(f"k{place}" for place in range(1, len(kinds) + 1))
        values = " UNION ALL ".join(f"SELECT {casts}" for _ in rows)
        sql = f"SELECT {', '.join(expressions)} FROM ({values}) AS v({names})"
        return duckdb.execute(sql, [value for row in rows for value in row]).fetchall()


@pytest.mark.long
@settings(max_examples=8, deadline=None)
@given(st.data())
def test_every_key_is_in_one_range_before_and_after_halving(data: st.DataObject) -> None:
    kinds = data.draw(st.lists(st.sampled_from(sorted(KEYS)), min_size=1, max_size=3))
    row = st.tuples(*(st.none() | KEYS[kind] for kind in kinds))
    rows = data.draw(st.lists(row, min_size=1, max_size=12))
    total = 2 ** data.draw(st.integers(0, 5))
    keys = [(column(f"k{place}"), kind) for place, kind in enumerate(kinds, start=1)]
    is_modulo = kinds == ["BIGINT"] and data.draw(st.booleans())
    method, strategy = ("modulo", Strategy.MODULO) if is_modulo else ("hash", Strategy.HASH_RANGE)
    ranges = partition.cut_all(total, strategy)
    ranges += partition.halve(ranges.pop(0)) or ()
    conditions = [text(condition) for one in ranges if (condition := belongs(keys, method, one)) is not None]
    bucket = text(storage_bucket(h_of(keys, method), 16))
    for *hits, stored in _rows(kinds, rows, [*conditions, bucket]):
        assert hits.count(True) == 1
        owner = ranges[hits.index(True)]
        assert stored in (partition.storage_of(owner, 16) or ())


class Partitioned(Memory):
    """A schema whose tables have partition columns."""

    columns: dict[str, tuple[str, ...]]

    def table(self, parts: Any) -> SourceTable | None:
        found = super().table(parts)
        if found is None:
            return None
        return SourceTable(
            found.table_id, found.ref, found.columns, found.rows, partitioned_by=self.columns.get(found.ref.name, ())
        )


@pytest.fixture
def partitioned() -> Partitioned:
    schema = Partitioned()
    schema.make("orders", {"id": "BIGINT", "year": "INTEGER", "month": "INTEGER", "amount": "DOUBLE"})
    schema.make("plain", {"id": "BIGINT", "ratio": "DOUBLE"})
    schema.columns = {"orders": ("year", "month")}
    return schema


def planned(schema: Partitioned, query: str, strategy: Strategy = Strategy.PARTITION) -> Any:
    properties = Properties(parallel_strategy=strategy)
    return analyse(Definition(TableRef("main", "dt"), query, properties), schema)


def test_partition_columns_that_are_parts_of_the_key_cut_it(partitioned: Partitioned) -> None:
    query = 'SELECT id, "month", "year", max(amount) AS m FROM orders GROUP BY ALL'
    plan = planned(partitioned, query)
    assert partition.partition_parts(plan) == ("k2", "k3")
    partition.check_strategy(Strategy.PARTITION, plan)


@pytest.mark.parametrize(
    "query",
    some(
        [
            'SELECT id, "year", max(amount) AS m FROM orders GROUP BY ALL',
            'SELECT id, "year" + 1 AS y, "month", max(amount) AS m FROM orders GROUP BY ALL',
            'SELECT id, "year", amount FROM orders',
            "SELECT id, max(ratio) AS m FROM plain GROUP BY id",
        ],
        one_in=3,
    ),
)
def test_a_group_that_spans_partitions_is_refused(partitioned: Partitioned, query: str) -> None:
    plan = planned(partitioned, query)
    with pytest.raises(TableRefused, match="partition") as raised:
        partition.check_strategy(Strategy.PARTITION, plan)
    assert raised.value.code == "STRATEGY_NOT_POSSIBLE"
    assert "hash_range" in (raised.value.hint or "")
    partition.check_strategy(Strategy.HASH_RANGE, plan)


def test_modulo_needs_one_integer(partitioned: Partitioned) -> None:
    assert planned(partitioned, "SELECT id, max(ratio) AS m FROM plain GROUP BY id", Strategy.MODULO)
    for query in (
        "SELECT ratio, count(*) AS n FROM plain GROUP BY 1",
        "SELECT id, ratio, 1 AS o FROM plain GROUP BY ALL",
    ):
        with pytest.raises(TableRefused, match="modulo"):
            planned(partitioned, query, Strategy.MODULO)


@pytest.mark.parametrize(
    ("query", "expected"),
    some_rows(
        [
            ("SELECT id, max(ratio) AS m FROM plain GROUP BY id", True),
            ("SELECT ratio, max(id) AS m FROM plain GROUP BY ratio", False),
            ("SELECT ratio, id, count(*) AS n FROM plain GROUP BY ALL", True),
            ("SELECT id, ratio FROM plain", True),
            ("SELECT count(*) AS n FROM plain", False),
            ("SELECT id FROM plain ORDER BY id LIMIT 3", False),
        ],
        one_in=2,
    ),
)
def test_what_can_be_cut(partitioned: Partitioned, query: str, expected: bool) -> None:
    assert partition.is_cuttable(planned(partitioned, query, Strategy.HASH_RANGE)) is expected

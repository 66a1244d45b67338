"""The bucket of a key: one function, every key in exactly one range, whatever its type or sign."""

from __future__ import annotations

from typing import Any

import pytest
from sqlglot import exp

from catchment.lake.delta.buckets import belongs, hash_expression, is_hashable, storage_bucket
from catchment.lake.delta.compile import all_rows, bucket_of_keys, fresh_rows, stored_rows
from catchment.lake.delta.terms import affected
from catchment.lake.query.trees import column, text
from catchment.lake.types import BucketRange, Properties, Strategy
from tests.fixtures.often import often, some
from tests.lake.fuzz.memory import BUCKETS, Dynamic, Memory

KEYS = {
    "BIGINT": ["-9223372036854775808", "-7", "-1", "0", "1", "7", "9223372036854775807", "NULL"],
    "UBIGINT": ["0", "18446744073709551615", "NULL"],
    "TINYINT": ["-128", "-1", "127", "NULL"],
    "VARCHAR": ["''", "'a'", "'ä'", "NULL"],
    "DECIMAL(18,2)": ["-1.50", "0.00", "1.50", "NULL"],
    "DECIMAL(38,0)": ["-1", "27670116110564327425", "NULL"],
    "DATE": ["DATE '1969-12-31'", "DATE '2024-02-29'", "NULL"],
    "TIMESTAMP": ["TIMESTAMP '2024-01-01 00:00:00'", "NULL"],
    "TIMESTAMP WITH TIME ZONE": ["TIMESTAMPTZ '2024-01-01 00:00:00+00'", "NULL"],
    "UUID": ["'00000000-0000-0000-0000-000000000001'", "NULL"],
    "BOOLEAN": ["true", "false", "NULL"],
}


def values(memory: Memory, tree: exp.Expr, kind: str) -> list[Any]:
    rows = ", ".join(f"(CAST({value} AS {kind}))" for value in KEYS[kind])
    return [value for (value,) in memory.rows(f"SELECT {text(tree)} FROM (VALUES {rows}) AS v(k)")]


@pytest.mark.parametrize("kind", KEYS)
def test_every_key_has_a_hash_below_two_to_the_31(memory: Memory, kind: str) -> None:
    found = values(memory, hash_expression([(column("k"), kind)], "hash"), kind)
    assert all(isinstance(value, int) and 0 <= value < 2**31 for value in found)


@pytest.mark.parametrize("kind", KEYS)
@pytest.mark.parametrize("total", often(1, 8, now_and_then=[2, 256]))
def test_every_key_is_in_exactly_one_range(memory: Memory, kind: str, total: int) -> None:
    keys = [(column("k"), kind)]
    hits = [0] * len(KEYS[kind])
    for partition in range(total):
        condition = belongs(keys, "hash", BucketRange(partition, total))
        assert condition is not None
        hits = [hit + bool(value) for hit, value in zip(hits, values(memory, condition, kind), strict=True)]
    assert hits == [1] * len(hits)


@pytest.mark.parametrize("kind", ["BIGINT", "VARCHAR", "DECIMAL(18,2)", "DECIMAL(38,2)", "UBIGINT", "UINTEGER", "UUID"])
def test_hash_does_not_depend_on_what_a_filter_leaves(memory: Memory, kind: str) -> None:
    """DuckDB hands the rows that a filter leaves on by their places; a function has to look there."""
    key = "CAST(printf('00000000-0000-0000-0000-%012d', i) AS UUID)" if kind == "UUID" else f"CAST(i AS {kind})"
    memory.run(f"CREATE OR REPLACE TEMP TABLE keys AS SELECT i, {key} AS k FROM range(1000) AS r(i)")
    h = text(hash_expression([(column("k"), kind)], "hash"))
    memory.run(f"CREATE OR REPLACE TEMP TABLE hashes AS SELECT i, {h} AS h FROM keys")
    found = memory.rows(f"SELECT i FROM keys WHERE i * 7 % 3 = 1 AND {h} % 2 = 0 ORDER BY i")
    assert found == memory.rows("SELECT i FROM hashes WHERE i * 7 % 3 = 1 AND h % 2 = 0 ORDER BY i")


@pytest.mark.parametrize("kind", ["BIGINT", "UBIGINT", "TINYINT"])
def test_modulo_is_the_remainder_that_is_never_negative_and_null_has_a_range(memory: Memory, kind: str) -> None:
    keys = [(column("k"), kind)]
    h = hash_expression(keys, "modulo")
    for total in (1, 4, 256):
        expected = [None if value == "NULL" else int(value) % total for value in KEYS[kind]]
        assert (
            values(memory, exp.Mod(this=exp.Paren(this=h.copy()), expression=exp.Literal.number(total)), kind)
            == expected
        )
        stored = values(memory, storage_bucket(h.copy(), total), kind)
        assert stored == [-1 if value is None else value for value in expected]
        nulls = belongs(keys, "modulo", BucketRange(None, total))
        assert nulls is not None
        assert [bool(value) for value in values(memory, nulls, kind)] == [value is None for value in expected]


def test_a_split_range_is_two_ranges_of_twice_as_many(memory: Memory) -> None:
    h = text(hash_expression([(column("k"), "BIGINT")], "hash"))
    [(wrong,)] = memory.rows(
        f"SELECT count(*) FROM (SELECT {h} AS h FROM range(-5000, 5000) AS r(k))"
        " WHERE h % 8 = 3 AND h % 16 NOT IN (3, 11)"
    )
    assert wrong == 0


def test_hashes_spread(memory: Memory) -> None:
    h = text(hash_expression([(column("k"), "BIGINT"), (column("d"), "DATE")], "hash"))
    sizes = memory.rows(
        f"SELECT count(*) FROM (SELECT {h} AS h FROM (SELECT k, DATE '2024-01-01' + CAST(k % 7 AS INTEGER) AS d"
        f" FROM range(16000) AS r(k))) GROUP BY h % 16"
    )
    assert len(sizes) == 16
    assert all(800 < size < 1200 for (size,) in sizes)


def test_composite_keys_are_distinguished(memory: Memory) -> None:
    h = text(hash_expression([(column("a"), "INTEGER"), (column("b"), "VARCHAR")], "hash"))
    found = memory.rows(f"SELECT {h} FROM (VALUES (1, 'x'), (1, NULL), (NULL, 'x'), (NULL, NULL), (2, 'x')) AS v(a, b)")
    assert len({value for (value,) in found}) == 5


@pytest.mark.parametrize(
    "kind", ["DOUBLE", "FLOAT", "INTERVAL", "INTEGER[]", "STRUCT(a INTEGER)", "TIME", "BLOB", "JSON"]
)
def test_other_types_do_not_take_part(memory: Memory, kind: str) -> None:
    assert not is_hashable(kind)
    [(value,)] = memory.rows(f"SELECT {text(hash_expression([(column('k'), kind)], 'hash'))} FROM (SELECT NULL AS k)")
    assert value == 0


def test_a_value_is_hashed_in_its_stored_type(shop: Memory) -> None:
    """The rows of both ways of computing one key, and the key itself, have to agree on its bucket."""
    table = Dynamic(shop, "SELECT sum(order_id) AS s FROM orders GROUP BY customer_id")
    outer = Dynamic(
        shop, "SELECT DISTINCT s FROM (SELECT sum(order_id) AS s FROM orders GROUP BY customer_id)", name="dt2"
    )
    assert [item.type for item in outer.plan.layout.keys_of(1)] == ["DECIMAL(38,0)"]
    shop.change("orders", "UPDATE {} SET order_id = order_id + 10")
    for item in (table, outer):
        item.refresh()
        item.check()


QUERIES = [
    "SELECT customer_id, max(amount) AS m FROM orders GROUP BY customer_id",
    "SELECT o.order_id, c.region FROM orders o LEFT JOIN customers c USING (customer_id)",
    "SELECT DISTINCT note, amount FROM orders",
    "SELECT order_id, rank() OVER (PARTITION BY note ORDER BY amount) AS r FROM orders",
    "SELECT customer_id, sum(amount) AS s FROM orders GROUP BY customer_id",
    "SELECT note, count(*) AS n FROM orders GROUP BY note UNION ALL SELECT name, 1 FROM country",
    "SELECT count(*) AS n FROM orders",
    "SELECT order_id FROM orders ORDER BY order_id LIMIT 3",
]


@pytest.mark.parametrize("query", some(QUERIES, one_in=2))
def test_ranges_cut_all_rows_fresh_rows_and_stored_rows_alike(shop: Memory, query: str) -> None:
    table = Dynamic(shop, query)
    shop.change("orders", "UPDATE {} SET amount = amount + 1, note = 'z' WHERE order_id < 3")
    table._views()
    changed = table._deltas()
    wholes = [(all_rows(table.plan, buckets=BUCKETS), stored_rows(table.plan, by_keys=False))]
    parts = [BucketRange(partition, 8) for partition in range(8)]
    cuts = [
        [all_rows(table.plan, buckets=BUCKETS, only=part) for part in parts],
        [stored_rows(table.plan, only=part, by_keys=False) for part in parts],
    ]
    if table.plan.strategy != "full":
        table._make(affected(table.plan, changed))
        wholes.append((fresh_rows(table.plan, buckets=BUCKETS), stored_rows(table.plan)))
        cuts.append([fresh_rows(table.plan, buckets=BUCKETS, only=part) for part in parts])
        cuts.append([stored_rows(table.plan, only=part) for part in parts])
    for whole, pieces in zip([sql for pair in wholes for sql in pair], cuts, strict=True):
        rows = [row for piece in pieces for row in shop.rows(piece)]
        assert sorted(map(str, rows)) == sorted(map(str, shop.rows(whole)))


def test_the_bucket_of_a_key_is_the_bucket_of_its_rows(shop: Memory) -> None:
    table = Dynamic(shop, "SELECT customer_id, note, max(amount) AS m FROM orders GROUP BY ALL")
    shop.change("orders", "UPDATE {} SET amount = amount + 1")
    table.refresh()
    h = bucket_of_keys(table.plan, table.plan.parts[0])
    of_keys = {row[:2]: row[2] for row in shop.rows(f"SELECT k1, k2, {h} % {BUCKETS} FROM akeys_1")}
    of_rows = {row[:2]: row[2] for row in shop.rows("SELECT customer_id, note, __b FROM dt")}
    assert of_keys == of_rows


def test_stored_rows_can_be_limited_to_storage_buckets(shop: Memory) -> None:
    properties = Properties(parallel_strategy=Strategy.MODULO)
    table = Dynamic(shop, "SELECT customer_id, count(*) AS n FROM orders GROUP BY 1", properties=properties)
    table._views()
    found = shop.rows(stored_rows(table.plan, storage=[-1, 42 % BUCKETS], by_keys=False))
    assert {row[1] for row in found} == {42, None}


def test_a_partition_is_named_by_its_key_values(shop: Memory) -> None:
    table = Dynamic(shop, "SELECT customer_id, note, max(amount) AS m FROM orders GROUP BY ALL")
    table._views()
    one = all_rows(table.plan, buckets=BUCKETS, only=BucketRange(0, 1, {"k1": "42"}))
    assert {row[:2] for row in shop.rows(one)} == {(42, "a"), (42, None)}
    none = stored_rows(table.plan, only=BucketRange(0, 1, {"k1": None, "k2": None}), by_keys=False)
    assert [row[1:3] for row in shop.rows(none)] == [(None, None)]
    hostile = all_rows(table.plan, buckets=BUCKETS, only=BucketRange(0, 1, {"k2": "a'; DROP TABLE src1_new; --"}))
    assert shop.rows(hostile) == []

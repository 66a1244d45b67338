"""Big sources of a join are narrowed once for all its terms."""

from __future__ import annotations

import pytest

from catchment.lake.delta.apply import delta_steps
from catchment.lake.delta.effort import effort
from tests.lake.fuzz.memory import BUCKETS, Dynamic, Memory

STAR = """
    SELECT c.region, sum(i.amount * p.weight) AS amount, count(*) AS n FROM items i
    JOIN orders o ON i.order_id = o.order_id JOIN customers c ON c.customer_id = o.customer_id
    JOIN parts p ON p.part_id = i.part_id AND p.kind = i.kind GROUP BY c.region
"""
SHARED_REGION = """
    SELECT s.region, count(*) AS n FROM customers c JOIN orders o ON o.customer_id = c.customer_id
    JOIN items i ON i.order_id = o.order_id JOIN suppliers s ON s.supplier_id = i.part_id AND s.region = c.region
    GROUP BY s.region
"""
WINDOWS = (
    (
        ("items", "DELETE FROM {} WHERE item_id % 900 = 5"),
        ("orders", "UPDATE {} SET customer_id = customer_id + 1 WHERE order_id % 800 = 3"),
        ("customers", "DELETE FROM {} WHERE customer_id % 90 = 1"),
        ("parts", "UPDATE {} SET weight = weight + 1, kind = NULL WHERE part_id % 50 = 4"),
        ("suppliers", "UPDATE {} SET region = 'r2' WHERE supplier_id = 7"),
    ),
    (
        ("items", "UPDATE {} SET order_id = NULL, part_id = 3 WHERE item_id % 700 = 2"),
        ("items", "INSERT INTO {0} SELECT __rid + 1000000, item_id, 7, 4, kind, 2 FROM {0} WHERE item_id % 999 = 1"),
        ("orders", "DELETE FROM {} WHERE order_id % 700 = 4"),
        ("parts", "UPDATE {} SET kind = 1 WHERE kind IS NULL"),
        ("suppliers", "DELETE FROM {} WHERE supplier_id % 40 = 3"),
    ),
)


@pytest.fixture
def shop(memory: Memory) -> Memory:
    memory.make(
        "items",
        {"item_id": "BIGINT", "order_id": "BIGINT", "part_id": "BIGINT", "kind": "INTEGER", "amount": "DECIMAL(10,2)"},
    )
    memory.make("orders", {"order_id": "BIGINT", "customer_id": "BIGINT"})
    memory.make("customers", {"customer_id": "BIGINT", "region": "VARCHAR"})
    memory.make("parts", {"part_id": "BIGINT", "kind": "INTEGER", "weight": "INTEGER"})
    memory.make("suppliers", {"supplier_id": "BIGINT", "region": "VARCHAR"})
    rows = {
        "items": "i, i, i % 21000, i % 500, i % 2, i % 13 FROM range(50000) AS r(i)",
        "orders": "i, i, i % 1000 FROM range(21000) AS r(i)",
        "customers": "i, i, 'r' || (i % 4) FROM range(1000) AS r(i)",
        "parts": "i, i % 500, i // 500, i % 7 FROM range(1000) AS r(i)",
        "suppliers": "i, i, 'r' || (i % 4) FROM range(500) AS r(i)",
    }
    for name, query in rows.items():
        memory.run(f"INSERT INTO {memory.sources[name].new} SELECT {query}")
    memory.keep()
    return memory


@pytest.mark.parametrize("query", [STAR, SHARED_REGION])
def test_a_narrowed_join_stays_equal_to_its_definition(shop: Memory, query: str) -> None:
    table = Dynamic(shop, query, twice=True)
    for window in WINDOWS:
        for name, sql in window:
            shop.change(name, sql)
        assert near_tables(table) >= {"near_1", "near_2"} if query == STAR else {"near_2", "near_3"}
        table.refresh()
        table.check()
        shop.keep()


def test_the_biggest_source_is_scanned_once_beside_its_changes(shop: Memory) -> None:
    table = Dynamic(shop, STAR)
    text = " ".join(step.sql for step in delta_steps(table.plan, frozenset({1, 2, 3, 4}), buckets=BUCKETS))
    assert text.count('"o1_new"') == 1


def test_nothing_is_read_as_it_was(shop: Memory) -> None:
    """Its changes are undone instead."""
    table = Dynamic(shop, STAR)
    for changed in ({1}, {2, 3}, {1, 2, 3, 4}):
        text = " ".join(step.sql for step in delta_steps(table.plan, frozenset(changed), buckets=BUCKETS))
        assert "_old" not in text.replace("dt_old", "")


def test_a_source_is_narrowed_by_its_own_conditions_too(shop: Memory) -> None:
    table = Dynamic(shop, STAR.replace("GROUP BY", "WHERE i.amount > 3 GROUP BY"))
    steps = {step.name: step.sql for step in delta_steps(table.plan, frozenset({1, 2, 3, 4}), buckets=BUCKETS)}
    assert steps["near_1"].endswith('AND "i"."amount" > 3')
    for window in WINDOWS:
        for name, sql in window:
            shop.change(name, sql)
        table.refresh()
        table.check()
        shop.keep()


def test_rows_that_are_there_several_times_are_undone_as_often(shop: Memory) -> None:
    table = Dynamic(shop, STAR, twice=True)
    shop.change("orders", "INSERT INTO {0} SELECT __rid + 2000000, order_id, customer_id FROM {0} WHERE order_id < 9")
    shop.change("items", "UPDATE {} SET amount = amount + 1 WHERE item_id < 20")
    table.refresh()
    table.check()
    shop.keep()
    shop.change("orders", "DELETE FROM {} WHERE __rid > 2000004")
    shop.change("customers", "UPDATE {} SET region = 'r9' WHERE customer_id < 6")
    shop.change("items", "DELETE FROM {} WHERE item_id % 7 = 1")
    table.refresh()
    table.check()


def test_sources_that_share_few_values_do_not_narrow_each_other(shop: Memory) -> None:
    """Customers and suppliers share a region, and all rows lie in four of them: the way leads over the orders."""
    table = Dynamic(shop, SHARED_REGION)
    steps = {step.name: step.sql for step in delta_steps(table.plan, frozenset({1, 2, 3, 4}), buckets=BUCKETS)}
    assert '"region"' not in steps["near_3"].split("WHERE", 1)[1]


def test_what_is_narrowed_counts_as_one_scan(shop: Memory) -> None:
    plan = Dynamic(shop, STAR).plan
    assert effort(plan, frozenset({1, 2, 3, 4})).scanned == 50_000 + 21_000 + 1_000 + 1_000


def test_a_small_source_is_copied_for_many_terms(shop: Memory) -> None:
    """Each mention of a table of the lake takes time, whatever its size."""
    for changed, mentions in (({1, 2, 3, 4}, 1), ({1, 2}, 2)):
        steps = delta_steps(Dynamic(shop, STAR).plan, frozenset(changed), buckets=BUCKETS)
        in_terms = next(step.sql for step in steps if step.name == "dagg").count('"o4_new"')
        assert ("near_4" in {step.name for step in steps}, in_terms) == ((True, 0) if mentions == 1 else (False, 2))


def test_nothing_is_narrowed_for_one_term(shop: Memory) -> None:
    table = Dynamic(shop, STAR)
    assert next(step.name for step in delta_steps(table.plan, frozenset({2}), buckets=BUCKETS)) == "dagg"


def near_tables(table: Dynamic) -> set[str]:
    steps = delta_steps(table.plan, frozenset({1, 2, 3, 4}), buckets=BUCKETS)
    return {step.name for step in steps if step.name.startswith("near_")}

"""``arg_max`` and its like: among equal rows the value itself decides."""

from __future__ import annotations

import pytest

from tests.fixtures.often import some
from tests.lake.delta.follow import follow
from tests.lake.fuzz.memory import Dynamic, Memory

CALLS = [
    "arg_max(note, order_id)",
    "max_by(note, order_id) FILTER (WHERE amount > 3)",
    "min_by(amount, order_id)",
    "arg_min_null(note, order_id)",
    "arg_max(note, order_id, 2)",
]


@pytest.mark.parametrize("call", some(CALLS, one_in=2))
def test_without_ties_it_is_what_duckdb_gives(shop: Memory, call: str) -> None:
    follow(shop, f"SELECT customer_id, {call} AS v FROM orders GROUP BY customer_id")


def test_among_equals_the_value_decides(shop: Memory) -> None:
    table = Dynamic(shop, "SELECT arg_max(note, 1) AS high, min_by(order_id, note IS NULL) AS low FROM orders")
    assert table.plan.reason is None
    assert shop.rows('SELECT high, low FROM "dt"') == [("c", 1)]
    shop.change("orders", "DELETE FROM {} WHERE order_id IN (1, 3)")
    table.refresh()
    assert shop.rows('SELECT high, low FROM "dt"') == [(None, 2)]


def test_rows_without_a_value_to_compare_by_do_not_count(shop: Memory) -> None:
    table = Dynamic(shop, "SELECT arg_max(order_id, note) AS v, arg_max_null(customer_id, order_id) AS w FROM orders")
    assert shop.rows('SELECT v, w FROM "dt"') == [(3, None)]
    table.check()

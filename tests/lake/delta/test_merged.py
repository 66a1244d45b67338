"""A derived table that only names expressions is no level of its own: sums over it are carried forward."""

from __future__ import annotations

import pytest

from tests.lake.delta.follow import follow
from tests.lake.fuzz.memory import Dynamic, Memory

MERGED = [
    "SELECT a.n, count(*) AS m FROM (SELECT note AS n FROM orders) AS a GROUP BY 1",
    "SELECT q.r, sum(q.twice) AS s FROM (SELECT c.region AS r, o.amount + o.amount AS twice FROM orders o"
    " JOIN customers c ON o.customer_id = c.customer_id WHERE o.amount > 1) AS q WHERE q.twice < 15 GROUP BY q.r",
    "SELECT q.n + 1 AS m, count_star() AS k FROM (SELECT p.n FROM (SELECT order_id - 1 AS n FROM orders) AS p) AS q"
    " GROUP BY q.n + 1",
    "SELECT q.y * 2 AS y, count(*) AS k FROM (SELECT order_id - 1 AS y FROM orders) AS q GROUP BY q.y * 2",
]
KEPT = [
    "SELECT q.one, count(*) AS n FROM (SELECT 1 AS one, note FROM orders) AS q GROUP BY q.one, q.note",
    "SELECT q.note, count(*) AS n FROM (SELECT DISTINCT note, customer_id FROM orders) AS q GROUP BY q.note",
    "SELECT q.note, count(*) AS n FROM (SELECT unnest([note, 'a']) AS note FROM orders) AS q GROUP BY q.note",
    "SELECT q.n, count(*) AS k FROM (SELECT count(*) AS n FROM orders GROUP BY note) AS q GROUP BY q.n",
    "SELECT q.note, count(*) AS n FROM (SELECT note FROM orders UNION ALL SELECT region FROM customers) AS q"
    " GROUP BY q.note",
]


@pytest.mark.parametrize("query", MERGED)
def test_sums_over_a_plain_derived_table_are_carried_forward(shop: Memory, query: str) -> None:
    assert follow(shop, query).plan.strategy == "delta"


@pytest.mark.parametrize("query", KEPT)
def test_a_derived_table_that_makes_other_rows_stays_a_level(shop: Memory, query: str) -> None:
    assert follow(shop, query).plan.strategy == "keys"


def test_a_merged_expression_that_is_an_output_is_stored_once(shop: Memory) -> None:
    query = "SELECT q.d, count(*) AS n FROM (SELECT order_id - 1 AS d FROM orders) AS q GROUP BY q.d"
    assert Dynamic(shop, query).plan.layout.hidden_keys == ()

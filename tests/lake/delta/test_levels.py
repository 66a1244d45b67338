"""Windows over aggregates, over all rows and over different parts of them; aggregates over all rows."""

from __future__ import annotations

import pytest

from tests.fixtures.often import some
from tests.lake.delta.follow import follow
from tests.lake.fuzz.memory import Dynamic, Memory

WINDOWS = [
    "SELECT note, customer_id, sum(sum(amount)) OVER (PARTITION BY note) AS s FROM orders GROUP BY note, customer_id",
    "SELECT note, rank() OVER (PARTITION BY note ORDER BY count(*) DESC) AS r FROM orders GROUP BY note, customer_id",
    """
    SELECT note, sum(amount) * 100 / sum(sum(amount)) OVER (PARTITION BY upper(note)) AS share, max(amount) AS top
    FROM orders GROUP BY note, upper(note) HAVING count(*) > 0
    """,
    """
    SELECT note, count(*) FILTER (WHERE amount > 5) AS n FROM orders GROUP BY note
    QUALIFY row_number() OVER (PARTITION BY count(*) ORDER BY note) = 1
    """,
    "SELECT DISTINCT count(*) OVER (PARTITION BY count(*)) AS n FROM orders GROUP BY note",
    "SELECT count(*) AS n, rank() OVER (ORDER BY count(*)) AS r FROM orders",
    "SELECT order_id, rank() OVER (ORDER BY amount, order_id) AS r FROM orders",
    "SELECT order_id, sum(amount) OVER () AS s FROM orders WHERE note IS NOT NULL",
    """
    SELECT order_id, count(*) OVER (PARTITION BY note) AS a, count(*) OVER (PARTITION BY customer_id) AS b
    FROM orders
    """,
    "SELECT note, rank() OVER (ORDER BY count(*), note) AS r FROM orders GROUP BY note",
    """
    SELECT c.region, w.r FROM customers c
    JOIN (SELECT customer_id, rank() OVER (ORDER BY order_id) AS r FROM orders) w ON w.customer_id = c.customer_id
    """,
    "SELECT note, rank() OVER (ORDER BY sum(amount), note) = 1 AND true AS r FROM orders GROUP BY note",
    "SELECT order_id FROM orders QUALIFY rank() OVER (PARTITION BY note ORDER BY amount) = 1 OR amount = 1",
]
OPERATORS = [
    "SELECT note, sum(amount) > 1 AND count(*) > 1 AS x FROM orders GROUP BY note",
    "SELECT note, CASE WHEN count(*) > 1 OR sum(amount) > 9 THEN 'a' ELSE 'b' END AS x FROM orders GROUP BY note",
    "SELECT note, count(*) ^ 2 AS x, -sum(amount) ** 2 AS y FROM orders GROUP BY note",
    "SELECT note, count(*) AS n FROM orders GROUP BY note HAVING count(*) > 1 OR sum(amount) > 6",
    "SELECT region, (SELECT count(*) = 0 OR max(amount) > 9 FROM orders o WHERE o.customer_id = c.customer_id) AS x"
    " FROM customers c",
]
"""AND, OR and others that begin with the call of an aggregate."""


@pytest.mark.parametrize("query", some(WINDOWS, one_in=6))
def test_a_window_is_followed(shop: Memory, query: str) -> None:
    follow(shop, query)


@pytest.mark.parametrize("query", some(OPERATORS, one_in=2))
def test_an_operator_is_not_the_call_that_it_begins_with(shop: Memory, query: str) -> None:
    follow(shop, query)


GLOBALS = [
    "SELECT max(amount) AS top FROM orders",
    "SELECT min(amount) AS low, count(DISTINCT note) AS n FROM orders WHERE customer_id = 42",
    "SELECT count(*) AS n FROM orders HAVING count(*) > 3",
    "SELECT percentile_disc(0.5) WITHIN GROUP (ORDER BY amount DESC) AS p FROM orders",
    "SELECT max(amount) AS m FROM orders UNION ALL SELECT count(*) FROM country",
    "SELECT max(s) AS m FROM (SELECT sum(amount) AS s FROM orders GROUP BY note)",
]


@pytest.mark.parametrize("query", some(GLOBALS, one_in=3))
def test_an_aggregate_over_all_rows_is_followed(shop: Memory, query: str) -> None:
    follow(shop, query)


def test_what_no_change_touches_is_not_computed_again(shop: Memory) -> None:
    table = Dynamic(shop, "SELECT max(amount) AS m FROM orders WHERE note = 'c'")
    shop.change("orders", "UPDATE {} SET amount = 99 WHERE note = 'a'")
    assert table.refresh() == "keys"
    assert table.keys == {1: []}
    table.check()

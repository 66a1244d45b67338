"""GROUPING SETS, ROLLUP and CUBE are followed set by set."""

from __future__ import annotations

import pytest

from catchment.lake.reasons import Reason
from tests.fixtures.often import some
from tests.lake.delta.follow import follow
from tests.lake.fuzz.memory import Dynamic, Memory

QUERIES = [
    "SELECT note, count(*) AS n FROM orders GROUP BY ROLLUP (note)",
    """
    SELECT note, customer_id, sum(amount) AS s, grouping(note, customer_id) AS g
    FROM orders GROUP BY CUBE (note, customer_id)
    """,
    "SELECT note, customer_id, max(amount) AS m FROM orders GROUP BY GROUPING SETS ((note, customer_id), note, ())",
    "SELECT upper(note) AS u, count(note) AS n FROM orders GROUP BY ROLLUP (upper(note))",
    "SELECT note, customer_id, count(*) AS n FROM orders GROUP BY note, ROLLUP (customer_id)",
    "SELECT note, order_id, customer_id, count(*) AS n FROM orders GROUP BY ROLLUP ((note, order_id), customer_id)",
    "SELECT note, coalesce(note, 'all') AS c, count(*) AS n FROM orders GROUP BY ROLLUP (note) HAVING count(*) > 1",
    "SELECT note FROM orders GROUP BY ROLLUP (note)",
    "SELECT DISTINCT count(*) AS n FROM orders GROUP BY CUBE (note, customer_id)",
    "SELECT note, customer_id, count(*) AS n FROM orders GROUP BY GROUPING SETS ((note), (note), ROLLUP (customer_id))",
    """
    SELECT note, grouping(note) AS g, rank() OVER (PARTITION BY grouping(note) ORDER BY sum(amount) DESC, note) AS r
    FROM orders GROUP BY ROLLUP (note, customer_id)
    """,
    """
    SELECT c.region, q.n FROM customers c
    LEFT JOIN (SELECT customer_id, count(*) AS n FROM orders GROUP BY ROLLUP (customer_id)) q USING (customer_id)
    """,
    "SELECT note, count(*) AS n FROM orders GROUP BY ROLLUP (note) HAVING count(*) >= (SELECT count(*) FROM country)",
    # Operators that begin with a call.
    "SELECT note, count(*) AS n FROM orders GROUP BY ROLLUP (note) HAVING grouping(note) = 1 OR count(*) > 1",
    "SELECT note, grouping(note) = 1 AND count(*) > 1 AS a FROM orders GROUP BY CUBE (note)",
    "SELECT note, grouping(note) ^ 2 AS g, count(*) AS n FROM orders GROUP BY ROLLUP (note)",
]


@pytest.mark.parametrize("query", some(QUERIES, one_in=9))
def test_grouping_sets_are_followed(shop: Memory, query: str) -> None:
    follow(shop, query)


def test_the_set_of_all_rows_is_there_without_rows(shop: Memory) -> None:
    shop.change("orders", "DELETE FROM {}")
    shop.keep()
    table = Dynamic(shop, "SELECT note, count(*) AS n FROM orders GROUP BY CUBE (note)")
    table.check()
    assert shop.rows('SELECT note, n FROM "dt"') == [(None, 0)]


@pytest.mark.long
def test_very_many_sets_are_computed_as_a_whole(shop: Memory) -> None:
    listed = "note, customer_id, order_id, amount, note || 'x', order_id + 1"
    follow(shop, f"SELECT count(*) AS n FROM orders GROUP BY CUBE ({listed})", reason=Reason.GROUPING_SETS)

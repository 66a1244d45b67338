"""INTERSECT, EXCEPT and UNION BY NAME: NULLs are equal, ALL counts."""

from __future__ import annotations

import pytest

from tests.fixtures.often import often, some
from tests.lake.delta.follow import follow
from tests.lake.fuzz.memory import Memory

QUERIES = [
    "SELECT customer_id FROM customers {} SELECT customer_id FROM orders",
    "SELECT customer_id FROM orders {} SELECT country_id FROM customers",
    "SELECT region AS r, country_id FROM customers {} SELECT note, order_id FROM orders",
    "SELECT n.c FROM (SELECT customer_id AS c FROM orders {} SELECT customer_id FROM customers) n WHERE n.c > 1",
    "SELECT note, count(*) AS n FROM orders GROUP BY note {} SELECT region, 1 FROM customers",
]


@pytest.mark.parametrize("operation", often("INTERSECT ALL", "EXCEPT", now_and_then=["INTERSECT", "EXCEPT ALL"]))
@pytest.mark.parametrize("query", some(QUERIES, one_in=2))
def test_a_set_operation_is_followed(shop: Memory, query: str, operation: str) -> None:
    follow(shop, query.format(operation))


def test_operations_in_a_row_are_followed(shop: Memory) -> None:
    follow(
        shop,
        """
        (SELECT customer_id FROM customers INTERSECT SELECT customer_id FROM orders)
        EXCEPT SELECT order_id + 40 FROM orders UNION SELECT country_id FROM country
        """,
    )


@pytest.mark.parametrize("kind", some(["UNION BY NAME", "UNION ALL BY NAME"], one_in=2))
def test_a_union_by_name_is_followed(shop: Memory, kind: str) -> None:
    follow(shop, f"SELECT order_id AS a, note FROM orders {kind} SELECT region AS note, country_id AS b FROM customers")

"""Subqueries in expressions are followed as joins, with the same rows as by hand: NULLs, empty sets, several values."""

from __future__ import annotations

import duckdb
import pytest

from catchment.lake.delta.analyse import analyse
from catchment.lake.reasons import Reason
from catchment.lake.types import Definition, Properties, TableRef
from tests.fixtures.often import often, some
from tests.lake.delta.follow import follow
from tests.lake.fuzz.memory import Dynamic, Memory

CONDITIONS = [
    "customer_id IN (SELECT customer_id FROM customers)",
    "customer_id NOT IN (SELECT customer_id FROM customers)",
    "customer_id NOT IN (SELECT customer_id FROM customers WHERE customer_id IS NOT NULL)",
    "NOT (customer_id IN (SELECT customer_id FROM customers))",
    "order_id NOT IN (SELECT c.country_id FROM customers c WHERE c.customer_id = o.customer_id)",
    "note NOT IN (SELECT c.region FROM customers c WHERE c.country_id = o.order_id)",
    "(customer_id, order_id) IN (SELECT customer_id, country_id FROM customers)",
    "customer_id IN (SELECT customer_id FROM customers GROUP BY customer_id HAVING count(*) > 1)",
    "customer_id IN (SELECT customer_id FROM customers UNION SELECT country_id FROM country)",
    "customer_id IN (SELECT max(customer_id) FROM customers)",
    "EXISTS (SELECT * FROM customers c WHERE c.customer_id = o.customer_id)",
    "NOT EXISTS (SELECT 1 FROM customers c WHERE c.customer_id = o.customer_id AND c.country_id <> o.order_id)",
    "EXISTS (SELECT 1 FROM country)",
    "NOT EXISTS (SELECT 1 FROM country n WHERE n.name = 'NO')",
    "EXISTS (SELECT 1 FROM customers c, country n WHERE c.country_id = n.country_id AND c.customer_id = o.customer_id)",
    "EXISTS (SELECT 1 FROM customers c WHERE c.customer_id = o.customer_id) OR amount > 6",
    "EXISTS (SELECT 1 FROM customers c WHERE c.customer_id = o.customer_id) OR note IN (SELECT region FROM customers)",
    "amount > (SELECT avg(amount) FROM orders)",
    "amount > (SELECT avg(p.amount) * 0.5 FROM orders p WHERE p.customer_id = o.customer_id)",
    "amount >= (SELECT max(p.amount) FROM orders p WHERE p.customer_id IS NOT DISTINCT FROM o.customer_id)",
    "(SELECT count(*) FROM customers c WHERE c.customer_id = o.customer_id) = 0",
    """(SELECT count(*) FROM customers c WHERE (c.customer_id = o.customer_id AND c.region = 'r1')
        OR (c.customer_id = o.customer_id AND c.country_id = 2)) > 0""",
    "customer_id IN (SELECT c.customer_id FROM customers c WHERE c.country_id IN (SELECT country_id FROM country))",
    """customer_id IN (SELECT c.customer_id FROM customers c
        WHERE c.country_id >= (SELECT count(*) FROM country n WHERE n.country_id = c.country_id))""",
]


@pytest.mark.parametrize("condition", some(CONDITIONS, one_in=8))
def test_a_condition_with_a_subquery_is_followed(shop: Memory, condition: str) -> None:
    follow(shop, f"SELECT order_id, note FROM orders o WHERE {condition}")


@pytest.mark.parametrize("condition", some(CONDITIONS[::4], one_in=3))
def test_a_subquery_filters_the_rows_of_groups(shop: Memory, condition: str) -> None:
    follow(shop, f"SELECT note, count(*) AS n, sum(amount) AS s FROM orders o WHERE {condition} GROUP BY note")


VALUES = [
    "customer_id IN (SELECT customer_id FROM customers)",
    "customer_id NOT IN (SELECT customer_id FROM customers)",
    "order_id IN (SELECT c.country_id FROM customers c WHERE c.customer_id = o.customer_id)",
    "EXISTS (SELECT 1 FROM customers c WHERE c.customer_id = o.customer_id)",
    "CASE WHEN EXISTS (SELECT 1 FROM country) THEN 'some' ELSE 'none' END",
    "(SELECT count(*) FROM customers c WHERE c.customer_id = o.customer_id)",
    "(SELECT count_star() FROM customers c WHERE c.customer_id = o.customer_id)",
    "(SELECT count(c.country_id) + o.order_id FROM customers c WHERE c.customer_id = o.customer_id)",
    "(SELECT coalesce(sum(c.country_id), -1) FROM customers c WHERE o.customer_id = c.customer_id)",
    "(SELECT max(region) FROM customers)",
    "(SELECT name FROM country WHERE country_id = 2)",
    "(SELECT DISTINCT n.country_id FROM country n WHERE n.name = 'SE')",
    "(SELECT n.name FROM country n WHERE n.country_id = o.order_id)",
    "(SELECT q.m FROM (SELECT customer_id, max(region) AS m FROM customers GROUP BY 1) q"
    " WHERE q.customer_id = o.customer_id)",
]


@pytest.mark.parametrize("value", some(VALUES, one_in=6))
def test_a_subquery_that_is_a_value_is_followed(shop: Memory, value: str) -> None:
    follow(shop, f"SELECT order_id, {value} AS v FROM orders o")


def test_a_subquery_above_groups_reads_the_groups(shop: Memory) -> None:
    follow(shop, "SELECT note FROM orders GROUP BY note HAVING sum(amount) > (SELECT avg(amount) FROM orders)")
    follow(
        shop,
        """
        SELECT customer_id, count(*) AS n,
            (SELECT max(region) FROM customers c WHERE c.customer_id = o.customer_id) AS r
        FROM orders o GROUP BY customer_id
        HAVING count(*) >= (SELECT count(*) FROM customers c WHERE c.customer_id = o.customer_id)
        """,
    )


KEYS = [
    "customer_id IN (SELECT customer_id FROM customers)",
    "EXISTS (SELECT 1 FROM customers c WHERE c.customer_id = o.customer_id)",
    "(SELECT max(c.region) FROM customers c WHERE c.customer_id = o.customer_id)",
    "(SELECT count(*) FROM country)",
]


@pytest.mark.parametrize("key", some(KEYS, one_in=2))
@pytest.mark.parametrize("group", often("k", now_and_then=["1", "ALL", None]))
def test_a_subquery_in_a_key_reads_the_rows(shop: Memory, key: str, group: str | None) -> None:
    follow(shop, f"SELECT {key} AS k, count(*) AS n, max(amount) AS top FROM orders o GROUP BY {group or key}")


def test_a_subquery_in_a_key_alone_reads_the_rows(shop: Memory) -> None:
    follow(shop, f"SELECT note, count(*) AS n FROM orders o GROUP BY note, {KEYS[2]} HAVING count(*) > 0")


def test_a_value_of_distinct_rows_is_one_value(shop: Memory) -> None:
    """Customers may be there twice, with one region."""
    follow(
        shop,
        "SELECT order_id, (SELECT DISTINCT 'r' || c.customer_id FROM customers c WHERE c.customer_id = o.customer_id)"
        " AS r FROM orders o",
    )


def test_a_subquery_in_an_aggregate_reads_the_rows(shop: Memory) -> None:
    follow(
        shop,
        """
        SELECT note, sum((SELECT count(*) FROM customers c WHERE c.customer_id = o.customer_id)) AS n
        FROM orders o GROUP BY note
        """,
    )


def test_names_of_the_inner_query_hide_those_of_the_outer(shop: Memory) -> None:
    follow(shop, "SELECT order_id FROM orders o WHERE EXISTS (SELECT 1 FROM customers o WHERE o.customer_id = 42)")
    follow(
        shop, "SELECT order_id FROM orders WHERE customer_id IN (SELECT customer_id FROM customers WHERE amount > 5)"
    )


@pytest.mark.parametrize("where", ["c.customer_id = o.customer_id", "true"])
def test_more_than_one_row_for_a_value_is_an_error_as_by_hand(shop: Memory, where: str) -> None:
    query = f"SELECT order_id, (SELECT region FROM customers c WHERE {where} AND country_id = 1) AS r FROM orders o"
    shop.change("customers", "DELETE FROM {} WHERE customer_id = 43")
    shop.keep()
    table = Dynamic(shop, query)
    assert table.plan.reason is None
    table.check()
    shop.change("customers", "INSERT INTO {} VALUES (80, 42, 'again', 1)")
    with pytest.raises(duckdb.Error):
        shop.rows(query)
    with pytest.raises(duckdb.Error):
        table.refresh()


def test_a_value_that_no_row_asks_for_may_have_several_rows(shop: Memory) -> None:
    query = "SELECT order_id, (SELECT region FROM customers c WHERE c.customer_id = o.customer_id) AS r FROM orders o"
    table = Dynamic(shop, query)
    shop.change("customers", "INSERT INTO {} VALUES (80, 99, 'x', 1), (81, 99, 'y', 1)")
    table.refresh()
    table.check()


FULL = [
    """
    SELECT order_id FROM orders o
    WHERE amount > (SELECT sum(c.country_id) FROM customers c WHERE c.customer_id < o.order_id)
    """,
    "SELECT order_id FROM orders o WHERE amount > ALL (SELECT country_id FROM country)",
    "SELECT o.order_id FROM orders o JOIN customers c ON c.country_id IN (SELECT country_id FROM country)",
    """
    SELECT order_id, order_id < 2 OR EXISTS (SELECT 1 FROM customers c WHERE c.country_id > o.order_id) AS e
    FROM orders o
    """,
]


@pytest.mark.parametrize("query", some(FULL, one_in=2))
def test_what_is_tied_otherwise_is_computed_as_a_whole(shop: Memory, query: str) -> None:
    follow(shop, query, reason=Reason.SUBQUERY)


def test_values_of_two_types_are_not_joined(shop: Memory) -> None:
    """'1' and '01' are two groups and one number."""
    query = "SELECT order_id, (SELECT max(name) FROM country n WHERE n.name = o.order_id) AS r FROM orders o"
    found = analyse(Definition(TableRef("main", "t"), query, Properties()), shop)
    assert found.reason == Reason.SUBQUERY

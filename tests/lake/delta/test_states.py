"""Counts and sums that are carried forward: when they are, what is stored, and the corners of their arithmetic."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from catchment.lake.delta.apply import broken, delta_steps
from catchment.lake.names import RID
from tests.lake.fuzz.memory import BUCKETS, Dynamic, Memory

SUMS = "SELECT customer_id, sum(amount) AS s, count(amount) AS n, avg(amount) AS a FROM orders GROUP BY customer_id"


def rows(memory: Memory, columns: str = "*") -> list[tuple[Any, ...]]:
    return sorted(memory.rows(f"SELECT {columns} FROM dt"), key=str)


def refreshed(table: Dynamic, *changes: str) -> None:
    for sql in changes:
        table.memory.change("orders", sql)
    assert table.refresh() == "delta"
    table.check()
    table.memory.keep()


@pytest.mark.parametrize(
    "query",
    [
        SUMS,
        "SELECT count(*) AS n FROM orders",
        "SELECT note, sum(order_id) + count(*) AS s FROM orders GROUP BY note",
        "SELECT note AS a, note AS b, count(*) AS n FROM orders GROUP BY note",
        "SELECT upper(note) || 'x' AS u, sum(amount * 2) AS s FROM orders GROUP BY upper(note)",
        "SELECT count(*) FILTER (WHERE amount > 5) AS n, sum(amount) FILTER (WHERE note IS NULL) AS s FROM orders",
        "SELECT c.region, sum(o.amount) AS s FROM orders o, customers c WHERE o.customer_id = c.customer_id GROUP BY 1",
        "SELECT count(*) AS n FROM orders a JOIN orders b ON a.customer_id = b.customer_id",
    ],
)
def test_exact_sums_over_inner_joins_are_carried_forward(shop: Memory, query: str) -> None:
    assert Dynamic(shop, query).plan.strategy == "delta"


@pytest.mark.parametrize(
    "query",
    [
        "SELECT note, max(amount) AS m FROM orders GROUP BY note",
        "SELECT note, sum(CAST(amount AS DOUBLE)) AS s FROM orders GROUP BY note",
        "SELECT note, sum(CAST(order_id AS HUGEINT)) AS s FROM orders GROUP BY note",
        "SELECT note, count(DISTINCT amount) AS n FROM orders GROUP BY note",
        "SELECT note, sum(DISTINCT amount) AS n FROM orders GROUP BY note",
        "SELECT note, count(*) AS n FROM orders GROUP BY note HAVING count(*) > 1",
        "SELECT note, round(avg(amount), 1) AS a FROM orders GROUP BY note",
        "SELECT c.region, count(*) AS n FROM customers c LEFT JOIN orders o USING (customer_id) GROUP BY 1",
        "SELECT note, count(*) AS n FROM orders GROUP BY note UNION ALL SELECT 'x', 1",
    ],
)
def test_what_cannot_be_carried_forward_exactly_is_computed_again(shop: Memory, query: str) -> None:
    assert Dynamic(shop, query).plan.strategy == "keys"


def test_a_sum_without_values_is_null_and_its_group_stays(shop: Memory) -> None:
    table = Dynamic(shop, SUMS)
    refreshed(table, "UPDATE {} SET amount = NULL WHERE customer_id = 43")
    assert (43, None, 0, None) in rows(shop, "customer_id, s, n, a")


def test_a_group_goes_with_its_last_row_not_with_its_sum(shop: Memory) -> None:
    table = Dynamic(shop, SUMS)
    refreshed(table, "UPDATE {} SET amount = CASE order_id WHEN 1 THEN 5 ELSE -5 END WHERE customer_id = 42")
    assert (42, 0, 2, 0.0) in rows(shop, "customer_id, s, n, a")
    refreshed(table, "DELETE FROM {} WHERE customer_id = 42")
    assert [row[0] for row in rows(shop, "customer_id")] == [43, None]


def test_a_global_row_stays_when_there_are_no_rows(shop: Memory) -> None:
    table = Dynamic(shop, "SELECT count(*) AS n, sum(amount) AS s FROM orders")
    refreshed(table, "DELETE FROM {}")
    assert rows(shop, "n, s") == [(0, None)]
    refreshed(table, "INSERT INTO {} VALUES (90, 9, 1, 2.5, NULL)")
    assert rows(shop, "n, s") == [(1, Decimal("2.5"))]


def test_figures_are_stored_beside_the_visible_columns(shop: Memory) -> None:
    table = Dynamic(shop, SUMS)
    hidden = [(column.name, column.type) for column in table.plan.layout.states]
    assert hidden == [("__n", "BIGINT"), ("__c1", "BIGINT"), ("__s1", "DECIMAL(38,2)")]
    assert (42, 2, 2, Decimal(15)) in rows(shop, "customer_id, __n, __c1, __s1")


def test_an_integer_sum_is_exact_beyond_64_bits(memory: Memory) -> None:
    memory.make("big", {"v": "BIGINT"}, [[2**63 - 1], [2**63 - 1], [2**63 - 1]])
    memory.keep()
    table = Dynamic(memory, "SELECT sum(v) AS s, count(*) AS n FROM big")
    memory.change("big", "INSERT INTO {} VALUES (9, 9223372036854775807)")
    assert table.refresh() == "delta"
    table.check()
    assert memory.rows("SELECT s, n FROM dt") == [(Decimal(4 * (2**63 - 1)), 4)]


def test_a_change_that_adds_up_to_nothing_writes_nothing(shop: Memory) -> None:
    table = Dynamic(shop, SUMS)
    refreshed(table, "UPDATE {} SET amount = amount + 3 - 2 * order_id WHERE order_id < 3")
    assert table.written == (0, 0)


def test_only_changed_groups_are_written(shop: Memory) -> None:
    table = Dynamic(shop, SUMS)
    refreshed(table, "UPDATE {} SET amount = 1 WHERE order_id = 3")
    assert table.written == (1, 1)


def test_counts_below_zero_are_noticed(shop: Memory) -> None:
    """As if the stored rows belonged to other source rows: then nothing must be written."""
    table = Dynamic(shop, SUMS)
    shop.run("UPDATE dt SET __n = 0, __c1 = 0, __s1 = 0 WHERE customer_id = 42")
    shop.change("orders", "DELETE FROM {} WHERE order_id = 1")
    table._views()
    for step in delta_steps(table.plan, table._deltas(), buckets=BUCKETS):
        shop.run(f"CREATE OR REPLACE TEMP TABLE {step.name} AS {step.sql}")
    assert shop.rows(broken(table.plan)) == [(1,)]


def test_keys_give_the_same_rows_as_delta_apply(shop: Memory) -> None:
    """The parallel refresh and a fall-back after an overflow take the other way for the same table."""
    table = Dynamic(shop, SUMS, use_delta=False)
    shop.change("orders", "UPDATE {} SET amount = amount + 1, customer_id = 44 WHERE order_id < 3")
    assert table.refresh() == "keys"
    table.check()
    stored = f'* EXCLUDE ("{RID}")'
    by_keys = rows(shop, stored)
    other = Dynamic(shop, SUMS)
    assert rows(shop, stored) == by_keys
    other.check()


def test_a_plan_without_figures_has_no_delta_steps(shop: Memory) -> None:
    table = Dynamic(shop, "SELECT note FROM orders")
    with pytest.raises(ValueError, match="no figures"):
        delta_steps(table.plan, frozenset({1}), buckets=1)

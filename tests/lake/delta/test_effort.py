"""What a refresh has to read and join is known before its SQL is written."""

from __future__ import annotations

from dataclasses import replace

import pytest

from catchment.lake.delta.analyse import analyse
from catchment.lake.delta.effort import Effort, effort
from catchment.lake.delta.plan import Plan
from catchment.lake.types import Definition, Properties, TableRef
from tests.lake.fuzz.memory import Memory

ROWS = {"orders": 1_000_000, "customers": 10_000, "country": 100}


def plan_of(memory: Memory, query: str) -> Plan:
    plan = analyse(Definition(TableRef("main", "t"), query, Properties()), memory)
    tables = (replace(item, table=replace(item.table, rows=ROWS[item.table.ref.name])) for item in plan.tables)
    return replace(plan, tables=tuple(tables))


def all_changed(plan: Plan) -> Effort:
    return effort(plan, frozenset(table.occurrence for table in plan.tables))


def test_a_group_of_one_table_reads_it_once(shop: Memory) -> None:
    plan = plan_of(shop, "SELECT note, max(amount) AS m FROM orders GROUP BY note")
    assert all_changed(plan) == Effort(joins=1, scanned=1_000_000)


def test_carried_sums_read_nothing_of_one_table(shop: Memory) -> None:
    plan = plan_of(shop, "SELECT note, sum(amount) AS s FROM orders GROUP BY note")
    assert (plan.strategy, all_changed(plan)) == ("delta", Effort())


def test_a_join_of_n_changed_tables_is_n_joins(shop: Memory) -> None:
    """With a condition that is no plain comparison, only the source that has the key needs no other."""

    def joined(count: int) -> Plan:
        joins = "".join(f" JOIN orders o{i} ON o{i}.order_id + 0 = o0.order_id + 0" for i in range(1, count))
        return plan_of(shop, f"SELECT o0.note, max(o{count - 1}.amount) AS m FROM orders o0{joins} GROUP BY o0.note")

    assert all_changed(joined(4)).joins == 3 * 3 + 4
    assert all_changed(joined(18)).joins == 17 * 17 + 18


def test_only_changed_sources_are_terms(shop: Memory) -> None:
    query = """
        SELECT o.note || c.region AS r, max(o.amount) AS m FROM orders o JOIN customers c USING (customer_id) GROUP BY 1
    """
    plan = plan_of(shop, query)
    numbers = {table.table.ref.name: table.occurrence for table in plan.tables}
    again = 1_010_000
    assert effort(plan, frozenset({numbers["orders"]})) == Effort(joins=3, scanned=10_000 + again)
    assert effort(plan, frozenset({numbers["customers"]})) == Effort(joins=3, scanned=1_000_000 + again)


@pytest.mark.parametrize(
    "query",
    [
        "SELECT max(amount) AS m FROM orders",
        "SELECT order_id, rank() OVER (ORDER BY order_id) AS r FROM orders",
    ],
)
def test_what_has_no_key_is_computed(shop: Memory, query: str) -> None:
    assert all_changed(plan_of(shop, query)).computed == 1_000_000


def test_an_inner_value_over_all_rows_is_computed_twice(shop: Memory) -> None:
    plan = plan_of(shop, "SELECT order_id FROM orders WHERE amount > (SELECT avg(amount) FROM orders)")
    assert all_changed(plan).computed >= 2_000_000


def test_a_derived_table_that_is_mentioned_twice_counts_once(shop: Memory) -> None:
    twice = """
        WITH t AS (SELECT customer_id, sum(amount) AS s FROM orders GROUP BY customer_id)
        SELECT a.customer_id, b.s FROM t a JOIN t b ON a.customer_id = b.customer_id
    """
    once = twice.replace(
        "SELECT a.customer_id, b.s FROM t a JOIN t b ON a.customer_id = b.customer_id", "SELECT * FROM t"
    )
    assert all_changed(plan_of(shop, twice)).joins < 3 * all_changed(plan_of(shop, once)).joins

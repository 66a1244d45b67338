"""The generated SQL: its text, and what DuckDB makes of it. Joins are hash joins, key filters stand below groups."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from catchment.lake.delta.apply import delta_steps
from catchment.lake.delta.compile import difference, fresh_rows, stored_rows
from catchment.lake.delta.terms import Step, affected
from tests.fixtures.often import some
from tests.lake.delta.snapshots import DEFINITIONS, FOLDER, make_shop, render
from tests.lake.fuzz.memory import BUCKETS, Dynamic, Memory

Node = dict[str, Any]
SLOW_JOINS = ("NESTED_LOOP", "BLOCKWISE_NL", "PIECEWISE", "CROSS_PRODUCT", "IE_JOIN", "DELIM")


@pytest.mark.parametrize("name", some(list(DEFINITIONS), one_in=2))
def test_generated_sql_is_what_the_snapshot_says(name: str) -> None:
    assert render(make_shop(), DEFINITIONS[name]) == (FOLDER / f"{name}.sql").read_text()


@pytest.fixture
def big_shop(memory: Memory) -> Memory:
    """Big enough that DuckDB has something to choose between."""
    memory.make("orders", {"order_id": "BIGINT", "customer_id": "BIGINT", "amount": "DECIMAL(10,2)", "note": "VARCHAR"})
    memory.make("customers", {"customer_id": "BIGINT", "region": "VARCHAR", "country_id": "INTEGER"})
    memory.make("country", {"country_id": "INTEGER", "name": "VARCHAR"})
    memory.run("INSERT INTO src1_new SELECT i, i, i % 1000, i % 7, 'n' || (i % 5) FROM range(20000) AS r(i)")
    memory.run("INSERT INTO src2_new SELECT i, i, 'r' || (i % 10), i % 5 FROM range(1000) AS r(i)")
    memory.run("INSERT INTO src3_new SELECT i, i, 'c' || i FROM range(5) AS r(i)")
    memory.keep()
    return memory


def plans(memory: Memory, table: Dynamic) -> dict[str, Node]:
    """DuckDB's plan of every statement of a refresh in which all tables have changed a little."""
    for source in memory.sources.values():
        memory.run(f"DELETE FROM {source.new} WHERE __rid = 3")
    table._views()
    changed = table._deltas()
    gone, added = difference(table.plan)
    steps = [
        *affected(table.plan, changed),
        Step("fresh", fresh_rows(table.plan, buckets=BUCKETS)),
        Step("stored", stored_rows(table.plan)),
        Step("gone", gone),
        Step("added", added),
    ]
    found: dict[str, Node] = {}
    for step in steps:
        found[step.name] = explain(memory, step.sql)
        memory.run(f"CREATE OR REPLACE TEMP TABLE {step.name} AS {step.sql}")
    if table.plan.states is not None:
        for step in delta_steps(table.plan, changed, buckets=BUCKETS):
            found[f"delta {step.name}"] = explain(memory, step.sql)
            memory.run(f"CREATE OR REPLACE TEMP TABLE {step.name} AS {step.sql}")
    return found


def explain(memory: Memory, sql: str) -> Node:
    [(_, found)] = memory.rows(f"EXPLAIN (FORMAT json) {sql}")
    [node] = json.loads(found)
    return node


def nodes(node: Node) -> Iterator[Node]:
    yield node
    for child in node["children"]:
        yield from nodes(child)


def names(node: Node) -> list[str]:
    return [found["name"].strip() for found in nodes(node)]


@pytest.mark.parametrize("name", some(list(DEFINITIONS), one_in=3))
def test_every_join_is_a_hash_join(big_shop: Memory, name: str) -> None:
    for step, plan in plans(big_shop, Dynamic(big_shop, DEFINITIONS[name])).items():
        slow = [found for found in names(plan) if any(word in found for word in SLOW_JOINS)]
        assert not slow, f"{name} {step}"


@pytest.mark.parametrize("name", ["group_max", "group_star_schema", "group_sum_by_delta", "aggregate_of_aggregate"])
def test_keys_are_filtered_below_the_groups(big_shop: Memory, name: str) -> None:
    fresh = plans(big_shop, Dynamic(big_shop, DEFINITIONS[name]))["fresh"]
    groups = [node for node in nodes(fresh) if "GROUP_BY" in node["name"]]
    assert groups
    assert _is_semi_join_in(groups[0])
    above = json.dumps(fresh).split("GROUP_BY", maxsplit=1)[0]
    assert "SEMI" not in above


def test_keys_are_filtered_below_the_window(big_shop: Memory) -> None:
    fresh = plans(big_shop, Dynamic(big_shop, DEFINITIONS["window_top"]))["fresh"]
    [window] = [node for node in nodes(fresh) if "WINDOW" in node["name"]]
    assert _is_semi_join_in(window)


def test_a_derived_aggregate_is_computed_for_the_joined_rows_only(big_shop: Memory) -> None:
    query = """
        SELECT o.order_id, t.s FROM orders o
        LEFT JOIN (SELECT customer_id, sum(amount) AS s FROM orders GROUP BY customer_id) AS t USING (customer_id)
    """
    found = plans(big_shop, Dynamic(big_shop, query))
    groups = [node for node in nodes(found["fresh"]) if "GROUP_BY" in node["name"]]
    assert groups
    assert all(_is_semi_join_in(node) for node in groups)


def test_a_derived_aggregate_meets_a_change_beside_it_below_its_groups(big_shop: Memory) -> None:
    query = """
        SELECT c.region, max(t.s) AS top FROM customers c
        JOIN (SELECT customer_id, sum(amount) AS s FROM orders GROUP BY customer_id) AS t USING (customer_id)
        WHERE t.s > 3 GROUP BY c.region, t.s
    """
    table = Dynamic(big_shop, query)
    customers = next(item.occurrence for item in table.plan.tables if item.table.ref.name == "customers")
    plans(big_shop, table)
    plan = explain(big_shop, affected(table.plan, frozenset({customers}))[-1].sql)
    inner = [node for node in nodes(plan) if "GROUP_BY" in node["name"]][-1]
    assert _is_semi_join_in(inner)


def _is_semi_join_in(node: Node) -> bool:
    return any(found.get("extra_info", {}).get("Join Type") in ("SEMI", "RIGHT_SEMI") for found in nodes(node))


def test_null_safe_keys_are_hash_joined(big_shop: Memory) -> None:
    fresh = plans(big_shop, Dynamic(big_shop, DEFINITIONS["group_max"]))["fresh"]
    [join] = [node for node in nodes(fresh) if node["name"].strip() == "HASH_JOIN"]
    assert "IS NOT DISTINCT FROM" in str(join["extra_info"]["Conditions"])


def test_a_key_filter_never_reaches_the_nullable_side(shop: Memory) -> None:
    """There it would turn matches into NULLs. The key of this group is a column of that side."""
    query = "SELECT o.note, count(*) AS n FROM customers c LEFT JOIN orders o USING (customer_id) GROUP BY o.note"
    table = Dynamic(shop, query)
    sql = fresh_rows(table.plan, buckets=BUCKETS)
    number = next(item.occurrence for item in table.plan.tables if item.table.ref.name == "orders")
    assert f'LEFT JOIN "o{number}_new" AS "o"' in sql
    shop.change("orders", "UPDATE {} SET note = 'z' WHERE order_id = 1")
    table.refresh()
    table.check()


def test_union_branches_of_different_types_are_filtered_above_the_union(memory: Memory) -> None:
    """'a' is no number: compared with the integer column of the other branch it would be an error."""
    memory.make("a", {"k": "INTEGER", "v": "INTEGER"}, [[1, 1], [2, 2]])
    memory.make("b", {"k": "VARCHAR", "v": "INTEGER"}, [["a", 1], ["1", 2]])
    memory.keep()
    table = Dynamic(
        memory, "SELECT k, max(v) AS m FROM (SELECT k, v FROM a UNION ALL SELECT k, v FROM b) AS u GROUP BY k"
    )
    memory.change("b", "UPDATE {} SET v = 7 WHERE k = 'a'")
    memory.change("a", "UPDATE {} SET v = 8 WHERE k = 2")
    assert table.refresh() == "keys"
    assert set(table.keys[1]) == {("a",), ("2",)}
    table.check()

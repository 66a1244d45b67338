"""Which keys a change touches, spelled out, for each construct. A key too many is harmless, one too few never.

Every case also refreshes the table and compares it with its definition.
"""

from __future__ import annotations

from typing import Any

from catchment.lake.delta.terms import affected
from tests.lake.fuzz.memory import Dynamic, Memory

Keys = set[tuple[Any, ...]]


def touched(memory: Memory, query: str, *changes: tuple[str, str], part: int = 1) -> Keys:
    """The keys that a refresh after these changes computes again; without delta-apply, which has no use for keys."""
    table = Dynamic(memory, query, use_delta=False)
    table.check()
    for name, sql in changes:
        memory.change(name, sql)
    assert table.refresh() in ("keys", "none")
    table.check()
    return set(table.keys.get(part, []))


def by_region(shop: Memory, *changes: tuple[str, str]) -> Keys:
    query = "SELECT region, max(amount) AS m FROM orders o JOIN customers c USING (customer_id) GROUP BY region"
    return touched(shop, query, *changes)


def test_an_order_and_its_customer_deleted_together_are_found(shop: Memory) -> None:
    """With the customers as they are now, neither side would meet the other, and r1 would keep its rows for ever."""
    deleted = [
        ("orders", "DELETE FROM {} WHERE customer_id = 42"),
        ("orders", "INSERT INTO {} VALUES (9, 4, 43, 8, NULL)"),
        ("customers", "DELETE FROM {} WHERE customer_id = 42"),
    ]
    assert by_region(shop, *deleted) == {("r1",), ("r2",)}


def test_the_same_by_delta_apply(shop: Memory) -> None:
    table = Dynamic(
        shop, "SELECT region, sum(amount) AS s FROM orders o JOIN customers c USING (customer_id) GROUP BY region"
    )
    assert table.plan.strategy == "delta"
    shop.change("orders", "DELETE FROM {} WHERE customer_id = 42")
    shop.change("orders", "INSERT INTO {} VALUES (9, 4, 43, 8, NULL)")
    shop.change("customers", "DELETE FROM {} WHERE customer_id = 42")
    assert table.refresh() == "delta"
    assert [row[:2] for row in shop.rows("SELECT region, s FROM dt")] == [("r2", 15)]
    table.check()


def test_a_foreign_key_update_touches_both_groups(shop: Memory) -> None:
    assert by_region(shop, ("orders", "UPDATE {} SET customer_id = 43 WHERE order_id = 1")) == {("r1",), ("r2",)}


def test_an_attribute_of_a_dimension_touches_the_old_and_the_new_group(shop: Memory) -> None:
    assert by_region(shop, ("customers", "UPDATE {} SET region = 'r3' WHERE customer_id = 42")) == {("r1",), ("r3",)}


def test_a_key_update_in_a_dimension_finds_the_rows_of_both_keys(shop: Memory) -> None:
    query = "SELECT o.order_id, c.region FROM orders o JOIN customers c ON o.customer_id = c.customer_id"
    found = touched(shop, query, ("customers", "UPDATE {} SET customer_id = 42 WHERE customer_id = 43"))
    assert found == {(0,), (1,), (2,)}, "row ids of the orders of 42 and of 43"


def test_a_change_of_an_unused_column_touches_nothing(shop: Memory) -> None:
    assert by_region(shop, ("orders", "UPDATE {} SET note = 'other'")) == set()


def test_a_filter_is_applied_to_both_sides_of_an_update(shop: Memory) -> None:
    query = "SELECT order_id FROM orders WHERE amount > 6"
    assert touched(shop, query, ("orders", "UPDATE {} SET amount = amount + 4")) == {(0,), (1,), (2,)}
    shop.keep()
    assert touched(shop, query, ("orders", "UPDATE {} SET amount = 2 WHERE order_id = 4")) == set()


def test_having_computes_a_touched_group_again(shop: Memory) -> None:
    query = "SELECT customer_id, count(*) AS n FROM orders GROUP BY customer_id HAVING count(*) > 1"
    assert touched(shop, query, ("orders", "DELETE FROM {} WHERE order_id = 1")) == {(42,)}


def test_null_is_a_group_like_any_other(shop: Memory) -> None:
    query = "SELECT customer_id, min(amount) AS m FROM orders GROUP BY customer_id"
    assert touched(shop, query, ("orders", "UPDATE {} SET amount = 0 WHERE customer_id IS NULL")) == {(None,)}


def test_distinct_is_keyed_by_its_outputs(shop: Memory) -> None:
    query = "SELECT DISTINCT region, country_id FROM customers"
    assert touched(shop, query, ("customers", "DELETE FROM {} WHERE region = 'r1'")) == {("r1", 1)}


def test_left_join_with_the_key_on_the_preserved_side(shop: Memory) -> None:
    query = """
        SELECT c.customer_id, count(o.order_id) AS n FROM customers c LEFT JOIN orders o USING (customer_id) GROUP BY 1
    """
    assert touched(shop, query, ("orders", "UPDATE {} SET customer_id = 44 WHERE order_id = 3")) == {(43,), (44,)}


def test_left_join_with_the_key_on_the_nullable_side(shop: Memory) -> None:
    """The row without a match dies when the first match comes, and is born again with the last delete."""
    query = "SELECT o.note, count(*) AS n FROM customers c LEFT JOIN orders o USING (customer_id) GROUP BY o.note"
    assert (None,) in touched(shop, query, ("orders", "UPDATE {} SET customer_id = 44 WHERE order_id = 3"))
    shop.keep()
    assert {("c",), (None,)} <= touched(shop, query, ("orders", "DELETE FROM {} WHERE order_id = 3"))


def test_right_join_is_a_left_join_the_other_way_round(shop: Memory) -> None:
    query = "SELECT c.customer_id, o.amount FROM orders o RIGHT JOIN customers c ON o.customer_id = c.customer_id"
    assert touched(shop, query, ("orders", "DELETE FROM {} WHERE order_id = 3")) == {(1,)}, "the row id of customer 43"


def test_full_join_finds_rows_that_lose_their_partner(shop: Memory) -> None:
    query = "SELECT c.region, o.amount FROM orders o FULL JOIN customers c ON o.customer_id = c.customer_id"
    found = touched(shop, query, ("customers", "DELETE FROM {} WHERE customer_id = 43"))
    assert {("r2", 7), (None, 7)} <= found


def test_semi_join_follows_the_right_side(shop: Memory) -> None:
    query = "SELECT region FROM customers c SEMI JOIN orders o ON o.customer_id = c.customer_id"
    assert touched(shop, query, ("orders", "DELETE FROM {} WHERE order_id = 3")) == {(1,)}


def test_anti_join_follows_the_right_side(shop: Memory) -> None:
    query = "SELECT region FROM customers c ANTI JOIN orders o ON o.customer_id = c.customer_id"
    assert touched(shop, query, ("orders", "UPDATE {} SET customer_id = 44 WHERE order_id = 3")) == {(1,), (2,)}


def test_a_window_is_keyed_by_its_partition(shop: Memory) -> None:
    query = "SELECT order_id, row_number() OVER (PARTITION BY customer_id ORDER BY amount) AS r FROM orders"
    assert touched(shop, query, ("orders", "UPDATE {} SET amount = 1 WHERE order_id = 1")) == {(42,)}


def test_qualify_is_keyed_by_its_partition(shop: Memory) -> None:
    query = """
        SELECT order_id FROM orders
        QUALIFY row_number() OVER (PARTITION BY customer_id ORDER BY amount DESC, order_id) = 1
    """
    assert touched(shop, query, ("orders", "UPDATE {} SET amount = 1 WHERE order_id = 1")) == {(42,)}


def test_a_cte_that_is_used_twice_is_followed_twice(shop: Memory) -> None:
    query = """
        WITH t AS (SELECT customer_id, sum(amount) AS s FROM orders GROUP BY customer_id)
        SELECT a.customer_id, b.s FROM t AS a JOIN t AS b ON b.customer_id = a.customer_id + 1
    """
    assert touched(shop, query, ("orders", "UPDATE {} SET amount = 8 WHERE order_id = 3")) == {(42,), (43,)}


def test_an_aggregate_over_an_aggregate_is_touched_where_the_inner_result_changed(shop: Memory) -> None:
    query = """
        SELECT c.region, sum(t.n) AS n FROM customers c
        JOIN (SELECT customer_id, count(*) AS n FROM orders GROUP BY customer_id) AS t USING (customer_id)
        GROUP BY c.region
    """
    assert touched(shop, query, ("orders", "UPDATE {} SET amount = amount + 1")) == set(), "no count has changed"
    shop.keep()
    assert touched(shop, query, ("orders", "DELETE FROM {} WHERE order_id = 2")) == {("r1",)}


def test_union_all_follows_each_branch_by_itself(shop: Memory) -> None:
    query = "SELECT region FROM customers UNION ALL SELECT name FROM country"
    change = ("country", "UPDATE {} SET name = 'FI' WHERE name = 'SE'")
    assert touched(shop, query, change, part=1) == set()
    shop.change("country", "UPDATE {} SET name = 'SE' WHERE name = 'FI'")
    assert touched(shop, query, change, part=2) == {(1,)}


def test_union_is_keyed_by_its_outputs(shop: Memory) -> None:
    query = "SELECT region FROM customers UNION SELECT name FROM country"
    assert touched(shop, query, ("country", "UPDATE {} SET name = 'r1' WHERE name = 'SE'")) == {("SE",), ("r1",)}


def test_a_self_join_is_two_sources(shop: Memory) -> None:
    query = """
        SELECT a.order_id, b.order_id AS other FROM orders a JOIN orders b ON a.customer_id = b.customer_id
        WHERE a.order_id < b.order_id
    """
    assert touched(shop, query, ("orders", "UPDATE {} SET customer_id = 43 WHERE order_id = 2")) == {(0,), (1,)}


def test_a_global_value_touches_all_rows_only_when_it_changes(shop: Memory) -> None:
    query = "SELECT o.order_id, m.top FROM orders o CROSS JOIN (SELECT max(amount) AS top FROM orders) AS m"
    found = touched(shop, query, ("orders", "UPDATE {} SET amount = 6 WHERE order_id = 2"))
    assert found == {(1,)}, "the changed order itself; the others only see the maximum"
    shop.keep()
    assert len(touched(shop, query, ("orders", "UPDATE {} SET amount = 99 WHERE order_id = 2"))) == 4


def test_a_dimension_reaches_the_keys_without_the_facts(shop: Memory) -> None:
    """The facts would only make the set of keys smaller, at the price of reading all of them."""
    query = """
        SELECT o.customer_id, max(n.name) AS country FROM orders o
        JOIN customers c ON o.customer_id = c.customer_id JOIN country n ON n.country_id = c.country_id
        WHERE o.amount > 0 AND c.region >= CAST('r0' AS VARCHAR) GROUP BY o.customer_id
    """
    table = Dynamic(shop, query)
    numbers = {source.table.ref.name: source.occurrence for source in table.plan.tables}
    [step] = affected(table.plan, frozenset({numbers["country"]}))
    assert f"o{numbers['orders']}" not in step.sql
    assert touched(shop, query, ("country", "UPDATE {} SET name = 'DK' WHERE country_id = 1")) == {(42,), (43,)}


def test_a_condition_that_guards_a_cast_is_not_omitted(memory: Memory) -> None:
    """Without the joined kind, the text of the other kind would be cast to a number and fail."""
    memory.make("kinds", {"kind_id": "INTEGER", "kind": "VARCHAR"}, [[1, "number"], [2, "text"]])
    memory.make("facts", {"kind_id": "INTEGER", "value": "VARCHAR"}, [[1, "10"], [1, "20"], [2, "abc"]])
    memory.keep()
    query = """
        SELECT CAST(f.value AS INTEGER) AS v, count(DISTINCT k.kind) AS n FROM facts f
        JOIN kinds k ON f.kind_id = k.kind_id AND k.kind = 'number' GROUP BY 1
    """
    changes = ("facts", "UPDATE {} SET value = CASE value WHEN 'abc' THEN 'xyz' ELSE '30' END")
    assert touched(memory, query, changes) == {(10,), (20,), (30,)}


def test_keys_of_any_type_are_compared(memory: Memory) -> None:
    kinds = {
        "l": "INTEGER[]",
        "s": 'STRUCT("order" INTEGER, "b c" VARCHAR)',
        "m": "MAP(VARCHAR, INTEGER)",
        "b": "BLOB",
        "t": "TIMESTAMP WITH TIME ZONE",
        "i": "INTERVAL",
        "u": "UUID",
        "j": "JSON",
        "x": "DOUBLE",
    }
    memory.make("t", kinds)
    values = ["[1, NULL]", "{'order': 1, 'b c': 'x'}", "map {'k': 1}", "'ab'", "'2024-01-01 00:00:00+00'"]
    row = ", ".join([*values, "INTERVAL 1 DAY", "uuid()", "'{}'", "'nan'"])
    memory.run(f"INSERT INTO src1_new VALUES (0, {row}), (1, {row}), (2{', NULL' * len(kinds)})")
    memory.keep()
    table = Dynamic(memory, "SELECT DISTINCT * FROM t")
    memory.change("t", "UPDATE {} SET l = [2], x = 0 WHERE __rid = 0")
    memory.change("t", "DELETE FROM {} WHERE __rid = 2")
    assert table.refresh() == "keys"
    table.check()
    assert len(table.keys[1]) == 3

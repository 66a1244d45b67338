"""What a definition is taken to be: its tables, columns, kinds and keys, in every way that it can be written."""

from __future__ import annotations

import pytest

from catchment.errors import TableRefused
from catchment.lake.delta.analyse import analyse
from catchment.lake.delta.plan import Plan
from catchment.lake.query.trees import text
from catchment.lake.types import Definition, Properties, TableRef
from tests.fixtures.often import some
from tests.lake.fuzz.memory import Dynamic, Memory

CHANGES = (
    ("orders", "UPDATE {} SET amount = amount + 2, note = 'a' WHERE order_id IN (2, 3)"),
    ("orders", "INSERT INTO {} VALUES (50, 5, 44, 3, 'A'), (51, 6, 43, NULL, NULL)"),
    ("customers", "UPDATE {} SET region = 'r9', country_id = 2 WHERE customer_id = 43"),
    ("country", "DELETE FROM {} WHERE country_id = 1"),
)


def plan_of(memory: Memory, query: str) -> Plan:
    return analyse(Definition(TableRef("main", "t"), query, Properties()), memory)


def follows(memory: Memory, query: str) -> Dynamic:
    """The table stays equal to its definition, window by window."""
    table = Dynamic(memory, query, twice=True)
    table.check()
    table.check_oracle()
    for name, sql in CHANGES:
        memory.change(name, sql)
        table.refresh()
        table.check()
        memory.keep()
    return table


KINDS = [
    ("SELECT note FROM orders", "rows", ['"orders"."__rid"']),
    ("SELECT DISTINCT note, amount FROM orders", "distinct", ['"orders"."note"', '"orders"."amount"']),
    ("SELECT upper(note) AS u, max(amount) AS m FROM orders GROUP BY 1", "group", ['UPPER("orders"."note")']),
    (
        "SELECT note, customer_id, max(amount) AS m FROM orders GROUP BY ALL",
        "group",
        ['"orders"."note"', '"orders"."customer_id"'],
    ),
    ("SELECT max(amount) AS m FROM orders GROUP BY ALL", "global", []),
    ("SELECT 1 + 1 AS two, max(amount) AS m FROM orders GROUP BY ALL", "global", []),
    ("SELECT 1 + 1 AS two FROM orders GROUP BY ALL", "rows", ['"orders"."__rid"']),
    ("SELECT count(*) AS n FROM orders HAVING count(*) > 1", "global", []),
    (
        "SELECT sum(amount) OVER (PARTITION BY note, order_id) AS s FROM orders",
        "window",
        ['"orders"."note"', '"orders"."order_id"'],
    ),
    (
        """
        SELECT sum(amount) OVER (PARTITION BY note, order_id) AS s, count(*) OVER w AS n
        FROM orders WINDOW w AS (PARTITION BY note)
        """,
        "window",
        ['"orders"."note"'],
    ),
    ("SELECT note FROM orders UNION SELECT name FROM country", "distinct", ['"__u1"."note"']),
    ("SELECT DISTINCT count(*) AS n FROM orders GROUP BY note", "distinct", ['"__u1"."n"']),
    (
        "SELECT o.note, c.region FROM orders o FULL JOIN customers c USING (customer_id)",
        "rows",
        ['"o"."note"', '"c"."region"'],
    ),
]


@pytest.mark.parametrize(("query", "kind", "key"), KINDS, ids=[query for query, _, _ in KINDS])
def test_a_block_has_a_kind_and_a_key(shop: Memory, query: str, kind: str, key: list[str]) -> None:
    [part] = plan_of(shop, query).parts
    assert part.block.kind == kind
    assert [text(tree) for tree in part.block.key] == key


def test_group_by_all_over_constants_has_its_row_without_any_source_row(shop: Memory) -> None:
    """GROUP BY with the same constant spelled out has none: there DuckDB groups, here it does not."""
    table = Dynamic(
        shop, "SELECT year(DATE '2024-02-29') AS y, count(*) AS n, sum(amount) AS s FROM orders GROUP BY ALL"
    )
    shop.change("orders", "DELETE FROM {}")
    assert table.refresh() == "delta"
    table.check()
    assert shop.rows("SELECT y, n, s FROM dt") == [(2024, 0, None)]


def test_the_biggest_source_gives_the_key_even_inside_a_derived_table(shop: Memory) -> None:
    query = """
        SELECT c.region, t.n FROM customers c
        JOIN (SELECT customer_id, count(*) AS n FROM orders GROUP BY customer_id) AS t ON t.customer_id = c.customer_id
    """
    [part] = plan_of(shop, query).parts
    assert [text(tree) for tree in part.block.key] == ['"t"."customer_id"']
    follows(shop, query)


def test_a_key_that_a_derived_table_does_not_show_is_shown_for_us(shop: Memory) -> None:
    table = follows(shop, "SELECT t.n + 1 AS m FROM (SELECT count(*) AS n FROM orders GROUP BY customer_id) AS t")
    assert [text(tree) for tree in table.plan.parts[0].block.key] == ['"t"."__x1"']


USED = [
    ("SELECT note FROM orders", {"orders": ("note",)}),
    ("SELECT count(*) AS n FROM orders", {"orders": ("order_id",)}),
    (
        "SELECT o.note FROM orders o JOIN customers c USING (customer_id)",
        {"orders": ("customer_id", "note"), "customers": ("customer_id",)},
    ),
    ("SELECT * FROM country", {"country": ("country_id", "name")}),
    ("SELECT * EXCLUDE (note) FROM orders", {"orders": ("order_id", "customer_id", "amount", "note")}),
    ("SELECT name FROM country ORDER BY country_id LIMIT 1", {"country": ("country_id", "name")}),
    (
        "SELECT a.note, b.amount FROM orders a JOIN orders b ON a.order_id = b.order_id",
        {"orders": ("order_id", "amount", "note")},
    ),
    (
        "SELECT name FROM country WHERE country_id IN (SELECT country_id FROM customers)",
        {"country": ("country_id", "name"), "customers": ("country_id",)},
    ),
]


@pytest.mark.parametrize(("query", "used"), USED, ids=[query for query, _ in USED])
def test_only_the_columns_that_are_read_are_used(shop: Memory, query: str, used: dict[str, tuple[str, ...]]) -> None:
    assert {table.table.ref.name: table.used for table in plan_of(shop, query).tables} == used


NAMES = [
    # An output has the name of a column: GROUP BY and WHERE mean the column, HAVING and QUALIFY have their own rules.
    "SELECT upper(note) AS note, count(*) AS n FROM orders GROUP BY orders.note",
    "SELECT customer_id AS amount, sum(amount) AS customer_id FROM orders GROUP BY customer_id",
    "SELECT customer_id, sum(amount) AS amount FROM orders GROUP BY customer_id HAVING amount > 6",
    "SELECT customer_id, sum(amount) AS amount FROM orders GROUP BY customer_id HAVING sum(amount) > 6",
    "SELECT customer_id AS k, max(amount) AS amount FROM orders WHERE amount > 1 GROUP BY k HAVING max(amount) < 99",
    "SELECT order_id + 1 AS a, a * 2 AS b FROM orders WHERE a > 2",
    "SELECT order_id, rank() OVER (PARTITION BY note ORDER BY order_id) AS amount FROM orders QUALIFY amount = 1",
    "SELECT order_id, rank() OVER (PARTITION BY note ORDER BY order_id) AS r FROM orders QUALIFY r = 1",
    # Names of ours and of the catalog.
    "SELECT o1_new.note AS akeys_1 FROM orders AS o1_new WHERE o1_new.amount > 1",
    'WITH o1_new AS (SELECT note, amount FROM orders), "fresh" AS (SELECT * FROM o1_new) SELECT note FROM "fresh"',
    "WITH orders AS (SELECT * FROM orders WHERE amount > 1) SELECT order_id FROM orders",
    "WITH a AS (SELECT 1 AS x), b AS (WITH a AS (SELECT order_id AS x FROM orders) FROM a) SELECT b.x FROM b, a",
    "SELECT main.orders.order_id FROM main.orders",
    'SELECT ORDERS.Order_ID AS Id, "NOTE" FROM Orders',
    "SELECT x.a, x.c FROM orders AS x(a, b, c, d) WHERE x.b > 1",
    "SELECT x.a FROM (SELECT order_id, amount FROM orders) AS x(a, b) WHERE b > 1",
    "WITH x(a, b) AS (SELECT order_id, amount FROM orders) SELECT a FROM x WHERE b > 1",
    # Shorter and longer ways to write.
    "FROM orders",
    "FROM orders SELECT note WHERE amount > 2",
    "SELECT * REPLACE (amount + 1 AS amount) FROM orders",
    "SELECT o.* EXCLUDE (note), c.region FROM orders o LEFT JOIN customers c USING (customer_id)",
    "SELECT * FROM orders NATURAL JOIN customers",
    "SELECT customer_id, region FROM orders LEFT JOIN customers USING (customer_id)",
    "SELECT customer_id, count(*) AS n FROM orders FULL JOIN customers USING (customer_id) GROUP BY customer_id",
    """
    SELECT customer_id, country_id, name FROM orders
    JOIN customers USING (customer_id) LEFT JOIN country USING (country_id)
    """,
    "SELECT customer_id, name FROM country RIGHT JOIN customers USING (country_id)",
    "(SELECT note FROM orders ORDER BY order_id) UNION ALL (SELECT name FROM country UNION SELECT 'x')",
    "SELECT o.order_id FROM (SELECT * FROM orders ORDER BY amount) AS o",
    "SELECT order_id, sum(amount) OVER (w ORDER BY order_id) AS s FROM orders WINDOW w AS (PARTITION BY customer_id)",
    "SELECT 1 AS one, note, count(*) AS n FROM orders GROUP BY 1, 2",
    "SELECT v.a, o.note FROM (VALUES (1, 'x'), (2, 'y')) AS v(a, b) LEFT JOIN orders o ON o.order_id = v.a",
    "SELECT 1 AS a, 'constant' AS b UNION ALL SELECT order_id, note FROM orders",
    # Joins that depend on their order.
    """
    SELECT o.order_id, c.region, n.name FROM orders o
    LEFT JOIN customers c USING (customer_id) JOIN country n USING (country_id)
    """,
    """
    SELECT n.name, c.region, o.note FROM country n
    LEFT JOIN customers c USING (country_id) FULL JOIN orders o ON o.customer_id = c.customer_id
    """,
    """
    SELECT n.name, o.note FROM orders o
    JOIN customers c ON o.customer_id = c.customer_id RIGHT JOIN country n ON n.country_id = c.country_id
    """,
    "SELECT o.note, c.region FROM orders o LEFT JOIN customers c ON o.customer_id > c.customer_id AND c.region <> 'r9'",
    """
    SELECT o.note, c.region FROM orders o
    FULL JOIN customers c ON o.customer_id = c.customer_id AND o.amount > 5 WHERE c.region IS NULL
    """,
    """
    SELECT c.region FROM customers c
    SEMI JOIN orders o ON o.customer_id = c.customer_id AND o.amount > 5 LEFT JOIN country n USING (country_id)
    """,
    "SELECT c.region, n.name FROM customers c, country n WHERE c.country_id IS NOT DISTINCT FROM n.country_id",
]


@pytest.mark.parametrize("query", some(NAMES, one_in=6))
def test_a_definition_means_what_duckdb_says(shop: Memory, query: str) -> None:
    table = follows(shop, query)
    assert table.plan.strategy != "full"


def test_a_whole_row_as_a_value_is_refreshed_fully(shop: Memory) -> None:
    assert follows(shop, "SELECT o AS whole FROM orders o").plan.reason == "UNRESOLVED"


def test_occurrences_of_one_table_share_their_number(shop: Memory) -> None:
    plan = plan_of(
        shop, "SELECT a.note FROM orders a JOIN orders b USING (order_id) UNION ALL SELECT region FROM customers"
    )
    assert [(table.occurrence, table.table.ref.name) for table in plan.tables] == [(1, "orders"), (2, "customers")]


def test_the_hash_follows_the_meaning_not_the_spelling(shop: Memory) -> None:
    one = plan_of(shop, "SELECT note FROM orders WHERE amount > 1").definition_hash
    assert plan_of(shop, "select  note\nfrom orders -- why\nwhere amount>1").definition_hash == one
    assert plan_of(shop, "SELECT note FROM orders WHERE amount > 2").definition_hash != one


def test_a_column_that_starts_with_two_underscores_cannot_be_read(memory: Memory) -> None:
    memory.make("t", {"__rid2": "INTEGER", "a": "INTEGER"}, [[1, 2]])
    memory.keep()
    assert plan_of(memory, "SELECT a FROM t").strategy == "keys"
    with pytest.raises(TableRefused) as caught:
        plan_of(memory, "SELECT * FROM t")
    assert caught.value.code == "RESERVED_NAME"


def test_errors_say_what_and_where(shop: Memory) -> None:
    for query, words in [
        ("SELECT a FROM nowhere", "there is no table nowhere in the lake"),
        ("SELECT nothing FROM orders", '"nothing" not found'),
        ("SELECT order_id FROM orders WHERE", "syntax error"),
        ("SELECT order_id, FROM orders GROUP", "not understood"),
        ("UPDATE orders SET amount = 1", "not by UPDATE"),
        ("SELECT length(order_id, 3) AS l FROM orders", "length"),
    ]:
        with pytest.raises(TableRefused) as caught:
            plan_of(shop, query)
        assert words in str(caught.value)

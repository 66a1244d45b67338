"""Every reason can happen, is named, and says what to do; what is not incremental is refreshed fully all the same."""

from __future__ import annotations

import pytest

from catchment.errors import TableRefused
from catchment.lake.delta.analyse import analyse
from catchment.lake.delta.plan import Plan
from catchment.lake.query.ddl import parse_statements
from catchment.lake.query.functions import GRAMMAR
from catchment.lake.reasons import Reason
from catchment.lake.types import Definition, Mode, Properties, Strategy, TableRef, ViewText
from tests.fixtures.often import some, some_rows
from tests.lake.fuzz.memory import Dynamic, Memory

FULL = {
    Reason.LIMIT: "SELECT order_id FROM orders ORDER BY order_id LIMIT 2",
    Reason.SUBQUERY: """
        SELECT order_id FROM orders o WHERE amount > (SELECT min(p.amount) FROM orders p WHERE p.order_id < o.order_id)
    """,
    Reason.GROUPING_SETS: """
        SELECT count(*) AS n FROM orders
        GROUP BY CUBE (note, customer_id, order_id, amount, order_id + 1, order_id + 2)
    """,
    Reason.RECURSIVE_CTE: """
        WITH RECURSIVE r AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM r JOIN orders ON order_id = n WHERE n < 3)
        SELECT n FROM r
    """,
    Reason.PIVOT: "SELECT * FROM customers PIVOT (count(*) FOR country_id IN (1, 2))",
    Reason.SAMPLE: "SELECT order_id FROM orders USING SAMPLE 100%",
    Reason.ASOF_JOIN: """
        SELECT o.order_id, c.region FROM orders o ASOF JOIN customers c ON o.customer_id >= c.customer_id
    """,
    Reason.LATERAL: "SELECT order_id, unnest([1, 2]) AS u, unnest([amount]) AS v FROM orders",
    Reason.DISTINCT_ON: "SELECT DISTINCT ON (customer_id) customer_id, order_id FROM orders ORDER BY order_id",
    Reason.NESTED_JOIN: """
        SELECT n.name, o.order_id FROM country n
        LEFT JOIN (customers c JOIN orders o ON o.customer_id = c.customer_id) ON n.country_id = c.country_id
    """,
    Reason.VOLATILE_FUNCTION: "SELECT order_id FROM orders WHERE random() >= 0",
    Reason.TIME_DEPENDENT: "SELECT order_id, current_date AS d FROM orders",
    Reason.ORDER_DEPENDENT: "SELECT customer_id, any_value(customer_id) AS a FROM orders GROUP BY customer_id",
    Reason.COLLATION: "SELECT note COLLATE NOCASE AS note, count(*) AS n FROM orders GROUP BY 1",
    Reason.UNTRACKED_SOURCE: "SELECT order_id, r.range FROM orders, range(2) AS r",
    Reason.KEY_TYPE: "SELECT count(*) AS n FROM orders GROUP BY customer_id, row(note, amount)",
    Reason.UNRESOLVED: "SELECT min(COLUMNS('.*_id')) FROM orders",
    Reason.SYNTAX: "SELECT order_id, 3! AS f FROM orders",
    Reason.NO_SOURCE: "SELECT 1 AS one",
}


@pytest.mark.parametrize("reason", some(list(FULL), one_in=3), ids=str)
def test_a_definition_that_is_not_incremental_is_refreshed_fully(shop: Memory, reason: Reason) -> None:
    table = Dynamic(shop, FULL[reason])
    assert (table.plan.strategy, table.plan.reason) == ("full", reason)
    shop.change("orders", "UPDATE {} SET amount = amount + 1, customer_id = 43 WHERE order_id < 3")
    shop.change("customers", "DELETE FROM {} WHERE customer_id = 43")
    assert table.refresh() == "full"
    table.check()


@pytest.mark.parametrize(
    "query",
    [
        "SELECT x.n FROM (SELECT order_id AS n FROM orders OFFSET 1) AS x",
        "SELECT order_id FROM orders UNION ALL SELECT 1 LIMIT 2",
    ],
)
def test_limit_without_order_has_no_definite_result(shop: Memory, query: str) -> None:
    assert code(shop, query) == Reason.LIMIT_WITHOUT_ORDER


MORE_FULL = [
    ("SELECT order_id, count(*) OVER (PARTITION BY (note, amount)) AS n FROM orders", Reason.KEY_TYPE),
    ("SELECT count(*) AS n FROM orders GROUP BY customer_id::BIT", Reason.KEY_TYPE),
    (
        "SELECT order_id FROM orders WHERE row(note, order_id) IN (SELECT row(region, 1) FROM customers)",
        Reason.KEY_TYPE,
    ),
    ("SELECT count(*) AS n FROM (SELECT DISTINCT row(note, amount) AS x FROM orders)", Reason.KEY_TYPE),
    ("SELECT o.order_id, n.name FROM orders o POSITIONAL JOIN country n", Reason.ASOF_JOIN),
    ("SELECT order_id, generate_subscripts([1, 2], 1) AS u FROM orders", Reason.LATERAL),
    ("SELECT o.order_id FROM orders o, (SELECT o.amount AS n) AS l", Reason.UNRESOLVED),
    ("SELECT order_id, now() AS t FROM orders", Reason.TIME_DEPENDENT),
    ("SELECT order_id, age(TIMESTAMP '2000-01-01') AS a FROM orders", Reason.TIME_DEPENDENT),
    ("SELECT order_id, localtimestamp AS a FROM orders", Reason.TIME_DEPENDENT),
    ("SELECT order_id, uuid() AS u FROM orders", Reason.VOLATILE_FUNCTION),
    ("SELECT order_id, session_user AS u FROM orders", Reason.VOLATILE_FUNCTION),
    ("SELECT customer_id, list(amount) AS l FROM orders GROUP BY 1", Reason.ORDER_DEPENDENT),
    ("SELECT customer_id, mode(note) AS l FROM orders GROUP BY 1", Reason.ORDER_DEPENDENT),
    ("SELECT order_id, row_number() OVER (PARTITION BY note) AS r FROM orders", Reason.ORDER_DEPENDENT),
    ("SELECT * FROM (PIVOT customers ON country_id IN (1, 2) USING count(*))", Reason.PIVOT),
    (
        "SELECT c.region, o.order_id FROM country n, customers c FULL JOIN orders o USING (customer_id)",
        Reason.NESTED_JOIN,
    ),
    (
        "SELECT o.order_id FROM orders o FULL JOIN customers c USING (customer_id) JOIN orders p USING (customer_id)",
        Reason.UNRESOLVED,
    ),
]


def test_a_deep_expression_is_read(shop: Memory) -> None:
    query = f"SELECT order_id, {' + '.join(['order_id'] * 200)} AS s, {'(' * 60}note{')' * 60} AS n FROM orders"
    assert Dynamic(shop, query).plan.reason is None
    deeper = f"SELECT {'abs(' * 900}order_id{')' * 900} AS x FROM orders"
    assert code(shop, deeper) == Reason.PARSE_ERROR


@pytest.mark.parametrize(("query", "reason"), some_rows(MORE_FULL, one_in=2), ids=[query for query, _ in MORE_FULL])
def test_other_ways_to_a_reason(shop: Memory, query: str, reason: Reason) -> None:
    assert Dynamic(shop, query).plan.reason == reason


INCREMENTAL = [
    "SELECT note, count(DISTINCT (customer_id, amount)) AS n FROM orders GROUP BY note",
    "SELECT customer_id, string_agg(note, ',' ORDER BY note) AS l FROM orders GROUP BY 1",
    "SELECT order_id, age(TIMESTAMP '2000-01-01', TIMESTAMP '2001-01-01') AS a FROM orders",
    "SELECT order_id, lag(amount) OVER (PARTITION BY note ORDER BY order_id) AS l FROM orders",
    "SELECT order_id, sum(amount) OVER (PARTITION BY note) AS s FROM orders",
    "SELECT customer_id, string_agg(DISTINCT note, ',' ORDER BY note) AS l FROM orders GROUP BY 1",
    "SELECT customer_id, percentile_cont(0.5) WITHIN GROUP (ORDER BY amount) AS p FROM orders GROUP BY 1",
    "SELECT customer_id, median(amount) AS m, stddev(amount) AS d FROM orders GROUP BY ALL",
    "SELECT order_id, v.a FROM orders JOIN (VALUES (1), (2)) AS v(a) ON v.a = order_id",
]


@pytest.mark.parametrize("query", some(INCREMENTAL, one_in=2))
def test_what_only_looks_alike_stays_incremental(shop: Memory, query: str) -> None:
    table = Dynamic(shop, query)
    assert table.plan.reason is None
    shop.change("orders", "UPDATE {} SET amount = 3, note = 'z' WHERE order_id < 3")
    table.refresh()
    table.check()


def test_a_source_without_row_ids_is_read_as_a_whole(memory: Memory) -> None:
    """What the lake would give for rowid is the column, of any type and not unique."""
    memory.make("t", {"RowId": "VARCHAR", "v": "INTEGER"}, [["a", 1], ["a", 2]])
    memory.keep()
    table = Dynamic(memory, "SELECT v FROM t WHERE v > 0")
    assert (table.plan.reason, table.plan.tables[0].wants_rid) == (Reason.ROWID_HIDDEN, False)
    memory.change("t", "UPDATE {} SET v = 3 WHERE v = 1")
    table.refresh()
    table.check()


def test_columns_may_have_the_names_of_clocks(memory: Memory) -> None:
    memory.make("t", {"today": "DATE", "user": "VARCHAR", "now": "INTEGER", "random": "INTEGER"}, [[None, "a", 1, 2]])
    memory.keep()
    found = plan_of(memory, """SELECT "today", t."user", "now" + random AS n, 'current_date' AS c FROM t""")
    assert (found.reason, found.is_always_due) == (None, False)


@pytest.mark.parametrize(
    ("query", "is_due"),
    [
        (FULL[Reason.VOLATILE_FUNCTION], True),
        (FULL[Reason.TIME_DEPENDENT], True),
        (FULL[Reason.UNTRACKED_SOURCE], False),
        ("SELECT order_id FROM orders, glob('/nowhere/*')", True),
        ("SELECT order_id FROM orders ORDER BY random() LIMIT 1", True),
        (FULL[Reason.LIMIT], False),
    ],
)
def test_what_changes_without_data_is_always_due(shop: Memory, query: str, is_due: bool) -> None:
    assert plan_of(shop, query).is_always_due is is_due


@pytest.mark.parametrize("name", ["twice_of", '"from"'])
def test_a_macro_of_a_user_may_hide_anything(shop: Memory, name: str) -> None:
    shop.run(f"CREATE OR REPLACE MACRO {name}(a) AS a * 2")
    try:
        found = plan_of(shop, f"SELECT {name}(amount) AS t FROM orders")
        assert (found.reason, found.is_always_due) == (Reason.UNTRACKED_SOURCE, True)
    finally:
        shop.run(f"DROP MACRO {name}")


def test_no_function_can_have_a_word_of_the_grammar(memory: Memory) -> None:
    kept = memory.rows(
        "SELECT keyword_name FROM duckdb_keywords() WHERE keyword_category IN ('reserved', 'column_name')"
    )
    assert {(word,) for word in GRAMMAR} <= set(kept)


def test_mode_full_is_a_reason_only_if_there_is_no_other(shop: Memory) -> None:
    assert Dynamic(shop, "SELECT order_id FROM orders", mode=Mode.FULL).plan.reason == Reason.MODE_FULL
    assert Dynamic(shop, FULL[Reason.LIMIT], mode=Mode.FULL).plan.reason == Reason.LIMIT


def test_mode_full_computes_the_same(shop: Memory) -> None:
    table = Dynamic(shop, "SELECT note, sum(amount) AS s FROM orders GROUP BY note", mode=Mode.FULL)
    shop.change("orders", "DELETE FROM {} WHERE order_id = 1")
    assert table.refresh() == "full"
    table.check()


def test_incremental_is_refused_with_the_reason_why_not(shop: Memory) -> None:
    with pytest.raises(TableRefused) as caught:
        Dynamic(shop, FULL[Reason.SUBQUERY], mode=Mode.INCREMENTAL)
    assert caught.value.code == Reason.INCREMENTAL_NOT_POSSIBLE
    assert "SUBQUERY" in str(caught.value)
    assert caught.value.hint == Reason.SUBQUERY.hint


# Each reason has an example where it is declared; these are refused for it too.
REFUSED = [
    *((reason.example, reason) for reason in Reason if reason.example is not None),
    ("SELECT order_id FROM orders WHERE order_id = ?", Reason.PARSE_ERROR),
    ("SELECT order_id FROM orders AT (VERSION => 3)", Reason.PARSE_ERROR),
    ("INSERT INTO orders VALUES (1)", Reason.NOT_A_SELECT),
    ("SELECT 1; SELECT 2", Reason.NOT_A_SELECT),
    ("SELECT order_id, temp.round(1) AS t FROM orders AS temp", Reason.AMBIGUOUS_NAME),
    ("SELECT * FROM query_table('orders')", Reason.AMBIGUOUS_NAME),
    ("SELECT order_id, current_setting('threads') AS u FROM orders", Reason.SESSION_FUNCTION),
    ("SELECT order_id FROM 'orders.parquet'", Reason.UNKNOWN_TABLE),
    ("SELECT o.nothing FROM orders o", Reason.UNKNOWN_COLUMN),
    ("SELECT __a.order_id FROM orders AS __a", Reason.RESERVED_NAME),
    ('SELECT order_id AS "RowId" FROM orders', Reason.RESERVED_NAME),
    ("SELECT CAST(1 AS UHUGEINT) AS b FROM orders", Reason.UNSUPPORTED_TYPE),
    ("SELECT length(order_id, 3) AS l FROM orders", Reason.QUERY),
]


def code(memory: Memory, query: str, properties: Properties | None = None) -> str:
    with pytest.raises(TableRefused) as caught:
        analyse(Definition(TableRef("main", "t"), query, properties or Properties()), memory)
    assert str(caught.value)
    return caught.value.code


def plan_of(memory: Memory, query: str) -> Plan:
    return analyse(Definition(TableRef("main", "t"), query, Properties()), memory)


@pytest.mark.parametrize(("query", "reason"), REFUSED, ids=[query for query, _ in REFUSED])
def test_a_definition_that_cannot_be_carried_out_is_refused(shop: Memory, query: str, reason: Reason) -> None:
    assert code(shop, query) == reason


@pytest.mark.parametrize("sql", ["SELECT 1; SELECT 2", "SELECT a FROM v", "not a query"])
def test_a_view_that_is_not_one_query_is_refused(shop: Memory, sql: str) -> None:
    shop.views["v"] = ViewText(TableRef("main", "v"), sql)
    assert code(shop, "SELECT 1 AS a FROM v") == Reason.VIEW_SOURCE


@pytest.mark.parametrize(
    "query",
    [
        "SELECT note, max(amount) AS m FROM orders GROUP BY note",
        "SELECT note, customer_id, max(amount) AS m FROM orders GROUP BY note, customer_id",
        "SELECT DISTINCT amount FROM orders",
        "SELECT order_id FROM orders UNION ALL SELECT country_id FROM country",
    ],
)
def test_modulo_needs_one_integer_key(shop: Memory, query: str) -> None:
    assert code(shop, query, Properties(parallel_strategy=Strategy.MODULO)) == Reason.STRATEGY_NOT_POSSIBLE


RAISED_ELSEWHERE = {Reason.CYCLE}
"""Found where all tables are known, by the part that creates them."""


def test_every_reason_of_a_definition_is_shown_by_a_test() -> None:
    shown = set(FULL) | {reason for _, reason in REFUSED} | RAISED_ELSEWHERE
    shown |= {Reason.MODE_FULL, Reason.INCREMENTAL_NOT_POSSIBLE, Reason.VIEW_SOURCE}
    shown |= {Reason.STRATEGY_NOT_POSSIBLE, Reason.QUERY, Reason.ROWID_HIDDEN}
    assert {reason for reason in Reason if reason.group in ("full", "refused")} <= shown


@pytest.mark.parametrize("reason", Reason, ids=str)
def test_a_reason_is_a_sentence(reason: Reason) -> None:
    assert reason.sentence.endswith(".")
    assert reason.hint is None or reason.hint.endswith(".")
    assert reason.value == reason.name


def test_a_statement_goes_all_the_way(shop: Memory) -> None:
    [definition] = parse_statements(
        "CREATE DYNAMIC TABLE t TARGET_LAG = '1 minute' AS SELECT note, count(*) AS n FROM orders GROUP BY note;"
    )
    assert analyse(definition, shop).strategy == "delta"

"""What DuckDB accepts and what has one result is accepted; what is not understood is refreshed fully and says so."""

from __future__ import annotations

import pytest

from catchment.errors import TableRefused
from catchment.lake.reasons import Reason
from tests.fixtures.often import some, some_rows
from tests.lake.fuzz.memory import Dynamic, Memory


@pytest.fixture
def things(memory: Memory) -> Memory:
    memory.make(
        "t",
        {"i": "INTEGER", "s": "VARCHAR", "l": "INTEGER[]", "d": "DATE", "x": "DOUBLE", "j": "JSON"},
        [
            [1, "a", [1, 2], "2024-02-29", 0.5, '["q", 1]'],
            [2, None, [], "2023-12-31", 2.0, "{}"],
            [None, "b", None, None, None, None],
            [3, "a", [3], "2024-01-01", 1.0, '["r"]'],
        ],
    )
    memory.make("u", {"i": "INTEGER", "s": "VARCHAR"}, [[1, "a"], [2, "c"], [2, "b"], [None, "a"]])
    memory.keep()
    return memory


def change(memory: Memory) -> None:
    memory.change("t", "UPDATE {} SET i = 2, s = 'c', l = [7, 8], j = '[2]' WHERE i = 1")
    memory.change("t", "DELETE FROM {} WHERE i = 3")
    memory.change("u", "UPDATE {} SET i = 1 WHERE s = 'c'")
    memory.insert("t", [[5, "c", [5, 5], "2022-02-02", 3.0, "[5]"]])
    memory.insert("u", [[5, "z"]])


INCREMENTAL = [
    "SELECT s, i, row_number() OVER (PARTITION BY s ORDER BY i NULLS LAST, x) AS r FROM t",
    "SELECT s, string_agg(d::VARCHAR, ',' ORDER BY d DESC NULLS LAST) AS r FROM t GROUP BY s",
    "SELECT i FROM t ORDER BY i NULLS LAST",
    "SELECT i, extract(epoch FROM d) AS e, extract(dow FROM d) AS f, extract(isodow FROM d) AS g FROM t",
    "SELECT i, extract(doy FROM d) AS e, extract(week FROM d) AS f, extract('year' FROM d) AS g FROM t",
    "WITH v(k, n) AS (VALUES (1, 'x'), (2, 'y')) SELECT t.s, v.n FROM t JOIN v ON v.k = t.i",
    "SELECT s, sum(i) OVER w AS n FROM t WINDOW w AS (PARTITION BY s)",
    "SELECT s, sum(i) OVER w AS n, rank() OVER (w ORDER BY i) AS r FROM t WINDOW w AS (PARTITION BY s)",
    "SELECT s, row_number() OVER w AS n FROM t WINDOW w AS (PARTITION BY s ORDER BY i, x)",
    "SELECT a.i, b.s FROM (t AS a JOIN u AS b ON a.i = b.i)",
    "SELECT a.i, b.s, c.s AS cs FROM (t AS a JOIN u AS b ON a.i = b.i) JOIN u AS c ON c.i = a.i",
    "SELECT a.i, b.s FROM ((t AS a LEFT JOIN u AS b ON a.i = b.i))",
    "SELECT i, row(i, s) = row(1, 'a') AS r, (i, s) IN ((1, 'a'), (2, 'b')) AS q FROM t",
    "SELECT main.t.i FROM t",
    "FROM t SELECT i, s WHERE i > 1",
    "SELECT i, count(*) AS i FROM t GROUP BY i",
    "SELECT t.i, v.e FROM t, UNNEST(t.l) AS v(e)",
    "SELECT t.i, v.e FROM t LEFT JOIN UNNEST(t.l) AS v(e) ON true",
    "SELECT t.i, v.e, v.o FROM t, UNNEST(l) WITH ORDINALITY AS v(e, o)",
    "SELECT i, unnest(l) AS e FROM t",
    "SELECT DISTINCT unnest(l) + 1 AS e FROM t WHERE i > 0",
    "SELECT v.e, count(*) AS n, sum(t.x) AS x FROM t, UNNEST(t.l) AS v(e) GROUP BY v.e",
    "SELECT v.e, count(*) AS n, max(w.m) AS m FROM t CROSS JOIN UNNEST(l) AS v(e)"
    " JOIN (SELECT i, max(s) AS m FROM u GROUP BY i) AS w ON w.i = v.e GROUP BY v.e",
    "SELECT t.i, v.e, u.s FROM t CROSS JOIN UNNEST(l) AS v(e) JOIN u ON u.i = v.e",
    "SELECT t.i, v.e, u.s FROM u LEFT JOIN t ON u.i = t.i, UNNEST(t.l) AS v(e)",
    "SELECT t.i, v.e FROM t, LATERAL (SELECT unnest(t.l) AS e) AS v",
    "SELECT t.i, v.y FROM t, LATERAL (SELECT t.x + 1 AS y) AS v WHERE v.y > 1",
    "SELECT u.s, w.e FROM u LEFT JOIN (SELECT i, unnest(l) AS e FROM t) AS w ON w.i = u.i",
    "((SELECT i FROM t) UNION (SELECT i FROM u)) ORDER BY 1",
]
FULL = [
    ("SELECT i, j -> 0 AS e FROM t WHERE i < 3", Reason.SYNTAX),
    ("SELECT i, l <=> [1.0, 2.0] AS e FROM t WHERE len(l) = 2", Reason.SYNTAX),
    ("SELECT i, 3! AS e FROM t", Reason.SYNTAX),
    ("SELECT #1 AS a, 3! AS b FROM t", Reason.SYNTAX),
    ("WITH t AS (SELECT i, 3! AS b FROM t), v AS (SELECT b FROM t) SELECT b FROM v", Reason.SYNTAX),
    ("SELECT 3! AS f, a.* FROM t AS a(p, q), u WHERE u.i = p AND EXISTS (SELECT 1 FROM main.t WHERE i = p)", None),
    ("SELECT 3! AS f, main.t.i FROM main.t", Reason.SYNTAX),
    ("SELECT 3! AS f, now() > '2000-01-01' AS n FROM t", Reason.TIME_DEPENDENT),
    ("SELECT i FROM t WHERE random() >= 0 OR 3! = 6", Reason.VOLATILE_FUNCTION),
    ("VALUES (1, 'a'), (2, 'b')", Reason.NO_SOURCE),
    ("FROM t", None),
    ("TABLE u", None),
    ("PIVOT u ON s IN ('a', 'b') USING sum(i)", Reason.PIVOT),
    ("UNPIVOT u ON i INTO NAME n VALUE v", Reason.PIVOT),
    ("SELECT i, unnest(l) AS a, unnest([1, i]) AS b FROM t", Reason.LATERAL),
    ("SELECT unnest(list(i ORDER BY i)) AS a, s FROM t GROUP BY s", Reason.LATERAL),
    ("SELECT t.i, v.s FROM t, LATERAL (SELECT u.s FROM u WHERE u.i = t.i) AS v", None),
    ("SELECT i, s FROM t ORDER BY i DESC NULLS LAST LIMIT 1", Reason.LIMIT),
    ("WITH RECURSIVE r(n) AS (VALUES (1) UNION ALL SELECT n + 1 FROM r WHERE n < 3) SELECT n, i FROM r, t", None),
]


@pytest.mark.parametrize("query", some(INCREMENTAL, one_in=6))
def test_other_ways_to_write_it_stay_incremental(things: Memory, query: str) -> None:
    table = Dynamic(things, query)
    assert table.plan.reason is None
    table.check(hidden=False)
    change(things)
    table.refresh()
    table.check()


@pytest.mark.parametrize(("query", "reason"), some_rows(FULL, one_in=3), ids=[query for query, _ in FULL])
def test_valid_queries_are_refreshed_whether_they_are_understood_or_not(
    things: Memory, query: str, reason: Reason | None
) -> None:
    table = Dynamic(things, query, twice=True)
    assert reason is None or table.plan.reason == reason
    table.check(hidden=False)
    change(things)
    table.refresh()
    table.check()


def test_columns_of_one_name_are_numbered_as_duckdb_does(things: Memory) -> None:
    query = "SELECT i, s AS i, x AS I, count(*) AS i_1 FROM t GROUP BY ALL"
    table = Dynamic(things, query)
    things.run(f"CREATE OR REPLACE TEMP TABLE by_hand AS {query}")
    assert [column.name for column in table.plan.layout.visible] == [row[0] for row in things.rows("DESCRIBE by_hand")]
    change(things)
    table.refresh()
    table.check()


def test_a_query_that_is_run_as_written_is_always_due_if_it_asks_the_clock(things: Memory) -> None:
    assert Dynamic(things, "SELECT 3! AS f, now() AS n FROM t").plan.is_always_due
    assert not Dynamic(things, "SELECT 3! AS f FROM t").plan.is_always_due


REFUSED = [
    ("SELECT 3! AS f FROM nowhere", Reason.UNKNOWN_TABLE),
    ("SELECT 3! AS f, nothing FROM t", Reason.UNKNOWN_COLUMN),
    ("SELECT 3! AS f FROM t LIMIT 2", Reason.LIMIT_WITHOUT_ORDER),
    ("SELECT 3! AS f FROM t WHERE i = ?", Reason.PARSE_ERROR),
    ("SELECT 3! AS f FROM t AT (VERSION => 3)", Reason.PARSE_ERROR),
    ("SELECT 3! AS __f FROM t", Reason.RESERVED_NAME),
    ("SELECT 3! AS f FROM lake.t", Reason.AMBIGUOUS_NAME),
    ("SELECT 3! AS f FROM (SUMMARIZE t)", Reason.NOT_A_SELECT),
    ("WITH o1_new AS (SELECT 3! AS f FROM t) SELECT f FROM o1_new", Reason.RESERVED_NAME),
]


@pytest.mark.parametrize(("query", "reason"), REFUSED, ids=[query for query, _ in REFUSED])
def test_what_is_run_as_written_is_checked_like_the_rest(things: Memory, query: str, reason: Reason) -> None:
    with pytest.raises(TableRefused) as caught:
        Dynamic(things, query)
    assert caught.value.code == reason


ONE_ROW = [
    "SELECT max(i) AS m FROM t LIMIT 100",
    "SELECT a.n, b.m FROM (SELECT count(*) AS n FROM t) AS a, (SELECT max(i) AS m FROM u) AS b LIMIT 10",
    "WITH a AS (SELECT count(*) AS n FROM t) SELECT a.n, 2 AS two FROM a ORDER BY n LIMIT 1",
    "SELECT a.n FROM (SELECT count(*) AS n, sum(i) AS m FROM t HAVING sum(i) > 0 LIMIT 1) AS a",
]


@pytest.mark.parametrize("query", ONE_ROW)
def test_a_limit_on_one_row_limits_nothing(things: Memory, query: str) -> None:
    table = Dynamic(things, query)
    assert table.plan.reason not in (Reason.LIMIT, Reason.LIMIT_WITHOUT_ORDER)
    change(things)
    table.refresh()
    table.check()


SEVERAL_ROWS = [
    "SELECT max(i) AS m FROM t GROUP BY s LIMIT 1",
    "SELECT i FROM t LIMIT 1",
    "SELECT i FROM (SELECT max(i) AS m FROM u) AS a, t LIMIT 1",
    "SELECT max(i) OVER () AS m FROM t LIMIT 1",
    "SELECT (SELECT max(i) FROM u) AS m FROM t LIMIT 1",
    "SELECT unnest([1, max(i)]) AS m FROM t LIMIT 1",
    "SELECT max(i) AS m FROM t UNION ALL SELECT 1 LIMIT 1",
    "SELECT max(i) AS m FROM t LIMIT (SELECT 0)",
    "SELECT max(i) AS m FROM t LIMIT 1 OFFSET 1",
]


@pytest.mark.parametrize("query", SEVERAL_ROWS)
def test_a_limit_that_may_leave_rows_out_needs_an_order(things: Memory, query: str) -> None:
    with pytest.raises(TableRefused) as caught:
        Dynamic(things, query)
    assert caught.value.code == Reason.LIMIT_WITHOUT_ORDER

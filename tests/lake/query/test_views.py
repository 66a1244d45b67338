"""Views as sources: a definition over a view is the definition over its query."""

from __future__ import annotations

import pytest

from catchment.lake.query.views import with_views
from catchment.lake.types import TableRef, ViewText
from tests.fixtures.often import some
from tests.lake.fuzz.memory import Dynamic, Memory


@pytest.fixture
def viewed(memory: Memory) -> Memory:
    """Two tables; a view over one, a view over both with names for its columns, and a view over that in DuckDB too."""
    memory.make("t", {"k": "BIGINT", "v": "BIGINT"}, [[1, 10], [2, 20], [2, 5], [None, 1]])
    memory.make("u", {"k": "BIGINT", "s": "VARCHAR"}, [[1, "a"], [2, "b"], [3, "c"]])
    memory.keep()
    for name, sql, columns in (
        ("few", "SELECT k, v FROM t WHERE v > 4", ()),
        ("pair", "WITH u2 AS (SELECT k, s FROM u) SELECT s, sum(v) FROM few JOIN u2 USING (k) GROUP BY s", ("s", "n")),
        ("upper_pair", "SELECT upper(b.s) AS s, n FROM main.pair AS b", ()),
    ):
        memory.views[name] = ViewText(TableRef("main", name), sql, columns)
        listed = f"({', '.join(columns)})" if columns else ""
        memory.run(f"CREATE OR REPLACE VIEW {name}{listed} AS {sql}")
    return memory


QUERIES = [
    "SELECT * FROM few",
    "SELECT x.k, x.w FROM few AS x(k, w)",
    "SELECT s, n FROM pair WHERE n > 1",
    "SELECT upper_pair.s, u.k FROM upper_pair JOIN u ON upper(u.s) = upper_pair.s",
    "WITH t AS (SELECT 7 AS k, 7 AS v) SELECT few.k, t.v FROM few, t",
    "WITH few AS (SELECT 1 AS k) SELECT k FROM few UNION ALL SELECT k FROM main.few",
    "SELECT a.k, b.v FROM few AS a LEFT JOIN few AS b USING (k)",
    "SELECT k FROM u WHERE k IN (SELECT k FROM few)",
]


@pytest.mark.parametrize("query", some(QUERIES, one_in=3))
def test_a_table_over_views_is_kept_up_to_date(viewed: Memory, query: str) -> None:
    table = Dynamic(viewed, query, twice=True)
    table.check()
    viewed.change("t", "UPDATE {} SET v = v + 3, k = 1 WHERE v < 11")
    viewed.change("u", "UPDATE {} SET s = 'z' WHERE k = 2")
    viewed.insert("t", [[3, 30]])
    table.refresh()
    table.check()


def test_a_view_adds_nothing_to_how_a_table_is_refreshed(viewed: Memory) -> None:
    plan = Dynamic(viewed, "SELECT k, sum(v) AS v FROM few GROUP BY k").plan
    assert (plan.strategy, [item.table.ref.name for item in plan.tables]) == ("delta", ["t"])


def test_the_query_is_kept_as_written_where_there_is_no_view(viewed: Memory) -> None:
    query = "SELECT  k  FROM t -- as it is"
    assert with_views(query, viewed) == query
    assert "few" not in with_views("SELECT k FROM few AS x", viewed)

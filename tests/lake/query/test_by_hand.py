"""Queries that choose columns without naming them: the table holds what the query gives by hand, or it is refused."""

from __future__ import annotations

import pytest

from catchment.errors import TableRefused
from tests.fixtures.often import some
from tests.lake.fuzz.memory import Dynamic, Memory

COLUMNS = {"id": "BIGINT", "kind": "VARCHAR", "x": "BIGINT", "x2": "BIGINT"}
ROWS = [[1, "a", 5, None], [2, "b", None, 9], [3, None, 7, 1], [4, "a", 8, 8]]


@pytest.fixture
def sales(memory: Memory) -> Memory:
    memory.make("sales", COLUMNS, ROWS)
    memory.make("others", {"id": "BIGINT", "x": "BIGINT"}, [[1, 5], [2, 6]])
    memory.keep()
    return memory


FROM_DATA = [
    "SELECT * FROM (PIVOT sales ON kind USING sum(x))",
    "SELECT * FROM (PIVOT sales ON kind USING sum(x) GROUP BY id)",
    "SELECT * FROM (PIVOT (SELECT kind, x FROM sales) ON kind USING sum(x))",
    "SELECT * FROM (PIVOT sales ON kind IN (SELECT 'a') USING sum(x))",
    "SELECT * FROM (PIVOT sales ON kind IN ('a'), id USING sum(x))",
    "SELECT * FROM (PIVOT_WIDER sales ON kind USING sum(x))",
    "WITH p AS (PIVOT sales ON kind USING sum(x)) SELECT * FROM p",
    "FROM (PIVOT sales ON kind USING sum(x))",
    "SELECT 1 AS n, 2 AS a UNION ALL SELECT n, a FROM (PIVOT sales ON kind USING sum(x) GROUP BY id AS n)",
]


@pytest.mark.parametrize("query", FROM_DATA)
def test_columns_that_depend_on_the_data_are_refused(sales: Memory, query: str) -> None:
    with pytest.raises(TableRefused) as caught:
        Dynamic(sales, query)
    assert caught.value.code in ("PIVOT_WITHOUT_IN", "PARSE_ERROR")
    if caught.value.code == "PIVOT_WITHOUT_IN":
        assert "with IN" in (caught.value.hint or "")


def test_a_statement_that_is_a_pivot_is_refused_with_what_to_write(sales: Memory) -> None:
    with pytest.raises(TableRefused) as caught:
        Dynamic(sales, "PIVOT sales ON kind USING sum(x)")
    assert "SELECT * FROM (" in (caught.value.hint or "")
    assert "IN" in (caught.value.hint or "")


UNNAMED = [
    "SELECT a FROM sales PIVOT (sum(x) FOR kind IN ('a'))",
    "SELECT p.a, o.id FROM sales PIVOT (sum(x) FOR kind IN ('a')) AS p, others AS o",
    "SELECT count(*) AS n FROM (PIVOT sales ON kind IN ('a', 'b') USING sum(x))",
    "SELECT n, v, o.x FROM (UNPIVOT sales ON COLUMNS('^x') INTO NAME n VALUE v) AS u, others AS o",
    "SELECT count(*) AS c, max(o.x) AS x FROM (UNPIVOT sales ON COLUMNS('x|id') INTO NAME n VALUE v), others AS o",
    "SELECT x, id, #2 AS c FROM sales",
    "SELECT id, coalesce(*COLUMNS('^x')) AS c FROM sales",
    "SELECT id, x FROM sales WHERE COLUMNS('^x') > 5",
    "SELECT id, x FROM sales WHERE COLUMNS(lambda c: c LIKE 'x%') > 5",
    "SELECT id, hash(sales) AS h FROM sales",
    "SELECT id, len(to_json(s)::VARCHAR) AS n FROM sales AS s",
    "SELECT s.id, hash(o) AS h FROM sales AS s LEFT JOIN others AS o USING (id)",
    "SELECT count(DISTINCT s) AS n, max(id) AS id FROM sales AS s",
    "SELECT count(*) AS n FROM sales NATURAL JOIN others",
]


@pytest.mark.parametrize("query", some(UNNAMED, one_in=3))
def test_columns_that_are_read_without_their_name_count(sales: Memory, query: str) -> None:
    """Reading only the columns that a definition names would group, filter or hash by others than the query does."""
    table = Dynamic(sales, query)
    table.check()
    sales.change("sales", "UPDATE {} SET x2 = 11, x = 6 WHERE id = 2")
    sales.change("sales", "DELETE FROM {} WHERE id = 3")
    table.refresh()
    table.check()


UNNEST = [
    "SELECT s.id, u.v FROM sales AS s, unnest([x, x2]) AS u(v)",
    "SELECT s.id, u.v FROM others AS o, sales AS s, unnest([s.x, o.x]) AS u(v) WHERE s.id = o.id",
    "SELECT id, unnest FROM sales, unnest([x])",
]


@pytest.mark.parametrize("query", UNNEST)
def test_unnest_may_stand_after_a_comma(sales: Memory, query: str) -> None:
    table = Dynamic(sales, query)
    table.check()
    sales.change("sales", "UPDATE {} SET x = 6 WHERE id = 2")
    table.refresh()
    table.check()


HINTS = {
    "SELECT id, row(x, kind) AS r FROM sales": "Name them",
    "SELECT id, [(x, kind)] AS r FROM sales": "Name them",
    "SELECT * FROM sales AS a, others AS a": "alias",
    "SELECT * FROM (SUMMARIZE sales)": None,
    "SELECT * FROM (DESCRIBE sales)": None,
}


@pytest.mark.parametrize("query", HINTS)
def test_valid_sql_that_is_refused_is_refused_in_words(sales: Memory, query: str) -> None:
    """No text of ours in the message that the user did not write, and what to write instead."""
    sales.rows(query.replace("others AS a", "others AS b"))
    with pytest.raises(TableRefused) as caught:
        Dynamic(sales, query)
    assert "{'" not in str(caught.value)
    assert "syntax error" not in str(caught.value)
    assert (HINTS[query] or "") in (caught.value.hint or "")

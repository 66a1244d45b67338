"""A query means the same after it was parsed and written back, or it is run as it was written."""

from __future__ import annotations

import pytest
import sqlglot

from catchment.errors import TableRefused
from catchment.lake.query.faithful import difference, syntax_error
from catchment.lake.query.parse import parse_query
from catchment.lake.query.trees import DIALECT, text
from catchment.lake.reasons import Reason
from tests.lake.fuzz.memory import Dynamic, Memory

COLUMNS = {
    "i": "INTEGER",
    "s": "VARCHAR",
    "x": "DOUBLE",
    "n": "DECIMAL(10,2)",
    "d": "DATE",
    "b": "BOOLEAN",
    "l": "INTEGER[]",
    "st": "STRUCT(a INTEGER)",
    "m": "MAP(VARCHAR, INTEGER)",
    "j": "JSON",
}
ROWS = [
    "1, 'ab', 2.5, 1.25, DATE '2024-02-29', true, [1, 2, 3], {'a': 5}, map {'x': 7}, '{\"a\": 1}'",
    "NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL",
    "-3, 'Aab', -1.5, -2.55, DATE '2023-12-31', false, [], {'a': NULL}, map {'x': 0}, '{\"a\": \"q\"}'",
]

EXPRESSIONS = """
length(s) ; lower(s) ; substr(s, 2) ; substring(s FROM 2 FOR 1) ; trim(BOTH 'a' FROM s)
trim(LEADING 'a' FROM s) ; ltrim(s, 'a') ; position('b' IN s) ; s[1] ; s[1:2] ; s[-2:] ; l[1] ; l[-1] ; l[2:]
l[:2] ; [1, 2, i] ; {'a': i, 'b': s} ; st.a ; st['a'] ; m['x'] ; map {'k': i} ; i // 2 ; i / 2 ; i % 2 ; -i
i ** 2 ; i ^ 2 ; - 2 ** 2 ; i & 3 ; i | 4 ; ~i ; abs(i) << 2 ; s || 'x' ; s || i > 'a' ; concat(s, i)
concat_ws('-', s, i) ; s LIKE 'a%' ; s NOT LIKE 'a%' ; s ILIKE 'A%' ; s LIKE 'a!%' ESCAPE '!' ; s ~ 'a.*'
s !~ 'a' ; s ~~ 'a%' ; s !~~ 'a%' ; s ^@ 'a' ; s SIMILAR TO 'a.*' ; s GLOB 'a*' ; regexp_matches(s, 'a')
regexp_extract(s, '(a)', 1) ; regexp_replace(s, 'a', 'b', 'g') ; date_trunc('month', d) ; date_part('year', d)
extract(year FROM d) ; year(d) ; d + 1 ; d + INTERVAL 1 DAY ; d - INTERVAL '1' MONTH ; d + INTERVAL (i) DAY
INTERVAL '1 year 2 months' ; d + INTERVAL '3 hours' ; date_diff('day', d, DATE '2025-01-01') ; strftime(d, '%Y')
TIMESTAMP '2020-01-01 10:00:00' ; '2020-01-01'::DATE ; i::DECIMAL(10,3) ; -1::INTEGER ; TRY_CAST(s AS INT)
x::INT ; round(x, 1) ; floor(x) ; ceil(x) ; greatest(i, 2) ; least(i, 2) ; coalesce(i, 1) ; ifnull(i, 1)
nullif(i, 1) ; if(b, 1, 2) ; CASE i WHEN 1 THEN 'a' ELSE 'b' END ; CASE WHEN b THEN 1 END ; i IN (1, 2)
i NOT IN (1, 2) ; NOT i IN (1) ; i BETWEEN 1 AND 2 ; i NOT BETWEEN 1 AND 2 ; i IS NULL ; i IS NOT NULL
i NOTNULL ; i IS DISTINCT FROM 1 ; b IS TRUE ; b IS NOT TRUE ; NOT b AND b ; NOT (b AND b)
i + 1 > 2 AND b OR NOT b ; (i + 1) * 2 ; list_transform(l, lambda x: x + 1) ; [y + 1 FOR y IN l]
[y FOR y IN l IF y > 1] ; list_contains(l, 1) ; len(l) ; len(s) ; l && [1] ; l @> [1] ; md5(s) ; chr(65)
split_part(s, 'b', 1) ; left(s, 1) ; make_date(2020, 1, 1) ; epoch(d) ; dayofweek(d) ; quarter(d) ; last_day(d)
json_extract(j, '$.a') ; j -> 'a' ; j ->> 'a' ; j -> '$.a' ; to_json(st) ; struct_pack(a := 1) ; mod(i, 2)
pow(i, 2) ; log(x + 10) ; ln(x + 10) ; exp(x) ; pi() ; 1e3 ; 1_000 ; .5 ; 'it''s' ; $$it's$$ ; e'a\\nb'
format('{} {}', s, i) ; hex(s) ; starts_with(s, 'a') ; list_sum(l) ; s.upper().lower() ; try(1 / i) ; typeof(i)
constant_or_null(1, i) ; @i ; i == 1 ; i != 1 ; 1 = ANY([1, 2]) ; TIMESTAMPTZ '2020-01-01 00:00:00+00'
cast(i AS HUGEINT) ; cast(l AS BIGINT[])
"""

AGGREGATES = """
count(*) ; count() ; count(DISTINCT i) ; sum(i) FILTER (WHERE b) ; string_agg(s, ',' ORDER BY s DESC NULLS FIRST)
list(i ORDER BY i) ; quantile_cont(x, 0.5) ; max(i) ; bool_or(b) ; histogram(i) ; count_if(b) ; product(i) ; median(x)
sum(i) OVER (PARTITION BY s ORDER BY d, i) ; sum(i) OVER (ORDER BY i ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW)
sum(i) OVER (ORDER BY i RANGE BETWEEN 1 PRECEDING AND 1 FOLLOWING) ; lag(i, 1, 0) OVER (ORDER BY i)
sum(i) OVER (ORDER BY i GROUPS BETWEEN 1 PRECEDING AND 1 FOLLOWING EXCLUDE CURRENT ROW)
percentile_cont(0.5) WITHIN GROUP (ORDER BY x) ; string_agg(DISTINCT s, '-' ORDER BY s) ; sum(DISTINCT i)
lag(i IGNORE NULLS) OVER (ORDER BY i) ; first_value(i) OVER (ORDER BY i) ; ntile(3) OVER (ORDER BY i DESC NULLS FIRST)
"""


def listed(expressions: str) -> list[str]:
    return [found.strip() for line in expressions.strip().splitlines() for found in line.split(" ; ")]


@pytest.fixture
def values(memory: Memory) -> Memory:
    memory.make("t", COLUMNS)
    for number, row in enumerate(ROWS):
        memory.run(f"INSERT INTO src1_new VALUES ({number}, {row})")
    memory.keep()
    return memory


def test_expressions_survive(values: Memory) -> None:
    """The text that is written back gives the same values, and DuckDB reads it as the same query."""
    for expression in [*listed(EXPRESSIONS), *listed(AGGREGATES)]:
        query = f"SELECT {expression} AS r FROM t"
        again = text(parse_query(query))
        assert difference(values.syntax(query), values.syntax(again)) is None, expression
        assert sorted(map(str, values.rows(again))) == sorted(map(str, values.rows(query))), expression


def test_a_table_of_many_expressions_is_kept_up_to_date(values: Memory) -> None:
    plain = [expression for expression in listed(EXPRESSIONS) if expression not in ("i / 2", "try(1 / i)")]
    table = Dynamic(values, f"SELECT {', '.join(f'{item} AS c{place}' for place, item in enumerate(plain))} FROM t")
    assert table.plan.strategy == "keys"
    values.run("UPDATE src1_new SET i = 2, s = 'abc', d = DATE '2020-05-05', b = true WHERE __rid = 2")
    values.run("UPDATE src1_new SET l = [4], st = {'a': 9}, x = 0.5 WHERE __rid = 1")
    table.refresh()
    table.check()


@pytest.mark.parametrize("expression", ["s ~* 'a'", "l <=> s", "length(i, 3)!"])
def test_what_duckdb_refuses_is_refused_in_its_words(values: Memory, expression: str) -> None:
    with pytest.raises(TableRefused) as caught:
        Dynamic(values, f"SELECT {expression} AS r FROM t")
    assert caught.value.code == "QUERY"


@pytest.mark.parametrize("expression", ["i! IS NULL", "j -> 0"])
def test_what_does_not_survive_is_run_as_it_is_written(values: Memory, expression: str) -> None:
    table = Dynamic(values, f"SELECT {expression} AS r FROM t WHERE i IS NULL OR i > 0")
    assert table.plan.reason == Reason.SYNTAX
    values.run("UPDATE src1_new SET i = 2, x = 0.5, j = '[1]' WHERE __rid = 2")
    table.refresh()
    table.check()


def test_the_trap_that_made_this_necessary(values: Memory) -> None:
    """The parser's own dialect turns a match of the whole text into one of a part."""
    query = "SELECT s ~ 'a' AS r FROM t"
    again = sqlglot.parse_one(query, read="duckdb").sql(dialect="duckdb")
    found = difference(values.syntax(query), values.syntax(again))
    assert found is not None
    assert "regexp_full_match" in found
    assert "regexp_full_match" in text(sqlglot.parse_one(query, read=DIALECT)).lower()


@pytest.mark.parametrize(
    ("one", "two"),
    [
        ("SELECT 'A' AS a FROM t", "SELECT 'a' AS a FROM t"),
        ("SELECT i FROM t WHERE b", "SELECT i FROM t WHERE NOT b"),
        ("SELECT i FROM t", "SELECT DISTINCT i FROM t"),
        ("SELECT i - (1 - i) AS r FROM t", "SELECT i - 1 - i AS r FROM t"),
        ("SELECT i FROM t ORDER BY i", "SELECT i FROM t ORDER BY i DESC"),
        ("SELECT i FROM t UNION ALL SELECT 1", "SELECT i FROM t UNION SELECT 1"),
        ("SELECT i FROM t LEFT JOIN t AS u USING (i)", "SELECT i FROM t JOIN t AS u USING (i)"),
        ("SELECT i FROM t ORDER BY i", "SELECT i FROM t ORDER BY i NULLS FIRST"),
        ("WITH v(a) AS (VALUES (1)) SELECT a FROM v", "WITH v(a) AS (FROM (VALUES (1)) LIMIT 0) SELECT a FROM v"),
        ("WITH v(a) AS (VALUES (1)) SELECT a FROM v", "WITH v(a) AS (VALUES (2)) SELECT a FROM v"),
        ("SELECT INTERVAL 1 DAY AS r", "SELECT INTERVAL 2 DAY AS r"),
        ("SELECT INTERVAL '3 hours' AS r", "SELECT INTERVAL '3' MINUTES AS r"),
        ("SELECT lag(i IGNORE NULLS) OVER () AS r FROM t", "SELECT lag(i) OVER () AS r FROM t"),
    ],
)
def test_a_difference_is_seen(memory: Memory, one: str, two: str) -> None:
    assert difference(memory.syntax(one), memory.syntax(two)) is not None


@pytest.mark.parametrize(
    ("one", "two"),
    [
        ("SELECT I FROM T", "select i from t"),
        ("SELECT i IS NOT NULL AS r FROM t", "SELECT NOT i IS NULL AS r FROM t"),
        ("SELECT INTERVAL 1 DAY AS r", "SELECT INTERVAL '1' DAY AS r"),
        ("SELECT INTERVAL '3 hours' AS r", "SELECT INTERVAL '3' HOURS AS r"),
        ("SELECT x::INT AS r FROM t", "SELECT CAST(x AS INTEGER) AS r FROM t"),
        ("SELECT i ^ 2 AS r FROM t", "SELECT i ** 2 AS r FROM t"),
        ("SELECT i FROM t ORDER BY i", "SELECT i FROM t ORDER BY i ASC NULLS LAST"),
        ("WITH v(a) AS (VALUES (1)) SELECT a FROM v", "WITH v(a) AS (FROM (VALUES (1))) SELECT a FROM v"),
    ],
)
def test_another_spelling_is_no_difference(memory: Memory, one: str, two: str) -> None:
    assert difference(memory.syntax(one), memory.syntax(two)) is None


def test_a_text_that_duckdb_cannot_parse_is_named(memory: Memory) -> None:
    assert "syntax error" in (syntax_error(memory.syntax("SELECT FROM WHERE"), "SELECT FROM WHERE") or "")
    assert syntax_error(memory.syntax("SELECT 1"), "SELECT 1") is None
    assert syntax_error(memory.syntax("DROP TABLE t"), "DROP TABLE t") is None, "that is parsed, though no query"

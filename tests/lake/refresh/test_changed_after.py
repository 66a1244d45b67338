"""Sources that were altered, dropped or made again after the snapshot at which a refresh reads them."""

from __future__ import annotations

import pytest

from catchment.lake.names import quoted
from tests.fixtures.lake_case import LakeCase
from tests.fixtures.often import often

QUERIES = {
    "sums": "SELECT a.k, count(*) AS n, sum(a.v * b.v) AS s FROM items a JOIN items b ON a.k = b.k GROUP BY a.k",
    "most": "SELECT a.k, max(b.v) AS most FROM items a JOIN items b ON a.k = b.k GROUP BY a.k",
    "shares": "SELECT k, v, sum(v) OVER (PARTITION BY k) AS s FROM items",
    "as written": "SELECT a.k, ((b.k)::INTEGER)! AS f FROM items a, items b"
    " WHERE a.k = b.k AND a.k IN (SELECT k FROM items)",
    "as written, of a CTE": "WITH i AS NOT MATERIALIZED (SELECT k, v FROM items)"
    " SELECT a.k, ((b.v)::INTEGER)! AS f FROM i a, i b WHERE a.k = b.k",
    "first": "WITH i AS NOT MATERIALIZED (SELECT k, v FROM items)"
    " SELECT a.k, b.v FROM i a JOIN i b ON a.k = b.k ORDER BY ALL LIMIT 90",
}
LATER = {
    "dropped": ["DROP TABLE items"],
    "made again": ["DROP TABLE items", "CREATE TABLE items (k BIGINT, v BIGINT)", "INSERT INTO items VALUES (1, 70)"],
    "another one": ["ALTER TABLE items RENAME TO gone", "CREATE TABLE items AS SELECT v AS k, k AS v FROM gone"],
    "renamed": ["ALTER TABLE items RENAME TO things"],
    "a column dropped": ["ALTER TABLE items DROP COLUMN v"],
    "a column made again": ["ALTER TABLE items DROP COLUMN v", "ALTER TABLE items ADD COLUMN v BIGINT"],
    "a column widened": ["ALTER TABLE items ALTER v TYPE HUGEINT"],
    "columns exchanged": [
        "ALTER TABLE items RENAME COLUMN k TO w",
        "ALTER TABLE items RENAME COLUMN v TO k",
        "ALTER TABLE items RENAME COLUMN w TO v",
    ],
}


@pytest.mark.parametrize(
    "later", often("made again", "a column made again", "a column widened", "renamed", now_and_then=list(LATER))
)
def test_a_round_shows_the_sources_as_they_were_at_its_snapshot(later: str, lake_case: LakeCase) -> None:
    """Each mention of a source counts: DuckDB reads the present table in a copy of a query of an older version."""
    case = lake_case
    case.sql("CREATE TABLE items (k BIGINT, v BIGINT)")
    case.sql("INSERT INTO items SELECT i % 5, i FROM range(30) AS r(i)")
    for name, query in QUERIES.items():
        case.create(f"CREATE DYNAMIC TABLE {quoted(name)} TARGET_LAG = '1 hour' REFRESH_MODE = AUTO AS {query}")
        case.refresh(name)
    case.sql("UPDATE items SET v = v + 1, k = k + 1 WHERE v % 7 = 0")
    case.sql("DELETE FROM items WHERE v = 16")
    expected = {name: case.sql(f"FROM ({query}) ORDER BY ALL") for name, query in QUERIES.items()}
    requested = [case.request(name) for name in QUERIES]
    for statement in LATER[later]:
        case.sql(statement)
    for refresh_id in requested:
        assert case.finish_round(refresh_id)["state"] == "SUCCEEDED"
    for name in QUERIES:
        assert case.rows(name) == expected[name]
        case.check(name)

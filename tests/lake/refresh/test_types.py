"""Columns of every type that the lake stores, as rows and as keys, refreshed in one piece and in buckets."""

from __future__ import annotations

import duckdb
import pytest

from catchment.errors import LakeError
from tests.fixtures.lake_case import LakeCase
from tests.fixtures.often import often
from tests.lake.fuzz.together import carry_out_in_buckets
from tests.lake.refresh.inline import spread

VALUES = {
    "BOOLEAN": "true",
    "TINYINT": "-5",
    "UBIGINT": "18446744073709551615",
    "HUGEINT": "12345678901234567890",
    "FLOAT": "1.5",
    "DOUBLE": "'nan'",
    "DECIMAL(38,10)": "1.1234567891",
    "DATE": "DATE '2024-02-29'",
    "TIME": "TIME '10:00:00'",
    "TIMESTAMP": "TIMESTAMP '2024-01-01 01:02:03.123456'",
    "TIMESTAMP WITH TIME ZONE": "TIMESTAMPTZ '2024-01-01 01:02:03+02'",
    "TIMESTAMP_NS": "'2024-01-01 01:02:03.123456789'",
    "INTERVAL": "INTERVAL '1 month 3 days'",
    "BLOB": "'\\xAA'::BLOB",
    "UUID": "'00000000-0000-0000-0000-000000000001'",
    "JSON": "'{\"a\": [1]}'",
    "DECIMAL(5,1)[][]": "[[1.5], []]",
    'STRUCT("order" INTEGER, "user" VARCHAR[])': "{'order': 1, 'user': ['x', NULL]}",
    "MAP(VARCHAR, DOUBLE)": "map {'k': 1.5}",
}


@pytest.mark.parametrize("query", often("SELECT * FROM t", now_and_then=["SELECT DISTINCT * EXCLUDE (id) FROM t"]))
def test_every_type_is_stored_compared_and_cut(query: str, lake_case: LakeCase) -> None:
    columns = ", ".join(f"c{place} {kind}" for place, kind in enumerate(VALUES))
    lake_case.sql(f"CREATE TABLE t (id INTEGER, {columns})")
    row, nothing = ", ".join(VALUES.values()), ", ".join("NULL" for _ in VALUES)
    lake_case.sql(f"INSERT INTO t VALUES (1, {row}), (2, {nothing}), (3, {row})")
    lake_case.create(f"CREATE DYNAMIC TABLE dt SCHEDULER = DISABLE REFRESH_MODE = INCREMENTAL AS {query}")
    lake_case.refresh("dt")
    for statement in ("UPDATE t SET id = 10, c0 = NULL WHERE id = 1", "DELETE FROM t WHERE id = 2"):
        lake_case.sql(statement)
        assert lake_case.refresh("dt")["action"] == "incremental"
        lake_case.check("dt")
    lake_case.sql("INSERT INTO t SELECT id + 100, false, * EXCLUDE (id, c0) FROM t")
    refresh_id = lake_case.request("dt")
    carry_out_in_buckets(lake_case, lake_case.begin(refresh_id))
    assert lake_case.refreshed(refresh_id)["plan"] is not None
    lake_case.check("dt")
    assert lake_case.leftovers() == {}


@pytest.mark.long
@pytest.mark.parametrize("kind", often("DECIMAL(38,0)", now_and_then=["DECIMAL(38,4)"]))
def test_a_sum_that_cannot_be_stored_fails_the_refresh_and_not_the_table(kind: str, lake_case: LakeCase) -> None:
    lake_case.make("t", f"k BIGINT, v {kind}", [(1, 1), (2, 2)])
    lake_case.create("CREATE DYNAMIC TABLE sums TARGET_LAG = '1 hour' AS SELECT k, sum(v) AS s FROM t GROUP BY k")
    lake_case.refresh("sums")
    before = lake_case.rows("sums")
    digits = "9" * 34 + ".9999" if kind == "DECIMAL(38,4)" else "9" * 38
    lake_case.sql(f"INSERT INTO t SELECT 1, CAST('{digits}' AS {kind})")
    with pytest.raises((LakeError, duckdb.Error)) as raised:
        lake_case.refresh("sums")
    assert getattr(raised.value, "code", "QUERY") == "QUERY"
    assert lake_case.refreshed(lake_case.pg("select max(id) from lake.refresh")[0][0])["state"] == "FAILED"
    assert lake_case.rows("sums") == before
    one = spread(lake_case, "sums")
    with pytest.raises((LakeError, duckdb.Error)):
        one.compute_all()
    lake_case.control.fail_refresh(one.refresh_id, one.order.fence, "QUERY", "as the test wants")
    one.sweep()
    with lake_case.commit_lock():
        lake_case.sql("DELETE FROM t WHERE v > 10")
    lake_case.refresh("sums")
    lake_case.check("sums")
    assert lake_case.leftovers() == {}


ALIKE = {
    "due": "SELECT (DATE '2026-02-01' + i)::DATE AS due, count(*) AS n FROM t GROUP BY 1",
    "dues": "SELECT DISTINCT (DATE '2026-02-01' + i)::DATE AS due FROM t",
    "late": "SELECT k FROM t WHERE DATE '2026-02-01' + i > DATE '2026-03-02'",
    "text": "SELECT f::VARCHAR AS f, sum(k) AS s FROM t GROUP BY 1",
    "first": "SELECT l[1]::VARCHAR AS f, count(*) AS n FROM t GROUP BY 1",
    "below": "SELECT u::VARCHAR AS f, count(*) AS n FROM (SELECT unnest(l) AS u FROM t) GROUP BY 1",
    "largest": "SELECT m::VARCHAR AS f, count(*) AS n FROM (SELECT k, max(f) AS m FROM t GROUP BY k) GROUP BY 1",
}


@pytest.mark.long
@pytest.mark.parametrize("name", often("text", now_and_then=sorted(ALIKE.keys() - {"text"})))
def test_values_that_are_equal_but_not_the_same_are_distinguished(name: str, lake_case: LakeCase) -> None:
    lake_case.make("t", "k INTEGER, f DOUBLE, i INTERVAL, l DOUBLE[]", [[1, 1.0, "1 day", [1.0]]])
    head = f"CREATE DYNAMIC TABLE {name} SCHEDULER = DISABLE REFRESH_MODE = INCREMENTAL AS"
    lake_case.create(f"{head} {ALIKE[name]}")
    lake_case.refresh(name)
    lake_case.sql(
        "INSERT INTO t VALUES (7, 0.0, INTERVAL 1 MONTH, [0.0]), (8, '-0.0', INTERVAL 30 DAY, ['-0.0']),"
        " (9, '-0.0', INTERVAL 30 DAY, ['-0.0'])"
    )
    assert lake_case.refresh(name)["action"] == "incremental"
    lake_case.check(name)
    lake_case.sql("UPDATE t SET f = '-0.0', i = INTERVAL 30 DAY, l = ['-0.0'] WHERE k = 7")
    assert lake_case.refresh(name)["action"] == "incremental"
    lake_case.check(name)

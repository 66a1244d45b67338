"""Columns of every type that the lake stores, as rows and as keys, refreshed in one piece and in buckets."""

from __future__ import annotations

import pytest

from tests.fixtures.lake import LakeCase
from tests.lake.fuzz.together import carry_out_in_buckets

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


@pytest.mark.parametrize("query", ["SELECT * FROM t", "SELECT DISTINCT * EXCLUDE (id) FROM t"])
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

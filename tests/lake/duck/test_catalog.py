"""Reads of the catalog against lakes that were really written."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from psycopg import Connection

from catchment.lake.duck import catalog
from catchment.lake.names import quoted
from catchment.lake.types import ColumnAt, TableRef
from tests.fixtures.lake_case import LakeCase
from tests.lake.control.support import add_table, refresh

TYPES = [
    "BOOLEAN",
    "TINYINT",
    "SMALLINT",
    "INTEGER",
    "BIGINT",
    "HUGEINT",
    "UTINYINT",
    "USMALLINT",
    "UINTEGER",
    "UBIGINT",
    "FLOAT",
    "DOUBLE",
    "DECIMAL(10,2)",
    "DECIMAL(38,0)",
    "DATE",
    "TIME",
    "TIMESTAMP",
    "TIMESTAMP WITH TIME ZONE",
    "TIMESTAMP_S",
    "TIMESTAMP_MS",
    "TIMESTAMP_NS",
    "INTERVAL",
    "VARCHAR",
    "BLOB",
    "UUID",
    "JSON",
    "INTEGER[]",
    "DECIMAL(5,1)[][]",
    'STRUCT(a INTEGER, "B c" VARCHAR[])',
    "MAP(VARCHAR, DOUBLE)",
    "STRUCT(x STRUCT(y DATE)[])",
    'STRUCT("order" INTEGER, "user" STRUCT("select" DATE, "na""me" UUID))',
]


@pytest.fixture
def conn(lake_case: LakeCase) -> Iterator[Connection[Any]]:
    with lake_case.control.connection() as conn:
        yield conn


def test_types_are_what_duckdb_reads_as_the_same(lake_case: LakeCase, conn: Connection[Any]) -> None:
    lake_case.sql(f"CREATE TABLE t ({', '.join(f'c{i} {kind}' for i, kind in enumerate(TYPES))})")
    found = catalog.find_table(conn, TableRef("main", "t"), lake_case.head())
    assert found is not None
    described = {column.name: column.type for column in lake_case.duck.describe("SELECT * FROM t")}
    ours = ", ".join(f"CAST(NULL AS {column.type}) AS {quoted(name)}" for name, column in found.columns.items())
    assert {column.name: column.type for column in lake_case.duck.describe(f"SELECT {ours}")} == described
    assert list(found.columns) == list(described)


def test_a_table_is_found_as_it_was(lake_case: LakeCase, conn: Connection[Any]) -> None:
    before = lake_case.head()
    first = lake_case.make('Or"der', "a INTEGER, b VARCHAR", [(1, "x"), (2, "y"), (3, "z")])
    lake_case.sql('DELETE FROM "Or""der" WHERE a = 1')
    lake_case.sql('ALTER TABLE "Or""der" DROP COLUMN b')
    lake_case.sql('ALTER TABLE "Or""der" ALTER a TYPE BIGINT')
    ref = TableRef("main", 'OR"DER')
    assert catalog.find_table(conn, ref, before) is None

    then, now = catalog.find_table(conn, ref, first), catalog.find_table(conn, ref, lake_case.head())
    assert then is not None
    assert now is not None
    assert then.table_id == now.table_id
    assert then.ref == TableRef("main", 'Or"der')
    assert (then.rows, now.rows) == (3, 2)
    assert {n: c.type for n, c in then.columns.items()} == {"a": "INTEGER", "b": "VARCHAR"}
    assert {n: c.type for n, c in now.columns.items()} == {"a": "BIGINT"}
    assert then.dt_id is None


def test_rows_are_counted_through_updates_and_deletes(lake_case: LakeCase, conn: Connection[Any]) -> None:
    """A data file that has ended keeps its delete file: these deletes are not to be counted once more."""
    lake_case.make("t", "k BIGINT, n BIGINT")
    lake_case.sql("INSERT INTO t SELECT i, 0 FROM range(100) AS r(i)")
    for step in ("UPDATE t SET n = 1 WHERE k < 40", "DELETE FROM t WHERE k < 10", "UPDATE t SET n = n + 1"):
        lake_case.sql(step)
        found = catalog.find_table(conn, TableRef("main", "t"), lake_case.head())
        assert found is not None
        assert [(found.rows,)] == lake_case.duck.rows("SELECT count(*) FROM t"), step


def test_a_replaced_table_has_another_id(lake_case: LakeCase, conn: Connection[Any]) -> None:
    first = lake_case.make("t", "a INTEGER")
    lake_case.sql("CREATE OR REPLACE TABLE t (a INTEGER)")
    ref = TableRef("main", "t")
    then, now = catalog.find_table(conn, ref, first), catalog.find_table(conn, ref, lake_case.head())
    assert then is not None
    assert now is not None
    assert then.table_id != now.table_id


def test_a_replaced_column_has_another_id_and_a_renamed_one_has_not(lake_case: LakeCase, conn: Connection[Any]) -> None:
    lake_case.make("t", "a INTEGER, b INTEGER")
    table = catalog.find_table(conn, TableRef("main", "t"), lake_case.head())
    assert table is not None
    lake_case.sql("ALTER TABLE t RENAME COLUMN a TO c")
    lake_case.sql("ALTER TABLE t DROP COLUMN b")
    lake_case.sql("ALTER TABLE t ADD COLUMN b INTEGER")
    now = catalog.columns_at(conn, table.table_id, lake_case.head())
    assert now["c"] == table.columns["a"]
    assert now["b"].column_id != table.columns["b"].column_id


def test_a_view_is_no_table(lake_case: LakeCase, conn: Connection[Any]) -> None:
    lake_case.sql("CREATE VIEW v AS SELECT 1 AS a")
    at = lake_case.head()
    assert catalog.find_table(conn, TableRef("main", "v"), at) is None
    assert catalog.is_view(conn, TableRef("main", "V"), at)
    assert not catalog.is_view(conn, TableRef("main", "V"), at - 1)


def test_the_content_of_a_dynamic_table_says_whose_it_is(lake_case: LakeCase, conn: Connection[Any]) -> None:
    table = add_table(lake_case, "d")
    found = catalog.find_table(conn, TableRef("dt", f"t{table.dt_id}g1"), lake_case.head())
    assert found is not None
    assert found.dt_id == table.dt_id
    assert found.partitioned_by == ("__b",)
    assert catalog.is_view(conn, TableRef("main", "d"), lake_case.head())


def test_snapshots_that_exist_are_found_where_others_have_expired(lake_case: LakeCase, conn: Connection[Any]) -> None:
    first = lake_case.make("t", "a INTEGER", [(1,)])
    for number in range(3):
        lake_case.add("t", [(number,)])
    assert catalog.next_snapshot(conn, first) == first + 1
    lake_case.sql("CALL ducklake_expire_snapshots('lake', versions => ?)", [[first + 1, first + 2]])
    assert catalog.next_snapshot(conn, first) == first + 3 == catalog.head(conn)
    assert catalog.next_snapshot(conn, first + 3) is None
    assert [catalog.has_snapshot(conn, n) for n in (first, first + 1, first + 3)] == [True, False, True]


def test_the_size_of_a_window_comes_from_the_files_alone(lake_case: LakeCase, conn: Connection[Any]) -> None:
    start = lake_case.make("t", "a INTEGER")
    lake_case.sql("INSERT INTO t SELECT i FROM range(1000) t(i)")
    inserted = lake_case.head()
    lake_case.sql("DELETE FROM t WHERE a < 10")
    deleted = lake_case.head()
    lake_case.sql("CALL ducklake_rewrite_data_files('lake', 't', delete_threshold => 0)")
    rewritten = lake_case.head()
    lake_case.pg("select lake.scan_changes()")
    table = catalog.find_table(conn, TableRef("main", "t"), rewritten)
    assert table is not None

    def size(old: int, new: int) -> tuple[int, int]:
        return catalog.window_size(conn, table.table_id, old, new)

    assert size(start, inserted) == (1000, 0)
    assert size(inserted, deleted) == (0, 10)
    assert size(start, deleted) == (1000, 10)
    assert size(deleted, rewritten) == (0, 0)
    lake_case.sql("DELETE FROM t")
    lake_case.pg("select lake.scan_changes()")
    assert size(rewritten, lake_case.head()) == (0, 990)


def test_buckets_and_their_deletes(lake_case: LakeCase, conn: Connection[Any]) -> None:
    table = add_table(lake_case, "d")
    physical = f'lake.dt."t{table.dt_id}g1"'
    lake_case.sql(f"INSERT INTO {physical} SELECT i, i, i % 4 FROM range(400) t(i)")
    found = catalog.find_table(conn, TableRef("dt", f"t{table.dt_id}g1"), lake_case.head())
    assert found is not None
    assert catalog.bucket_rows(conn, found.table_id) == {0: 100, 1: 100, 2: 100, 3: 100}
    assert catalog.files_with_deletes(conn, found.table_id) == set()
    lake_case.sql(f"DELETE FROM {physical} WHERE k IN (1, 2, 6)")
    lake_case.sql(f"DELETE FROM {physical} WHERE __b = 3")  # a file that goes as a whole has no deletes
    assert catalog.bucket_rows(conn, found.table_id) == {0: 100, 1: 99, 2: 98}
    assert catalog.files_with_deletes(conn, found.table_id) == {1, 2}
    assert catalog.files_with_deletes(conn, found.table_id, [0, 2, 3]) == {2}
    health = catalog.file_health(conn, found.table_id)
    assert (health.files, health.rows, health.deleted) == (3, 300, 3)
    assert health.bytes > 0


def test_files_are_known_by_their_full_path(lake_case: LakeCase, conn: Connection[Any]) -> None:
    table = add_table(lake_case, "d")
    refresh(lake_case, table, [(1, 1)])
    physical = catalog.find_table(conn, TableRef("dt", f"t{table.dt_id}g1"), lake_case.head())
    assert physical is not None
    directory = catalog.table_directory(conn, physical.table_id)
    assert directory == f"{lake_case.content}/t{table.dt_id}g1/"
    (written,) = lake_case.content.rglob("*.parquet")
    inside, outside = f"{directory}__b=7/mine.parquet", str(lake_case.folder / "elsewhere" / "__b=7" / "x.parquet")
    assert catalog.registered(conn, physical.table_id, [str(written), inside, outside]) == {str(written)}
    for path in (inside, outside):
        target = lake_case.folder.__class__(path)
        target.parent.mkdir(parents=True)
        lake_case.sql(f"COPY (SELECT 2::BIGINT AS k, 2::BIGINT AS n) TO '{path}' (FORMAT parquet)")
    lake_case.sql(
        "CALL ducklake_add_data_files('lake', ?, ?, schema => 'dt', hive_partitioning => true)",
        [physical.ref.name, [inside, outside]],
    )
    assert catalog.registered(conn, physical.table_id, [str(written), inside, outside]) == {
        str(written),
        inside,
        outside,
    }
    assert catalog.registered(conn, physical.table_id, []) == set()


def test_columns_are_picked_whatever_their_case() -> None:
    columns = {"Id": ColumnAt(1, "BIGINT"), "name": ColumnAt(2, "VARCHAR")}
    assert catalog.used_columns(columns, ["ID"]) == {"Id": ColumnAt(1, "BIGINT")}

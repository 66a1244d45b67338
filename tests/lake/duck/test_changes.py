"""Which table a snapshot has touched, as the catalog says it and as we note it."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from catchment.lake.duck.catalog import find_table
from catchment.lake.types import TableRef
from tests.fixtures.lake_case import LakeCase, foreign_client
from tests.fixtures.often import some, some_rows


def kinds(case: LakeCase, change: Callable[[], object]) -> set[str]:
    """What is noted of table t after a change."""
    with case.control.connection() as conn:
        found = find_table(conn, TableRef("main", "t"), case.head())
    assert found is not None
    before = case.pg("select lake.scan_changes()")[0][0]
    change()
    case.pg("select lake.scan_changes()")
    rows = case.pg("select kind from lake.change where table_id = %s and snapshot_id > %s", found.table_id, before)
    return {kind for (kind,) in rows}


@pytest.mark.parametrize(
    ("statement", "expected"),
    some_rows(
        [
            ("INSERT INTO t VALUES (9, 'z')", {"data"}),
            ("UPDATE t SET b = 'c' WHERE a = 1", {"data"}),
            ("DELETE FROM t WHERE a = 1", {"data"}),
            ("TRUNCATE t", {"data"}),
            ("DELETE FROM t WHERE a = 999", set()),
            ("ALTER TABLE t ADD COLUMN c INTEGER", {"ddl"}),
            ("ALTER TABLE t DROP COLUMN b", {"ddl"}),
            ("ALTER TABLE t ALTER a TYPE BIGINT", {"ddl"}),
            ("ALTER TABLE t RENAME TO other", {"ddl"}),
            ("CREATE OR REPLACE TABLE t (a INTEGER)", {"ddl"}),
            ("DROP TABLE t", {"ddl"}),
            ("CALL ducklake_merge_adjacent_files('lake', 't')", {"upkeep"}),
            ("CALL ducklake_rewrite_data_files('lake', 't', delete_threshold => 0)", {"upkeep"}),
            ("CREATE TABLE u (a INTEGER)", set()),
            ('CREATE TABLE "inserted_into_table" (a INTEGER)', set()),
        ],
        one_in=3,
    ),
)
def test_statements_are_distinguished(module_lake: LakeCase, statement: str, expected: set[str]) -> None:
    for name in ("t", "u", "other", "inserted_into_table"):
        module_lake.sql(f"DROP TABLE IF EXISTS {name}")
    module_lake.make("t", "a INTEGER, b VARCHAR", [(1, "x"), (2, "y")])
    module_lake.add("t", [(3, "z")])
    module_lake.add("t", [(4, "z")])
    module_lake.sql("DELETE FROM t WHERE a = 2")
    assert kinds(module_lake, lambda: module_lake.sql(statement)) == expected


@pytest.mark.parametrize(
    "statement",
    some(
        [
            "INSERT INTO theirs.main.t VALUES (9)",
            "DELETE FROM theirs.main.t WHERE a = 1",
            "UPDATE theirs.main.t SET a = 7 WHERE a = 1",
            "CALL ducklake_flush_inlined_data('theirs')",
        ],
        one_in=2,
    ),
)
def test_inlined_changes_are_noted_as_such(lake_case: LakeCase, statement: str) -> None:
    """Somebody has turned inlining on again."""
    lake_case.pg("update public.ducklake_metadata set value = '10' where key = 'data_inlining_row_limit'")
    with foreign_client(lake_case) as theirs:
        theirs.execute("CREATE TABLE theirs.main.t (a INTEGER)")
        theirs.execute("INSERT INTO theirs.main.t VALUES (1), (2)")
        assert kinds(lake_case, lambda: theirs.execute(statement)) == {"inlined"}


def test_a_scan_notes_each_snapshot_once_and_says_which_is_the_newest(lake_case: LakeCase) -> None:
    lake_case.make("t", "a INTEGER", [(1,)])
    assert lake_case.pg("select lake.scan_changes()") == [(lake_case.head(),)]
    noted = lake_case.pg("select * from lake.change order by 1, 2")
    assert lake_case.pg("select lake.scan_changes()") == [(lake_case.head(),)]
    assert lake_case.pg("select * from lake.change order by 1, 2") == noted
    assert lake_case.pg("select scanned_snapshot from lake.lake") == [(lake_case.head(),)]

"""``Lake.read``: rows of a query or a table, in the form of the library that is asked for, and nothing but reads."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from collections.abc import Iterator
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
import pytest

from catchment.errors import LakeError, RequestRefused, SnapshotExpired, TableNotFound
from catchment.lake import Lake
from catchment.lake.duck import reader
from catchment.lake.duck.reads import check_plan
from tests.fixtures.lake_case import LakeCase

MOMENT = datetime(2026, 11, 18, 9, 30, tzinfo=UTC)
ROWS = [
    (9007199254740993, Decimal("0.10"), MOMENT, [1, None], {"a": 1, "b": "x"}, "ø"),
    (None, None, None, None, None, None),
]
COLUMNS = "n BIGINT, d DECIMAL(20,2), t TIMESTAMPTZ, l INTEGER[], s STRUCT(a INTEGER, b VARCHAR), v VARCHAR"


@pytest.fixture
def lake(lake_case: LakeCase) -> Iterator[Lake]:
    lake_case.make("odd", COLUMNS, ROWS)
    with Lake(lake_case.dsn, settings=lake_case.settings) as opened:
        yield opened


def test_every_form_has_every_value(lake: Lake) -> None:
    odd = lake.read("odd")
    assert odd.rows() == list(odd) == ROWS
    names = ["n", "d", "t", "l", "s", "v"]
    table = odd.arrow()
    assert [tuple(row[name] for name in names) for row in table.to_pylist()] == ROWS
    assert [tuple(row) for row in odd.polars().iter_rows()] == ROWS
    exact: Any = odd.pandas(dtype_backend="pyarrow")
    assert (exact["n"][0], exact["d"][0], exact["t"][0].to_pydatetime()) == (ROWS[0][0], ROWS[0][1], MOMENT)
    assert exact.isna().iloc[1].all()
    plain: Any = odd.pandas()
    assert list(plain.columns) == names
    assert plain["d"][0] == Decimal("0.10")
    with odd.open() as result:
        assert [(column.name, column.type) for column in result.columns][:2] == [
            ("n", "BIGINT"),
            ("d", "DECIMAL(20,2)"),
        ]
        assert next(iter(result)) == ROWS[0]


def test_large_results_come_in_batches_and_many_can_be_read_at_a_time(lake: Lake) -> None:
    big = lake.read("SELECT i FROM range(?) AS r(i)", [250_000])
    batches = big.batches(50_000)
    first = next(batches)
    # While one is read, others are; and what is not read to its end keeps nothing.
    assert lake.read("SELECT count(*) FROM odd").rows() == [(2,)]
    assert first.num_rows + sum(batch.num_rows for batch in batches) == 250_000
    assert next(iter(big)) == (0,)

    async def in_threads() -> list[list[tuple[Any, ...]]]:
        return await asyncio.gather(*(asyncio.to_thread(lake.read(f"SELECT {n} FROM odd").rows) for n in range(3)))

    assert asyncio.run(in_threads()) == [[(n,), (n,)] for n in range(3)]


@pytest.mark.long
def test_a_snapshot_or_a_moment_is_the_whole_lake_as_it_was(lake: Lake, lake_case: LakeCase) -> None:
    before = lake_case.head()
    ((then,),) = lake_case.pg("select clock_timestamp()")
    lake_case.add("odd", ROWS)
    lake_case.make("later", "x INTEGER")
    assert len(lake.read("odd").rows()) == 4
    assert len(lake.read("odd", at=before).rows()) == 2
    assert lake.read("SELECT count(*) FROM odd", at=then).rows() == [(2,)]
    with pytest.raises(duckdb.CatalogException):
        lake.read("later", at=before).rows()
    with pytest.raises(SnapshotExpired):
        lake.read("odd", at=99).rows()
    with pytest.raises(SnapshotExpired):
        lake.read("odd", at=datetime(2000, 1, 1, tzinfo=UTC)).rows()
    for wrong in (datetime(2026, 1, 1), -1, True):
        with pytest.raises(RequestRefused):
            lake.read("odd", at=wrong)


@pytest.mark.long
def test_names_lead_to_tables_views_and_dynamic_tables(lake: Lake, lake_case: LakeCase) -> None:
    lake_case.sql('CREATE TABLE "a \'b" AS SELECT 1 AS x')
    lake_case.sql("CREATE VIEW seen AS SELECT 2 AS x")
    assert lake.read('"a \'b"').rows() == [(1,)]
    assert lake.read("seen").rows() == [(2,)]
    assert lake.read("SELECT 1 AS x, 2 AS x").arrow().num_columns == 2
    with pytest.raises(TableNotFound, match=r"there is no table main\.nope in the lake"):
        lake.read("nope")
    lake.create("CREATE DYNAMIC TABLE late TARGET_LAG = '1 hour' INITIALIZE = ON_SCHEDULE AS SELECT n FROM odd")
    with pytest.raises(LakeError, match="has not been filled yet"):
        lake.read("late")
    lake.refresh("late")
    lake_case.sql("DROP VIEW late")
    assert len(lake.read("late").rows()) == 2


WRITES = [
    "INSERT INTO odd (n) VALUES (1)",
    "DELETE FROM odd",
    "CREATE TABLE x (a INTEGER)",
    "COPY odd TO 'odd.csv'",
    "SET threads = 1",
    "CALL ducklake_expire_snapshots('lake', versions => [1])",
    "ATTACH ':memory:' AS other",
    "SELECT 1; SELECT 2",
    "",
    "-- nothing",
    "SELECT 1; DROP TABLE odd",
    "SELECT '\0'",
    "PIVOT odd ON v USING count(*)",
]
ELSEWHERE = [
    "FROM read_csv('/etc/passwd')",
    "FROM glob('/etc/*')",
    "FROM postgres_query('__ducklake_metadata_lake', 'select 1')",
    "FROM postgres_execute('__ducklake_metadata_lake', 'select 1')",
    "EXPLAIN ANALYZE FROM postgres_execute('__ducklake_metadata_lake', 'select 1')",
    "FROM __ducklake_metadata_lake.public.ducklake_table",
    "FROM ducklake_cleanup_old_files('lake', cleanup_all => true)",
    "FROM duckdb_secrets()",
    "FROM hidden",
    "FROM called()",
    "SELECT (SELECT count(*) FROM hidden)",
]


def test_what_does_more_than_read_is_refused(lake: Lake, lake_case: LakeCase) -> None:
    head = lake_case.head()
    for text in WRITES:
        with pytest.raises(RequestRefused):
            lake.read(text).rows()
    assert lake_case.head() == head
    with pytest.raises(RequestRefused, match="INSERT does more than read") as refused:
        lake.read("INSERT INTO odd (n) VALUES (1)").rows()
    assert "catchment table load" in (refused.value.hint or "")
    with pytest.raises(duckdb.ParserException):
        lake.read("SELEC 1").rows()
    with pytest.raises(duckdb.BinderException) as raised:
        lake.read("SELECT nope FROM odd").rows()
    assert "EXPLAIN" not in str(raised.value)


def test_what_is_not_the_lake_is_not_read_whatever_hides_it(lake: Lake, lake_case: LakeCase) -> None:
    for kind in ("VIEW hidden AS", "MACRO called() AS TABLE"):
        lake_case.sql(f"CREATE {kind} FROM postgres_query('__ducklake_metadata_lake', 'select 1 as x')")
    for text in ELSEWHERE:
        with pytest.raises(RequestRefused, match="only tables of the lake"):
            lake.read(text).rows()


READ = [
    "SHOW TABLES",
    "DESCRIBE odd",
    "SUMMARIZE odd",
    "EXPLAIN SELECT n FROM odd",
    "FROM lake.snapshots()",
    "FROM lake.table_insertions('odd', 0, 3)",
    "FROM information_schema.columns",
    "WITH RECURSIVE t AS (SELECT 1 AS i UNION ALL SELECT i + 1 FROM t WHERE i < 3) SELECT * FROM t",
    "SELECT (SELECT max(n) FROM odd), EXISTS (FROM odd WHERE n > o.n) FROM odd AS o",
    "FROM odd, LATERAL (SELECT n + 1 AS m)",
    "SELECT unnest(l) FROM odd",
    "PIVOT odd ON v IN ('x') USING count(n) GROUP BY d",
    "FROM odd AS o ASOF JOIN odd AS p ON o.t >= p.t",
    "SELECT n FROM odd UNION SELECT 1 EXCEPT SELECT 2",
    "SELECT n, row_number() OVER (ORDER BY n) FROM odd QUALIFY n > 1",
    "FROM odd USING SAMPLE 1",
    "FROM query('SELECT 1')",
    "VALUES (1), (2)",
]


def test_queries_of_every_kind_are_read(lake: Lake) -> None:
    for text in READ:
        lake.read(text).rows()


def test_what_runs_is_what_was_checked(lake: Lake, lake_case: LakeCase, monkeypatch: pytest.MonkeyPatch) -> None:
    """A view that is replaced between the look at the plan and the query."""
    lake_case.sql("CREATE VIEW seen AS SELECT 2 AS x")

    def check(plan: Any) -> None:
        check_plan(plan)
        lake_case.sql(
            "CREATE OR REPLACE VIEW seen AS FROM postgres_query('__ducklake_metadata_lake', 'select 1::integer as x')"
        )

    monkeypatch.setattr(reader, "check_plan", check)
    assert lake.read("seen").rows() == [(2,)]


def test_a_result_that_is_not_read_to_its_end_keeps_no_transaction(lake: Lake, lake_case: LakeCase) -> None:
    """In the catalog: one that stays open holds back the vacuum of all tables."""
    for _ in range(2):
        assert next(iter(lake.read("odd"))) == ROWS[0]
    assert lake_case.pg(
        "select query from pg_stat_activity where datname = current_database() and state like 'idle in transaction%'"
    ) == []  # fmt: skip


@pytest.mark.long
def test_a_reader_that_is_used_once_leaves_no_folder(lake_case: LakeCase, lake: Lake, tmp_path: Path) -> None:
    settings = lake_case.settings.model_copy(update={"lake_temp_directory": str(tmp_path / "spill")})
    with Lake(lake.dsn, settings=settings) as other:
        other.read("odd").rows()
        other.read("odd", at=lake_case.head()).rows()
        other.read("odd").parquet(tmp_path / "odd.parquet")
        assert len(list((tmp_path / "spill").iterdir())) == 1
    assert list((tmp_path / "spill").iterdir()) == []


def test_a_parquet_file_is_there_when_all_of_it_is(lake: Lake, tmp_path: Path) -> None:
    file = tmp_path / "it's.parquet"
    file.write_text("old")
    assert lake.read("SELECT n FROM odd -- all").parquet(file) == 2
    assert duckdb.read_parquet(str(file)).fetchall() == [(ROWS[0][0],), (None,)]
    with pytest.raises(duckdb.Error):
        lake.read("SELECT CAST('x' AS INTEGER) FROM odd").parquet(tmp_path / "no.parquet")
    assert [path.name for path in tmp_path.glob("*parquet*")] == ["it's.parquet"]


def test_libraries_are_imported_when_they_are_asked_for_and_named_when_they_are_missing(lake: Lake) -> None:
    program = (
        "import sys\nfrom catchment import ExtraMissing\nfrom catchment.lake import Lake\nlake = Lake(sys.argv[1])\n"
        "rows = lake.read('SELECT 1')\nrows.rows()\n"
        "print(*sorted({'pandas', 'polars', 'pyarrow', 'numpy'} & set(sys.modules)))\n"
        "for name in ('polars', 'pandas', 'pyarrow'):\n    sys.modules[name] = None\n"
        "for form in (rows.arrow, rows.polars, rows.pandas, lambda: next(rows.batches())):\n"
        "    try: form()\n    except ExtraMissing as error: print(error.name, error.hint)\n"
    )
    done = subprocess.run([sys.executable, "-c", program, lake.dsn], capture_output=True, text=True, check=False)
    assert done.stdout.splitlines() == [
        "",
        "pyarrow Run: pip install pyarrow",
        "polars Run: pip install polars pyarrow",
        "pandas Run: pip install pandas pyarrow",
        "pyarrow Run: pip install pyarrow",
    ], done.stderr

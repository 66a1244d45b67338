"""Members of our roles use the lake with what the installation grants, and no more."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager

import duckdb
import psycopg
import pytest
from psycopg.conninfo import make_conninfo

from catchment.errors import CatchmentError
from catchment.lake.facade import Lake
from catchment.lake.tables.answers import Forecast
from catchment.lake.tasks.worker import run_here
from tests.fixtures import spare
from tests.fixtures.lake_case import LakeCase

TOTALS = "CREATE DYNAMIC TABLE totals TARGET_LAG = '1 hour' AS SELECT k, sum(v) AS v FROM source GROUP BY k"


@contextmanager
def member(case: LakeCase, role: str) -> Iterator[str]:
    """DSN of a login that is a member of a role and nothing else."""
    name = f"{role}_{case.pg('select current_database()')[0][0]}"
    case.pg(f'create role "{name}" login in role {role}')
    try:
        yield make_conninfo(case.dsn, user=name)
    finally:
        case.pg(f'drop role "{name}"')


@pytest.fixture
def source(lake_case: LakeCase) -> LakeCase:
    lake_case.make("source", "k BIGINT, v BIGINT", [(1, 1), (1, 2), (2, 3)])
    return lake_case


def test_a_worker_makes_refreshes_changes_and_maintains_tables(source: LakeCase) -> None:
    with member(source, "catchment_worker") as dsn, Lake(dsn, settings=source.settings) as lake:
        lake.create(TOTALS)
        assert sorted(lake.read("totals")) == [(1, 3), (2, 3)]
        lake.query("INSERT INTO source VALUES (3, 4)")
        assert [item.state for item in lake.refresh("totals")] == ["SUCCEEDED"]
        with lake.commit_lock():
            lake.query("DELETE FROM source WHERE k = 1")
        assert [item.state for item in lake.refresh("totals")] == ["SUCCEEDED"]
        lake.create(TOTALS.replace("CREATE", "CREATE OR REPLACE").replace("sum", "max"))
        assert sorted(lake.read("totals")) == [(2, 3), (3, 4)]
        assert lake.audit("totals").is_equal
        source.pg("update lake.lake set compact_files = 1")
        lake.maintain("totals")
        lake.expire(86400)
        lake.sweep()
        lake.rename("totals", "sums")
        assert lake.drop("sums") == ["main.sums"]
        lake.close()
        run_here(dsn, lambda: True)


def test_a_reader_reads_and_changes_nothing(source: LakeCase) -> None:
    source.create(TOTALS)
    source.refresh("totals")
    with member(source, "catchment_read") as dsn, Lake(dsn, settings=source.settings) as lake:
        assert sorted(lake.read("totals")) == [(1, 3), (2, 3)]
        assert lake.query("SELECT count(*) FROM source") == [(3,)]
        assert [row.name for row in lake.tables()] == ["main.totals"]
        assert lake.describe("totals").rows == 2
        assert lake.explain("totals").next == Forecast("no_data", None)
        assert len(lake.history("totals")) == 1
        instance = lake.connection()
        assert instance.execute("SELECT count(*) FROM totals").fetchall() == [(2,)]
        instance.close()
        head = source.head()
        with pytest.raises((duckdb.Error, CatchmentError)):
            lake.query("INSERT INTO source VALUES (3, 4)")
        with pytest.raises((duckdb.Error, CatchmentError, psycopg.Error)):
            lake.create(TOTALS.replace("totals", "other"))
        with pytest.raises((CatchmentError, psycopg.Error)):
            lake.refresh("totals")
        assert source.head() == head


def test_others_cannot_attach_the_lake(source: LakeCase) -> None:
    with member(source, "catchment_enqueue") as dsn, pytest.raises((duckdb.Error, CatchmentError, psycopg.Error)):
        Lake(dsn, settings=source.settings)


@pytest.mark.parametrize(
    ("role", "verb", "needed"),
    [
        ("catchment_enqueue", ["list"], "catchment_read"),
        ("catchment_read", ["refresh", "totals"], "catchment_worker"),
    ],
)
def test_others_learn_which_role_they_need(source: LakeCase, role: str, verb: list[str], needed: str) -> None:
    source.create(TOTALS)
    with member(source, role) as dsn:
        environment = os.environ | {"CATCHMENT_DSN": dsn, "COLUMNS": "300"}
        done = spare.run("table", *verb, environment=environment, timeout=120)
    assert (done.returncode, "Traceback" in done.stderr) == (1, False)
    hint = done.stderr.partition("hint:")[2]
    assert needed in hint, done.stderr

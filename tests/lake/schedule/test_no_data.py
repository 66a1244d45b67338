"""A table for which nothing has changed costs a statement of PostgreSQL, and no task."""

from __future__ import annotations

import time
from datetime import timedelta

import pytest

from tests.fixtures.lake_case import LakeCase
from tests.lake.control.support import begin, start
from tests.lake.schedule.support import START, add, at, snapshots, states, tasks, tick, work


def test_a_table_without_changes_only_gets_a_newer_snapshot(lake_case: LakeCase) -> None:
    lake_case.make("s", "k BIGINT, n BIGINT", [(1, 1)])
    lake_case.make("other", "k BIGINT")
    add(lake_case, "d", "s")
    tick(lake_case)
    work(lake_case)
    before = tasks(lake_case)
    head = lake_case.add("other", [(1,)])
    tick(lake_case, 16)
    assert tasks(lake_case) == before
    assert snapshots(lake_case) == {"d": head}
    assert lake_case.pg(
        "select action, state, inserted, deleted, rows_after from lake.refresh order by id desc limit 1"
    ) == [("no_data", "SUCCEEDED", 0, 0, 1)]
    # The next window begins there.
    assert lake_case.pg("select snapshot from lake.read") == [(head,)]
    lake_case.add("s", [(2, 2)])
    tick(lake_case, 32)
    assert work(lake_case) == ["d"]


def test_who_reads_it_finds_it_at_every_snapshot_in_between(lake_case: LakeCase) -> None:
    lake_case.make("s", "k BIGINT, n BIGINT", [(1, 1)])
    lake_case.make("other", "k BIGINT, n BIGINT")
    table = add(lake_case, "d", "s")
    tick(lake_case)
    work(lake_case)
    ((commit, first),) = lake_case.pg("select commit_snapshot, data_snapshot from lake.frontier")
    for seconds in (16, 32):
        lake_case.add("other", [(1, 1)])
        tick(lake_case, seconds)
    found = [
        lake_case.pg("select lake.version_at(%s, %s)", table.dt_id, snapshot)[0][0]
        for snapshot in range(first, lake_case.head() + 1)
    ]
    assert set(found) == {commit}
    assert lake_case.pg("select lake.version_at(%s, %s)", table.dt_id, lake_case.head() + 1) == [(None,)]


@pytest.mark.long
def test_unchanged_tables_above_leave_the_ones_below_alone(lake_case: LakeCase) -> None:
    lake_case.make("s", "k BIGINT, n BIGINT", [(1, 1)])
    for name, source in {"a": "s", "b": "a", "c": "b"}.items():
        add(lake_case, name, source)
    tick(lake_case)
    assert work(lake_case) == ["a", "b", "c"]
    lake_case.add("s", [(2, 2)])
    tick(lake_case, 16)
    # a was computed and came out as it was: nothing below has work.
    assert work(lake_case, []) == ["a"]
    assert states(lake_case) == {"a": "SUCCEEDED", "b": "SUCCEEDED", "c": "SUCCEEDED"}
    assert set(snapshots(lake_case).values()) == {lake_case.head()}


@pytest.mark.long
def test_upkeep_of_a_source_is_no_change_and_a_new_column_is(lake_case: LakeCase) -> None:
    lake_case.make("s", "k BIGINT, n BIGINT", [(1, 1)])
    lake_case.add("s", [(2, 2)])
    table = add(lake_case, "d", "s")
    tick(lake_case)
    work(lake_case)
    lake_case.sql("CALL ducklake_merge_adjacent_files('lake', 's')")
    tick(lake_case, 16)
    assert work(lake_case) == []
    lake_case.sql("ALTER TABLE s ADD COLUMN more INTEGER")
    assert begin(lake_case, start(lake_case, table)).state == "EXECUTING"


def test_a_table_that_another_client_wrote_is_not_taken_for_unchanged(lake_case: LakeCase) -> None:
    lake_case.make("s", "k BIGINT, n BIGINT", [(1, 1)])
    table = add(lake_case, "d", "s")
    tick(lake_case)
    work(lake_case)
    lake_case.sql(f'INSERT INTO lake.dt."t{table.dt_id}g1" VALUES (666, 0, 0)')
    tick(lake_case, 16)
    ((refresh_id,),) = lake_case.pg("select id from lake.refresh where finished_at is null")
    assert begin(lake_case, refresh_id).forced == "FOREIGN_WRITE"


@pytest.mark.long
def test_a_replaced_source_is_a_change(lake_case: LakeCase) -> None:
    lake_case.make("s", "k BIGINT, n BIGINT", [(1, 1)])
    add(lake_case, "d", "s")
    tick(lake_case)
    work(lake_case)
    lake_case.sql("CREATE OR REPLACE TABLE s (k BIGINT, n BIGINT)")
    tick(lake_case, 16)
    assert work(lake_case) == ["d"]


@pytest.mark.long
def test_a_hundred_idle_tables_are_settled_in_one_call_without_a_task(lake_case: LakeCase) -> None:
    lake_case.make("s", "k BIGINT, n BIGINT", [(1, 1)])
    first = add(lake_case, "d", "s")
    tick(lake_case)
    work(lake_case)
    _multiply(lake_case, first.dt_id, 99)
    head = lake_case.make("other", "k BIGINT", [(1,)])
    before = tasks(lake_case)
    # Plans are cached by the session, as they are in a worker's.
    best = 1e9
    for turn in range(1, 6):
        began = time.perf_counter()
        found = tick(lake_case, 16 * turn)
        best = min(best, time.perf_counter() - began)
        assert found["due"] == 100
    print(f"100 idle tables: {best * 1000:.0f} ms with the connection")
    assert tasks(lake_case) == before
    assert set(snapshots(lake_case).values()) == {head}
    assert at(lake_case, START, "select count(*) from lake.refresh where action = 'no_data'") == 500
    assert lake_case.pg("select min(data_at) from lake.frontier") == [(START + timedelta(seconds=80),)]
    # Ten times what it takes on an idle machine.
    assert best < 1.0


def _multiply(case: LakeCase, dt_id: int, count: int) -> None:
    """More tables like one; the schedule looks at nothing but these rows."""
    with case.control.connection() as conn:
        conn.execute("set role catchment_owner")
        conn.execute(
            """
            with made as (
              insert into lake.dt (schema_name, name, generation, definition, definition_hash, properties, target_lag,
                                   strategy, layout, physical_id, state, component)
              select d.schema_name, d.name || n, d.generation, d.definition, d.definition_hash, d.properties,
                     d.target_lag, d.strategy, d.layout, -n, d.state, -n
                from lake.dt as d cross join generate_series(1, %(count)s) as n where d.id = %(id)s
              returning id
            ), f as (
              insert into lake.frontier
              select m.id, f.epoch, f.data_snapshot, f.data_at, f.commit_snapshot, f.checked_snapshot, f.rows,
                     f.round_id
                from made as m cross join lake.frontier as f where f.dt_id = %(id)s
            ), v as (
              insert into lake.version
              select m.id, v.data_from, v.data_to, v.commit_snapshot, v.rows
                from made as m cross join lake.version as v where v.dt_id = %(id)s
            ), s as (
              insert into lake.source
              select m.id, s.table_id, s.schema_name, s.table_name, s.source_dt_id, s.used_columns
                from made as m cross join lake.source as s where s.dt_id = %(id)s
            )
            insert into lake.read
            select m.id, r.table_id, r.snapshot, r.rows, r.columns
              from made as m cross join lake.read as r where r.dt_id = %(id)s
            """,
            {"id": dt_id, "count": count},
        )
        conn.execute("reset role")

"""Creating, replacing and dropping: our tables and the lake change in one commit, or not at all."""

from __future__ import annotations

import duckdb
import pytest

from catchment.errors import PublishVetoed, TableNotFound, TableRefused
from catchment.lake.files.physical import create_physical, drop_physical
from catchment.lake.types import Properties, TableRef
from tests.fixtures.lake_case import LakeCase
from tests.lake.control.support import (
    COLUMNS,
    add_table,
    begin,
    commit,
    content,
    frontier,
    new_table,
    refresh,
    start,
    view_over,
)


def test_a_table_comes_into_force_with_its_commit(lake_case: LakeCase) -> None:
    lake_case.make("s", "k BIGINT, n BIGINT")
    created = lake_case.control.create_table(new_table("d"))
    assert lake_case.pg("select state, physical_id from lake.dt") == [("creating", None)]
    with pytest.raises(TableNotFound, match=r"no dynamic table main\.d"):
        lake_case.control.find_dt(TableRef("main", "d"))
    table = add_table(lake_case, "d", ["s"])
    assert table.dt_id == created.dt_id
    assert table.generation == created.generation + 1
    ((state, physical, used),) = lake_case.pg(
        "select d.state, d.physical_id, s.used_columns from lake.dt as d join lake.source as s on s.dt_id = d.id"
    )
    assert (state, used) == ("active", ["k", "n"])
    assert physical == lake_case.pg("select lake.find_physical(%s, %s)", table.dt_id, table.generation)[0][0]
    assert lake_case.control.find_dt(TableRef("MAIN", "D")) == table.dt_id
    assert content(lake_case, "d") == []


def test_a_creation_that_fails_in_the_lake_leaves_nothing_in_force(lake_case: LakeCase) -> None:
    lake_case.make("taken", "a INTEGER")
    before = lake_case.head()
    with pytest.raises(duckdb.CatalogException, match="taken"):
        add_table(lake_case, "taken")
    assert lake_case.head() == before
    assert lake_case.leftovers() == {}
    with pytest.raises(TableNotFound):
        lake_case.control.find_dt(TableRef("main", "taken"))


def test_a_name_is_used_once(lake_case: LakeCase) -> None:
    add_table(lake_case, "d")
    with pytest.raises(TableRefused, match=r"dynamic table main\.d exists") as raised:
        add_table(lake_case, "D")
    assert "OR REPLACE" in (raised.value.hint or "")


def test_if_not_exists_lets_the_old_one_be(lake_case: LakeCase) -> None:
    table = add_table(lake_case, "d")
    before = lake_case.head()
    again = add_table(lake_case, "d", if_not_exists=True)
    assert again.exists
    assert again.dt_id == table.dt_id
    assert lake_case.head() == before


def test_a_replaced_table_that_was_never_filled_starts_again_and_keeps_its_id(lake_case: LakeCase) -> None:
    lake_case.make("s", "k BIGINT, n BIGINT", [(1, 10)])
    table = add_table(lake_case, "d", ["s"])
    order = begin(lake_case, start(lake_case, table))
    below = add_table(lake_case, "e", ["d"])
    again = add_table(lake_case, "d", old=order.physical, or_replace=True)
    assert (again.dt_id, again.generation, again.replaces) == (table.dt_id, 2, None)
    assert content(lake_case, "d") == []
    assert frontier(lake_case, table)["data_snapshot"] is None
    assert lake_case.pg("select count(*) from lake.source where dt_id = %s", table.dt_id) == [(0,)]
    assert lake_case.leftovers() == {}
    assert begin(lake_case, start(lake_case, again)).forced == "DEFINITION_CHANGED"
    assert lake_case.pg("select source_dt_id from lake.source where dt_id = %s", below.dt_id) == [(table.dt_id,)]


def test_a_table_with_rows_keeps_them_beside_its_new_definition(lake_case: LakeCase) -> None:
    lake_case.make("s", "k BIGINT, n BIGINT", [(1, 10)])
    table = add_table(lake_case, "d", ["s"])
    order = refresh(lake_case, table, [(1, 10)])
    before = lake_case.pg("select generation, definition, state, physical_id from lake.dt")
    again = add_table(lake_case, "d", old=order.physical, or_replace=True)
    assert (again.generation, again.replaces) == (2, table.dt_id)
    kept = "select generation, definition, state, physical_id from lake.dt where replaces is null"
    assert lake_case.pg(kept) == before
    assert content(lake_case, "d") == [(1, 10)]
    lake_case.add("s", [(2, 20)])
    refresh(lake_case, table, [(2, 20)])
    assert content(lake_case, "d") == [(1, 10), (2, 20)]


def test_a_creation_that_another_one_overtook_is_refused(lake_case: LakeCase) -> None:
    first = lake_case.control.create_table(new_table("d"))
    lake_case.control.create_table(new_table("d"))
    before = lake_case.head()
    with pytest.raises(PublishVetoed, match=f"table {first.dt_id} has no definition of generation 1"):
        commit(lake_case, f'CREATE TABLE lake.dt."t{first.dt_id}g1" (a INTEGER)', create=first.dt_id, generation=1)
    assert lake_case.head() == before


def test_properties_reach_the_columns_that_the_schedule_reads(lake_case: LakeCase) -> None:
    table = new_table("d", properties=Properties.from_json({"target_lag": 90, "scheduler": False}))
    with lake_case.commit_lock():
        create_physical(lake_case.duck, lake_case.control, table, COLUMNS, view=view_over)
    assert lake_case.pg("select extract(epoch from target_lag)::integer, scheduler from lake.dt") == [(90, False)]


def test_a_dropped_table_leaves_nothing(lake_case: LakeCase) -> None:
    table = add_table(lake_case, "d")
    order = refresh(lake_case, table, [(1, 1)])
    with lake_case.commit_lock():
        drop_physical(lake_case.duck, lake_case.control, table.dt_id, TableRef("main", "d"), order.physical)
    for name in ("dt", "frontier", "read", "version", "refresh", "source"):
        assert lake_case.pg(f"select count(*) from lake.{name}") == [(0,)]
    with pytest.raises(duckdb.CatalogException):
        content(lake_case, "d")
    assert lake_case.leftovers() == {}


def test_a_table_that_others_read_is_not_dropped(lake_case: LakeCase) -> None:
    table = add_table(lake_case, "d")
    add_table(lake_case, "e", ["d"])
    with pytest.raises(TableRefused, match=r"main\.d is read by main\.e"):
        lake_case.control.drop_table(table.dt_id)
    assert lake_case.pg("select state from lake.dt where id = %s", table.dt_id) == [("active",)]


def test_a_drop_that_was_broken_off_can_be_done_again(lake_case: LakeCase) -> None:
    table = add_table(lake_case, "d")
    physical = TableRef("dt", f"t{table.dt_id}g1")
    lake_case.control.drop_table(table.dt_id)
    with lake_case.commit_lock():
        drop_physical(lake_case.duck, lake_case.control, table.dt_id, TableRef("main", "d"), physical)
    assert lake_case.pg("select count(*) from lake.dt") == [(0,)]
    # One whose view and content somebody else has dropped goes without a commit.
    table = add_table(lake_case, "d")
    lake_case.sql("DROP VIEW d")
    lake_case.sql(f'DROP TABLE lake.dt."t{table.dt_id}g1"')
    with lake_case.commit_lock():
        drop_physical(
            lake_case.duck, lake_case.control, table.dt_id, TableRef("main", "d"), TableRef("dt", f"t{table.dt_id}g1")
        )
    assert lake_case.pg("select count(*) from lake.dt") == [(0,)]


def test_a_note_cannot_remove_a_table_that_nobody_drops(lake_case: LakeCase) -> None:
    table = add_table(lake_case, "d")
    with pytest.raises(PublishVetoed, match=f"table {table.dt_id} is not being dropped"):
        commit(lake_case, "CREATE TABLE t (a INTEGER)", drop=table.dt_id)
    assert content(lake_case, "d") == []


def test_hostile_names_are_names_and_nothing_else(lake_case: LakeCase) -> None:
    lake_case.make("t", "a INTEGER", [(1,)])
    for name in ('order "by"', "x'; drop table t; --", "select", "Größe 数", "a.b", "n" * 200, "concurrent unique"):
        table = add_table(lake_case, name)
        refresh(lake_case, table, [(7, 7)])
        assert content(lake_case, name) == [(7, 7)]
        assert lake_case.control.find_dt(TableRef("main", name)) == table.dt_id
    assert lake_case.sql("SELECT a FROM t") == [(1,)]

"""What the register takes for granted about PostgreSQL, on every version it runs on."""

from __future__ import annotations

from typing import Any

import psycopg
import pytest
from psycopg import Connection

SLICES = """
create schema facts;
create table facts.parent (id integer, valid_from date, note text, primary key (id, valid_from));
create table facts.child (id integer, parent_id integer);
create table facts.seen (what text, rows bigint, parents bigint);
create function facts.look() returns trigger language plpgsql security definer
  set search_path = pg_catalog, pg_temp
as $$
declare
  v_rows bigint;
begin
  execute format('select count(*) from changed where %I is not null', tg_argv[0]) into v_rows;
  insert into facts.seen values (tg_name, v_rows, (select count(*) from facts.parent));
  return null;
end;
$$;
create trigger parent_insert after insert on facts.parent referencing new table as changed
  for each statement execute function facts.look('id');
create trigger parent_delete after delete on facts.parent referencing old table as changed
  for each statement execute function facts.look('id');
create trigger child_delete after delete on facts.child referencing old table as changed
  for each statement execute function facts.look('parent_id');
"""


@pytest.fixture
def facts(tx: Connection[Any]) -> Connection[Any]:
    tx.execute(SLICES)
    tx.execute("insert into facts.parent values (1, '2020-01-01', 'a'), (2, '2020-01-01', 'b')")
    tx.execute("insert into facts.child values (1, 1), (2, 1)")
    tx.execute("truncate facts.seen")
    return tx


def _seen(conn: Connection[Any]) -> dict[str, tuple[int, int]]:
    return {name: (rows, parents) for name, rows, parents in conn.execute("select * from facts.seen")}


def test_statement_triggers_of_a_modifying_cte_fire_after_the_whole_statement(facts: Connection[Any]) -> None:
    facts.execute(
        """with children as (delete from facts.child where parent_id = 1 returning 1),
                gone as (delete from facts.parent where id = 1 returning 1)
           insert into facts.parent select 3, '2020-01-01', 'c' where (select count(*) from gone) >= 0"""
    )
    assert _seen(facts) == {"child_delete": (2, 2), "parent_delete": (1, 2), "parent_insert": (1, 2)}


def test_a_unique_index_accepts_a_key_that_the_same_statement_deleted_before(facts: Connection[Any]) -> None:
    facts.execute(
        """with gone as (delete from facts.parent where id = 1 returning 1)
           insert into facts.parent select 1, '2020-01-01', 'new' where (select count(*) from gone) >= 0"""
    )
    assert facts.execute("select note from facts.parent where id = 1").fetchall() == [("new",)]


def test_dynamic_sql_sees_the_transition_table_whatever_the_search_path(facts: Connection[Any]) -> None:
    facts.execute("create temporary table changed (id integer)")
    facts.execute("insert into facts.parent values (4, '2020-01-01', 'd'), (5, '2020-01-01', 'e')")
    assert _seen(facts)["parent_insert"] == (2, 4)


def test_two_inserts_into_one_table_in_a_statement_share_the_transition_table(facts: Connection[Any]) -> None:
    facts.execute(
        """with first as (insert into facts.parent values (6, '2020-01-01', 'f'))
           insert into facts.parent values (7, '2020-01-01', 'g')"""
    )
    assert facts.execute("select rows from facts.seen").fetchall() == [(2,)]


def test_ranges_unite_over_multiranges_and_over_open_ends(tx: Connection[Any]) -> None:
    ids = tx.execute("select range_agg(r)::text from (values ('{[1,3)}'::int4multirange), ('{[3,5),[9,10)}')) as v (r)")
    assert ids.fetchone() == ("{[1,5),[9,10)}",)
    days = tx.execute(
        """select range_agg(daterange(f, u)) @> daterange('2020-06-01', 'infinity'), range_agg(daterange(f, u))::text
             from (values (date '2020-01-01', date '2021-01-01'), ('2021-01-01', 'infinity')) as v (f, u)"""
    )
    assert days.fetchone() == (True, "{[2020-01-01,infinity)}")


def test_nulls_not_distinct_makes_one_key_of_two_nulls(tx: Connection[Any]) -> None:
    tx.execute("create temporary table owned (a integer, b integer)")
    tx.execute("create unique index on owned (a, b) nulls not distinct")
    tx.execute("insert into owned values (1, null), (null, 1)")
    with pytest.raises(psycopg.errors.UniqueViolation), tx.transaction():
        tx.execute("insert into owned values (1, null)")


def test_a_local_setting_outlives_the_function_and_ends_with_its_savepoint(tx: Connection[Any]) -> None:
    tx.execute(
        """create function pg_temp.mark(p text) returns void language plpgsql set search_path = pg_catalog as
             $$ begin perform set_config('register.fact', p, true); end $$"""
    )
    tx.execute("select pg_temp.mark('outer')")
    with tx.transaction(force_rollback=True):
        tx.execute("select pg_temp.mark('inner')")
        assert tx.execute("select current_setting('register.fact')").fetchone() == ("inner",)
    assert tx.execute("select current_setting('register.fact')").fetchone() == ("outer",)

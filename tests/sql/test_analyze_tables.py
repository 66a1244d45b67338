"""enqueue_analyze_tables asks for planner statistics; the task collects them with the rights of its worker."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from psycopg.types.json import Jsonb

from tests.fixtures.engine import Engine
from tests.fixtures.server import Connect
from tests.sql.support import hint, message, refused

TABLES = """
create schema "My app";
create table "My app"."order Lines" (n int);
create table probe.orders (n int);
create view probe.seen as select * from probe.orders;
insert into "My app"."order Lines" select generate_series(1, 500);
insert into probe.orders select generate_series(1, 300);
"""


@pytest.fixture
def tables(engine: Engine) -> Engine:
    engine.conn.execute(TABLES)
    return engine


def _run(engine: Engine) -> dict[str, object]:
    """Run the pending request; returns the task."""
    task = engine.value("select id from worker.tasks where command = 'analyze_tables' order by id desc limit 1")
    engine.process("maintenance")
    return engine.task(task)


def _rows(engine: Engine, table: str) -> float:
    return engine.value("select reltuples from pg_class where oid = %s::regclass", table)


def test_named_tables_are_analyzed(tables: Engine) -> None:
    tables.conn.execute("""call worker.enqueue_analyze_tables('"My app"."order Lines"', 'probe.orders')""")
    done = _run(tables)
    assert done["info"] == {"analyzed": 2, "missing": []}
    assert _rows(tables, '"My app"."order Lines"') == 500
    assert _rows(tables, "probe.orders") == 300


def test_names_are_found_by_the_callers_search_path(tables: Engine) -> None:
    tables.conn.execute("set local search_path = probe")
    tables.conn.execute("call worker.enqueue_analyze_tables('orders')")
    assert _run(tables)["payload"] == {"tables": ["probe.orders"]}


def test_requests_that_wait_become_one_and_all_tables_absorb_named_ones(tables: Engine) -> None:
    tables.conn.execute("call worker.enqueue_analyze_tables('probe.orders')")
    tables.conn.execute("call worker.enqueue_analyze_tables('probe.effect', 'probe.orders')")
    assert tables.value("select payload from worker.tasks") == {"tables": ["probe.effect", "probe.orders"]}
    tables.conn.execute("call worker.enqueue_analyze_tables()")
    assert tables.value("select payload from worker.tasks") == {"tables": None}
    assert len(tables.states()) == 1


def test_without_names_all_changed_tables_are_analyzed(committed: Engine) -> None:
    committed.conn.execute(TABLES)
    committed.conn.execute("select pg_stat_force_next_flush()")
    committed.conn.execute("call worker.enqueue_analyze_tables()")
    done = _run(committed)
    assert done["state"] == "completed"
    assert _rows(committed, "probe.orders") == 300
    assert committed.value("select pg_stat_get_mod_since_analyze('probe.orders'::regclass)") == 0


def test_a_handler_can_call_it_and_the_task_is_no_child(tables: Engine) -> None:
    tables.conn.execute(
        "create procedure probe.derive(payload jsonb) language plpgsql as"
        " $$ begin call worker.enqueue_analyze_tables(); end $$"
    )
    tables.command("derive", handler_procedure="probe.derive")
    parent = tables.enqueue("derive")
    tables.process()
    assert tables.state(parent) == "completed"
    assert tables.children(parent) == []
    assert tables.value("select count(*) from worker.tasks where command = 'analyze_tables' and parent_id is null") == 1


def test_a_name_that_is_no_table_is_refused_at_once(tables: Engine) -> None:
    with refused(tables, "42P01"):
        tables.conn.execute("call worker.enqueue_analyze_tables('probe.nowhere')")
    with refused(tables, "CM019") as error:
        tables.conn.execute("call worker.enqueue_analyze_tables('probe.seen')")
    assert "probe.seen is not a table" in message(error)
    assert "materialized views" in hint(error)


def test_a_table_that_is_gone_is_reported_and_the_others_are_analyzed(tables: Engine) -> None:
    tables.conn.execute("call worker.enqueue_analyze_tables('probe.orders', 'probe.effect')")
    tables.conn.execute("drop table probe.orders cascade")
    assert _run(tables)["info"] == {"analyzed": 1, "missing": ["probe.orders"]}


@pytest.mark.parametrize("wrong", ["null", "variadic null", "'probe.orders', null", "4294967295::oid::regclass"])
def test_a_table_that_is_null_or_unknown_is_refused_at_once(tables: Engine, wrong: str) -> None:
    with refused(tables, "CM019") as error:
        tables.conn.execute(f"call worker.enqueue_analyze_tables({wrong})")
    assert "is not a table" in message(error)
    assert "every table that has changed" in hint(error)
    assert tables.states() == {}


def _ask(engine: Engine, *names: str) -> None:
    engine.conn.execute("select worker.enqueue('analyze_tables', %s)", [Jsonb({"tables": list(names)})])


def test_invalid_names_are_reported_and_the_others_are_analyzed(tables: Engine) -> None:
    _ask(tables, "a.b.c.d", "a.b.c", "probe.seen", "probe.orders")
    done = _run(tables)
    assert done["state"] == "completed", done["error"]
    no_name = "not the name of a table, expected schema.table"
    assert done["info"] == {
        "analyzed": 1,
        "missing": [],
        "skipped": {"a.b.c.d": no_name, "a.b.c": no_name, "probe.seen": "not a table"},
    }


def test_a_table_that_is_locked_is_reported_and_the_others_are_analyzed(committed: Engine, connect: Connect) -> None:
    committed.conn.execute(TABLES)
    _ask(committed, "probe.orders", "probe.effect")
    with connect(autocommit=False) as holder:
        holder.execute("lock table probe.orders")
        done = _run(committed)
    assert done["info"] == {
        "analyzed": 1,
        "missing": [],
        "skipped": {"probe.orders": "locked by another session"},
    }


def test_a_table_whose_index_raises_is_reported_and_the_others_are_analyzed(tables: Engine) -> None:
    tables.conn.execute(
        "create function probe.broken(int) returns int immutable language plpgsql as $$ begin return $1; end $$;"
        "create index on probe.orders (probe.broken(n));"
        "create or replace function probe.broken(int) returns int immutable language plpgsql as"
        " $$ begin raise exception 'out of order'; end $$"
    )
    _ask(tables, "probe.orders", "probe.effect")
    assert _run(tables)["info"] == {"analyzed": 1, "missing": [], "skipped": {"probe.orders": "out of order"}}


@pytest.mark.parametrize("wrong", ['"probe.orders"', "[1]", "{}"])
def test_a_payload_that_is_no_list_of_names_fails_with_a_hint(tables: Engine, wrong: str) -> None:
    tables.conn.execute("update worker.command_registry set merge = '{}' where command = 'analyze_tables'")
    tables.conn.execute(f"select worker.enqueue('analyze_tables', '{{\"tables\": {wrong}}}')")
    done = _run(tables)
    assert done["state"] == "failed"
    assert "expected a list of qualified names" in str(done["error"])


@pytest.fixture
def worker(tables: Engine) -> Iterator[Engine]:
    """The tables belong to another login than the worker's."""
    tables.conn.execute("create role analyze_worker in role catchment_worker; grant usage on schema probe to public")
    tables.conn.execute("call worker.enqueue_analyze_tables('probe.orders')")
    tables.conn.execute("set local role analyze_worker")
    yield tables
    tables.conn.execute("reset role")


def test_a_worker_without_the_right_fails_the_task_and_says_what_to_grant(worker: Engine) -> None:
    done = _run(worker)
    assert done["state"] == "failed"
    assert done["error"] == "analyze_worker may not analyze table probe.orders, which belongs to postgres"
    assert "grant postgres to analyze_worker" in worker.value("select error_detail ->> 'hint' from worker.tasks")


def test_a_table_without_the_right_is_reported_and_the_others_are_analyzed(worker: Engine) -> None:
    worker.conn.execute("reset role; create table probe.own (n int); alter table probe.own owner to analyze_worker")
    worker.conn.execute("call worker.enqueue_analyze_tables('probe.own'); set local role analyze_worker")
    done = _run(worker)
    assert done["info"] == {
        "analyzed": 1,
        "missing": [],
        "skipped": {"probe.orders": "analyze_worker may not analyze it, it belongs to postgres"},
    }


def test_a_member_of_the_owner_may_analyze(worker: Engine) -> None:
    worker.conn.execute("reset role; create role table_owner; grant table_owner to analyze_worker")
    worker.conn.execute("alter table probe.orders owner to table_owner; set local role analyze_worker")
    assert _run(worker)["info"] == {"analyzed": 1, "missing": []}


def test_a_login_that_may_enqueue_can_ask_for_it(tables: Engine) -> None:
    tables.conn.execute("set local role catchment_enqueue")
    tables.conn.execute("call worker.enqueue_analyze_tables()")
    tables.conn.execute("reset role")
    assert len(tables.states()) == 1

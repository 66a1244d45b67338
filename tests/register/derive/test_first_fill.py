"""A first derivation writes published tables from several sessions: readers see all of it or nothing, whatever dies."""

from __future__ import annotations

import signal
from pathlib import Path
from typing import Any

import psycopg
import pytest

import catchment_register
from catchment_register.dates import read_open_ends
from catchment_register.reference.check import check_reports, check_units
from tests.fixtures.often import often
from tests.fixtures.register_driver import Register, RegisterDatabase
from tests.fixtures.restart import restart
from tests.fixtures.worker import wait_until
from tests.register.breaking import break_once, break_stage, drain, mend_stage
from tests.register.holding import KEY, hold_stage, is_held, is_settled
from tests.register.unit_support import derive

FILLED = ("statistical_unit", "statistical_history_facet")
INDEXES = "select indexname, indexdef from pg_indexes where schemaname = 'register' and tablename ~ '_row$' order by 1"


def fill(reg: Register) -> None:
    reg.conn.execute("update register.settings set batch_enterprises = 1")
    with reg.conn.transaction():
        for number in range(6):
            reg.lu(f"l{number}", "2024-01-01", region="03.01", employees=number)
            reg.es(f"e{number}", f"l{number}", "2024-01-01", region="03.01", employees=1)
    reg.value("select worker.enqueue_collect_changes('all')")


def assert_all_right(reg: Register) -> None:
    wrong = check_units(reg.conn) + [f"{v}: {line}" for v, lines in check_reports(reg.conn).items() for line in lines]
    assert not wrong, wrong
    assert reg.rows("select * from register.check_register(false)") == []
    assert reg.log() == []
    assert reg.value("select count(*) from register.first_fill") == 0


def count(conn: psycopg.Connection[Any], relation: str) -> int:
    row = conn.execute(f"select count(*) from register.{relation}").fetchone()  # pyright: ignore[reportArgumentType]
    assert row is not None
    return row[0]


@pytest.mark.slow
def test_a_reader_sees_all_of_a_first_derivation_or_nothing(reg_db: RegisterDatabase) -> None:
    fill(reg_db)
    reader = reg_db.connect()
    views: dict[str, set[int]] = {view: set() for view in FILLED}
    hidden: dict[str, set[int]] = {view: set() for view in FILLED}
    while not is_settled(reg_db):
        reg_db.conn.execute("call worker.process_tasks(p_batch_size => 1, p_queue => 'analytics')")
        for view in FILLED:
            shown = count(reader, view)
            views[view].add(shown)
            hidden[view].add(count(reader, f"{view}_row") - shown)
    assert_all_right(reg_db)
    for view in FILLED:
        assert views[view] == {0, count(reader, view)}, view
        assert max(hidden[view]) > 0, "children commit their rows before all of them are there"
    assert len(hidden["statistical_unit"]) > 2, "children write one after the other"


def test_a_first_derivation_leaves_the_keys_and_indexes_as_they_were(reg: Register) -> None:
    reg.lu("1", "2024-01-01")
    reg.derive()
    before = reg.rows(INDEXES)
    for table in ("external_ident", "legal_unit", "enterprise"):
        reg.conn.execute(f"delete from register.{table}")
    reg.derive()
    assert reg.value("select count(*) from register.statistical_unit_row") == 0
    fill(reg)
    reg.derive()
    assert (
        reg.value(
            "select info -> 'inserted' from worker.tasks where command = %s order by id desc limit 1",
            "statistical_unit_flush_staging",
        )
        == 18
    )
    assert reg.rows(INDEXES) == before
    assert reg.value("select count(*) from pg_class where reloptions::text ~ 'autovacuum_enabled'") == 0
    assert_all_right(reg)


def test_an_index_that_was_dropped_is_there_after_a_first_derivation(reg: Register) -> None:
    reg.conn.execute("drop index register.statistical_history_facet_year")
    fill(reg)
    drain(reg)
    assert reg.value("select to_regclass('register.statistical_history_facet_year') is not null")
    assert_all_right(reg)


@pytest.mark.parametrize(
    "stage",
    [
        "statistical_unit_refresh_batch",
        "statistical_unit_flush_staging",
        "statistical_unit_build_index",
        "finish_statistical_unit_flush_staging",
        "derive_statistical_history_facet_period",
        "finish_statistical_history_facet",
    ],
)
def test_a_first_derivation_that_breaks_leaves_empty_tables_for_the_next_one(reg: Register, stage: str) -> None:
    fill(reg)
    break_once(reg, stage)
    assert reg.value("select state from register.round order by id desc limit 1") == "broken"
    assert reg.value("select count(*) from register.first_fill") == 0
    assert reg.value("select count(*) from register.statistical_history_facet_row") == 0
    is_published = "history_facet" in stage
    assert (reg.value("select count(*) from register.statistical_unit_row") > 0) == is_published
    drain(reg)
    assert_all_right(reg)


VIEWS = ("statistical_unit", "statistical_unit_facet", "statistical_history", "statistical_history_facet")


def _read_and_stay(reg: RegisterDatabase) -> psycopg.Connection[Any]:
    """A reader that keeps its transaction open, as a copy of the database does for hours."""
    reader = reg.connect()
    reader.autocommit = False
    for view in VIEWS:
        assert count(reader, view) == 0
    return reader


def _process(reg: Register) -> None:
    reg.conn.execute("call worker.process_tasks(p_batch_size => 1, p_queue => 'analytics')")


@pytest.mark.parametrize("during", [pytest.param(False, id="before"), pytest.param(True, id="during")])
def test_a_reader_that_stays_holds_up_neither_a_first_derivation_nor_other_readers(
    reg_db: RegisterDatabase, *, during: bool
) -> None:
    fill(reg_db)
    reg_db.conn.execute("set lock_timeout = '20s'")
    while during and not count(reg_db.conn, "statistical_unit_row"):
        _process(reg_db)
    reader = _read_and_stay(reg_db)
    other = reg_db.connect()
    other.execute("set lock_timeout = '20s'")
    while not is_settled(reg_db):
        _process(reg_db)
        for view in VIEWS:
            count(other, view)
    assert reg_db.value("select state from register.round order by id desc limit 1") == "done"
    assert count(other, "statistical_unit") == 18
    reader.rollback()
    assert_all_right(reg_db)


def test_a_reader_that_stays_does_not_hold_up_the_end_of_a_broken_first_derivation(reg_db: RegisterDatabase) -> None:
    fill(reg_db)
    while not count(reg_db.conn, "statistical_unit_row"):
        _process(reg_db)
    reader = _read_and_stay(reg_db)
    reg_db.conn.execute("set lock_timeout = '20s'")
    break_stage(reg_db, "statistical_unit_flush_staging")
    drain(reg_db)
    mend_stage(reg_db, "statistical_unit_flush_staging")
    assert reg_db.value("select count(*) from register.first_fill") == 0
    assert count(reg_db.conn, "statistical_unit_row") == 0
    assert count(reader, "statistical_unit") == 0
    reader.rollback()
    reg_db.conn.execute("select set_config('worker.now', (select max(due_at)::text from worker.tasks), false)")
    drain(reg_db)
    assert_all_right(reg_db)


@pytest.mark.slow
@pytest.mark.parametrize(
    "stage",
    often(
        "statistical_unit_refresh_batch",
        now_and_then=[
            "statistical_unit_build_index",
            "finish_statistical_unit_flush_staging",
            "derive_statistical_history_facet_period",
            "finish_statistical_history_facet",
        ],
    ),
)
def test_a_worker_killed_in_a_first_derivation_is_replaced(reg_db: RegisterDatabase, stage: str) -> None:
    hold_stage(reg_db, stage)
    fill(reg_db)
    holder = reg_db.connect()
    holder.execute("select pg_advisory_lock(%s)", [KEY])
    victim = reg_db.start_worker("--queue", "analytics")
    wait_until(lambda: is_held(reg_db), seconds=60)
    victim.send_signal(signal.SIGKILL)
    victim.wait()
    wait_until(lambda: not is_held(reg_db), seconds=60)
    holder.execute("select pg_advisory_unlock(%s)", [KEY])
    reg_db.start_worker("--queue", "analytics", "--concurrency", "analytics=2")
    wait_until(lambda: is_settled(reg_db), seconds=90)
    assert_all_right(reg_db)


@pytest.mark.slow
def test_rows_that_batches_have_filled_in_survive_a_crash_of_the_server(own_server: tuple[str, Path]) -> None:
    dsn, data = own_server
    with psycopg.connect(dsn, autocommit=True) as conn:
        catchment_register.migrate(conn)
        read_open_ends(conn)
        conn.execute("insert into register.country (iso_2, name) values ('NO', 'Norway')")
        reg = Register(conn)
        reg.conn.execute("update register.settings set batch_enterprises = 1")
        for number in range(4):
            reg.lu(f"l{number}", "2024-01-01", employees=number)
        reg.value("select worker.enqueue_collect_changes('all')")
        while not reg.value("select count(*) from register.statistical_unit_row"):
            conn.execute("call worker.process_tasks(p_batch_size => 1, p_queue => 'analytics')")
        rows = reg.value("select count(*) from register.statistical_unit_row")
    restart(data, "immediate")
    with psycopg.connect(dsn, autocommit=True) as conn:
        read_open_ends(conn)
        reg = Register(conn)
        assert reg.value("select count(*) from register.statistical_unit_row") >= rows
        assert reg.units() == []
        conn.execute("call worker.drain('analytics')")
        wait_until(lambda: is_settled(reg), seconds=60)
        assert reg.value("select state from register.round order by id desc limit 1") == "done"
        assert_all_right(reg)


@pytest.mark.parametrize("kind", ["legal_unit", "establishment"])
def test_a_unit_that_moves_while_batches_fill_is_right_a_round_later(reg_db: RegisterDatabase, kind: str) -> None:
    fill(reg_db)
    batches = "select count(*) from worker.tasks where command = %s and state = 'completed'"
    while reg_db.value(batches, "statistical_unit_refresh_batch") < 1:
        reg_db.conn.execute("call worker.process_tasks(p_batch_size => 1, p_queue => 'analytics')")
    first, last = reg_db.unit_id("l0"), reg_db.unit_id("l5")
    if kind == "legal_unit":
        # Into a batch that is to come: derived twice. And out of one: derived by none.
        reg_db.conn.execute(
            "update register.legal_unit set enterprise_id = %s, primary_for_enterprise = false where id = %s",
            [reg_db.enterprise_of("l4"), first],
        )
        reg_db.conn.execute(
            "update register.legal_unit set enterprise_id = %s, primary_for_enterprise = false where id = %s",
            [reg_db.enterprise_of("l0"), last],
        )
    else:
        reg_db.conn.execute(
            "update register.establishment set legal_unit_id = %s, primary_for_legal_unit = false where id = %s",
            [last, reg_db.unit_id("e0")],
        )
    before_flush = "select count(*) from worker.tasks where command = %s and state = 'completed'"
    while not reg_db.value(before_flush, "derive_statistical_unit_continue"):
        reg_db.conn.execute("call worker.process_tasks(p_batch_size => 1, p_queue => 'analytics')")
    twice = (
        "select count(*) from (select from register.statistical_unit_row group by unit_type, unit_id"
        " having count(distinct xmin::text) > 1) as d"
    )
    assert reg_db.value(twice) > 0
    derive(reg_db)
    derive(reg_db)
    assert_all_right(reg_db)

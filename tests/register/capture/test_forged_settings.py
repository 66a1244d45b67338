"""An editor cannot switch capture off, nor keep its changes from being collected, by what its session sets."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date

import psycopg
import pytest
from psycopg import Connection

from tests.fixtures.register_driver import RegisterDatabase

_SINCE = date(2025, 1, 1)


@pytest.fixture
def editor(reg_db: RegisterDatabase) -> Iterator[Connection]:
    """The session of a login that may edit and nothing else."""
    reg_db.conn.execute("create role only_edits login in role register_edit")
    try:
        with psycopg.connect(reg_db.conn.info.dsn, user="only_edits", autocommit=True) as conn:
            yield conn
    finally:
        reg_db.conn.execute("drop owned by only_edits; drop role only_edits")


def _asked(reg: RegisterDatabase) -> int:
    row = reg.conn.execute(
        "select count(*) from worker.tasks where command = 'collect_changes' and state = 'pending'"
    ).fetchone()
    assert row is not None
    return row[0]


@pytest.mark.parametrize("name", ["register.capture", "register.collect_requested"])
def test_change_of_an_editor_is_noted_and_collected_whatever_it_sets(
    reg_db: RegisterDatabase, editor: Connection, name: str
) -> None:
    reg_db.lu("1", "2025-01-01")
    unit = reg_db.unit_id("1")
    reg_db.conn.execute("call worker.drain('analytics')")
    assert _asked(reg_db) == 0
    before = len(reg_db.log())
    with editor.transaction():
        value = "off" if name == "register.capture" else None
        editor.execute("select set_config(%s, coalesce(%s, pg_current_xact_id()::text), true)", [name, value])
        editor.execute("update register.legal_unit set name = 'by hand' where id = %s", [unit])
        editor.execute("select register.edit_unit('legal_unit', %s, '{\"name\": \"by function\"}')", [unit])
    assert len(reg_db.log()) > before + 1
    assert _asked(reg_db) == 1
    reg_db.conn.execute("call worker.drain('analytics')")
    shown = reg_db.conn.execute(
        "select name from register.statistical_unit where unit_type = 'legal_unit' and unit_id = %s"
        " and valid_until = 'infinity'",
        [unit],
    ).fetchone()
    assert shown == ("by function",)


def test_transaction_asks_once_for_many_changes_and_again_after_a_savepoint(
    reg_db: RegisterDatabase, editor: Connection
) -> None:
    reg_db.lu("1", "2025-01-01")
    reg_db.conn.execute("call worker.drain('analytics')")
    unit = reg_db.unit_id("1")
    with editor.transaction():
        with editor.transaction(force_rollback=True):
            editor.execute("update register.legal_unit set name = 'a' where id = %s", [unit])
            editor.execute("set constraints all immediate")
        editor.execute("set constraints all deferred")
        for name in ("b", "c"):
            editor.execute("update register.legal_unit set name = %s where id = %s", [name, unit])
    assert _asked(reg_db) == 1
    reg_db.conn.execute("call worker.drain('analytics')")
    row = reg_db.conn.execute("select count(*) from register.collect_request").fetchone()
    assert row == (0,)


def test_an_editor_cannot_pause_capture(reg_db: RegisterDatabase, editor: Connection) -> None:
    """Only functions of the owner may, and they note in another way what they change."""
    for statement in (
        "select register.pause_capture()",
        "select register.resume_capture(true)",
        "insert into register.capture_pause default values",
        "set session_replication_role = replica",
        "alter table register.legal_unit disable trigger user",
    ):
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            editor.execute(statement)


def test_a_pause_ends_with_the_call_that_made_it(reg_db: RegisterDatabase) -> None:
    reg_db.import_rows("legal_unit", [{"tax_ident": n, "name": n, "employees": "3"} for n in "12"], valid_from=_SINCE)
    reg_db.relate("1", "2", "2025-01-01")
    with reg_db.conn.transaction():
        reg_db.conn.execute("select register.assign_power_groups('{[1,1000000)}')")
        reg_db.conn.execute("delete from register.base_change_log")
        reg_db.stat("1", "turnover", 5, "2025-01-01")
        assert reg_db.value("select count(*) from register.capture_pause") == 0
        assert len(reg_db.log()) == 1

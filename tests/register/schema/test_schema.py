"""The schema as a whole: what review sees, what the merge of slices is told, and installing and upgrading it."""

from __future__ import annotations

import os
import threading
import uuid
from collections.abc import Iterator
from typing import Any

import psycopg
import pytest
from psycopg import Connection
from psycopg.conninfo import make_conninfo

import catchment
import catchment_register
from catchment.schema import files
from catchment_register import RegisterMismatch
from catchment_register.schema import DERIVATION, REGISTER, RegisterUpgrade
from tests.fixtures.often import some
from tests.fixtures.register_driver import Register, RegisterDatabase
from tests.register.dump import SCHEMA, dump

MIGRATIONS = files.migrations(REGISTER.package)


@pytest.fixture
def empty(server: str) -> Iterator[Connection[Any]]:
    """A connection to an empty database."""
    name = f"empty_{uuid.uuid4().hex[:12]}"
    with psycopg.connect(server, autocommit=True) as conn:
        conn.execute(f"create database {name}")
    with psycopg.connect(make_conninfo(server, dbname=name), autocommit=True) as conn:
        yield conn
    with psycopg.connect(server, autocommit=True) as conn:
        conn.execute(f"drop database {name} with (force)")


@pytest.mark.skipif(os.environ.get("CATCHMENT_TEST_PG", "18") != "18", reason="the dump is of version 18")
def test_the_committed_dump_is_what_is_installed(reg_db: RegisterDatabase) -> None:
    assert dump(reg_db.dsn) == SCHEMA.read_text(encoding="utf-8"), "run: python -m tests.register.dump"


def test_the_merge_of_slices_gets_every_column(reg: Register) -> None:
    """A column that is neither a key nor data of its table would be lost when a slice is split."""
    for table in reg.rows("select * from register.temporal_table"):
        columns = reg.rows(
            "select column_name as name, is_generated <> 'NEVER' as made from information_schema.columns"
            " where table_schema = 'register' and table_name = %s",
            table["table_name"],
        )
        named = {*table["owner_columns"], *table["key_columns"], *table["data_columns"]}
        own = {"valid_from", "valid_until", "edit_at", "edit_by", "edit_comment"}
        derived = {c["name"] for c in columns if c["name"].startswith("derived_") and c["name"] not in named}
        given = {"id", "primary_influencer_only"} if table["table_name"] == "legal_relationship" else set()
        made = {c["name"] for c in columns if c["made"]}
        assert {c["name"] for c in columns} == named | own | derived | given | made, table["table_name"]
        assert derived == set() or table["table_name"] == "legal_relationship"


def test_ten_definitions_of_imports_are_there(reg: Register) -> None:
    rows = reg.rows("select slug, mode, strategy, valid_time_from, unique_units from register.import_definition")
    assert len(rows) == 10
    for row in rows:
        assert row["unique_units"] == (row["valid_time_from"] == "job_provided") == row["slug"].endswith("_job_dates")
        assert (row["strategy"] == "update_only") == (row["mode"] == "generic_unit")


def test_only_what_can_be_made_again_is_lost_in_a_crash(reg: Register) -> None:
    rows = reg.rows(
        "select relname from pg_class where relnamespace = 'register'::regnamespace and relpersistence = 'u'"
        " and relkind = 'r' order by relname"
    )
    assert [row["relname"] for row in rows] == [
        "capture_pause",
        "collect_request",
        "report_cell",
        "staging_mark",
        "statistical_history_staging",
        "statistical_unit_staging",
    ]


def test_rounds_never_interleave(reg: Register) -> None:
    reg.insert("round", kind="changes", today="2026-01-01")
    with pytest.raises(psycopg.errors.UniqueViolation), reg.conn.transaction():
        reg.insert("round", kind="all", today="2026-01-01")
    reg.conn.execute("update register.round set state = 'done', ended_at = now()")
    reg.insert("round", kind="all", today="2026-01-01")


def test_install_does_everything_and_then_nothing(empty: Connection[Any]) -> None:
    first = catchment_register.migrate(empty)
    assert list(first.applied) == [m.name for m in MIGRATIONS]
    assert (first.routines_changed, first.requests_full_round) == (True, False)
    assert catchment_register.migrate(empty) == RegisterUpgrade((), False, None, "register_owner", True)
    catchment_register.check_version(empty)
    assert empty.execute("select count(*) from worker.tasks").fetchone() == (0,)


def test_an_upgrade_of_the_engine_gives_rights_back(reg_db: RegisterDatabase) -> None:
    reg_db.conn.execute("update worker.version set fingerprint = 'old'")
    catchment.migrate(reg_db.conn)
    can = "select has_function_privilege('catchment_worker', 'worker.enqueue_collect_changes(text)', 'execute')"
    assert not reg_db.value(can)
    assert reg_db.value(can.replace("catchment_worker", "register_edit"))
    assert catchment_register.migrate(reg_db.conn).routines_changed
    assert reg_db.value(can)


def test_new_rules_of_derivation_ask_for_a_full_round_once(reg_db: RegisterDatabase) -> None:
    reg_db.conn.execute("update register.version set derivation = %s", [DERIVATION - 1])
    assert catchment_register.migrate(reg_db.conn).requests_full_round
    assert not catchment_register.migrate(reg_db.conn).requests_full_round
    tasks = reg_db.rows("select command, payload from worker.tasks")
    assert tasks == [{"command": "collect_changes", "payload": {"scope": "all"}}]


def test_several_install_at_once(empty: Connection[Any]) -> None:
    failures: list[BaseException] = []

    def install() -> None:
        try:
            with psycopg.connect(empty.info.dsn, autocommit=True) as conn:
                catchment_register.migrate(conn)
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=install) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []


@pytest.mark.parametrize("step", some([MIGRATIONS[0].name, MIGRATIONS[-1].name, "functions"], one_in=3))
def test_an_install_that_breaks_can_be_run_again(empty: Connection[Any], step: str) -> None:
    class Broken(Exception):
        pass

    def break_at(name: str) -> None:
        if name.startswith(step) and (step != "functions" or "register" in name):
            raise Broken

    with pytest.raises(Broken):
        catchment_register.migrate(empty, on_step=break_at)
    with pytest.raises(RegisterMismatch, match="register"):
        catchment_register.check_version(empty)
    catchment_register.migrate(empty)
    catchment_register.check_version(empty)


def test_code_and_schema_that_do_not_fit_say_so(reg_db: RegisterDatabase, empty: Connection[Any]) -> None:
    newest = REGISTER.newest
    with pytest.raises(RegisterMismatch, match="the register is not installed in this database") as caught:
        catchment_register.check_version(empty)
    assert caught.value.hint == "Run: catchment register init"
    reg_db.conn.execute("update register.migration set number = -number where number = %s", [newest])
    with pytest.raises(RegisterMismatch, match=f"schema register lacks migration {newest:04}_.*, which this version"):
        catchment_register.check_version(reg_db.conn)
    reg_db.conn.execute("update register.migration set number = abs(number)")
    reg_db.conn.execute("insert into register.migration (number, name, digest) values (%s, 'future', '')", [newest + 1])
    assert catchment_register.migrate(reg_db.conn).newer == f"migration {newest + 1}"
    reg_db.conn.execute("update register.version set compatible_from = %s", [newest + 1])
    with pytest.raises(RegisterMismatch, match="and newer"):
        catchment_register.check_version(reg_db.conn)


def test_a_foreign_schema_of_the_same_name_is_left_alone(empty: Connection[Any]) -> None:
    empty.execute("create schema register")
    with pytest.raises(RegisterMismatch, match="not owned by register_owner"):
        catchment_register.migrate(empty)
    assert empty.execute("select count(*) from pg_class where relnamespace = 'register'::regnamespace").fetchone() == (
        0,
    )

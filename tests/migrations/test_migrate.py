"""Install and upgrade: any number of times, from any point, by several at once."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
import threading
import uuid
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest
from psycopg.conninfo import make_conninfo

from catchment.errors import SchemaMismatch
from catchment.schema import files
from catchment.sql import ENGINE
from catchment.store.migrate import check_version, migrate
from tests.fixtures.often import some

SCHEMA = Path(__file__).parent / "schema.sql"
MIGRATIONS = files.migrations(ENGINE.package)


@pytest.fixture
def empty(server: str) -> Iterator[str]:
    """DSN of an empty database."""
    name = f"empty_{uuid.uuid4().hex[:12]}"
    with psycopg.connect(server, autocommit=True) as conn:
        conn.execute(f"create database {name}")
    yield make_conninfo(server, dbname=name)
    with psycopg.connect(server, autocommit=True) as conn:
        conn.execute(f"drop database {name} with (force)")


def test_migrate_installs_everything_and_then_nothing(empty: str) -> None:
    with psycopg.connect(empty, autocommit=True) as conn:
        first = migrate(conn)
        assert list(first.applied) == [m.name for m in MIGRATIONS]
        assert first.routines_changed
        second = migrate(conn)
        assert second.applied == ()
        assert not second.routines_changed
        check_version(conn)


def test_functions_and_their_planner_settings_commit_together(empty: str) -> None:
    with psycopg.connect(empty, autocommit=True) as conn:
        migrate(conn)
        conn.execute("update worker.version set fingerprint = 'of an older release'")
        assert migrate(conn).routines_changed
        assert conn.execute(
            "select count(distinct p.xmin::text) from pg_proc as p where p.pronamespace = 'worker'::regnamespace"
        ).fetchone() == (1,)


STEPS = [*(m.name for m in MIGRATIONS), "functions, views and grants of schema worker"]


@pytest.mark.parametrize("step", some(STEPS, one_in=3))
def test_migrate_killed_at_any_step_can_be_run_again(empty: str, step: str) -> None:
    script = textwrap.dedent(
        """
        import os, signal, sys, psycopg
        from catchment.store.migrate import migrate
        def die(step):
            if step == sys.argv[1]:
                os.kill(os.getpid(), signal.SIGKILL)
        migrate(psycopg.connect(os.environ["CATCHMENT_DSN"], autocommit=True), on_step=die)
        """
    )
    killed = subprocess.run([sys.executable, "-c", script, step], env=os.environ | {"CATCHMENT_DSN": empty})
    assert killed.returncode == -9
    with psycopg.connect(empty, autocommit=True) as conn:
        with pytest.raises(SchemaMismatch, match="schema"):
            check_version(conn)
        migrate(conn)
        check_version(conn)
        assert conn.execute("select count(*) from worker.check_invariants()").fetchone() == (0,)


def test_two_migrate_at_once(empty: str) -> None:
    failures: list[BaseException] = []

    def run() -> None:
        try:
            with psycopg.connect(empty, autocommit=True) as conn:
                migrate(conn)
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=run) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []


def test_newer_code_refuses_an_older_schema(db: str) -> None:
    with psycopg.connect(db, autocommit=True) as conn:
        newest = MIGRATIONS[-1].number
        conn.execute("delete from worker.migration where number = %s", [newest])
        with pytest.raises(
            SchemaMismatch, match=f"schema worker lacks migration {newest:04}_.*, which this version of .* needs"
        ) as raised:
            check_version(conn)
        assert raised.value.hint == "Run: catchment migrate"


def test_database_without_schema_says_what_to_do(empty: str) -> None:
    with psycopg.connect(empty, autocommit=True) as conn, pytest.raises(SchemaMismatch) as raised:
        check_version(conn)
    assert raised.value.hint == "Run: catchment migrate"


def test_foreign_schema_of_the_same_name_is_left_alone(empty: str) -> None:
    with psycopg.connect(empty, autocommit=True) as conn:
        conn.execute("create schema worker")
        with pytest.raises(SchemaMismatch, match="not owned by catchment_owner"):
            migrate(conn)


def test_migrate_works_for_a_user_who_is_no_superuser(server: str, empty: str) -> None:
    with psycopg.connect(empty, autocommit=True) as conn:
        migrate(conn)  # makes the roles of this server
        conn.execute("drop schema worker cascade")
        conn.execute("create role installer login createrole")
        conn.execute("grant catchment_owner to installer with admin option")
        name = conn.info.dbname
        conn.execute(f"alter database {name} owner to installer")
    try:
        with psycopg.connect(empty, user="installer", autocommit=True) as conn:
            migrate(conn)
            check_version(conn)
    finally:
        with psycopg.connect(server, autocommit=True) as conn:
            conn.execute(f"alter database {name} owner to postgres")
            conn.execute("revoke catchment_owner from installer cascade")
            conn.execute("drop role installer")


@pytest.mark.skipif(os.environ.get("CATCHMENT_TEST_PG", "18") != "18", reason="the dump is that of PostgreSQL 18")
def test_schema_is_the_committed_one(db: str) -> None:
    """Review sees the net effect of a change: `python -m tests.migrations.dump` rewrites the file."""
    from tests.migrations.dump import dump

    assert dump(db) == SCHEMA.read_text(encoding="utf-8")

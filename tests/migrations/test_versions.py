"""Two versions of the package and one database: the newer one's functions stay, and what no longer fits stops."""

from __future__ import annotations

import json
import shutil
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from importlib import resources
from pathlib import Path
from typing import Any

import psycopg
import pytest
from psycopg import Connection
from typer.testing import CliRunner

import catchment_register
from catchment.cli.main import app
from catchment.errors import SchemaMismatch
from catchment.model.release import VERSION, release_order
from catchment.schema import Schema, Upgrade
from catchment.sql import ENGINE
from catchment.store import migrate as module
from catchment.store.migrate import check_version, migrate
from catchment_register import RegisterMismatch
from tests.fixtures.engine import Engine
from tests.fixtures.lake import install_lake
from tests.fixtures.lake_case import LakeCase
from tests.fixtures.register_driver import RegisterDatabase
from tests.fixtures.server import Connect
from tests.fixtures.worker import StartWorker, wait_until

NEWEST = ENGINE.newest
# The owner, and that there are roles.
ROLES = ("catchment_owner", True)


@pytest.fixture
def conn(db: str) -> Iterator[Connection[Any]]:
    with psycopg.connect(db, autocommit=True) as conn:
        yield conn


@pytest.fixture
def other(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Schema:
    """A second copy of the engine's SQL in which one function says something else."""
    folder = tmp_path / f"sql_{uuid.uuid4().hex[:8]}"
    with resources.as_file(resources.files(ENGINE.package)) as sql:
        shutil.copytree(sql, folder)
    changed = folder / "functions" / "run" / "last_processed.sql"
    changed.write_text(changed.read_text().replace("'[]'", "'[\"other\"]'"))
    monkeypatch.syspath_prepend(str(tmp_path))
    return replace(ENGINE, package=folder.name)


@pytest.fixture
def beyond(other: Schema, tmp_path: Path) -> Schema:
    """A newer version of it, with a migration that older code cannot work with."""
    (tmp_path / other.package / "migrations" / f"{NEWEST + 1:04}_future.sql").write_text("select 1;")
    return replace(other, release="9.0", compatible_from=NEWEST + 1)


@contextmanager
def version(schema: Schema) -> Iterator[None]:
    """Be the version of the package that has this schema."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "ENGINE", schema)
        yield


def processed(conn: Connection[Any]) -> list[str]:
    """Which version's function is in the database."""
    row = conn.execute("select worker.last_processed()").fetchone()
    assert row is not None
    return row[0]


def test_versions_are_ordered_as_their_numbers_say() -> None:
    ordered = [
        "0.1.0.dev2",
        "0.1.0a1",
        "0.1.0b1",
        "0.1.0rc1",
        "0.1.0rc2",
        "0.1",
        "0.1.0.post1",
        "0.2.0",
        "0.10.0",
        "1.0",
    ]
    assert sorted(ordered, key=release_order) == ordered
    assert release_order("0.1") == release_order("0.1.0") == release_order("0.1.0+local.7")


def test_an_older_package_leaves_the_functions_of_a_newer_one(conn: Connection[Any], other: Schema) -> None:
    with version(replace(other, release="9.0")):
        assert migrate(conn) == Upgrade((), True, None, *ROLES)
    assert processed(conn) == ["other"]
    assert migrate(conn) == Upgrade((), False, "9.0", *ROLES)
    assert processed(conn) == ["other"]
    check_version(conn)

    said = CliRunner().invoke(app, ["migrate", "--dsn", conn.info.dsn])
    assert said.exit_code == 0
    assert f"newer version of Catchment (9.0); this one, {VERSION}," in " ".join(said.stdout.split())


def test_an_older_package_leaves_a_schema_with_more_migrations_than_it_knows(conn: Connection[Any]) -> None:
    conn.execute("insert into worker.migration (number, name, digest) values (%s, 'of the future', '')", [NEWEST + 1])
    conn.execute("update worker.version set fingerprint = 'another'")
    assert migrate(conn) == Upgrade((), False, f"migration {NEWEST + 1}", *ROLES)
    assert conn.execute("select fingerprint from worker.version").fetchone() == ("another",)


def test_an_older_package_that_no_longer_fits_says_so_and_changes_nothing(
    conn: Connection[Any], beyond: Schema
) -> None:
    with version(beyond):
        migrate(conn)
    for attempt in (migrate, check_version):
        with pytest.raises(SchemaMismatch, match=f"works with migration {NEWEST + 1} and newer") as raised:
            attempt(conn)
        assert raised.value.hint == "Upgrade Catchment on this machine."
    assert processed(conn) == ["other"]


def test_the_same_version_with_other_text_and_a_newer_version_write_their_functions(
    conn: Connection[Any], other: Schema
) -> None:
    with version(other):
        assert migrate(conn).routines_changed
    assert processed(conn) == ["other"]
    with version(replace(ENGINE, release="9.0")):
        assert migrate(conn).routines_changed
    assert processed(conn) == []


def test_a_newer_version_with_the_same_functions_is_noted(conn: Connection[Any], other: Schema) -> None:
    with version(replace(ENGINE, release="9.0")):
        assert migrate(conn) == Upgrade((), False, None, *ROLES)
    with version(replace(other, release="8.0")):
        assert migrate(conn).newer == "9.0"
    assert processed(conn) == []


def test_an_older_package_leaves_a_newer_lake(lake_case: LakeCase, monkeypatch: pytest.MonkeyPatch) -> None:
    lake_case.pg("update lake.installed set fingerprint = 'another', release = '9.0'")
    lake_case.pg("update worker.command_registry set description = 'newer' where queue like 'lake%'")
    lake_case.pg("drop trigger catchment_guard on public.ducklake_snapshot_changes")
    seen: list[str] = []
    assert install_lake(lake_case.dsn, None, lake_case.settings, on_step=seen.append) == lake_case.address
    assert "guard" in seen
    assert not {"commands", "functions, views and grants of schema lake"} & set(seen)
    assert lake_case.pg("select fingerprint from lake.installed") == [("another",)]
    seen.clear()
    install_lake(lake_case.dsn, None, lake_case.settings, on_step=seen.append)
    assert seen == []

    lake_case.pg("update lake.installed set compatible_from = 99")
    with pytest.raises(SchemaMismatch, match="schema lake works with migration 99 and newer"):
        install_lake(lake_case.dsn, None, lake_case.settings)


def test_an_older_package_leaves_a_newer_register(reg_db: RegisterDatabase) -> None:
    reg_db.conn.execute("update worker.version set fingerprint = 'another', release = '9.0'")
    reg_db.conn.execute("update register.version set fingerprint = 'another', release = '9.0'")
    upgrade = catchment_register.migrate(reg_db.conn)
    assert (upgrade.applied, upgrade.routines_changed, upgrade.newer) == ((), False, "9.0")
    assert reg_db.value("select fingerprint from register.version") == "another"
    reg_db.conn.execute("update register.version set compatible_from = 99")
    with pytest.raises(RegisterMismatch, match="works with migration 99 and newer"):
        catchment_register.migrate(reg_db.conn)


def test_a_running_worker_that_an_upgrade_leaves_behind_stops_in_order(
    committed: Engine, connect: Connect, start_worker: StartWorker, beyond: Schema, tmp_path: Path
) -> None:
    worker, log = start_worker("--queue", "work"), tmp_path / "worker-1.log"
    with connect() as holder, holder.transaction():
        holder.execute("lock table probe.effect in share mode")
        running = committed.enqueue(note="runs")
        later = committed.enqueue(note="waits")
        wait_until(lambda: committed.state(running) == "processing")
        with version(beyond):
            migrate(committed.conn)
        wait_until(lambda: '"worker.outdated"' in log.read_text())
        # So long that the call that runs it is over after it.
        began = committed.value("select clock_timestamp()")
        wait_until(lambda: committed.value("select clock_timestamp() > %s + interval '1 second'", began))
    assert worker.wait(timeout=60) == 1
    assert committed.state(running) == "completed"
    assert committed.state(later) == "pending"
    assert committed.value("select count(*) from worker.worker") == 0
    events = {json.loads(line)["event"] for line in log.read_text().splitlines() if line.startswith("{")}
    assert {"worker.outdated", "worker.stopped"} <= events
    assert "Upgrade Catchment on this machine." in log.read_text()


def test_a_running_worker_that_still_fits_goes_on_after_an_upgrade(
    committed: Engine, start_worker: StartWorker, other: Schema
) -> None:
    start_worker("--queue", "work")
    first = committed.enqueue(note="first")
    wait_until(lambda: committed.state(first) == "completed")
    with version(replace(other, release="9.0")):
        migrate(committed.conn)
    second = committed.enqueue(note="second")
    wait_until(lambda: committed.state(second) == "completed")

"""Installing a lake: once, by any number of processes, and found in order ever after."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import textwrap
import uuid
from collections.abc import Iterator, Mapping
from pathlib import Path

import psycopg
import pytest
from psycopg.conninfo import make_conninfo

from catchment.errors import LakeUnavailable, RequestRefused, SchemaMismatch
from catchment.lake.control.install import install
from catchment.lake.duck.address import LakeAddress, parse
from catchment.lake.duck.catalog import read_address
from catchment.lake.duck.duck import Duck
from catchment.lake.duck.verify import has_lake, verify
from catchment.lake.settings import LakeSettings
from catchment.lake.sql import LAKE
from catchment.lake.tasks.app import commands
from catchment.schema.files import fingerprint
from tests.fixtures.lake import install_lake
from tests.fixtures.lake_case import SETTINGS, LakeCase
from tests.fixtures.often import often, some_rows
from tests.lake.control.support import add_table, content, refresh

# After each of these something new exists.
SCRIPT = textwrap.dedent(
    """
    import os, signal, sys
    from catchment.lake.duck.address import parse
    from catchment.lake.duck.duck import Duck
    from catchment.lake.control.install import install
    from catchment.lake.settings import LakeSettings
    from catchment.lake.tasks.app import commands

    dsn, path, victim, table = sys.argv[1:]

    def die(step):
        if step == victim:
            os.kill(os.getpid(), signal.SIGKILL)

    settings = LakeSettings(lake_memory_limit="200MB", lake_threads=1)
    install(dsn, parse(path), settings, commands, on_step=die)
    duck = Duck.open(dsn, settings)
    duck.set_retries(60)
    if table:
        duck.run(f"CREATE TABLE lake.{table} AS SELECT 1 AS a")
    """
)


@pytest.fixture
def settings() -> LakeSettings:
    return LakeSettings(**SETTINGS)


@pytest.fixture
def engine_db(server: str, template: str, settings: LakeSettings) -> Iterator[str]:
    """A database with the engine and without a lake."""
    name = f"plain_{uuid.uuid4().hex[:12]}"
    with psycopg.connect(server, autocommit=True) as conn:
        conn.execute(f"create database {name} template {template}")
    dsn = make_conninfo(server, dbname=name)
    yield dsn
    with psycopg.connect(server, autocommit=True) as conn:
        conn.execute(f"drop database {name} with (force)")


def run(
    dsn: str, path: Path, *, victim: str = "", table: str = "", env: Mapping[str, str] | None = None
) -> subprocess.Popen[bytes]:
    """Install a lake in a process of its own, which dies at a step, or makes a table in the end."""
    command = [sys.executable, "-c", SCRIPT, dsn, str(path), victim, table]
    return subprocess.Popen(command, stderr=subprocess.PIPE, env={**os.environ, **(env or {})})


def problems(dsn: str) -> list[str]:
    with psycopg.connect(dsn, autocommit=True) as conn:
        return verify(conn)


@pytest.mark.long
def test_three_processes_install_and_use_a_new_lake_at_once_without_any_network(engine_db: str, tmp_path: Path) -> None:
    """No download, no write to the home folder: all that is needed is in the wheels."""
    home = tmp_path / "home"
    home.mkdir()
    dead = dict.fromkeys(("http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY"), "http://127.0.0.1:9")
    env = {**dead, "HOME": str(home), "XDG_DATA_HOME": str(home)}
    processes = [run(engine_db, tmp_path / "lake", table=f"t{number}", env=env) for number in range(3)]
    results = [(process.communicate()[1], process.returncode) for process in processes]
    assert [code for _, code in results] == [0, 0, 0], results
    assert list(home.iterdir()) == []
    assert problems(engine_db) == []
    with psycopg.connect(engine_db, autocommit=True) as conn:
        tables = conn.execute("select table_name from lake.ducklake_table order by 1").fetchall()
        assert tables == [("t0",), ("t1",), ("t2",)]
        assert conn.execute("select count(*) from lake.ducklake_schema where schema_name = 'dt'").fetchone() == (1,)


@pytest.mark.long
@pytest.mark.parametrize("step", often("views of the catalog", now_and_then=["catalog", "guard"]))
def test_installation_killed_at_any_step_can_be_run_again(
    engine_db: str, tmp_path: Path, settings: LakeSettings, step: str
) -> None:
    process = run(engine_db, tmp_path / "lake", victim=step)
    process.communicate()
    assert process.returncode == -9
    seen: list[str] = []
    install_lake(engine_db, parse(str(tmp_path / "lake")), settings, on_step=seen.append)
    Duck.open(engine_db, settings).close()
    assert seen[-1] == "guard"
    assert problems(engine_db) == []


def test_a_second_installation_does_nothing(lake_case: LakeCase) -> None:
    seen: list[str] = []
    assert install_lake(lake_case.dsn, None, lake_case.settings, on_step=seen.append) == lake_case.address
    assert install_lake(lake_case.dsn, lake_case.address, lake_case.settings, on_step=seen.append) == lake_case.address
    assert seen == []


def test_changed_functions_are_recreated(lake_case: LakeCase) -> None:
    lake_case.pg("update lake.installed set fingerprint = 'of older code'")
    lake_case.pg("create or replace function lake.commit_key() returns bigint language sql immutable return 7")
    install_lake(lake_case.dsn, None, lake_case.settings)
    assert lake_case.pg("select lake.commit_key() = hashtextextended('lake.commit', 0)") == [(True,)]
    assert lake_case.pg("select fingerprint from lake.installed") == [(fingerprint(LAKE.package),)]


def test_no_row_is_inlined_in_a_new_lake_whichever_client_writes_it(lake_case: LakeCase) -> None:
    lake_case.sql("CREATE TABLE small (a INTEGER)")
    # A client that was told nothing of inlining, with three rows: DuckLake's default would inline them.
    code = """
        import sys
        from catchment.lake.duck.extensions import take_instance
        con = take_instance()
        con.execute(f"ATTACH 'ducklake:postgres:{sys.argv[1]}' AS theirs")
        con.execute("INSERT INTO theirs.main.small VALUES (1), (2), (3)")
        con.execute("DELETE FROM theirs.main.small WHERE a = 1")
    """
    subprocess.run([sys.executable, "-c", textwrap.dedent(code), lake_case.dsn], check=True)
    tokens = lake_case.pg("select changes_made from public.ducklake_snapshot_changes order by snapshot_id desc limit 2")
    assert [token.split(":")[0] for (token,) in tokens] == ["deleted_from_table", "inserted_into_table"]
    assert lake_case.sql("SELECT a FROM small ORDER BY a") == [(2,), (3,)]


@pytest.mark.parametrize(
    ("damage", "said"),
    some_rows(
        [
            (
                "drop trigger catchment_guard on public.ducklake_snapshot_changes",
                "is missing: nothing can be published",
            ),
            ("alter table public.ducklake_snapshot_changes disable trigger catchment_guard", "is disabled"),
            ("update public.ducklake_metadata set value = '10' where key = 'data_inlining_row_limit'", "is 10, and 0"),
            ("delete from public.ducklake_metadata where key = 'data_inlining_row_limit'", "is not set, and 0"),
        ],
        one_in=2,
    ),
)
def test_damage_is_found_and_the_next_installation_repairs_it(lake_case: LakeCase, damage: str, said: str) -> None:
    lake_case.pg(damage)
    (problem,) = problems(lake_case.dsn)
    assert said in problem
    install_lake(lake_case.dsn, None, lake_case.settings)
    assert problems(lake_case.dsn) == []
    refresh(lake_case, add_table(lake_case, "d"), [(1, 1)])
    assert content(lake_case, "d") == [(1, 1)]


@pytest.mark.parametrize(
    ("damage", "said"),
    [
        ("update public.ducklake_metadata set value = '2.0' where key = 'version'", "format 2.0, and 1.0 is needed"),
        (
            "insert into public.ducklake_metadata values ('data_inlining_row_limit', '5', 'table', 3)",
            "1 schemas or tables of the lake have their own data_inlining_row_limit",
        ),
    ],
)
def test_what_cannot_be_repaired_is_said(lake_case: LakeCase, damage: str, said: str) -> None:
    lake_case.pg(damage)
    assert said in problems(lake_case.dsn)[0]


def test_without_an_address_there_must_be_a_lake(engine_db: str, settings: LakeSettings) -> None:
    with pytest.raises(LakeUnavailable, match="no lake yet") as raised:
        install_lake(engine_db, None, settings)
    assert raised.value.code == "NO_LAKE"
    assert raised.value.hint == "Set where its data is stored: --lake or CATCHMENT_LAKE."
    with psycopg.connect(engine_db) as conn:
        assert not has_lake(conn)


def test_a_lake_that_was_begun_alone_is_said(engine_db: str) -> None:
    with psycopg.connect(engine_db, autocommit=True) as conn:
        LAKE.apply_migrations(conn, lambda _: None, LAKE.find_site(conn))
        assert verify(conn) == ["the lake is not completely installed"]


def test_the_default_place_is_for_a_new_lake_alone(lake_case: LakeCase, tmp_path: Path) -> None:
    """A reader of the embedded server need not say again where its lake was put."""
    elsewhere = parse(str(tmp_path / "elsewhere"))
    installed = install(lake_case.dsn, None, lake_case.settings, commands, default=elsewhere)
    assert installed.data_path == f"{lake_case.folder}/"


def test_another_place_than_the_lake_has_is_refused(lake_case: LakeCase, tmp_path: Path) -> None:
    with pytest.raises(RequestRefused, match=f"is at {lake_case.folder}/.*not at {tmp_path}/elsewhere/") as raised:
        install_lake(lake_case.dsn, parse(str(tmp_path / "elsewhere")), lake_case.settings)
    assert "A database has one lake" in (raised.value.hint or "")
    assert not (tmp_path / "elsewhere").exists()


def test_a_catalog_in_another_database_is_refused_and_its_own_name_is_not(lake_case: LakeCase, server: str) -> None:
    data = lake_case.address.data_path
    with pytest.raises(RequestRefused, match="catalog is in database postgres, and the engine is in test_"):
        install_lake(
            lake_case.dsn, LakeAddress(data, catalog=make_conninfo(server, dbname="postgres")), lake_case.settings
        )
    assert (
        install_lake(lake_case.dsn, LakeAddress(data, catalog=lake_case.dsn), lake_case.settings) == lake_case.address
    )


def test_a_database_without_the_engine_says_what_to_do(server: str, tmp_path: Path, settings: LakeSettings) -> None:
    with pytest.raises(SchemaMismatch) as raised:
        install_lake(make_conninfo(server, dbname="template1"), parse(str(tmp_path)), settings)
    assert raised.value.hint == "Run: catchment migrate"


def test_a_folder_that_cannot_be_made_is_said(engine_db: str, tmp_path: Path, settings: LakeSettings) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(LakeUnavailable, match="cannot be made: Not a directory"):
        install_lake(engine_db, parse(str(tmp_path / "file" / "lake")), settings)


@pytest.mark.long
def test_the_catalog_can_have_a_separate_schema(engine_db: str, tmp_path: Path, settings: LakeSettings) -> None:
    address = parse(f"data={tmp_path}/lake;schema=my meta")
    assert install_lake(engine_db, address, settings) == address
    with psycopg.connect(engine_db, autocommit=True) as conn:
        assert read_address(conn) == address
        assert conn.execute("select to_regclass('public.ducklake_snapshot')").fetchone() == (None,)
    case = LakeCase(engine_db, tmp_path / "lake")
    try:
        refresh(case, add_table(case, "d"), [(1, 1)])
        assert content(case, "d") == [(1, 1)]
    finally:
        case.close()


def test_a_member_of_catchment_worker_finds_an_installed_lake_in_order(lake_case: LakeCase) -> None:
    role = f"member_{uuid.uuid4().hex[:8]}"
    lake_case.pg(f"create role {role} login in role catchment_worker")
    try:
        dsn = make_conninfo(lake_case.dsn, user=role)
        assert install_lake(dsn, None, lake_case.settings) == lake_case.address
        lake_case.pg("drop trigger catchment_guard on public.ducklake_snapshot_changes")
        with pytest.raises((LakeUnavailable, SchemaMismatch), match=r"may not install|permission denied"):
            install_lake(dsn, None, lake_case.settings)
    finally:
        lake_case.pg(f"drop role {role}")


def test_doctor_reports_what_is_wrong_with_the_lake(lake_db: str) -> None:
    def diagnose() -> tuple[int, list[dict[str, str]]]:
        command = [sys.executable, "-m", "catchment", "doctor", "--json", "--dsn", lake_db]
        run = subprocess.run(command, capture_output=True, text=True)
        return run.returncode, [found for found in json.loads(run.stdout) if found["subject"] == "lake"]

    assert diagnose() == (0, [])
    with psycopg.connect(lake_db, autocommit=True) as conn:
        conn.execute("alter table public.ducklake_snapshot_changes disable trigger catchment_guard")
    code, (finding,) = diagnose()
    assert code == 1
    assert finding["level"] == "error"
    assert "is disabled: nothing can be published" in finding["finding"]

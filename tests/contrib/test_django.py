"""``catchment.contrib.django``: the cases of a project, run by Django, and a worker of it."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import psycopg
import pytest
from psycopg.conninfo import make_conninfo

from catchment import App, TaskFailed
from tests.examples.programs import ROOT, variables
from tests.fixtures.worker import wait_until

SETTINGS = "tests.contrib.project.settings"


@pytest.fixture
def project(server: str) -> Iterator[str]:
    """A database without the schema."""
    with psycopg.connect(server, autocommit=True) as conn:
        conn.execute("create database project")
        yield make_conninfo(server, dbname="project")
        conn.execute("drop database project with (force)")


def environment(dsn: str) -> dict[str, str]:
    path = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")]))
    return {**variables(dsn), "DJANGO_SETTINGS_MODULE": SETTINGS, "PYTHONPATH": path}


def manage(dsn: str, *arguments: str) -> str:
    command = [sys.executable, "-W", "error", "-m", "django", *arguments]
    done = subprocess.run(command, env=environment(dsn), capture_output=True, text=True, timeout=200)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout + done.stderr


def test_the_cases_of_the_project_pass(project: str, server: str) -> None:
    manage(project, "test", "--pattern", "cases.py", "tests.contrib.project")
    with psycopg.connect(server) as conn:
        assert conn.execute("select datname from pg_database where datname like 'test_project%'").fetchall() == []


@pytest.mark.long
def test_a_worker_survives_the_loss_of_its_connections(project: str, tmp_path: Path) -> None:
    manage(project, "migrate", "--run-syncdb")
    log = tmp_path / "worker.log"
    command = [sys.executable, "-m", "django", "catchment_worker", "--queue", "default", "--log-level", "info"]
    with log.open("wb") as out:
        worker = subprocess.Popen(command, env=environment(project), stdout=out, stderr=out)
    app = App(project)
    try:
        wait_until(lambda: "serves" in log.read_text() or worker.poll() is not None, seconds=120)
        for name in ("backend", "async_backend"):
            first = app.sync.enqueue(name).result(timeout=100)
            assert app.sync.enqueue(name).result(timeout=100) == first, "CONN_MAX_AGE is None: it is kept"
            with psycopg.connect(project, autocommit=True) as conn:
                conn.execute("select pg_terminate_backend(%s, 10000)", [first])
            wait_until(partial(_answers, app, name, first))
        app.sync.enqueue("write", {"text": "here"}).result(timeout=100)
        pid, count = app.sync.enqueue("count_in_process", {"text": "here"}).result(timeout=100)
        assert (count, pid != worker.pid) == (1, True)
        worker.terminate()
        assert worker.wait(timeout=100) == 0, log.read_text()
    finally:
        worker.kill()
        worker.wait()
        app.sync.close()


def _answers(app: App, name: str, former: int) -> bool:
    """Django sees that a connection is broken when a query fails; the next task has another."""
    try:
        return app.sync.enqueue(name).result(timeout=100) != former
    except TaskFailed:
        return False

"""``--work``: the worker that a command starts, and what becomes of it when the server goes."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

import catchment_register
from catchment.store.migrate import migrate
from tests.fixtures.restart import copied, prepared
from tests.fixtures.server import stop_server
from tests.fixtures.worker import wait_until


@pytest.fixture
def register_server() -> Iterator[tuple[str, Path]]:
    """A server with an empty register, which the test may stop: its DSN and its data directory."""
    with prepared(migrate, catchment_register.migrate) as data, copied(data) as made:
        yield made


@pytest.mark.long
@pytest.mark.slow
def test_a_command_ends_with_its_worker_when_the_server_is_killed(register_server: tuple[str, Path]) -> None:
    dsn, data = register_server
    command = [sys.executable, "-m", "catchment", "register", "derive", "--full", "--work", "--dsn", dsn]
    conn, holder = psycopg.connect(dsn, autocommit=True), psycopg.connect(dsn)
    holder.execute("lock table register.round")
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        waiting = "select count(*) from pg_stat_activity where wait_event_type = 'Lock' and query ~ 'worker'"
        wait_until(lambda: conn.execute(waiting).fetchone() != (0,), seconds=60)
        stop_server(data)
        try:
            _, said = process.communicate(timeout=120)
        finally:
            process.kill()
    assert process.returncode == 1
    assert "server closed the connection" in " ".join(said.split())
    assert "Traceback" not in said
    for gone in (conn, holder):
        gone.close()

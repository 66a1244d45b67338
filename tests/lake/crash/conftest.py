"""A lake, and workers of which one dies at a step."""

from __future__ import annotations

import os
import signal
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.fixtures.lake_case import LakeCase
from tests.fixtures.worker import StartWorker, wait_until
from tests.lake.tasks.crew import LakeCrew

APP = "tests.lake.crash.app:app"
ROWS = 4000
LEASE = 5.0


@dataclass
class Crash:
    """Refreshes a table with two workers, the first of which to reach a step is killed or stopped there."""

    crew: LakeCrew
    marker: Path

    @property
    def case(self) -> LakeCase:
        return self.crew.case

    def fill(self, *, is_parallel: bool) -> None:
        """A table with content, and a change of half of its keys that nobody has carried to it."""
        case = self.case
        case.make("source", "k BIGINT, v BIGINT")
        case.sql(f"INSERT INTO source SELECT i % 1000, i FROM range({ROWS}) AS r(i)")
        case.create(
            "CREATE DYNAMIC TABLE dt TARGET_LAG = '1 day' REFRESH_MODE = INCREMENTAL "
            f"ALLOW_PARALLEL_REFRESH = {str(is_parallel).upper()} PARALLEL_THRESHOLD = 2 "
            "AS SELECT k, max(v) AS m, count(*) AS n FROM source GROUP BY k"
        )
        case.refresh("dt")
        with case.commit_lock():
            case.sql("UPDATE source SET v = v + 1000000 WHERE k % 2 = 0")
            case.sql("DELETE FROM source WHERE k = 7")
        # Its task was carried out here and would be claimed by the first worker.
        case.pg("select worker.cancel(id, 'done here') from worker.tasks where command = 'lake_refresh'")

    def hire(self, step: str, count: int = 2) -> None:
        settings = {"CRASH_STEP": step, "CRASH_MARKER": str(self.marker)}
        self.crew.hire(count, app=APP, settings=settings)

    def victim(self) -> int:
        """The process that was hit."""
        wait_until(lambda: self.marker.exists() and self.marker.read_text(), seconds=120)
        return int(self.marker.read_text())

    def end_well(self, refresh_id: int, *, seconds: float = 120) -> dict[str, Any]:
        """The refresh succeeds, the table is its query, it was published once, and nothing is left."""
        row = self.crew.wait(refresh_id, seconds=seconds)
        assert row["state"] == "SUCCEEDED", row
        self.case.check("dt")
        assert self.crew.publications(refresh_id) == 1
        self.crew.wait_clean()
        return row

    def run(self, step: str, *, is_parallel: bool = True, workers: int = 2) -> dict[str, Any]:
        """A whole refresh through a crash; returns its row."""
        self.fill(is_parallel=is_parallel)
        self.hire(step, workers)
        self.crew.wait_free()
        began = time.monotonic()
        refresh_id = self.crew.request("dt")
        self.victim()
        row = self.end_well(refresh_id)
        print(f"{step}: {time.monotonic() - began:.1f} s with a lease of {LEASE:g} s")
        return row

    def wake(self) -> None:
        """Let a stopped process continue."""
        os.kill(self.victim(), signal.SIGCONT)


@pytest.fixture
def crash(lake_case: LakeCase, start_lake_worker: StartWorker, tmp_path: Path) -> Crash:
    return Crash(LakeCrew(lake_case, start_lake_worker), tmp_path / "crashed")

"""The folder against the catalog: after interruptions of every kind there is no file that nothing knows."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from catchment.lake.duck.address import parse
from catchment.lake.settings import LakeSettings
from tests.fixtures.lake import WORKER_SETTINGS, install_lake
from tests.fixtures.lake_case import SETTINGS, LakeCase
from tests.fixtures.restart import restart
from tests.fixtures.worker import StartWorker, WorkerProcess, starting_workers, wait_until
from tests.lake.tasks.crew import APP, OPEN, QUICK

ROWS = 300_000
KINDS = ("cancel", "SIGTERM", "SIGKILL", "full disk", "fast", "immediate")
FULL_DISK = "tests.lake.crash.full_disk:app"


@dataclass
class Interruptions:
    """Refreshes of a table by a worker process, each interrupted as soon as it has begun to write."""

    case: LakeCase
    launch: StartWorker
    server: Path
    hits: int = 0
    worker: WorkerProcess | None = field(default=None)

    def fill(self) -> None:
        case = self.case
        case.make("source", "k BIGINT, v BIGINT")
        case.sql(f"INSERT INTO source SELECT i, hash(i) % 1000003 FROM range({ROWS}) AS r(i)")
        case.create(
            "CREATE DYNAMIC TABLE dt TARGET_LAG = '1 day' ALLOW_PARALLEL_REFRESH = FALSE"
            " AS SELECT k, max(v) AS v, md5(max(v)::VARCHAR) AS text FROM source GROUP BY k"
        )

    def hire(self, app: str = APP) -> WorkerProcess:
        arguments = ("--app", app, "--queue", "lake", "--queue", "lake_schedule")
        self.worker = self.launch(*arguments, settings={**WORKER_SETTINGS, **QUICK})
        return self.worker

    def dismiss(self, number: signal.Signals = signal.SIGKILL) -> None:
        if self.worker is not None:
            self.worker.send_signal(number)
            self.worker.wait()
            self.worker = None

    def state(self, refresh_id: int) -> str:
        self.case.control.advance()
        return self.case.refreshed(refresh_id)["state"]

    def interrupt(self, kind: str) -> None:
        case = self.case
        if kind == "full disk":
            self.dismiss(signal.SIGTERM)
            self.hire(FULL_DISK)
        elif self.worker is None:
            self.hire()
        with case.commit_lock():
            case.sql("UPDATE source SET v = v + 1")
        before = self.files()
        refresh_id = case.request("dt")
        wait_until(lambda: self.files() - before or self.state(refresh_id) not in OPEN, seconds=120)
        self.hits += self.state(refresh_id) in OPEN
        self.hit(kind)
        if self.worker is None:
            self.hire()
        wait_until(lambda: self.state(refresh_id) not in OPEN, seconds=120)
        if kind == "full disk":
            assert self.state(refresh_id) == "FAILED"
            self.dismiss()

    def hit(self, kind: str) -> None:
        if kind == "cancel":
            self.case.control.cancel_refreshes(self.case.find("dt"), "the test says so")
        elif kind in ("SIGTERM", "SIGKILL"):
            self.dismiss(signal.Signals[kind])
        elif kind in ("fast", "immediate"):
            self.case.control.close()
            restart(self.server, kind)
            self.case.forget_session()

    def files(self) -> set[Path]:
        return {path for path in self.case.content.glob("**/*") if path.is_file()}


@pytest.fixture
def interruptions(own_server: tuple[str, Path], tmp_path: Path) -> Iterator[Interruptions]:
    dsn, server = own_server
    folder = tmp_path / "lake"
    install_lake(dsn, parse(str(folder)), LakeSettings(**SETTINGS))
    with starting_workers(dsn, tmp_path) as launch:
        case = LakeCase(dsn, folder)
        yield Interruptions(case, launch, server)
        case.close()


@pytest.mark.slow
@pytest.mark.long
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("each", [10])
def test_after_interruptions_of_every_kind_every_file_is_known(interruptions: Interruptions, each: int) -> None:
    interruptions.fill()
    for _ in range(each):
        for kind in KINDS:
            interruptions.interrupt(kind)
    case = interruptions.case
    if interruptions.worker is None:
        interruptions.hire()
    with case.commit_lock():
        case.sql("UPDATE source SET v = v + 1")
    refresh_id = case.request("dt")
    wait_until(lambda: interruptions.state(refresh_id) == "SUCCEEDED", seconds=120)
    case.check("dt")
    # Most of them came while a file was written.
    assert interruptions.hits > each * len(KINDS) / 2
    wait_until(lambda: not case.leftovers(), seconds=150)

"""Lakes with real worker processes: who starts them, waits for refreshes, and looks at what they did."""

from __future__ import annotations

import signal
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from tests.fixtures.lake_case import LakeCase
from tests.fixtures.worker import StartWorker, WorkerProcess, wait_until

APP = "catchment.lake.tasks.app:app"
QUICK = {"CATCHMENT_LEASE_SECONDS": "5", "CATCHMENT_LAKE_ARTIFACT_GRACE_SECONDS": "1"}
"""A stopped worker is missed after five seconds (a dead one sooner), its files are looked for again after one more."""

OPEN = ("SCHEDULED", "EXECUTING", "PUBLISHING", "PUBLISHED")


@dataclass
class LakeCrew:
    """A lake and the workers that refresh it."""

    case: LakeCase
    launch: StartWorker
    workers: list[WorkerProcess] = field(default_factory=list)

    def hire(
        self, count: int = 1, *arguments: str, app: str = APP, settings: Mapping[str, str] | None = None
    ) -> list[WorkerProcess]:
        """Start workers of the lake's queues and wait until they are registered."""
        known = self._registered()
        hired = [
            self.launch(
                "--app", app, "--queue", "lake", "--queue", "lake_schedule", *arguments,
                settings={**QUICK, **(settings or {})},
            )
            for _ in range(count)
        ]  # fmt: skip
        self.workers += hired
        wait_until(lambda: self._registered() >= known + count, seconds=120)
        return hired

    def _registered(self) -> int:
        return self.case.pg("select coalesce(pg_sequence_last_value('worker.worker_worker_id_seq'), 0)")[0][0]

    def request(self, name: str) -> int:
        """Ask for a refresh; workers carry it out."""
        return self.case.request(name)

    def wait(self, refresh_id: int, *, seconds: float = 120) -> dict[str, Any]:
        """Wait until a refresh is over; returns its row."""
        wait_until(lambda: self.state(refresh_id) not in OPEN, seconds=seconds)
        return self.case.refreshed(refresh_id)

    def refresh(self, name: str, *, seconds: float = 120) -> dict[str, Any]:
        """Refresh a table by the workers; it has to succeed."""
        row = self.wait(self.request(name), seconds=seconds)
        assert row["state"] == "SUCCEEDED", row
        return row

    def state(self, refresh_id: int) -> str:
        """The state of a refresh; lets a round continue whose task has failed without it."""
        self.case.control.advance()
        return self.case.refreshed(refresh_id)["state"]

    def wait_free(self) -> None:
        """Wait until no worker has or gets a task, such as the sweep after a refresh: a refresh is spread over those
        that are free when it begins."""
        open_tasks = "select id from worker.tasks where queue = 'lake' and state in ('pending', 'processing')"
        # The caller counts as one more.
        wait_until(
            lambda: not self.case.pg(open_tasks) and self.case.control.free_slots() == len(self.workers) + 1,
            seconds=120,
        )

    def wait_clean(self, *, seconds: float = 120) -> None:
        """Wait until sweeps have removed all that refreshes left."""
        wait_until(lambda: not self.case.leftovers(), seconds=seconds)

    def subtasks(self, refresh_id: int) -> list[dict[str, Any]]:
        """The subtasks of a refresh as people see them."""
        rows = self.case.pg(
            "select to_jsonb(s) from lake.refresh_subtasks as s where parent_refresh_id = %s order by id", refresh_id
        )
        return [row[0] for row in rows]

    def publications(self, refresh_id: int) -> int:
        """How many commits of the lake carry the refresh."""
        return sum(f'"refresh": {refresh_id},' in note for _, note in self.case.notes())

    def kill(self, worker: WorkerProcess) -> None:
        worker.send_signal(signal.SIGKILL)
        worker.wait()
        self.workers.remove(worker)

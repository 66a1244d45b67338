"""Random dynamic tables that read each other, refreshed by a worker whose ranges are computed on a cluster of Ray.

The oracle is that of ``together``: each table is compared with the text of its definition. With ``bodies`` set, one
body of each round is killed while the round runs.
"""

from __future__ import annotations

import os
import signal
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from tests.fixtures.worker import wait_until
from tests.lake.fuzz.together import Together
from tests.lake.tasks.crew import LakeCrew

SETTINGS = {
    "CATCHMENT_LAKE_EXECUTOR": "ray",
    "CATCHMENT_LAKE_RAY_MEMORY": "300MB",
    "CATCHMENT_MAX_CONCURRENT_TASKS": "3",
    # Every refresh is spread: whatever there is to do is too much for one process.
    "CATCHMENT_PARALLEL_MEMORY_SHARE": "0.0000001",
    "CATCHMENT_PARALLEL_MIN_BUCKETS": "2",
    "CATCHMENT_PARALLEL_BUCKETS_PER_WORKER": "1",
    # And incremental, where it can be.
    "CATCHMENT_LAKE_SMALL_MS": "0",
    "CATCHMENT_LAKE_FULL_ABOVE": "1",
}
OVER = "select count(*) = 0 from lake.refresh where round_id = %s and finished_at is null"
HOW = """
select state, coalesce(error_text, ''), coalesce(action, state) || coalesce(' ' || (figures ->> 'strategy'), ''),
       coalesce((figures ->> 'subtasks')::int, 0), coalesce((figures ->> 'subtasks_on_ray')::int, 0),
       coalesce(figures ->> 'not_on_ray', '')
  from lake.refresh
 where round_id = %s
"""


@dataclass
class OnRay(Together):
    """``bodies`` is the folder of ``tests.lake.tasks.ray_body``; its processes are then killed, one in each round."""

    crew: LakeCrew = field(kw_only=True)
    bodies: Path | None = field(default=None, kw_only=True)
    on_ray: int = 0
    seconds: float = 400

    def refresh_all(self, *, by_buckets: bool) -> None:  # noqa: ARG002 - the worker spreads all it can
        """One round of all tables by the worker, and the comparison of all."""
        before = len(self._starts())
        round_id = self.case.control.request_round([self.case.find(name) for name in self.queries])
        if self.bodies is not None:
            wait_until(lambda: len(self._starts()) > before or self._is_over(round_id), seconds=self.seconds)
            for pid in self._starts()[before : before + 1]:
                with suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
        wait_until(lambda: self._is_over(round_id), seconds=self.seconds)
        for state, error, how, subtasks, on_ray, reason in self.case.pg(HOW, round_id):
            assert (state, error, reason) == ("SUCCEEDED", "", ""), f"seed {self.seed}: {state} {error} {reason}"
            # A range that was cut in halves has computed nothing.
            assert on_ray == subtasks or (self.bodies is not None and on_ray), (
                f"seed {self.seed}: {on_ray} of {subtasks}"
            )
            self.on_ray += on_ray
            self.done[f"{how}{' on the cluster' if on_ray else ''}"] += 1
        for name in self.queries:
            try:
                self._compare(name)
            except AssertionError as error:
                raise AssertionError(f"seed {self.seed}, {name}: {error}\n{self.text(name)}") from error

    def edit(self) -> None:
        """As ever, but the worker may commit too."""
        with self.case.commit_lock():
            super().edit()

    def _is_over(self, round_id: int) -> bool:
        self.case.control.advance()
        return self.case.pg(OVER, round_id) == [(True,)]

    def _starts(self) -> list[int]:
        path = Path() if self.bodies is None else self.bodies / "starts"
        return [int(line) for line in path.read_text().split()] if path.is_file() else []

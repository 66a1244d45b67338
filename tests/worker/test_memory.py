"""A deep backlog does not fill the memory of a worker."""

from __future__ import annotations

import resource
from pathlib import Path

from tests.worker.app import step
from tests.worker.crew import Crew

TASKS = 10_000
PAYLOAD = 8 * 1024
CAP = 200


def _resident(pid: int) -> int:
    """Memory in use, in bytes."""
    return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * resource.getpagesize()


def test_ten_thousand_tasks_complete_in_bounded_memory(crew: Crew) -> None:
    (worker,) = crew.hire(max_concurrent_tasks=CAP)
    resource.prlimit(worker.pid, resource.RLIMIT_AS, (2 << 30, 2 << 30))
    crew.result(crew.enqueue(step))
    base = _resident(worker.pid)
    filler = "x" * PAYLOAD
    for start in range(0, TASKS, 1000):
        crew.enqueue_many(step, [{"seq": start + n, "filler": filler} for n in range(1000)], by_key=False)
    peak = base
    while crew.settled() <= TASKS:
        peak = max(peak, _resident(worker.pid))
    assert crew.states() == {"completed": TASKS + 1}
    assert worker.poll() is None
    # The backlog is 80 MB; what is held at once is a fiftieth of it.
    assert peak - base < 40 << 20, f"grew by {(peak - base) >> 20} MiB"

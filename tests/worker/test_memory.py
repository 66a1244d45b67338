"""A deep backlog does not fill the memory of a worker."""

from __future__ import annotations

import re
import resource
from pathlib import Path

import pytest

from tests.fixtures.often import often
from tests.worker.app import step
from tests.worker.crew import Crew

PAYLOAD = 64 * 1024
CAP = 200
# Made by the server, which need not be sent hundreds of megabytes.
BACKLOG = """
insert into worker.tasks (command, payload)
select 'step', jsonb_build_object('seq', n, 'filler', repeat('x', %s)) from generate_series(1, %s) as n
"""


def _memory(pid: int, which: str) -> int:
    """Memory in use now (VmRSS), or at most since it was looked at first (VmHWM), in bytes."""
    return int(re.findall(rf"^{which}:\s+(\d+) kB", Path(f"/proc/{pid}/status").read_text(), re.MULTILINE)[0]) << 10


@pytest.mark.timeout(300)
@pytest.mark.parametrize("tasks", often(2_000, now_and_then=[10_000]))
def test_thousands_of_tasks_complete_in_bounded_memory(crew: Crew, tasks: int) -> None:
    (worker,) = crew.hire(max_concurrent_tasks=CAP)
    resource.prlimit(worker.pid, resource.RLIMIT_AS, (2 << 30, 2 << 30))
    crew.result(crew.enqueue(step))
    base = _memory(worker.pid, "VmRSS")
    Path(f"/proc/{worker.pid}/clear_refs").write_text("5")
    crew.engine.conn.execute(BACKLOG, [PAYLOAD, tasks])
    crew.wait_settled(tasks + 1, seconds=240)
    assert crew.states() == {"completed": tasks + 1}
    assert worker.poll() is None
    grown = _memory(worker.pid, "VmHWM") - base
    assert 0 < grown < CAP * PAYLOAD * 3, f"grew by {grown >> 20} MiB"

"""What handlers tell the benchmark: a memory-mapped file of 64-bit numbers that all processes share.

Writing a stamp takes about 0.2 us, and CLOCK_MONOTONIC is the same in all processes.
"""

from __future__ import annotations

import mmap
import os
import time
from pathlib import Path

ORDER, OVERLAP, ENDS = 0, 1, 2
# One counter per process, because increments of a shared counter by two processes would be lost.
SLOTS = 64
HEAD = ENDS + SLOTS


class Probe:
    """Counters, two stamps for each task, and for each lane the last number done and the process at work."""

    def __init__(self, path: Path, tasks: int, lanes: int = 0) -> None:
        size = 8 * (HEAD + 2 * tasks + 2 * lanes)
        with path.open("a+b") as file:
            file.truncate(size)
            self.cells = memoryview(mmap.mmap(file.fileno(), size)).cast("q")
        self._lanes = HEAD + 2 * tasks
        self._ends = ENDS + int(os.environ.get("BENCH_SLOT", "0")) % SLOTS

    def ended(self) -> int:
        """How many tasks have ended, in all processes."""
        return sum(self.cells[ENDS:HEAD])

    def start(self, i: int) -> None:
        self.cells[HEAD + 2 * i] = time.monotonic_ns()

    def end(self, i: int) -> None:
        self.cells[HEAD + 2 * i + 1] = time.monotonic_ns()
        self.cells[self._ends] += 1

    def started_at(self, i: int) -> int:
        return self.cells[HEAD + 2 * i]

    def ended_at(self, i: int) -> int:
        return self.cells[HEAD + 2 * i + 1]

    def enter_lane(self, lane: int, number: int) -> None:
        """Note a violation if the task before is not done, or another living process is at work in the lane."""
        done, busy = self._lanes + 2 * lane, self._lanes + 2 * lane + 1
        if self.cells[done] < number - 1:
            self.cells[ORDER] += 1
        if self.cells[busy] not in (0, os.getpid()) and Path(f"/proc/{self.cells[busy]}").exists():
            self.cells[OVERLAP] += 1
        self.cells[busy] = os.getpid()

    def leave_lane(self, lane: int, number: int) -> None:
        done, busy = self._lanes + 2 * lane, self._lanes + 2 * lane + 1
        self.cells[done] = max(self.cells[done], number)
        self.cells[busy] = 0
        self.cells[self._ends] += 1

"""Counts what the worker does. Plain numbers on the hot path, read at each scrape.

``SHOWN`` has the names and sentences that operators see; ``metrics_server`` writes them in Prometheus' format.
"""

from __future__ import annotations

import time
from bisect import bisect_left
from collections import Counter
from collections.abc import Sequence

SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 300.0)
SIZES = (0.0, 1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0, 200.0, 500.0, 1000.0)

# Attributes of Metrics: the name, without the _total that counters get, and what it is.
SHOWN = {
    "completed": ("worker_tasks_completed", "Attempts that completed, as recorded."),
    "failed": ("worker_tasks_failed", "Attempts that failed."),
    "cancelled": ("worker_tasks_cancelled", "Attempts that were cancelled."),
    "interrupted": ("worker_tasks_interrupted", "Attempts that were interrupted and run again."),
    "task_seconds": ("worker_task_duration_seconds", "Time that attempts took, however they ended."),
    "snoozed": ("worker_snoozes", "Attempts that snoozed: they end without a failure, and their tasks run later."),
    "released": ("worker_releases", "Claimed tasks given back unfinished."),
    "fenced_writes": ("worker_fenced_writes", "Ends dropped because the claim was lost."),
    "claims": ("worker_claims", "Claims asked for, empty ones too."),
    "claim_size": ("worker_claim_size", "Tasks that claims took."),
    "claim_seconds": ("worker_claim_seconds", "Time that claims took."),
}


class Histogram:
    """Counts of values by upper bound, and their sum."""

    __slots__ = ("bounds", "counts", "sum")

    def __init__(self, bounds: Sequence[float]) -> None:
        self.bounds = bounds
        self.counts = [0] * (len(bounds) + 1)
        self.sum = 0.0

    def observe(self, value: float) -> None:
        self.counts[bisect_left(self.bounds, value)] += 1
        self.sum += value

    @property
    def count(self) -> int:
        return sum(self.counts)


class Window:
    """Durations of one command over the last minute: twelve slots of five seconds, each a coarse histogram."""

    SLOT = 5.0
    SLOTS = 12
    ENOUGH = 100
    # Each bound is a quarter above the one before: a percentile is off by an eighth at most.
    BOUNDS = tuple(0.001 * 1.25**n for n in range(64))

    __slots__ = ("_counts", "_current", "_ends", "_slot")

    def __init__(self) -> None:
        self._slot = 0
        self._ends = 0.0
        self._current: list[int] = []
        self._counts: list[list[int]] = [[0] * (len(self.BOUNDS) + 1) for _ in range(self.SLOTS)]

    def observe(self, seconds: float, now: float) -> None:
        if now >= self._ends:
            self._move_to(now)
        self._current[bisect_left(self.BOUNDS, seconds)] += 1

    def p99(self, now: float) -> float | None:
        """The 99th percentile in seconds, or None while there are too few values to tell."""
        self._move_to(now)
        summed = [sum(column) for column in zip(*self._counts, strict=True)]
        total = sum(summed)
        if total < self.ENOUGH:
            return None
        left = total * 0.99
        for bound, count in zip(self.BOUNDS, summed, strict=False):
            left -= count
            if left <= 0:
                return bound
        return float("inf")

    def _move_to(self, now: float) -> None:
        slot = int(now / self.SLOT)
        for passed in range(max(self._slot + 1, slot - self.SLOTS + 1), slot + 1):
            self._counts[passed % self.SLOTS] = [0] * (len(self.BOUNDS) + 1)
        self._slot = max(slot, self._slot)
        self._ends = (self._slot + 1) * self.SLOT
        self._current = self._counts[self._slot % self.SLOTS]


class Metrics:
    """The counters of one worker process: numbers, numbers by kind, and histograms."""

    def __init__(self) -> None:
        self.completed = 0
        self.failed: Counter[str] = Counter()
        self.cancelled = 0
        self.interrupted = 0
        self.snoozed = 0
        self.released = 0
        self.fenced_writes = 0
        self.claims = 0
        self.claim_size = Histogram(SIZES)
        self.claim_seconds = Histogram(SECONDS)
        self.task_seconds = Histogram(SECONDS)
        self.windows: dict[str, Window] = {}

    def claimed(self, size: int, seconds: float) -> None:
        self.claims += 1
        self.claim_size.observe(size)
        self.claim_seconds.observe(seconds)

    def finished(self, command: str, seconds: float, now: float) -> None:
        """A handler has returned, however, at this monotonic time."""
        self.task_seconds.observe(seconds)
        window = self.windows.get(command)
        if window is None:
            window = self.windows[command] = Window()
        window.observe(seconds, now)

    def processed(self, state: str, seconds: float) -> None:
        """A session has run a SQL handler; its task is in this state now, ``pending`` when it will be retried, or it is
        ``snoozed``."""
        self.task_seconds.observe(seconds)
        if state in ("completed", "waiting"):
            self.completed += 1
        elif state == "cancelled":
            self.cancelled += 1
        elif state == "snoozed":
            self.snoozed += 1
        elif state == "lost":
            self.fenced_writes += 1
        else:
            self.failed["sql"] += 1

    def slowest(self) -> float:
        """The highest 99th percentile of any command in the last minute, in seconds; 0 while none can be told."""
        now = time.monotonic()
        return max((window.p99(now) or 0.0 for window in self.windows.values()), default=0.0)

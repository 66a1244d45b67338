"""Counts what the worker does. Plain numbers on the hot path, read at each scrape.

``SHOWN`` has the names and sentences that operators see; ``metrics_server`` writes them in Prometheus' format. The
number of series is bounded: a command or an error class beyond the limits below counts as ``OTHER``.
"""

from __future__ import annotations

import time
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterable, Sequence

SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 300.0)
SIZES = (0.0, 1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0, 200.0, 500.0, 1000.0)

# How an attempt ends. A failed one is retried, or its task has failed; the end of a lost one was dropped.
OUTCOMES = ("completed", "failed", "retried", "cancelled", "interrupted", "snoozed", "lost")
# The outcome for each state that SQL handlers leave their task in.
OF_STATE = {
    "completed": "completed",
    "waiting": "completed",
    "cancelled": "cancelled",
    "snoozed": "snoozed",
    "lost": "lost",
    "pending": "retried",
}
OTHER = "(other)"
MOST_COMMANDS = 500
MOST_KINDS = 30

# Attributes of Metrics: the name, without the _total that counters get, and what it is.
SHOWN = {
    "released": ("worker_releases", "Claimed tasks given back unfinished."),
    "fenced_writes": ("worker_fenced_writes", "Ends dropped because the claim was lost."),
    "claims": ("worker_claims", "Claims asked for, empty ones too."),
    "claim_size": ("worker_claim_size", "Tasks that claims took."),
    "claim_seconds": ("worker_claim_seconds", "Time that claims took."),
}
# Of each command.
ATTEMPTS = ("worker_attempts", "Attempts that ended, by outcome.")
COMPLETED = ("worker_tasks_completed", "Attempts that completed, as recorded.")
FAILED = ("worker_tasks_failed", "Attempts that failed, by the class of the error.")
DURATION = ("worker_task_duration_seconds", "Time that attempts took, by outcome.")


def add_counts(counts: list[int], bounds: Sequence[float], ordered: Sequence[float]) -> None:
    """Count sorted values by upper bound; those above all bounds come last."""
    passed = 0
    for place, bound in enumerate(bounds):
        if passed == len(ordered):
            return
        up_to = bisect_right(ordered, bound, passed)
        counts[place] += up_to - passed
        passed = up_to
    counts[-1] += len(ordered) - passed


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

    def observe_all(self, values: Iterable[float]) -> None:
        """The same for many values, at a fraction of the cost of each."""
        add_counts(self.counts, self.bounds, ordered := sorted(values))
        self.sum += sum(ordered)

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

    def observe(self, seconds: Iterable[float], now: float) -> None:
        if now >= self._ends:
            self._move_to(now)
        add_counts(self._current, self.BOUNDS, sorted(seconds))

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


class CommandFigures:
    """The ended attempts of one command: how long they took, by outcome, and the classes of their errors."""

    __slots__ = ("kinds", "seconds")

    def __init__(self) -> None:
        self.seconds = {outcome: Histogram(SECONDS) for outcome in OUTCOMES}
        self.kinds: Counter[str] = Counter()

    def failed(self, kind: str) -> None:
        self.kinds[kind if kind in self.kinds or len(self.kinds) < MOST_KINDS else OTHER] += 1


class Metrics:
    """The counters of one worker process: numbers, histograms, and figures of each command.

    ``expected`` are commands with their queues. They are shown from the start: the first failure is then an increase.
    """

    def __init__(self, expected: Iterable[tuple[str, str]] = ()) -> None:
        self.released = 0
        self.fenced_writes = 0
        self.claims = 0
        self.claim_size = Histogram(SIZES)
        self.claim_seconds = Histogram(SECONDS)
        self._windows: dict[str, Window] = {}
        # How long the handlers of each command took that have returned since the windows were looked at.
        self._returned: dict[str, list[float]] = {}
        # When tasks were last claimed or run, by the monotonic clock.
        self.worked_at = 0.0
        # By command and queue.
        self.commands: dict[tuple[str, str], CommandFigures] = {}
        self._of_app = {command: self.of(command, queue) for command, queue in expected}

    def of(self, command: str, queue: str) -> CommandFigures:
        """The figures of a command, begun when it is first seen."""
        figures = self.commands.get((command, queue))
        if figures is None:
            if len(self.commands) >= MOST_COMMANDS:
                command = queue = OTHER
            figures = self.commands.setdefault((command, queue), CommandFigures())
        return figures

    def expect(self, commands: Iterable[tuple[str, str]]) -> None:
        """Show these commands, each with its queue, though none of their tasks has ended yet."""
        for command, queue in commands:
            self.of(command, queue)

    def of_app(self, command: str) -> CommandFigures:
        """The figures of a command that was expected; another one has no queue that is known here."""
        return self._of_app.get(command) or self.of(command, OTHER)

    def claimed(self, size: int, seconds: float) -> None:
        self.claims += 1
        self.claim_size.observe(size)
        self.claim_seconds.observe(seconds)
        if size:
            self.worked_at = time.monotonic()

    def returned(self, command: str, seconds: float) -> None:
        """A handler has returned, however. Its attempt counts when its end is recorded."""
        try:
            self._returned[command].append(seconds)
        except KeyError:
            self._returned[command] = [seconds]

    def processed(self, command: str, queue: str, state: str, seconds: float) -> None:
        """A session has run a SQL handler; its task is in this state now, ``pending`` when it will be retried, or it is
        ``snoozed``."""
        self.worked_at = time.monotonic()
        outcome = OF_STATE.get(state, "failed")
        figures = self.of(command, queue)
        figures.seconds[outcome].observe(seconds)
        if outcome == "lost":
            self.fenced_writes += 1
        elif outcome in ("failed", "retried"):
            figures.failed("sql")

    def slowest(self) -> float:
        """The highest 99th percentile of any command in the last minute, in seconds; 0 while there are too few
        samples."""
        now = time.monotonic()
        returned, self._returned = self._returned, {}
        for command, seconds in returned.items():
            self._windows.setdefault(command, Window()).observe(seconds, now)
        return max((window.p99(now) or 0.0 for window in self._windows.values()), default=0.0)

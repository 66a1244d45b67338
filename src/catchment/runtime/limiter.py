"""Backpressure: how many tasks to claim next, and how many to hold at most.

A claim asks for nothing while fewer than a tenth of the slots are free, for half its size above 80 % of memory, and for
70 % while the 99th percentile of a command is above the threshold; never for less than one. Its size doubles while
tasks end as fast as they are claimed, and returns to the first size when they do not, so that other workers get their
share of long tasks. Signals that this process is late (event loop, completer, memory, transaction connections) also
lower the limit itself; while there are none, it rises again.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from catchment.runtime.options import WorkerOptions

SMALL_CAP = 10
# Larger claims save nothing, and no claim may bring more text than a slow network can carry within a call.
LARGEST_CLAIM = 500
LARGEST_CLAIM_BYTES = 1024 * 1024
STOP_SHARE = 0.10
RESUME_SHARE = 0.11
HIGH_MEMORY = 0.80
CRITICAL_MEMORY = 0.90
LATE_LOOP = 0.25
LATE_COMPLETER = 2.0
LATE_TRANSACTIONS = 2.0
LOWER = 0.7
RAISE_SHARE = 0.05


@dataclass(frozen=True, slots=True)
class Signals:
    """The measured load: shares are 0 to 1, times in seconds."""

    memory: float = 0.0
    slowest_p99: float = 0.0
    loop_lag: float = 0.0
    completer_age: float = 0.0
    transaction_age: float = 0.0


@dataclass(frozen=True, slots=True)
class Load:
    """How busy the Python side of a worker is: for its metrics."""

    held: int = 0
    left: int = 0
    cap: int = 0
    limit: int = 0
    pressures: Mapping[str, bool] = field(default_factory=dict[str, bool])
    signals: Signals = field(default_factory=Signals)


@dataclass
class Limiter:
    """Decides from the number held and the signals; it measures nothing itself."""

    options: WorkerOptions
    read_signals: Callable[[], Signals]
    limit: int = 0
    read_left: Callable[[], int] = lambda: 0
    reasons: set[str] = field(default_factory=set[str])
    _is_full: bool = False
    _size: int = 0
    _ended: int = 0

    def __post_init__(self) -> None:
        self.limit = self.options.max_concurrent_tasks
        self._size = self.options.claim_batch_size

    def free(self, held: int) -> int:
        """How many more tasks may be held: those that run under the current limit, and those claimed ahead.

        Handlers that were left behind keep their slots.
        """
        return max(0, self.limit + self.options.claim_ahead - held - self.read_left())

    def claim_size(self, held: int) -> int:
        """How many tasks the next claim may ask for; 0 means to wait for room."""
        free = self.free(held)
        if not self._has_room(free):
            return 0
        signals = self.read_signals()
        factor = 1.0
        if signals.memory > HIGH_MEMORY:
            factor *= 0.5
        if signals.slowest_p99 > self.options.latency_threshold.total_seconds():
            factor *= 0.7
        return min(free, max(1, int(self._size * factor)))

    def after_claim(self, asked: int, got: int, *, ended: int, size: int) -> None:
        """Choose the size of the next claim. ``ended`` tasks of this worker ended during this one, and it brought
        ``size`` characters of payload."""
        # Ends are recorded in batches: of two claims in a row, one may see none of them.
        recently, self._ended = ended + self._ended, ended
        first = self.options.claim_batch_size
        if got < asked or size > LARGEST_CLAIM_BYTES:
            self._size = first
        elif recently >= asked:
            self._size = max(first, min(2 * self._size, LARGEST_CLAIM))
        elif recently < asked / 4:
            self._size = max(first, self._size // 2)

    def _has_room(self, free: int) -> bool:
        """Stop below one mark, continue above another one, so that the worker does not flap between the two."""
        cap = self.options.max_concurrent_tasks
        if cap <= SMALL_CAP:
            return free >= 1
        mark = math.ceil((RESUME_SHARE if self._is_full else STOP_SHARE) * min(cap, self.limit))
        self._is_full = free < max(1, mark)
        return not self._is_full

    def load(self, held: int, signals: Signals) -> Load:
        """The load for metrics. A pressure is a signal that makes claims smaller or lowers the limit."""
        pressures = {
            "memory": signals.memory > HIGH_MEMORY,
            "event_loop": signals.loop_lag > LATE_LOOP,
            "completer": signals.completer_age > LATE_COMPLETER,
            "transactions": signals.transaction_age > LATE_TRANSACTIONS,
            "latency": signals.slowest_p99 > self.options.latency_threshold.total_seconds(),
        }
        return Load(held, self.read_left(), self.options.max_concurrent_tasks, self.limit, pressures, signals)

    def adjust(self) -> None:
        """Lower the limit by a share if a signal is late, else raise it by a step. Call this once a second."""
        signals = self.read_signals()
        late = {
            "memory": signals.memory > CRITICAL_MEMORY,
            "event_loop": signals.loop_lag > LATE_LOOP,
            "completer": signals.completer_age > LATE_COMPLETER,
            "transactions": signals.transaction_age > LATE_TRANSACTIONS,
        }
        self.reasons = {name for name, is_late in late.items() if is_late}
        cap = self.options.max_concurrent_tasks
        if self.reasons:
            # A lower limit would not shorten the wait for connections, and would slow other commands down.
            floor = min(cap, 10 * self.options.transactions) if self.reasons == {"transactions"} else 1
            self.limit = max(min(floor, self.limit), int(self.limit * LOWER))
        else:
            self.limit = min(cap, self.limit + max(1, int(cap * RAISE_SHARE)))

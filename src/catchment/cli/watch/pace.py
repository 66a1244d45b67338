"""How many ends a terminal shows one by one: as many as a person can follow. The others are counted."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Sequence

from catchment.store.ends import End

BURST = 100
PER_SECOND = 20.0


class Pace:
    """Shows ``BURST`` at once, and ``PER_SECOND`` in the long run."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._room = float(BURST)
        self._at = clock()

    def choose(self, ends: Sequence[End]) -> tuple[list[End], Counter[str]]:
        """Those to show, in their order, and how many others there are of each state. Whatever has not completed is
        shown first, then the newest."""
        now = self._clock()
        self._room = min(BURST, self._room + (now - self._at) * PER_SECOND)
        self._at = now
        count = min(len(ends), int(self._room))
        self._room -= count
        by_interest = sorted(range(len(ends)), key=lambda n: (ends[n].state != "completed", n), reverse=True)
        shown = [ends[n] for n in sorted(by_interest[:count])]
        return shown, Counter(ends[n].state for n in by_interest[count:])

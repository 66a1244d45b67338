"""Limits attempts to log in, by address."""

from __future__ import annotations

from collections import OrderedDict, deque
from collections.abc import Callable
from time import monotonic

TRIES = 5
TRIES_OF_ALL = 50
SECONDS = 60.0
MOST_ADDRESSES = 10_000


class Throttle:
    """At most 5 failed attempts in a minute from one address, and 50 from all of them together."""

    def __init__(self, clock: Callable[[], float] = monotonic) -> None:
        self._clock = clock
        self._failed: OrderedDict[str, deque[float]] = OrderedDict()
        self._all: deque[float] = deque(maxlen=TRIES_OF_ALL)

    def wait(self, address: str) -> float:
        """Seconds until this address may try again; 0: now."""
        return max(self._left(self._failed.get(address), TRIES), self._left(self._all, TRIES_OF_ALL))

    def failed(self, address: str) -> None:
        """Count a failed attempt."""
        now = self._clock()
        self._all.append(now)
        self._failed.setdefault(address, deque(maxlen=TRIES)).append(now)
        self._failed.move_to_end(address)
        while len(self._failed) > MOST_ADDRESSES:
            self._failed.popitem(last=False)

    def _left(self, times: deque[float] | None, tries: int) -> float:
        if times is None or len(times) < tries:
            return 0.0
        return max(0.0, times[0] + SECONDS - self._clock())

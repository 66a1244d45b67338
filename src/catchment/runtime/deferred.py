"""Endings that the database could not record: when to retry each, and when to give up."""

from __future__ import annotations

import time
from dataclasses import dataclass

from psycopg import errors

from catchment.store.attempt import Ending

FIRST_PAUSE = 0.2
LAST_PAUSE = 10.0
# About a minute of tries. If the database recorded others meanwhile, it is this ending that it rejects.
MOST_TRIES = 10


@dataclass
class _Wait:
    ending: Ending
    since: float
    tries: int
    due: float


class Deferred:
    """Endings that wait for their next try, by fence, which is unique for each attempt."""

    def __init__(self) -> None:
        self._waits: dict[int, _Wait] = {}
        self._recorded_at = 0.0

    def __len__(self) -> int:
        return len(self._waits)

    def __contains__(self, ending: Ending) -> bool:
        return ending.attempt.fence in self._waits

    @property
    def since(self) -> float | None:
        """When the oldest of these was deferred; None when there is none."""
        return min((w.since for w in self._waits.values()), default=None)

    def add(self, ending: Ending, error: Exception, *, was_tried: bool = True) -> bool:
        """Defer an ending once more; false when it should be given up. One that waits for a lock is never given up."""
        now = time.monotonic()
        wait = self._waits.setdefault(ending.attempt.fence, _Wait(ending, now, 0, now))
        wait.tries += was_tried
        wait.due = now + min(FIRST_PAUSE * 2 ** max(0, wait.tries - 1), LAST_PAUSE)
        is_locked = isinstance(error, errors.LockNotAvailable | errors.DeadlockDetected)
        return is_locked or wait.tries < MOST_TRIES or self._recorded_at <= wait.since

    def recorded(self) -> None:
        """Note that the database has just recorded another ending."""
        self._recorded_at = time.monotonic()

    def remove(self, ending: Ending) -> None:
        self._waits.pop(ending.attempt.fence, None)

    def due(self) -> list[Ending]:
        """The endings to retry now: of those that are due, the ones with the fewest tries, so that one that fails each
        time does not delay them. They stay here until they are removed."""
        now = time.monotonic()
        due = [w for w in self._waits.values() if w.due <= now]
        fewest = min((w.tries for w in due), default=0)
        return [w.ending for w in due if w.tries == fewest]

    def pause(self) -> float | None:
        """Seconds until the next one is due; None when there is none."""
        first = min((w.due for w in self._waits.values()), default=None)
        return None if first is None else max(0.0, first - time.monotonic())

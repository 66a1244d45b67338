"""Finds the ends of tasks, each once.

An end is visible when its transaction commits, a little after the moment that it has. So each look goes back behind the
last one, and what was seen is remembered. The database sends nothing: a notification for each end would make all
workers wait for each other's commits, and a look at the end of an index costs a busy and an idle server alike.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Any

from psycopg import Connection

from catchment.cli.filters import begin_of
from catchment.store.ends import End, Filters, ended_tasks, server_time

PAGE = 10_000
# Seconds between two looks, at least. The server works for a follower for a tenth of the time at most.
TICK = 0.25
REST = 9
# How far a look goes back behind the one before; and how far, and how often, for commits that took long.
OVERLAP = timedelta(seconds=1)
FAR = timedelta(seconds=15)
FAR_EVERY = 5.0


class Follower:
    """The ends that ``filters`` choose, from ``since`` on; without one from the first look on."""

    def __init__(self, filters: Filters, since: timedelta | datetime | None = None) -> None:
        self._filters = filters
        self._since = since
        self._start: datetime | None = None
        self._seen: dict[int, datetime] = {}
        # Up to this time of the server every end was looked at.
        self._until: datetime | None = None
        # The last end that was taken in a look which is not over, and when the look began.
        self._taken: tuple[End, datetime] | None = None
        self._far_at = 0.0

    def look(self, conn: Connection[Any]) -> Iterator[list[End]]:
        """What is new, in pages. A page is taken when the next one is requested: after a lost connection the next look
        gives what was not taken again."""
        now = server_time(conn)
        after, after_id = self._begin(now)
        while page := ended_tasks(conn, self._filters, after=after, after_id=after_id, most=PAGE):
            after, after_id = page[-1].completed_at, page[-1].id
            new = [end for end in page if end.is_chosen and self._seen.get(end.id) != end.completed_at]
            yield new
            # One that is retried ends again, at another time.
            self._seen |= {end.id: end.completed_at for end in new if end.completed_at >= now - 2 * FAR}
            self._taken = (page[-1], now)
        self._until, self._taken = now, None

    @property
    def until(self) -> datetime | None:
        """The time of the server up to which every end was looked at."""
        return self._until

    def look_far(self) -> None:
        """Let the next look go far back."""
        self._far_at = 0.0

    def _begin(self, now: datetime) -> tuple[datetime, int]:
        """The end behind which this look begins."""
        if self._start is None:
            self._start = now if self._since is None else begin_of(self._since, now)
        if self._taken is not None:
            last, looked_at = self._taken
            if last.completed_at < looked_at - FAR:  # history, to which nothing is added
                return last.completed_at, last.id
            return max(self._start, last.completed_at - FAR), 0
        if self._until is None:
            return self._start, 0
        begin = min(self._until, now)  # the clock of another server may be behind
        if time.monotonic() < self._far_at:
            return max(self._start, begin - OVERLAP), 0
        self._far_at = time.monotonic() + FAR_EVERY
        begin -= FAR
        self._seen = {task_id: at for task_id, at in self._seen.items() if at >= begin}
        return max(self._start, begin), 0

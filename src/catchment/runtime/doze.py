"""How long a sleeper waits for the bell before it looks anyway.

An enqueue rings only if it can see that a worker sleeps. One whose transaction was already open when the sleeper lay
down may not see it, and commits without a ring. So the sleeper looks often until every transaction that was open at
that time has ended, and rarely from then on: should a ring be lost all the same, the answer to a heartbeat says that
tasks are ready.
"""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from psycopg import AsyncConnection

from catchment.runtime.options import WorkerOptions
from catchment.store import worker as worker_store

# Longer than an enqueue takes from its look at the sleepers to having a transaction id.
SETTLE = timedelta(milliseconds=50)
WATCH = timedelta(milliseconds=250)


class Doze:
    """The rhythm of one sleep: ``before_look`` before each look at the queue, ``pause`` for the wait after it."""

    def __init__(self, options: WorkerOptions) -> None:
        self._options = options
        self._looks = 0
        # The first transaction id that saw the sleeper for sure; nothing below it is open once we are past it.
        self._first_to_see: int | None = None
        self._is_past = False

    async def before_look(self, conn: AsyncConnection[Any]) -> None:
        self._looks += 1
        if self._looks > 1 and not self._is_past:
            oldest, following = await worker_store.open_transactions(conn)
            self._first_to_see = self._first_to_see or following
            self._is_past = oldest >= self._first_to_see

    def pause(self, *, hears: bool) -> timedelta:
        if not hears:
            return self._options.poll_interval
        if not self._is_past:
            return min(SETTLE if self._first_to_see is None else WATCH, self._options.idle_poll)
        return self._options.idle_poll

"""Results: all who wait in one event loop share one query.

There is no task in the background. One of the waiting callers leads: it asks for all of them, and when it has its own
answer (or is cancelled, or runs out of time), it hands over to another.
"""

from __future__ import annotations

import asyncio
import logging
import math
import random
import time
from collections.abc import Iterable
from datetime import timedelta
from typing import Any

from catchment.errors import ResultMissing, ResultTimeout, TaskCancelled, TaskFailed
from catchment.model.duration import Duration, as_timedelta
from catchment.model.ending import children_words
from catchment.model.state import TaskState
from catchment.store.answer import NoAnswer
from catchment.store.json_text import JsonText
from catchment.store.obstacle import Obstacle, obstacles_async
from catchment.store.pool import AsyncPool
from catchment.store.result import (
    Standing,
    another_command,
    check_look,
    look_async,
    settled_async,
    task_not_found,
    unreadable,
)

SHORTEST_INTERVAL = 0.005
LONGEST_INTERVAL = 0.25
_GROWTH = 1.5
# Seconds for the look that names the state when the time is over.
LAST_LOOK = 0.7
# Seconds of waiting after which the log says what keeps the task from running.
PATIENCE = 5.0
# Of how many tasks at a time it is asked: the others wait for the same, mostly.
MOST_WARNED = 20

_log = logging.getLogger("catchment.client")


def next_interval(interval: float) -> float:
    """The pause after the next fruitless look."""
    return min(interval * _GROWTH, LONGEST_INTERVAL)


def jittered(interval: float) -> float:
    """Spread, so that many clients do not ask in step."""
    return interval * random.uniform(0.8, 1.2)  # noqa: S311 - no secret


def as_timeout(timeout: Duration | None) -> timedelta | None:
    """The time limit as a timedelta; None waits forever."""
    return None if timeout is None else as_timedelta(timeout, name="timeout")


def value_of(standing: Standing) -> Any:
    """The result of a settled task, or the error that says why there is none."""
    for name, value in (("result", standing.result), ("error", standing.error)):
        if isinstance(value, JsonText):
            raise unreadable(standing.id, standing.command, name, value)
    if standing.state == TaskState.COMPLETED:
        return standing.result
    raise _missing(standing)


def _missing(standing: Standing) -> ResultMissing:
    error = standing.error if isinstance(standing.error, dict) else {}
    if standing.state == TaskState.CANCELLED:
        reason = str(error.get("message", "cancelled"))
        progress = standing.progress if isinstance(standing.progress, dict) else {}
        words = children_words(progress)
        return TaskCancelled(standing.id, standing.command, reason, children=words, root_id=standing.root_id)
    return TaskFailed(standing.id, standing.command, error, root_id=standing.root_id)


def warn(obstacles: Iterable[Obstacle]) -> None:
    """Log what keeps tasks from running until a person acts, once per cause."""
    for one in {obstacle.words: obstacle for obstacle in obstacles if obstacle.is_urgent}.values():
        task = f"{one.id} ({one.command})" if one.task_id == one.id else str(one.id)
        _log.warning("task %s waits: %s. %s", task, one.reason, one.hint)


def last_look(
    task_id: int,
    standings: list[Standing] | None,
    seen: Standing | None,
    waited: timedelta,
    expected: str | None = None,
    obstacle: Obstacle | None = None,
) -> Any:
    """The result if the task has settled at the last moment; else ``ResultTimeout`` with the state it is in, and with
    what is in its way.

    Without an answer there are no standings; ``seen`` is the one that was read before, if any.
    """
    if standings is None:
        command, state = ("", "unknown") if seen is None else (seen.command, seen.state)
        raise ResultTimeout(task_id, command, state, waited, is_answered=False)
    if not standings:
        raise task_not_found(task_id)
    check_look(task_id, standings, expected)
    (standing,) = standings
    if standing.is_settled:
        return value_of(standing)
    reason, hint = (None, None) if obstacle is None else (obstacle.reason, obstacle.hint)
    raise ResultTimeout(standing.id, standing.command, standing.state, waited, reason=reason, hint=hint)


class _Waiter:
    """One caller that waits. ``signal`` means: you have an answer, or you lead now, or look again at once."""

    __slots__ = ("answer", "expected", "is_new", "patient_until", "seen", "signal", "task_id")

    def __init__(self, task_id: int, expected: str | None) -> None:
        self.task_id = task_id
        self.expected = expected
        self.is_new = True
        self.seen: Standing | None = None
        self.answer: Standing | Exception | None = None
        self.signal = asyncio.Event()
        self.patient_until = time.monotonic() + PATIENCE


class Results:
    """The waiting callers of one event loop."""

    def __init__(self, pool: AsyncPool) -> None:
        self._pool = pool
        self._waiters: list[_Waiter] = []
        self._leader: _Waiter | None = None
        self._interval = SHORTEST_INTERVAL

    async def wait(
        self,
        task_id: int,
        timeout: timedelta | None,  # noqa: ASYNC109 - names the state on expiry
        expected: str | None = None,
    ) -> Any:
        """The result of a task once it has settled; raises what ``App.result`` says."""
        limit = asyncio.timeout(None if timeout is None else timeout.total_seconds())
        waiter = _Waiter(task_id, expected)
        try:
            async with limit:
                answer = await self._answer(waiter)
        except TimeoutError:
            if timeout is None or not limit.expired():
                raise
            standings, obstacle = await self._last_look(task_id)
            return last_look(task_id, standings, waiter.seen, timeout, expected, obstacle)
        if isinstance(answer, Exception):
            raise answer
        return value_of(answer)

    async def _last_look(self, task_id: int) -> tuple[list[Standing] | None, Obstacle | None]:
        limit = asyncio.timeout(LAST_LOOK)
        standings: list[Standing] | None = None
        try:
            async with limit, self._pool.connection(is_look=True) as conn:
                standings = await look_async(conn, [task_id])
                return standings, next(iter(await obstacles_async(conn, [task_id])), None)
        except NoAnswer:
            return standings, None
        except TimeoutError:
            if not limit.expired():
                raise
            return standings, None

    async def _answer(self, waiter: _Waiter) -> Standing | Exception:
        self._waiters.append(waiter)
        self._interval = SHORTEST_INTERVAL
        if self._leader is not None:
            self._leader.signal.set()
        try:
            while waiter.answer is None:
                if self._leader is None:
                    self._leader = waiter
                if self._leader is waiter:
                    await self._lead(waiter)
                else:
                    waiter.signal.clear()
                    await waiter.signal.wait()
            return waiter.answer
        finally:
            self._waiters.remove(waiter)
            if self._leader is waiter:
                self._leader = None
                # Not to one that has its answer from the same look: it would leave without leading.
                heir = next((other for other in self._waiters if other.answer is None), None)
                if heir is not None:
                    heir.signal.set()

    async def _lead(self, leader: _Waiter) -> None:
        """Look once for everybody, then pause unless the leader itself is done."""
        leader.signal.clear()
        await self._look()
        if leader.answer is not None or leader.signal.is_set():
            return
        try:
            await asyncio.wait_for(leader.signal.wait(), jittered(self._interval))
        except TimeoutError:
            self._interval = next_interval(self._interval)

    def _impatient(self, waiting: list[_Waiter]) -> set[int]:
        """The tasks of those that have waited for long, each once."""
        now = time.monotonic()
        late = [waiter for waiter in waiting if waiter.patient_until <= now]
        for waiter in late:
            waiter.patient_until = math.inf
        return {waiter.task_id for waiter in late}

    async def _look(self) -> None:
        """Look for all. Without an answer nothing is known; the next look uses a new connection."""
        waiting = [waiter for waiter in self._waiters if waiter.answer is None]
        ids = list({waiter.task_id for waiter in waiting})
        has_new = any(waiter.is_new for waiter in waiting)
        try:
            async with self._pool.connection(is_look=True) as conn:
                answers = await (look_async if has_new else settled_async)(conn, ids)
                settled = {standing.id for standing in answers if standing.is_settled}
                late = self._impatient(waiting)
                if late - settled:
                    warn(await obstacles_async(conn, list(late - settled)[:MOST_WARNED]))
        except NoAnswer:
            return
        standings = {standing.id: standing for standing in answers}
        for waiter in waiting:
            standing = standings.get(waiter.task_id)  # pyright: ignore[reportArgumentType] - ids of callers are plain
            if standing is not None and waiter.expected is not None and standing.command != waiter.expected:
                waiter.answer = another_command(waiter.task_id, standing.command, waiter.expected)
            elif standing is not None and standing.is_settled:
                waiter.answer = standing
            elif standing is None and waiter.is_new:
                waiter.answer = task_not_found(waiter.task_id)
            waiter.seen = standing or waiter.seen
            waiter.is_new = False
            if waiter.answer is not None:
                waiter.signal.set()

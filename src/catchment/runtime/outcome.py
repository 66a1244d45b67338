"""What becomes of an attempt: whatever its handler returned or raised is turned into one ``Ending`` of that attempt.

Nothing that a handler does gets past this: every class of exception and every value is an outcome.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from typing import Any

from pydantic_core import to_json

from catchment.errors import TaskCancelled
from catchment.runtime.events import Events
from catchment.runtime.held import Held, Stop
from catchment.runtime.metrics import Metrics
from catchment.runtime.pools import Json, NotStarted, ProcessError
from catchment.store.attempt import Ending
from catchment.task.context import Context
from catchment.task.encode import encode
from catchment.task.failure import describe_error


class Interrupted(Exception):
    """Not the handler failed, but its connection did: the attempt is interrupted, and the task runs again."""


class PutOff(Exception):
    """Not the handler failed, but the server could not do what it asked for: the task is put off for a moment."""


# How long a task waits that this worker, or the server, cannot run now.
DELAY = 5.0


def put_off(held: Held) -> Ending:
    """Give an attempt back for a moment: it counts neither as a failure nor as an interruption."""
    return Ending(held, "released", error=to_json({"retry_after": DELAY}).decode())


class Outcomes:
    """``limit`` is the largest result, in bytes of JSON; ``drop`` forgets an attempt that another worker has."""

    def __init__(self, *, limit: int, metrics: Metrics, events: Events, drop: Callable[[Held], None]) -> None:
        self._limit = limit
        self._metrics = metrics
        self._events = events
        self._drop = drop

    def completed(self, held: Held, value: Any, context: Context | None = None) -> Ending:
        """The handler returned; raises ``GiveUp`` when its result or its info cannot be stored."""
        if isinstance(value, Json):
            result = value.text
        else:
            result = None if value is None else encode(value, f"the result of {held.command}", limit=self._limit)
        made = None if context is None else context.recorded
        if made is None:
            return Ending(held, result=result)
        return Ending(
            held,
            info=made.info_json(limit=self._limit),
            result=result,
            spawns=made.spawns_json(),
            child_mode=made.child_mode,
            on_child_failure=made.on_child_failure,
            follow_ups=made.follow_ups_json(),
        )

    def of_error(self, held: Held, error: BaseException) -> Ending | None:
        """The handler raised, or was stopped; None when there is nothing to record."""
        try:
            return self._of_error(held, error)
        except BaseException:  # an object whose class lies about itself, say
            name = type(error).__name__
            return self._ended(held, "failed", RuntimeError(f"the handler raised {name}, which cannot be looked at"))

    def _of_error(self, held: Held, error: BaseException) -> Ending | None:
        if isinstance(error, NotStarted):
            return Ending(held, "released")
        if isinstance(error, asyncio.CancelledError) or held.stop not in (None, Stop.CANCELLED):
            # A handler that is cancelled may well raise something else on its way out: why it was stopped counts.
            return self.stopped(held)
        if isinstance(error, PutOff):
            return put_off(held)
        if isinstance(error, Interrupted):
            return self._ended(held, "interrupted", error)
        is_cancelled = isinstance(error, TaskCancelled) and held.stop is Stop.CANCELLED
        return self._ended(held, "cancelled" if is_cancelled else "failed", error)

    def stopped(self, held: Held) -> Ending | None:
        """The handler was cancelled: by us, for a reason, or by itself."""
        if held.stop is None:
            return self._ended(held, "failed", RuntimeError(f"the handler of {held.command} cancelled itself"))
        if held.stop is Stop.LOST:
            return self._dropped(held)
        if held.stop is Stop.RELEASED:
            return Ending(held, "released")
        if held.stop is Stop.TIMED_OUT:
            return self._ended(held, "failed", TimeoutError(held.stop_reason))
        return self._ended(held, "cancelled", TaskCancelled(held.stop_reason or "cancelled"))

    def _ended(self, held: Held, asked: str, error: BaseException) -> Ending:
        described = error.described if isinstance(error, ProcessError) else describe_error(error)
        if asked == "interrupted":
            described["kind"] = asked
        return Ending(held, asked, error=to_json(described).decode(), failure=described)

    def _dropped(self, held: Held) -> None:
        """Somebody else has the task now: its end here means nothing."""
        self._metrics.fenced_writes += 1
        self._events.emit(
            "task.fenced",
            f"{held.command} {held.id}: the claim was lost, its handler was stopped",
            level=logging.WARNING,
            id=held.id,
            fence=held.fence,
        )
        self._drop(held)

"""Turns whatever a handler returned or raised into one ``Ending`` of its attempt: any exception class, any value."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable
from typing import Any, cast

from pydantic_core import to_json

from catchment.errors import CancelRequested, RetryLater, Snoozed
from catchment.runtime.events import Events
from catchment.runtime.held import Held, Stop
from catchment.runtime.metrics import Metrics
from catchment.runtime.pools import Json, NotStarted, ProcessError
from catchment.runtime.ray.waiting import RayLost, RayUnavailable
from catchment.store.attempt import Ending
from catchment.task.context import Context
from catchment.task.encode import encode
from catchment.task.failure import describe_error, meaning_of, storable
from catchment.task.returns import Returns


class Interrupted(Exception):
    """The connection of the handler's transaction was lost: the attempt is interrupted, and the task runs again."""


class PutOff(Exception):
    """The server cannot work now: the attempt is given back, and the task waits for ``DELAY``."""


# Seconds that a task waits if this worker, or the server, cannot run it now.
DELAY = 5.0


def put_off(held: Held, reason: str | None = None) -> Ending:
    """Give an attempt back for a while; it counts neither as a failure nor as an interruption. A reason is logged."""
    failure = None if reason is None else {"message": reason}
    return Ending(held, "released", error=to_json({"retry_after": DELAY}).decode(), failure=failure)


def snoozed(held: Held, error: BaseException) -> Ending | None:
    """The ending of a handler that snoozed: its task runs again later, without a failure; None if it did not."""
    if held.context is not None and held.context.snoozed is not None and isinstance(error, BaseExceptionGroup):
        group = cast("BaseExceptionGroup[BaseException]", error)
        if group.split(Snoozed)[1] is None:  # a task group of the handler had nothing else
            error = held.context.snoozed
    if isinstance(error, RetryLater) and not error.uses_attempt:
        error = Snoozed(delay=error.delay, reason=error.reason)
    if isinstance(error, Snoozed):
        delay = None if error.delay is None else error.delay.total_seconds()
        when = {"retry_after": delay, "until": error.until, "message": storable(error.reason, 2000)}
        text = storable(str(error), 2000)
    elif isinstance(error, ProcessError) and error.described.get("uses_attempt") is False:
        when, text = error.described, f"snoozes for {error.described.get('retry_after')} s: {error}"
    else:
        return None
    return Ending(held, "snoozed", error=to_json(when).decode(), failure={"message": text})


class Outcomes:
    """``limit`` is the largest result, in bytes of JSON; ``drop`` forgets an attempt that another worker has."""

    def __init__(self, *, limit: int, metrics: Metrics, events: Events, drop: Callable[[Held], None]) -> None:
        self._limit = limit
        self._metrics = metrics
        self._events = events
        self._drop = drop

    def completed(self, held: Held, value: Any, returns: Returns | None, context: Context | None = None) -> Ending:
        """The ending of a handler that returned; raises ``ResultRefused`` when its result cannot be stored or would not
        come back as it is, ``InfoRefused`` for its info, and ``TimeoutError`` when it returned after its timeout."""
        if held.stop is Stop.TIMED_OUT:
            raise TimeoutError(held.stop_reason)
        if isinstance(value, Json):
            result = value.text
        elif returns is None:
            result = None if value is None else encode(value, f"the result of {held.command}", limit=self._limit)
        else:
            result = returns.dump(value, limit=self._limit)
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
        """The ending of a handler that raised or was stopped; None when there is nothing to record."""
        try:
            return self._of_error(held, error)
        except BaseException:  # such as an object with a __class__ that raises
            name = type(error).__name__
            return self._ended(held, "failed", RuntimeError(f"the handler raised {name}, which cannot be inspected"))

    def _of_error(self, held: Held, error: BaseException) -> Ending | None:
        if isinstance(error, NotStarted):
            return Ending(held, "released")
        if isinstance(error, asyncio.CancelledError) or held.stop not in (None, Stop.CANCELLED):
            # A cancelled handler may raise any other exception while it ends; the reason it was stopped for counts.
            return self.stopped(held)
        error = meaning_of(error)
        if isinstance(error, PutOff | RayUnavailable):
            return put_off(held, str(error))
        if isinstance(error, Interrupted | RayLost):
            return self._ended(held, "interrupted", error)
        if (ending := snoozed(held, error)) is not None:
            return ending
        is_cancelled = isinstance(error, CancelRequested) and held.stop is Stop.CANCELLED
        return self._ended(held, "cancelled" if is_cancelled else "failed", error)

    def stopped(self, held: Held) -> Ending | None:
        """The ending of a handler that was stopped by the worker, or that cancelled itself."""
        if held.stop is None:
            return self._ended(held, "failed", RuntimeError(f"the handler of {held.command} cancelled itself"))
        if held.stop is Stop.LOST:
            return self._dropped(held)
        if held.stop is Stop.RELEASED:
            error = {"kind": "released", "message": held.stop_reason} if held.has_started else None
            return Ending(held, "released", error=None if error is None else to_json(error).decode())
        if held.stop is Stop.TIMED_OUT:
            return self._ended(held, "failed", TimeoutError(held.stop_reason))
        return self._ended(held, "cancelled", CancelRequested(held.stop_reason or "cancelled"))

    def _ended(self, held: Held, asked: str, error: BaseException) -> Ending:
        described = error.described if isinstance(error, ProcessError) else describe_error(error)
        if asked == "interrupted":
            described["kind"] = asked
        return Ending(held, asked, error=to_json(described).decode(), failure=described)

    def _dropped(self, held: Held) -> None:
        """Drop an attempt that another worker has taken over."""
        self._metrics.fenced_writes += 1
        self._metrics.of_app(held.command).seconds["lost"].observe(time.monotonic() - held.since)
        self._events.emit(
            "task.fenced",
            f"{held.command} {held.id}: the claim was lost, its handler was stopped",
            level=logging.WARNING,
            task_id=held.id,
            fence=held.fence,
        )
        self._drop(held)

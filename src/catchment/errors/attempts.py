"""What handlers raise to steer their task, and what ends attempts and workers."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

from catchment.errors.base import LONGEST, CatchmentError, RequestRefused, shown


class Steering(CatchmentError):
    """Base of what a handler raises to say what happens to its task."""


class RetryLater(Steering):
    """Raised by a handler: fail this attempt and try again after ``delay`` (seconds, or a timedelta).

    It counts as a failed attempt: when ``max_attempts`` is used up, the task fails. With ``uses_attempt=False`` it does
    not: the task snoozes, as by ``ctx.snooze``, and can do so without limit. A negative delay is zero. Raises
    ``RequestRefused`` for one that is not a number, or more than 100 years.
    """

    def __init__(self, delay: timedelta | float, reason: str = "", *, uses_attempt: bool = True) -> None:
        self.delay = _as_delay(delay)
        self.reason = _as_text(reason)
        if not isinstance(uses_attempt, bool):  # pyright: ignore[reportUnnecessaryIsInstance] - callers are not all typed
            raise RequestRefused(f"uses_attempt of a RetryLater is {shown(uses_attempt)}, expected True or False")
        self.uses_attempt = uses_attempt
        super().__init__(self.reason or f"to be tried again in {self.delay.total_seconds():g} s")


class GiveUp(Steering):
    """Raised by a handler: fail the task at once, even if attempts are left."""

    def __init__(self, reason: str) -> None:
        self.reason = _as_text(reason)
        super().__init__(self.reason)


class ResultRefused(GiveUp):
    """The result of a handler cannot be stored, would come back as another value, or would be lost; or a join cannot
    read that of a child. Another attempt would end in the same way, so the task fails at once."""


class Snoozed(BaseException):
    """Raised by ``ctx.snooze`` and ``ctx.sleep_until``: the attempt ends here, and its task runs again later.

    Not an ``Exception``, so that ``except Exception`` in a handler does not catch it. It has ``delay``, or ``until``,
    and ``reason``.
    """

    def __init__(self, *, delay: timedelta | None = None, until: datetime | None = None, reason: str = "") -> None:
        self.delay = delay
        self.until = until
        self.reason = _as_text(reason)
        seconds = (delay or timedelta()).total_seconds()
        when = f"for {seconds:g} s" if until is None else f"until {until.isoformat()}"
        super().__init__(f"snoozes {when}" + (f": {self.reason}" if self.reason else ""))


def _as_delay(value: Any) -> timedelta:
    if isinstance(value, timedelta):
        span = value
    elif isinstance(value, bool) or not isinstance(value, int | float) or value != value:
        raise RequestRefused(f"delay of a RetryLater is {shown(value)}, expected a number of seconds or a timedelta")
    else:
        try:
            span = timedelta(seconds=value)
        except OverflowError:
            span = timedelta.max if value > 0 else timedelta.min
    if span > LONGEST:
        raise RequestRefused(f"delay of a RetryLater is {shown(value)}, expected at most 100 years")
    return max(span, timedelta())


def _as_text(reason: Any) -> str:
    """A reason of any type: to refuse one would hide what went wrong, and retry what was given up."""
    try:
        return str(reason)
    except Exception:
        return shown(reason)


class ClaimLost(CatchmentError):
    """``CM001``: the claim was lost. Another attempt has taken over, or the task has settled: drop the result."""


class WorkerNotRegistered(CatchmentError):
    """``CM017``: the worker is not registered. It was declared dead and has lost its claims. It registers again
    by itself."""


class CancelRequested(CatchmentError):
    """``CM011``: the task is being cancelled. The task or one of its ancestors was cancelled: let the
    handler end."""


class ProcedureMissing(CatchmentError):
    """``CM012``: the handler procedure is missing or ambiguous. Create it with ``(jsonb)`` or ``(jsonb, inout jsonb)``,
    or write its arguments in the registry; then retry the task."""

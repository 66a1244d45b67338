"""Durations and due times as users give them, checked."""

from __future__ import annotations

from datetime import datetime, timedelta

from catchment.errors import LONGEST, RequestRefused
from catchment.model.check import shown

Duration = timedelta | float
_AWARE = "Use an aware time, such as datetime.now(timezone.utc) + timedelta(hours=1)."


def as_timedelta(value: Duration, *, name: str, takes_zero: bool = True) -> timedelta:
    """A number of seconds, or a timedelta, as a timedelta; ``name`` is the option it was given for."""
    if isinstance(value, timedelta):
        span = value
    elif isinstance(value, bool) or not isinstance(value, int | float) or value != value:  # pyright: ignore[reportUnnecessaryIsInstance] - callers are not all typed
        raise RequestRefused(f"{name} is {shown(value)}, expected a number of seconds or a timedelta")
    else:
        try:
            span = timedelta(seconds=value)
        except OverflowError as error:
            raise RequestRefused(f"{name} is {_spoken(value)}, expected at most 100 years") from error
    if span < timedelta() or (span == timedelta() and not takes_zero):
        least = "zero or more" if takes_zero else "more than zero"
        raise RequestRefused(f"{name} is {_spoken(value)}, expected {least}")
    if span > LONGEST:
        raise RequestRefused(f"{name} is {_spoken(value)}, expected at most 100 years")
    return span


def _spoken(value: Duration) -> str:
    """A span as its caller has given it: Python writes minus one second as a day less."""
    if not isinstance(value, timedelta):
        return f"{shown(value)} seconds"
    return f"-({-value})" if timedelta.min < value < timedelta() else f"{value}"


def check_due(at: datetime | None, delay: Duration | None) -> timedelta | None:
    """The delay as a timedelta; ``at`` must be aware, and only one of the two may be given."""
    if at is not None:
        if delay is not None:
            raise RequestRefused("both at and delay are given", hint="Pass the time or the delay, not both.")
        check_aware(at, name="at")
    return None if delay is None else as_timedelta(delay, name="delay")


def check_aware(value: datetime, *, name: str) -> datetime:
    """A time with a zone; ``name`` is the option it was given for."""
    if not isinstance(value, datetime):  # pyright: ignore[reportUnnecessaryIsInstance] - callers are not all typed
        raise RequestRefused(f"{name} is {shown(value)}, expected an aware datetime", hint=_AWARE)
    if value.utcoffset() is None:
        raise RequestRefused(f"{name} is {value.isoformat()}, a time without a zone", hint=_AWARE)
    return value

"""Durations and due times as users give them, checked."""

from __future__ import annotations

import math
from datetime import datetime, timedelta

from catchment.errors import RequestRefused

Duration = timedelta | float


def as_timedelta(value: Duration, *, name: str) -> timedelta:
    """A number of seconds, or a timedelta, as a timedelta; ``name`` is the option it was given for."""
    if isinstance(value, timedelta):
        span = value
    elif isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):  # pyright: ignore[reportUnnecessaryIsInstance] - callers are not all typed
        raise RequestRefused(f"{name} is {value!r}, expected a number of seconds or a timedelta")
    else:
        try:
            span = timedelta(seconds=value)
        except OverflowError as error:
            raise RequestRefused(f"{name} is {value!r} seconds, more than a timedelta can hold") from error
    if span < timedelta():
        raise RequestRefused(f"{name} is {span}, expected zero or more")
    return span


def check_due(at: datetime | None, delay: Duration | None) -> timedelta | None:
    """The delay as a timedelta; ``at`` must be aware, and only one of the two may be given."""
    if at is not None:
        if delay is not None:
            raise RequestRefused("both at and delay are given", hint="Pass the time or the delay, not both.")
        if at.tzinfo is None:
            raise RequestRefused(
                f"at is {at.isoformat()}, a time without a zone",
                hint="Use an aware time, such as datetime.now(timezone.utc) + timedelta(hours=1).",
            )
    return None if delay is None else as_timedelta(delay, name="delay")

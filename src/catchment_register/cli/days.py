"""Days of the command line."""

from __future__ import annotations

from datetime import date, timedelta

from catchment_register.dates import OPEN_END
from catchment_register.errors import PeriodInvalid, RegisterError


def read_day(text: str | None, option: str, refused: type[RegisterError] = PeriodInvalid) -> date | None:
    """The day that an option gives. Raises ``refused`` for what is none, or too late."""
    if text is None:
        return None
    try:
        day = date.fromisoformat(text)
    except ValueError:
        raise refused(f"{option} {text} is not a day", hint="Write it as 2026-02-13.") from None
    if day == OPEN_END:
        raise refused(f"{option} {text} is too late", hint=f"Write a day before {date.max}.")
    return day


def last_day(text: str | None, option: str) -> date | None:
    """An inclusive last day as the first one after it; infinity is an open end."""
    day = None if text == "infinity" else read_day(text, option)
    until = None if day is None else day + timedelta(days=1)
    if until == OPEN_END:
        raise PeriodInvalid(f"{option} {text} is too late", hint="Omit the last day for an open end.")
    return until

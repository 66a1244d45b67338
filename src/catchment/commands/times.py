"""Times as commands show them: those of the user's time zone, with its name. ``--json`` has the offset instead."""

from __future__ import annotations

import re
from datetime import UTC, datetime

# A time in words of the engine, which are the same in every session.
_SAID = re.compile(r"\b\d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC\b")


def local(moment: datetime | str) -> str:
    """Date, time and zone. A time that Python cannot hold comes as text, and stays as it is."""
    if isinstance(moment, str):
        return moment
    try:
        here = moment.astimezone()
    except (OverflowError, ValueError):  # beyond the years that Python can move to another zone
        return str(moment)
    return f"{here.replace(tzinfo=None).isoformat(' ', 'seconds')} {here.tzname()}"


def clock(moment: datetime | None = None) -> str:
    """The time of day, now or at another moment, at the beginning of a line that is one of many."""
    return f"{(datetime.now(UTC) if moment is None else moment).astimezone():%H:%M:%S}"


def zone() -> str:
    """The name of the time zone, now."""
    return f"{datetime.now(UTC).astimezone():%Z}"


def localized(words: str) -> str:
    """A sentence of the engine with its times in the user's zone."""
    return _SAID.sub(lambda said: local(datetime.strptime(said[0], "%Y-%m-%d %H:%M:%S UTC").replace(tzinfo=UTC)), words)

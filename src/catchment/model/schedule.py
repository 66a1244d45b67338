"""When a schedule fires next. Pure: the time is a parameter."""

from __future__ import annotations

from datetime import datetime, timedelta
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from croniter import CroniterBadCronError, croniter

from catchment.errors import RequestRefused


def next_time(
    now: datetime,
    *,
    every: timedelta | None = None,
    cron: str | None = None,
    timezone: str = "UTC",
    previous: datetime | None = None,
) -> datetime:
    """The first time after ``now``. Times that were missed are skipped: the run that is due makes up for them.

    An interval keeps its phase: it counts on from ``previous``, not from the moment it was noticed.
    """
    if every is not None:
        if previous is None:
            return now + every
        missed = (now - previous) // every
        return previous + (missed + 1) * every
    if cron is None:
        raise RequestRefused("a schedule needs an interval or a cron expression")
    try:
        local = now.astimezone(ZoneInfo(timezone))
        return croniter(cron, local).get_next(datetime)
    except CroniterBadCronError as error:
        raise RequestRefused(
            f"cron expression {cron!r} cannot be read: {error}", hint="Five fields, as in: 30 4 * * mon"
        ) from error
    except ZoneInfoNotFoundError as error:
        raise RequestRefused(f"timezone {timezone!r} is unknown", hint="Use a name such as Europe/Oslo.") from error

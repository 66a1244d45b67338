"""When a schedule fires, in words: ``every day at 02:00 Europe/Oslo``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

_DAYS = ("Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday")
_MONTHS = (
    *("January", "February", "March", "April", "May", "June"),
    *("July", "August", "September", "October", "November", "December"),
)
_UNITS = ((604_800, "week"), (86_400, "day"), (3600, "hour"), (60, "minute"), (1, "second"))
# Seconds that are said in minutes and more.
_MANY = 120
# Times of the day that are named one by one.
_FEW = 4


def say_rhythm(every_seconds: float | None, cron: Mapping[str, Any] | None, timezone: str) -> str:
    """An interval in seconds, or a cron expression as ``worker.parse_cron`` returns it."""
    if every_seconds is not None:
        return f"every {_span(every_seconds)}"
    if cron is None:
        return "never"
    time, has_clock = _time(cron["minutes"], cron["hours"])
    days = _days(cron)
    months = "" if len(cron["months"]) == 12 else f" in {_listed([_MONTHS[int(m) - 1] for m in cron['months']])}"
    if not days:
        days = "" if not has_clock else "every day "
        return f"{days}{time}{months} {timezone}"
    return f"{days} {time}{months} {timezone}"


def _span(seconds: float) -> str:
    """In one unit if it is a whole number of them, else in two: ``90 seconds`` is ``1 minute 30 seconds``."""
    for length, unit in _UNITS:
        if seconds >= length and seconds % length == 0 and (length > 1 or seconds < _MANY):
            number = round(seconds / length)
            return unit if number == 1 else f"{number:,} {unit}s"
    parts: list[str] = []
    rest = seconds
    for length, unit in _UNITS[1:]:
        number, rest = divmod(rest, length)
        if number:
            parts.append(f"{number:,.0f} {unit}{'' if number == 1 else 's'}")
    if rest:
        parts.append(f"{rest * 1000:,.0f} ms")
    return " ".join(parts)


def _time(minutes: Sequence[int], hours: Sequence[int]) -> tuple[str, bool]:
    """The time of the day, and whether it is one on the clock rather than something that recurs within a day."""
    minute_step, hour_step = _step(minutes, 60), _step(hours, 24)
    if len(hours) * len(minutes) <= _FEW:
        return f"at {_listed([f'{hour:02}:{minute:02}' for hour in hours for minute in minutes])}", True
    if minute_step is not None:
        text = "every minute" if minute_step == 1 else f"every {minute_step} minutes"
        return (text, False) if len(hours) == 24 else (f"{text}, {_hours(hours, hour_step)}", False)
    at = f"at {_listed([f':{minute:02}' for minute in minutes])}"
    if len(hours) == 24:
        return f"every hour {at}", False
    if hour_step is not None:
        return f"every {hour_step} hours {at}", False
    return f"{at} of the hours {_ranges(hours, '{:02}')}", True


def _hours(hours: Sequence[int], step: int | None) -> str:
    if step is not None:
        return f"in every {_ordinal(step)} hour from 00"
    return f"in the {'hour' if len(hours) == 1 else 'hours'} {_ranges(hours, '{:02}')}"


def _days(cron: Mapping[str, Any]) -> str:
    """On which days; empty if on all."""
    weekdays = _weekdays(cron["weekdays"])
    days = f"on {'day' if len(cron['days']) == 1 else 'days'} {_ranges(cron['days'], '{}')} of the month"
    if not (cron["any_day"] or cron["any_weekday"]):
        return f"{days} and {weekdays or 'every day'}"
    if len(cron["days"]) == 31:
        return weekdays
    return f"{days} that are {weekdays.removeprefix('every ').replace(' and ', ' or ')}" if weekdays else days


def _weekdays(days: Sequence[int]) -> str:
    if len(days) == 7:
        return ""
    # A week begins on Monday, so that Friday to Monday is a range.
    ordered = sorted(days, key=lambda day: (day - 1) % 7)
    if len(days) > 2 and [(day - 1) % 7 for day in ordered] == list(
        range((ordered[0] - 1) % 7, (ordered[0] - 1) % 7 + len(days))
    ):
        return f"{_DAYS[ordered[0]]} to {_DAYS[ordered[-1]]}"
    return f"every {_listed([_DAYS[day] for day in ordered])}"


def _step(values: Sequence[int], size: int) -> int | None:
    """The distance of values that divide the hour or the day evenly, from 0 on; None for others."""
    if len(values) < 2 or size % len(values) or list(values) != list(range(0, size, size // len(values))):
        return None
    return size // len(values)


def _ranges(values: Sequence[int], form: str) -> str:
    """``9 to 17``, ``1, 15 and 31``."""
    runs: list[list[int]] = []
    for value in values:
        if runs and runs[-1][-1] == value - 1:
            runs[-1].append(value)
        else:
            runs.append([value])
    parts: list[str] = []
    for run in runs:
        if len(run) > 2:
            parts.append(f"{form.format(run[0])} to {form.format(run[-1])}")
        else:
            parts += [form.format(value) for value in run]
    return _listed(parts)


def _ordinal(number: int) -> str:
    return {2: "second", 3: "third"}.get(number, f"{number}th")


def _listed(parts: Sequence[str]) -> str:
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}"

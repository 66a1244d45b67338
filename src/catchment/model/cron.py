"""Cron expressions, read. When they fire is computed by the server (``worker.next_cron``), which reads them alike."""

from __future__ import annotations

import re
from dataclasses import dataclass

from catchment.errors import DefinitionRefused

LONGEST = 500
_ALIASES = {
    "@hourly": "0 * * * *",
    "@daily": "0 0 * * *",
    "@midnight": "0 0 * * *",
    "@weekly": "0 0 * * 0",
    "@monthly": "0 0 1 * *",
    "@yearly": "0 0 1 1 *",
    "@annually": "0 0 1 1 *",
}
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_WEEKDAYS = ("sun", "mon", "tue", "wed", "thu", "fri", "sat")
_ITEM = re.compile(r"(?:(\*)|([0-9]{1,2}|[a-z]{3})(?:-([0-9]{1,2}|[a-z]{3}))?)(?:/([0-9]{1,3}))?")
_MOST_DAYS = {2: 29, 4: 30, 6: 30, 9: 30, 11: 30}
_NO_EXTRAS = (
    "L, # and W are not supported. The first Monday of a month is */32,1-7 * mon; for the last day, fire on 28-31 and"
    " let the handler look at the date."
)
# What other crons have besides: the last day, a weekday nearby, the second Monday.
_EXTRA = re.compile(r"l|lw|[0-9]{1,2}[lw]|[a-z]{3}l|([0-9]|[a-z]{3})#[0-9l]")
_FIELDS = "Five fields: minute, hour, day of the month, month, day of the week, as in: 30 4 * * mon"


@dataclass(frozen=True, slots=True)
class Cron:
    """The values of the fields, as the type ``worker.cron`` has them."""

    minutes: tuple[int, ...]
    hours: tuple[int, ...]
    days: tuple[int, ...]
    months: tuple[int, ...]
    weekdays: tuple[int, ...]
    any_day: bool
    any_weekday: bool
    is_fixed: bool


def read_cron(expression: str) -> Cron:
    """Read a cron expression; raises ``DefinitionRefused`` for one that is invalid or never fires."""
    if len(expression) > LONGEST:
        raise DefinitionRefused(
            f"cron expression {_quoted(expression[:40] + '…')} has {len(expression)} characters, expected at most"
            f" {LONGEST}",
            hint="Write ranges and steps instead of long lists: 1-30/2 for 1,3,5 and so on.",
        )
    text = re.sub(r"^\s+|\s+$", "", expression.lower(), flags=re.ASCII)
    fields = re.split(r"\s+", _ALIASES.get(text, text), flags=re.ASCII)
    if len(fields) != 5:
        raise DefinitionRefused(
            f"cron expression {_quoted(expression)} has {len(fields) if text else 0} fields, expected five",
            hint="Minute, hour, day of the month, month, day of the week, as in: 30 4 * * mon. Or one of @hourly,"
            " @daily, @weekly, @monthly, @yearly.",
        )
    minute, hour, day, month, weekday = fields
    cron = Cron(
        minutes=_values(expression, minute, "minute", 0, 59),
        hours=_values(expression, hour, "hour", 0, 23),
        days=_values(expression, "*" if day == "?" else day, "day of the month", 1, 31),
        months=_values(expression, month, "month", 1, 12, _MONTHS),
        weekdays=_values(expression, "*" if weekday == "?" else weekday, "day of the week", 0, 6, _WEEKDAYS),
        any_day=day.startswith(("*", "?")),
        any_weekday=weekday.startswith(("*", "?")),
        is_fixed=not minute.startswith("*") and not hour.startswith("*"),
    )
    most = max(_MOST_DAYS.get(number, 31) for number in cron.months)
    if (cron.any_day or cron.any_weekday) and cron.days[0] > most:
        raise DefinitionRefused(
            f"cron expression {_quoted(expression)} never fires: no month {month} has a day {cron.days[0]}",
            hint="Choose a day that the month has, or other months.",
        )
    return cron


def _values(
    expression: str, field: str, what: str, low: int, high: int, names: tuple[str, ...] = ()
) -> tuple[int, ...]:
    """The values of a field, in order: a list of ``*``, n or n-m, each with or without a step. A range may wrap around.
    As a day of the week, 7 is Sunday too."""
    values: set[int] = set()
    for item in field.split(","):
        span = _span(item, low, high, names)
        if span is None:
            or_names = f" or {names[0]} to {names[-1]}" if names else ""
            raise DefinitionRefused(
                f"cron expression {_quoted(expression)}: its {what} is {_quoted(item)}, expected {low} to {high}"
                f"{or_names}, in lists (1,3), ranges (1-3) or steps (*/3)",
                hint=_NO_EXTRAS if _EXTRA.fullmatch(item) else _FIELDS,
            )
        values |= {low + (value - low) % (high - low + 1) for value in span}
    return tuple(sorted(values))


def _span(item: str, low: int, high: int, names: tuple[str, ...]) -> range | None:
    """The values of an item, before those beyond the end are wrapped around; None if it is invalid."""
    match = _ITEM.fullmatch(item)
    if match is None:
        return None
    star, first, last, step = match.groups()
    start = low if star else _value(first, low, names)
    if start is None:
        return None
    end = _value(last, low, names) if last else high if star else max(high, start) if step else start
    top = 7 if high == 6 else high
    if end is None or not low <= start <= top or not low <= end <= top or (step and int(step) == 0):
        return None
    if high == 6 and start == 7 > end:
        start = 0
    if start > end:
        end += high - low + 1
    return range(start, end + 1, int(step or 1))


def _value(text: str, low: int, names: tuple[str, ...]) -> int | None:
    if text.isdigit():
        return int(text)
    return low + names.index(text) if text in names else None


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"

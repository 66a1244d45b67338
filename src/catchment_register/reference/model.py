"""What the reference computes with: rows of units, and periods."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import date, timedelta
from itertools import groupby
from typing import Any

from catchment_register.dates import OPEN_END
from catchment_register.reference.algebra import Summary

Row = dict[str, Any]


@dataclass(frozen=True, slots=True)
class UnitRow:
    """A unit for a stretch of time. ``about``: the columns of ``statistical_unit_row``, and paths besides their ids."""

    unit_type: str
    unit_id: int
    valid_from: date
    valid_until: date
    about: Mapping[str, Any]
    summary: Summary

    @property
    def counts(self) -> bool:
        return self.about["used_for_counting"]


@dataclass(frozen=True, slots=True)
class Period:
    """A year or a month, by its first and last day, and those of the one before it."""

    resolution: str
    year: int
    month: int | None
    first_day: date
    last_day: date
    prev_first: date
    prev_last: date


def last_valid_day(valid_until: date) -> date:
    """The last day of a row, for people; an open end stays open."""
    return valid_until if valid_until == OPEN_END else valid_until - timedelta(days=1)


def by_unit(rows: Iterable[UnitRow]) -> Iterator[list[UnitRow]]:
    """The rows of each unit, in the order of time."""
    ordered = sorted(rows, key=lambda r: (r.unit_type, r.unit_id, r.valid_from))
    for _, same in groupby(ordered, key=lambda r: (r.unit_type, r.unit_id)):
        yield list(same)


def all_periods(rows: Iterable[UnitRow], today: date) -> list[Period]:
    """Years and months from the first row, but at most a hundred years back, to today."""
    starts = [row.valid_from for row in rows]
    if not starts:
        return []
    first = max(min(starts), _years_back(today, 100))
    years = [year(y) for y in range(first.year, today.year + 1)]
    numbers = range(first.year * 12 + first.month - 1, today.year * 12 + today.month)
    return years + [month(n // 12, n % 12 + 1) for n in numbers]


def year(number: int) -> Period:
    return Period(
        "year", number, None, date(number, 1, 1), date(number, 12, 31), date(number - 1, 1, 1), date(number - 1, 12, 31)
    )


def month(year_number: int, number: int) -> Period:
    first = date(year_number, number, 1)
    after = date(year_number + number // 12, number % 12 + 1, 1)
    before = first - timedelta(days=1)
    last = after - timedelta(days=1)
    return Period("year-month", year_number, number, first, last, before.replace(day=1), before)


def _years_back(day: date, years: int) -> date:
    is_leap_day = (day.month, day.day) == (2, 29)
    return day.replace(year=day.year - years, day=28 if is_leap_day else day.day)

"""History, facets and demography from what units are on the days of a period."""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import date, timedelta
from functools import cached_property
from typing import Any

from tests.register.day_oracle.units import Base, Row, State, Unit, units_on

Period = tuple[str, int, int | None]
ONE_DAY = timedelta(days=1)
ADDRESS = tuple(f"physical_{c}" for c in ("address_part1", "address_part2", "address_part3", "postcode", "postplace"))
CHANGES = {
    "name_change_count": ("name",),
    "primary_activity_category_change_count": ("primary_activity_category_path",),
    "secondary_activity_category_change_count": ("secondary_activity_category_path",),
    "sector_change_count": ("sector_path",),
    "legal_form_change_count": ("legal_form_id",),
    "physical_region_change_count": ("physical_region_path",),
    "physical_country_change_count": ("physical_country_id",),
    "physical_address_change_count": ADDRESS,
    "unit_size_change_count": ("unit_size_id",),
    "status_change_count": ("status_id",),
}
UNIT_DIMENSIONS = (
    *("physical_region_path", "primary_activity_category_path", "sector_path"),
    *("legal_form_id", "physical_country_id", "status_id"),
)
HISTORY_DIMENSIONS = (
    *("primary_activity_category_path", "secondary_activity_category_path", "sector_path", "legal_form_id"),
    *("physical_region_path", "physical_country_id", "unit_size_id", "status_id"),
)


@dataclass
class Calendar:
    """All units by the days from which on they are the same."""

    base: Base

    @cached_property
    def days(self) -> list[date]:
        return sorted(d for d in self.base.days() if d != date.max)

    @cached_property
    def states(self) -> list[dict[Unit, State]]:
        states = [units_on(self.base, day) for day in self.days]
        for state in (s for on_day in states for s in on_day.values()):
            self._add_paths(state)
        return states

    @cached_property
    def units(self) -> set[Unit]:
        return {unit for on_day in self.states for unit in on_day}

    def on(self, day: date) -> dict[Unit, State]:
        place = bisect_right(self.days, day)
        return self.states[place - 1] if place else {}

    def last(self, unit: Unit, first: date, last: date) -> State | None:
        """What a unit was on the last day of a time on which it was there."""
        ends = [d - ONE_DAY for d in self.days if first < d <= last]
        for day in (last, *reversed(ends)):
            if unit in self.on(day):
                return self.on(day)[unit]
        return None

    def _add_paths(self, state: State) -> None:
        about, lists = state.about, self.base.plain
        for column, table in (
            ("primary_activity_category", "activity_category"),
            ("secondary_activity_category", "activity_category"),
            ("sector", "sector"),
            ("physical_region", "region"),
        ):
            number = about.get(f"{column}_id")
            about[f"{column}_path"] = None if number is None else lists[table][number]["path"]


def periods(calendar: Calendar) -> Iterator[tuple[Period, date, date]]:
    """Years and months from the first unit to today, each with its first and last day."""
    today = calendar.base.today
    began = [day for day, on_day in zip(calendar.days, calendar.states, strict=True) if on_day]
    if not began or began[0] > today.replace(day=28) + 40 * ONE_DAY:
        return
    day = began[0].replace(day=1)
    while (day.year, day.month) <= (today.year, today.month):
        after = (day + 31 * ONE_DAY).replace(day=1)
        yield ("year-month", day.year, day.month), day, after - ONE_DAY
        day = after
    for year in range(began[0].year, today.year + 1):
        yield ("year", year, None), date(year, 1, 1), date(year, 12, 31)


def histories(calendar: Calendar) -> tuple[dict[Any, Row], dict[Any, Row]]:
    """The history, and the history by facets: measures by period, type of unit and, of the latter, dimensions."""
    whole: defaultdict[Any, Counter[str]] = defaultdict(Counter)
    facets: defaultdict[Any, Counter[str]] = defaultdict(Counter)
    values: defaultdict[Any, list[State]] = defaultdict(list)
    for period, first, last in periods(calendar):
        before = first - ONE_DAY
        before_first = before.replace(day=1) if period[0] == "year-month" else before.replace(month=1, day=1)
        for unit in calendar.units:
            now = calendar.last(unit, first, last)
            then = calendar.last(unit, before_first, before)
            here = now if now and unit in calendar.on(last) and _is_alive(now, last) else None
            was_here = then if then and unit in calendar.on(before) and _is_alive(then, before) else None
            if here is None and was_here is None:
                continue
            counted = _count(now, here, was_here, first, last)
            told = (now or then or here).about  # type: ignore[union-attr]  # one of them is there
            keys = [(*period, unit[0]), (*period, unit[0], *(told.get(d) for d in HISTORY_DIMENSIONS))]
            for groups, key in zip((whole, facets), keys, strict=True):
                groups[key].update(counted)
                if now is not None and now.counts:
                    values[key].append(now)
    return tuple(
        {key: dict(counted) | {"values": summed(values[key])} for key, counted in groups.items()}
        for groups in (whole, facets)
    )  # type: ignore[return-value]  # two of them


def unit_facets(on_day: dict[Unit, State]) -> dict[Any, Row]:
    """Units that count on a day, by what they are."""
    groups: defaultdict[Any, list[State]] = defaultdict(list)
    for unit, state in on_day.items():
        if state.counts:
            groups[(unit[0], *(state.about.get(d) for d in UNIT_DIMENSIONS))].append(state)
    return {key: {"count": len(states), "values": summed(states)} for key, states in groups.items()}


def cohorts(calendar: Calendar, unit_type: str) -> dict[int, tuple[int, int]]:
    """By year of birth, how many were born then, and how many of them are not known to be dead today."""
    today = calendar.base.today
    years: defaultdict[int, list[bool]] = defaultdict(list)
    for unit in (u for u in calendar.units if u[0] == unit_type):
        past = [s[unit] for d, s in zip(calendar.days, calendar.states, strict=True) if d <= today and unit in s]
        births = [s.about["birth_date"] for s in past if s.about.get("birth_date") is not None]
        if births and births[-1] <= today and any(s.counts for s in past):
            death = past[-1].about.get("death_date")
            years[births[-1].year].append(death is None or death > today)
    return {year: (len(alive), sum(alive)) for year, alive in years.items()}


def summed(states: Iterable[State]) -> dict[str, Any]:
    """Values by code: of numbers how many, their sum, the smallest and the largest; of others how often each is."""
    values: defaultdict[str, list[Any]] = defaultdict(list)
    for state in states:
        for code, some in state.values.items():
            values[code] += some
    return {code: _figures(some) for code, some in values.items()}


def _figures(values: list[Any]) -> Any:
    if isinstance(values[0], bool | str):
        return {str(v).lower() if isinstance(v, bool) else v: n for v, n in Counter(values).items()}
    return tuple(round(float(f), 2) for f in (len(values), sum(values), min(values), max(values)))


def _is_alive(state: State, day: date) -> bool:
    birth, death = state.about.get("birth_date"), state.about.get("death_date")
    return (birth is None or birth <= day) and (death is None or death > day)


def _count(now: State | None, here: State | None, was_here: State | None, first: date, last: date) -> dict[str, int]:
    counts, counted = bool(here and here.counts), bool(was_here and was_here.counts)
    told = {
        "exists_count": int(here is not None),
        "exists_change": (here is not None) - (was_here is not None),
        "exists_added_count": int(here is not None and was_here is None),
        "exists_removed_count": int(here is None),
        "countable_count": int(counts),
        "countable_change": counts - counted,
        "countable_added_count": int(counts and not counted),
        "countable_removed_count": int(counted and not counts),
    }
    for measure, column in (("births", "birth_date"), ("deaths", "death_date")):
        day = now.about.get(column) if now is not None and now.counts else None
        told[measure] = int(day is not None and first <= day <= last)
    for measure, columns in CHANGES.items():
        both = here is not None and was_here is not None and counts and counted
        told[measure] = int(both and any(here.about.get(c) != was_here.about.get(c) for c in columns))  # type: ignore[union-attr]
    return told

"""``statistical_history``: for each period and kind of unit, what was there at its end, what came, went and changed."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date

from catchment_register.names import MEASURES, UNIT_TYPES
from catchment_register.reference.algebra import Summary, merge, shown
from catchment_register.reference.model import Period, Row, UnitRow, by_unit

ADDRESS = (
    "physical_address_part1",
    "physical_address_part2",
    "physical_address_part3",
    "physical_postcode",
    "physical_postplace",
)
# A measure of change, and the columns of which one differs.
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


@dataclass(frozen=True, slots=True)
class Fact:
    """What a unit is to a period: the version that describes it, its version within the period, and the versions in
    which it was there at the end of the period and of the one before."""

    row: UnitRow
    curr: UnitRow | None
    here: UnitRow | None
    before: UnitRow | None


def history(rows: Iterable[UnitRow], periods: Sequence[Period]) -> list[Row]:
    """The rows of ``statistical_history``; a period and kind without any unit has none."""
    units = list(by_unit(rows))
    history_rows: list[Row] = []
    for period in periods:
        groups: defaultdict[str, list[Fact]] = defaultdict(list)
        for fact in facts(units, period):
            groups[fact.row.unit_type].append(fact)
        history_rows.extend(
            {"resolution": period.resolution, "year": period.year, "month": period.month, "unit_type": unit_type}
            | measured(groups[unit_type], period, MEASURES)
            for unit_type in UNIT_TYPES
            if groups[unit_type]
        )
    return history_rows


def facts(units: Iterable[Sequence[UnitRow]], period: Period) -> Iterator[Fact]:
    """Units that were there at the end of the period, or of the one before; the others count nowhere."""
    for versions in units:
        curr = _version(versions, period.first_day, period.last_day)
        prev = _version(versions, period.prev_first, period.prev_last)
        here, before = _if_there(curr, period.last_day), _if_there(prev, period.prev_last)
        if here is not None or before is not None:
            yield Fact(next(v for v in (curr, prev) if v is not None), curr, here, before)


def measured(group: Iterable[Fact], period: Period, measures: Iterable[str]) -> Row:
    """The measures of a group of facts, and its statistics."""
    counted: Counter[str] = Counter()
    summaries: list[Summary] = []
    for fact in group:
        counted.update(_count(fact, period))
        if fact.curr is not None and fact.curr.counts:
            summaries.append(fact.curr.summary)
    return {measure: counted[measure] for measure in measures} | {"stats_summary": shown(merge(summaries))}


def _version(versions: Sequence[UnitRow], first: date, last: date) -> UnitRow | None:
    """The latest version of which a day lies between the two."""
    return next((v for v in reversed(versions) if v.valid_from <= last and v.valid_until > first), None)


def _if_there(version: UnitRow | None, day: date) -> UnitRow | None:
    """The version, if in it the unit is in the stock of that day."""
    if version is None or version.valid_until <= day:
        return None
    birth, death = version.about["birth_date"], version.about["death_date"]
    return version if (birth or version.valid_from) <= day and (death is None or death > day) else None


def _count(fact: Fact, period: Period) -> dict[str, int]:
    here, before = fact.here, fact.before
    is_there, was_there = here is not None, before is not None
    counts, counted = here is not None and here.counts, before is not None and before.counts
    changed = [
        measure
        for measure, columns in CHANGES.items()
        if here is not None and before is not None and counts and counted
        if any(here.about[c] != before.about[c] for c in columns)
    ]
    return dict.fromkeys(changed, 1) | {
        "exists_count": int(is_there),
        "exists_change": is_there - was_there,
        "exists_added_count": int(is_there and not was_there),
        "exists_removed_count": int(was_there and not is_there),
        "countable_count": int(counts),
        "countable_change": counts - counted,
        "countable_added_count": int(counts and not counted),
        "countable_removed_count": int(counted and not counts),
        "births": int(_happened(fact.curr, "birth_date", period)),
        "deaths": int(_happened(fact.curr, "death_date", period)),
    }


def _happened(curr: UnitRow | None, column: str, period: Period) -> bool:
    day = None if curr is None or not curr.counts else curr.about[column]
    return day is not None and period.first_day <= day <= period.last_day

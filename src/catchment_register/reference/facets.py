"""``statistical_unit_facet`` and ``statistical_history_facet``: units and their history by what they are."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Any

from catchment_register.names import MEASURES
from catchment_register.reference.algebra import merge, shown
from catchment_register.reference.history import Fact, facts, measured
from catchment_register.reference.model import Period, Row, UnitRow, by_unit, last_valid_day

UNIT_DIMENSIONS = (
    "physical_region_path",
    "primary_activity_category_path",
    "sector_path",
    "legal_form_id",
    "physical_country_id",
    "status_id",
)
HISTORY_DIMENSIONS = (
    "primary_activity_category_path",
    "secondary_activity_category_path",
    "sector_path",
    "legal_form_id",
    "physical_region_path",
    "physical_country_id",
    "unit_size_id",
    "status_id",
)
HISTORY_MEASURES = (*MEASURES, "unit_size_change_count", "status_change_count")


def unit_facets(rows: Iterable[UnitRow]) -> list[Row]:
    """The rows of ``statistical_unit_facet``: rows of units that count, grouped by validity and dimensions."""
    groups: defaultdict[tuple[Any, ...], list[UnitRow]] = defaultdict(list)
    for row in rows:
        if row.counts:
            groups[(row.valid_from, row.valid_until, row.unit_type, *_values(row, UNIT_DIMENSIONS))].append(row)
    return [
        {
            "valid_from": valid_from,
            "valid_to": last_valid_day(valid_until),
            "valid_until": valid_until,
            "unit_type": unit_type,
            **dict(zip(UNIT_DIMENSIONS, values, strict=True)),
            "count": len(group),
            "stats_summary": shown(merge(row.summary for row in group)),
        }
        for (valid_from, valid_until, unit_type, *values), group in groups.items()
    ]


def history_facets(rows: Iterable[UnitRow], periods: Sequence[Period]) -> list[Row]:
    """The rows of ``statistical_history_facet``: the history of each group of units with the same dimensions."""
    units = list(by_unit(rows))
    facet_rows: list[Row] = []
    for period in periods:
        groups: defaultdict[tuple[Any, ...], list[Fact]] = defaultdict(list)
        for fact in facts(units, period):
            groups[(fact.row.unit_type, *_values(fact.row, HISTORY_DIMENSIONS))].append(fact)
        facet_rows.extend(
            {"resolution": period.resolution, "year": period.year, "month": period.month, "unit_type": unit_type}
            | dict(zip(HISTORY_DIMENSIONS, values, strict=True))
            | measured(group, period, HISTORY_MEASURES)
            for (unit_type, *values), group in groups.items()
        )
    return facet_rows


def _values(row: UnitRow, dimensions: Sequence[str]) -> tuple[Any, ...]:
    return tuple(row.about[dimension] for dimension in dimensions)

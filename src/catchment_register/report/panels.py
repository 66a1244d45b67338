"""What a chart of the history shows: stock, flows and sums on separate scales, and words for people."""

from __future__ import annotations

from calendar import monthrange
from collections.abc import Mapping, Sequence
from datetime import date

Series = Mapping[str, Sequence[float]]

STOCK = {"exists_count": "in the register", "countable_count": "counted"}
FLOWS = {
    "exists_change": "change",
    "exists_added_count": "came",
    "exists_removed_count": "went",
    "countable_change": "change of counted",
    "countable_added_count": "counted for the first time or again",
    "countable_removed_count": "no longer counted",
    "births": "births",
    "deaths": "deaths",
    "name_change_count": "new name",
    "primary_activity_category_change_count": "new primary activity",
    "secondary_activity_category_change_count": "new secondary activity",
    "sector_change_count": "new sector",
    "legal_form_change_count": "new legal form",
    "physical_region_change_count": "new region",
    "physical_country_change_count": "new country",
    "physical_address_change_count": "new address",
}


def panels(series: Series, resolution: str) -> dict[str, Series]:
    """The measures by their scale: units at the end of a period, units in it, and each sum of a statistic by itself."""
    period = "month" if resolution == "year-month" else "year"
    scales: dict[str, Series] = {
        f"Units at the end of the {period}": {STOCK[name]: series[name] for name in series if name in STOCK},
        f"Units in the {period}": {FLOWS[name]: series[name] for name in series if name in FLOWS},
    }
    sums = [name for name in series if name not in STOCK and name not in FLOWS]
    return {scale: lines for scale, lines in scales.items() if lines} | {
        f"Sum of {name.replace('_', ' ')}": {name.replace("_", " "): series[name]} for name in sums
    }


def title(what: str, unit_type: str, labels: Sequence[str]) -> str:
    """Such as ``Legal units, 2015 to 2026`` or ``Births and deaths of establishments, 2020``."""
    units = f"{unit_type.replace('_', ' ')}s"
    span = "" if not labels else f", {labels[0]}" if len(labels) == 1 else f", {labels[0]} to {labels[-1]}"
    return f"{what} of {units}{span}" if what else f"{units.capitalize()}{span}"


def partial_until(labels: Sequence[str], today: date) -> str | None:
    """Until when the last period counts, if it is not over: ``24 May 2026``."""
    if not labels:
        return None
    year, _, month = labels[-1].partition("-")
    last_month = int(month or 12)
    last_day = date(int(year), last_month, monthrange(int(year), last_month)[1])
    return f"{today.day} {today:%B %Y}" if today < last_day else None

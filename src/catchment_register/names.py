"""Names that the reports use: types of units, and the measures of ``statistical_history`` in its order of columns."""

from __future__ import annotations

UNIT_TYPES = ("establishment", "legal_unit", "enterprise", "power_group")
MEASURES = (
    "exists_count",
    "exists_change",
    "exists_added_count",
    "exists_removed_count",
    "countable_count",
    "countable_change",
    "countable_added_count",
    "countable_removed_count",
    "births",
    "deaths",
    "name_change_count",
    "primary_activity_category_change_count",
    "secondary_activity_category_change_count",
    "sector_change_count",
    "legal_form_change_count",
    "physical_region_change_count",
    "physical_country_change_count",
    "physical_address_change_count",
)

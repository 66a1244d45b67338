"""Answers about what is published: units, and the figures made of them."""

from __future__ import annotations

from datetime import date
from typing import Literal

from pydantic import AwareDatetime

from catchment_register.cli.answers.base import Answer, End, UnitType

# Text where it has more digits than readers of JSON keep.
Number = float | str


class NumberSummary(Answer):
    """A numeric statistical variable. Numbers that a float cannot hold exactly are text. The last three are null for a
    single value, and the last one where the mean is 0."""

    type: Literal["int", "float"]
    count: int
    sum: Number
    min: Number
    max: Number
    mean: Number
    sum_sq_diff: Number
    variance: Number | None
    stddev: Number | None
    coefficient_of_variation_pct: Number | None


class ValueSummary(Answer):
    """A statistical variable with text or boolean values: how often each value occurs."""

    type: Literal["string", "bool"]
    counts: dict[str, int]


Summaries = dict[str, NumberSummary | ValueSummary]


class UnitMatch(Answer):
    """A unit as of now, or as of the given day. ``valid_to`` is the last day of this state."""

    unit_type: UnitType
    unit_id: int
    ident: str | None
    name: str | None
    region: str | None
    activity: str | None
    sector: str | None
    employees: Number | None
    status: str | None
    enterprise_id: int | None
    valid_from: date
    valid_to: End


class Period(Answer):
    """A year or a month. ``stats_summary`` has the statistics by their codes."""

    period: str
    resolution: Literal["year", "year-month"]
    year: int
    month: int | None
    unit_type: UnitType
    exists_count: int
    exists_change: int
    exists_added_count: int
    exists_removed_count: int
    countable_count: int
    countable_change: int
    countable_added_count: int
    countable_removed_count: int
    births: int
    deaths: int
    name_change_count: int
    primary_activity_category_change_count: int
    secondary_activity_category_change_count: int
    sector_change_count: int
    legal_form_change_count: int
    physical_region_change_count: int
    physical_country_change_count: int
    physical_address_change_count: int
    stats_summary: Summaries


class Cohort(Answer):
    """A year: births, deaths, and how many of the units born in it survive. The row of units born before the history
    begins has no year."""

    year: int | None
    countable_count: int | None
    births: int | None
    deaths: int | None
    natural_change: int | None
    birth_rate_pct: float | None
    death_rate_pct: float | None
    born_then: int | None
    alive_today: int | None
    ended_alive: int | None
    survival_pct: float | None


class Choice(Answer):
    """A code that can be chosen next: ``key`` is its path, or the code itself where the list has no levels."""

    key: str
    name: str | None
    count: int
    has_children: bool


class Facets(Answer):
    """Units of a day. ``next`` has the codes that narrow the choice, by dimension, most units first."""

    unit_type: UnitType
    at: date
    count: int
    stats_summary: Summaries
    next: dict[str, list[Choice]]


class Value(Answer):
    """A value of a statistical variable."""

    type: Literal["int", "float", "string", "bool"]
    value: float | str | bool


class UnitRow(Answer):
    """A unit during a period without changes, as in the view ``statistical_unit``. ``valid_to`` is the last day,
    ``valid_until`` the day after it."""

    unit_type: UnitType
    unit_id: int
    valid_from: date
    valid_to: End
    valid_until: End
    external_idents: dict[str, str]
    name: str | None
    birth_date: date | None
    death_date: date | None
    search: str | None
    primary_activity_category_id: int | None
    primary_activity_category_path: str | None
    primary_activity_category_code: str | None
    secondary_activity_category_id: int | None
    secondary_activity_category_path: str | None
    secondary_activity_category_code: str | None
    activity_category_paths: list[str] | None
    sector_id: int | None
    sector_path: str | None
    sector_code: str | None
    sector_name: str | None
    data_source_ids: list[int] | None
    data_source_codes: list[str] | None
    legal_form_id: int | None
    legal_form_code: str | None
    legal_form_name: str | None
    physical_address_part1: str | None
    physical_address_part2: str | None
    physical_address_part3: str | None
    physical_postcode: str | None
    physical_postplace: str | None
    physical_region_id: int | None
    physical_region_path: str | None
    physical_region_code: str | None
    physical_country_id: int | None
    physical_country_iso_2: str | None
    physical_latitude: float | None
    physical_longitude: float | None
    physical_altitude: float | None
    domestic: bool | None
    postal_address_part1: str | None
    postal_address_part2: str | None
    postal_address_part3: str | None
    postal_postcode: str | None
    postal_postplace: str | None
    postal_region_id: int | None
    postal_region_path: str | None
    postal_region_code: str | None
    postal_country_id: int | None
    postal_country_iso_2: str | None
    web_address: str | None
    email_address: str | None
    phone_number: str | None
    landline: str | None
    mobile_number: str | None
    fax_number: str | None
    unit_size_id: int | None
    unit_size_code: str | None
    status_id: int | None
    status_code: str | None
    used_for_counting: bool
    last_edit_at: AwareDatetime | None
    last_edit_by: str | None
    last_edit_comment: str | None
    has_legal_unit: bool
    related_establishment_ids: list[int] | None
    excluded_establishment_ids: list[int] | None
    included_establishment_ids: list[int] | None
    related_legal_unit_ids: list[int] | None
    excluded_legal_unit_ids: list[int] | None
    included_legal_unit_ids: list[int] | None
    related_enterprise_ids: list[int] | None
    excluded_enterprise_ids: list[int] | None
    included_enterprise_ids: list[int] | None
    included_establishment_count: int | None
    included_legal_unit_count: int | None
    included_enterprise_count: int | None
    stats: dict[str, Value]
    stats_summary: Summaries
    tag_paths: list[str] | None
    hash_slot: int


class UnitsWritten(Answer):
    """The file and its number of rows."""

    file: str
    rows: int


class Code(Answer):
    """A code that is used by published units."""

    code: str | None
    name: str


class PathCode(Code):
    """A code of a hierarchical list that is used by published units, or an ancestor of one."""

    path: str

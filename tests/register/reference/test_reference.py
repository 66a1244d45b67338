"""The slow second implementation, by cases worked out by hand."""

from __future__ import annotations

from datetime import date
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from catchment_register.dates import OPEN_END
from catchment_register.reference import Period, UnitRow, all_periods, history, history_facets, unit_facets
from catchment_register.reference.algebra import Summary, Variable, lift, merge, shown
from catchment_register.reference.compare import differences
from catchment_register.reference.model import month, year
from catchment_register.reference.spans import Span, clip, cut

EMPLOYEES = Variable("employees", "int")
TURNOVER = Variable("turnover", "float")
COLOUR = Variable("colour", "string")
COLUMNS = (
    *("name", "birth_date", "death_date", "primary_activity_category_path", "secondary_activity_category_path"),
    *("sector_path", "legal_form_id", "physical_region_path", "physical_country_id", "unit_size_id", "status_id"),
    *("physical_address_part1", "physical_address_part2", "physical_address_part3", "physical_postcode"),
    "physical_postplace",
)


def row(unit_id: int, start: str, end: str | None = None, *, employees: int | None = None, **about: Any) -> UnitRow:
    columns = dict.fromkeys(COLUMNS) | {"name": "A", "used_for_counting": True} | about
    until = OPEN_END if end is None else date.fromisoformat(end)
    summary: Summary = {} if employees is None else lift(EMPLOYEES, employees)
    return UnitRow("legal_unit", unit_id, date.fromisoformat(start), until, columns, summary)


def measures(rows: list[UnitRow], period: Period) -> dict[str, int]:
    """The measures of a period that are not 0; nothing if the period has no row."""
    return {k: v for found in history(rows, [period]) for k, v in found.items() if k not in KEYS and v}


KEYS = {"resolution", "year", "month", "unit_type", "stats_summary"}
STAYS = {"exists_count": 1, "countable_count": 1}
COMES = STAYS | {"exists_change": 1, "exists_added_count": 1, "countable_change": 1, "countable_added_count": 1}
GOES = {"exists_change": -1, "exists_removed_count": 1, "countable_change": -1, "countable_removed_count": 1}


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        ([row(1, "2020-03-10")], COMES),
        ([row(1, "2020-01-01")], STAYS),
        ([row(1, "2020-01-01", "2020-03-31")], GOES),
        ([row(1, "2020-01-01", "2020-04-01")], STAYS),
        ([row(1, "2020-03-31", "2020-04-01")], COMES),
        ([row(1, "2020-03-05", "2020-03-20")], {}),
        ([row(1, "2020-01-01", birth_date=date(2020, 3, 15))], COMES | {"births": 1}),
        ([row(1, "2020-01-01", birth_date=date(2020, 4, 1))], {}),
        ([row(1, "2020-01-01", death_date=date(2020, 3, 31))], GOES | {"deaths": 1}),
        ([row(1, "2020-01-01", death_date=date(2020, 4, 1))], STAYS),
        ([row(1, "2020-01-01", birth_date=date(2020, 3, 2), death_date=date(2020, 3, 3))], {}),
        ([row(1, "2020-01-01", "2020-03-10"), row(1, "2020-03-10", name="B")], STAYS | {"name_change_count": 1}),
        ([row(1, "2020-01-01", "2020-02-10"), row(1, "2020-02-10", name="B")], STAYS),
        (
            [row(1, "2020-01-01", "2020-03-10"), row(1, "2020-03-10", name="B", used_for_counting=False)],
            {"exists_count": 1, "countable_change": -1, "countable_removed_count": 1},
        ),
        (
            [row(1, "2020-01-01", "2020-03-10"), row(1, "2020-03-10", physical_postcode="1", physical_postplace="X")],
            STAYS | {"physical_address_change_count": 1},
        ),
    ],
)
def test_a_month_counts_what_is_there_what_came_and_what_changed(rows: list[UnitRow], expected: dict[str, int]) -> None:
    assert measures(rows, month(2020, 3)) == expected


def test_a_unit_that_died_still_gives_its_statistics() -> None:
    (found,) = history([row(1, "2020-01-01", death_date=date(2020, 3, 5), employees=4)], [month(2020, 3)])
    assert found["stats_summary"]["employees"]["sum"] == 4
    assert history([row(1, "2020-01-01", death_date=date(2020, 3, 5), employees=4)], [month(2020, 4)]) == []


def test_facets_of_history_follow_the_version_of_the_period() -> None:
    rows = [row(1, "2020-01-01", "2020-03-10", sector_path="a"), row(1, "2020-03-10", sector_path="b")]
    found = history_facets(rows, [month(2020, 2), month(2020, 3)])
    assert [(f["month"], f["sector_path"], f["sector_change_count"]) for f in found] == [(2, "a", 0), (3, "b", 1)]


def test_facets_of_units_group_what_counts() -> None:
    rows = [
        row(1, "2020-01-01", employees=1),
        row(2, "2020-01-01", employees=3),
        row(3, "2020-01-01", used_for_counting=False),
    ]
    (found,) = unit_facets(rows)
    assert (found["count"], found["valid_to"], found["stats_summary"]["employees"]["mean"]) == (2, OPEN_END, 2)


def test_periods_reach_from_the_first_row_to_today() -> None:
    periods = all_periods([row(1, "2019-11-20"), row(2, "2020-05-01")], date(2020, 2, 13))
    assert [(p.year, p.month) for p in periods] == [
        (2019, None),
        (2020, None),
        (2019, 11),
        (2019, 12),
        (2020, 1),
        (2020, 2),
    ]
    assert all_periods([], date(2020, 2, 13)) == []


def test_periods_reach_back_a_hundred_years_at_most() -> None:
    periods = all_periods([row(1, "1850-01-01")], date(2024, 2, 29))
    assert (periods[0].year, len(periods)) == (1924, 101 + 100 * 12 + 1)


def test_a_period_knows_the_one_before_it() -> None:
    march = month(2020, 3)
    assert (march.first_day, march.last_day) == (date(2020, 3, 1), date(2020, 3, 31))
    assert (march.prev_first, march.prev_last) == (date(2020, 2, 1), date(2020, 2, 29))
    assert (month(2020, 12).last_day, month(2020, 1).prev_first) == (date(2020, 12, 31), date(2019, 12, 1))
    assert (year(2020).prev_first, year(2020).prev_last) == (date(2019, 1, 1), date(2019, 12, 31))


def test_figures_are_rounded_once_at_the_end() -> None:
    summary = merge([lift(TURNOVER, 0.005), lift(TURNOVER, 0.01), lift(COLOUR, "red")])
    figures = shown(summary)
    assert figures["colour"] == {"type": "string", "counts": {"red": 1}}
    assert figures["turnover"]["sum"] == Decimal("0.02")
    assert (figures["turnover"]["min"], figures["turnover"]["mean"]) == (Decimal("0.01"), Decimal("0.01"))


def test_some_figures_need_two_values_or_a_mean() -> None:
    one = shown(lift(EMPLOYEES, 3))["employees"]
    assert (one["variance"], one["stddev"], one["coefficient_of_variation_pct"]) == (None, None, None)
    around_zero = shown(merge([lift(EMPLOYEES, -1), lift(EMPLOYEES, 1)]))["employees"]
    assert (around_zero["stddev"], around_zero["coefficient_of_variation_pct"]) == (Decimal("1.41"), None)


@given(st.lists(st.integers(-1000, 1000), min_size=2, max_size=8), st.integers(1, 7))
def test_the_order_of_putting_values_together_does_not_matter(values: list[int], cut_at: int) -> None:
    parts = [lift(EMPLOYEES, v) for v in values]
    halves = merge([merge(parts[:cut_at]), merge(parts[cut_at:])])
    assert halves == merge(parts) == merge(reversed(parts))


def test_time_is_cut_at_every_start_and_end() -> None:
    days = [date(2020, 1, d) for d in range(1, 10)]
    spans = [Span(days[0], days[3]), Span(days[2], days[5])]
    assert cut(spans) == [Span(days[0], days[2]), Span(days[2], days[3]), Span(days[3], days[5])]
    assert clip([Span(days[0], days[8])], [Span(days[1], days[2]), Span(days[4], days[5])]) == [
        Span(days[1], days[2]),
        Span(days[4], days[5]),
    ]
    assert clip([Span(days[0], days[1])], [Span(days[1], days[2])]) == []


def test_a_comparison_tells_what_is_missing_too_much_or_different() -> None:
    published = [{"k": 1, "v": 1, "more": 0}, {"k": 2, "v": 2}, {"k": 4, "v": 1}, {"k": 4, "v": 1}]
    expected = [{"k": 1, "v": 9}, {"k": 3, "v": 3}, {"k": 4, "v": 1}]
    assert differences(published, expected, ("k",)) == [
        "missing: k 3",
        "too much: k 2",
        "k 1: v is 1, should be 9",
        "k 4: 2 rows, should be 1",
    ]
    assert differences(published[:1], [{"k": 1, "v": 1}], ("k",)) == []
    assert differences([{"k": 1}], [{"k": 1, "v": None}], ("k",)) == ["k 1: v is missing, should be None"]

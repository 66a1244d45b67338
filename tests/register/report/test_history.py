"""The history: stock, births, deaths and changes of a period, by its rules and written out by hand."""

from __future__ import annotations

from typing import Any

import pytest

from tests.fixtures.often import some_rows
from tests.fixtures.register_driver import Register
from tests.register.agreement import assert_agreement

MEASURES = (
    *("exists_count", "exists_change", "exists_added_count", "exists_removed_count"),
    *("countable_count", "countable_change", "countable_added_count", "countable_removed_count", "births", "deaths"),
)


def at(reg: Register, period: str, unit_type: str = "legal_unit") -> dict[str, Any] | None:
    """The row of a year, or of a month written as 2024-03."""
    year, _, month = period.partition("-")
    found = reg.rows(
        "select * from register.statistical_history"
        " where year = %s and month is not distinct from %s and unit_type = %s",
        int(year),
        int(month) if month else None,
        unit_type,
    )
    return found[0] if found else None


def figures(reg: Register, period: str, *measures: str) -> tuple[int, ...] | None:
    row = at(reg, period)
    return None if row is None else tuple(row[m] for m in measures)


def test_a_unit_is_added_where_it_begins_and_stays(reg: Register) -> None:
    reg.lu("1", "2024-03-15")
    reg.derive()
    assert at(reg, "2023") is None
    assert at(reg, "2024-02") is None
    for period in ("2024", "2024-03"):
        assert figures(reg, period, *MEASURES) == (1, 1, 1, 0, 1, 1, 1, 0, 0, 0)
    for period in ("2024-04", "2025", "2026", "2026-02"):
        assert figures(reg, period, *MEASURES) == (1, 0, 0, 0, 1, 0, 0, 0, 0, 0)
    assert at(reg, "2026-03") is None, "history ends with the month of today"
    assert_agreement(reg)


def test_a_birth_is_counted_in_its_period_only(reg: Register) -> None:
    reg.lu("1", "2024-01-01", birth_date="2024-03-31")
    reg.lu("2", "2024-01-01", birth_date="2010-05-05")
    reg.derive()
    births = {p: figures(reg, p, "exists_count", "births") for p in ("2024", "2024-02", "2024-03", "2024-04", "2025")}
    assert births == {"2024": (2, 1), "2024-02": (1, 0), "2024-03": (2, 1), "2024-04": (2, 0), "2025": (2, 0)}
    assert_agreement(reg)


def test_a_death_leaves_the_stock_at_once_and_is_counted_once(reg: Register) -> None:
    reg.lu("1", "2023-01-01", death_date="2024-06-30", employees=7)
    reg.derive()
    assert figures(reg, "2024-05", "exists_count", "exists_removed_count", "deaths") == (1, 0, 0)
    assert figures(reg, "2024-06", "exists_count", "exists_removed_count", "deaths") == (0, 1, 1)
    assert at(reg, "2024-07") is None
    assert figures(reg, "2024", "exists_count", "exists_removed_count", "deaths") == (0, 1, 1)
    row = at(reg, "2024-06")
    assert row is not None
    assert row["stats_summary"]["employees"]["sum"] == 7, "a unit that died in the period still has values"
    assert_agreement(reg)


def test_a_unit_that_is_born_and_dies_within_a_period_counts_nowhere_in_it(reg: Register) -> None:
    reg.lu("1", "2024-03-02", "2024-03-20", birth_date="2024-03-02", death_date="2024-03-19", employees=5)
    reg.derive()
    assert at(reg, "2024-03") is None
    assert at(reg, "2024") is None
    assert_agreement(reg)


def test_a_row_of_one_day_is_seen_at_the_end_of_a_month(reg: Register) -> None:
    reg.lu("1", "2024-03-31", "2024-04-01", region="03.01")
    reg.derive()
    assert figures(reg, "2024-03", "exists_count", "exists_added_count") == (1, 1)
    assert figures(reg, "2024-04", "exists_count", "exists_removed_count") == (0, 1)
    assert at(reg, "2024-05") is None
    assert at(reg, "2024") is None
    facets = reg.rows("select unit_type, exists_count from register.statistical_history_facet where month = 3")
    assert {f["unit_type"]: f["exists_count"] for f in facets} == {"legal_unit": 1, "enterprise": 1}
    assert_agreement(reg)


def test_units_that_do_not_count_exist_but_are_not_countable(reg: Register) -> None:
    reg.lu("1", "2023-01-01", "2024-02-01", employees=3)
    reg.lu("1", "2024-02-01", status="passive", employees=4)
    reg.derive()
    assert figures(reg, "2024-01", "exists_count", "countable_count") == (1, 1)
    assert figures(reg, "2024-02", "exists_count", "countable_count", "countable_removed_count") == (1, 0, 1)
    row = at(reg, "2024-02")
    assert row is not None
    assert row["stats_summary"] == {}
    assert_agreement(reg)


@pytest.mark.parametrize(
    ("measure", "before", "after"),
    some_rows(
        [
            ("name_change_count", {"name": "A"}, {"name": "B"}),
            ("primary_activity_category_change_count", {"activity": "A.01.1"}, {"activity": "G.47.5.2"}),
            ("secondary_activity_category_change_count", {}, {"secondary": "G.47.5.2"}),
            ("sector_change_count", {"sector": "2100"}, {"sector": "8200"}),
            ("legal_form_change_count", {"legal_form": "AS"}, {"legal_form": "ENK"}),
            ("physical_region_change_count", {"region": "03.01"}, {"region": "11.03"}),
            ("physical_country_change_count", {"region": "03.01"}, {}),
        ],
        one_in=2,
    ),
)
def test_a_change_is_counted_where_both_ends_count(
    reg: Register, measure: str, before: dict[str, str], after: dict[str, str]
) -> None:
    reg.lu("1", "2023-01-01", "2024-05-10", **before)
    reg.lu("1", "2024-05-10", **after)
    reg.derive()
    changes = {p: figures(reg, p, measure) for p in ("2024-04", "2024-05", "2024-06", "2024", "2025")}
    assert changes == {"2024-04": (0,), "2024-05": (1,), "2024-06": (0,), "2024": (1,), "2025": (0,)}
    assert_agreement(reg)


def test_a_change_back_within_a_period_is_none(reg: Register) -> None:
    reg.lu("1", "2023-01-01", "2024-05-10", name="A")
    reg.lu("1", "2024-05-10", "2024-05-20", name="B")
    reg.lu("1", "2024-05-20", name="A")
    reg.derive()
    assert figures(reg, "2024-05", "name_change_count") == (0,)
    assert figures(reg, "2024", "name_change_count") == (0,)
    assert_agreement(reg)


def test_a_hole_in_existence_is_a_removal_and_an_addition(reg: Register) -> None:
    reg.lu("1", "2023-01-01", "2024-03-10")
    reg.lu("1", "2024-06-15")
    reg.derive()
    assert figures(reg, "2024-03", "exists_count", "exists_removed_count") == (0, 1)
    assert at(reg, "2024-05") is None
    assert figures(reg, "2024-06", "exists_count", "exists_added_count") == (1, 1)
    assert figures(reg, "2024", "exists_count", "exists_change") == (1, 0)
    assert_agreement(reg)


def test_statistics_are_those_of_units_that_count(reg: Register) -> None:
    for ident, employees in (("1", 2), ("2", 4), ("3", 12)):
        reg.lu(ident, "2024-01-01", employees=employees, turnover=employees / 4)
    reg.derive()
    row = at(reg, "2025")
    assert row is not None
    assert row["stats_summary"]["employees"] == {
        "type": "int",
        "count": 3,
        "sum": 18,
        "min": 2,
        "max": 12,
        "mean": 6,
        "sum_sq_diff": 56,
        "variance": 28,
        "stddev": 5.29,
        "coefficient_of_variation_pct": 88.19,
    }
    assert row["stats_summary"]["turnover"]["sum"] == 4.5


def test_an_edit_of_a_birth_alone_is_published(reg: Register) -> None:
    reg.lu("1", "2024-01-01")
    reg.lu("2", "2024-01-01")
    reg.derive()
    reg.conn.execute("update register.settings set rebuild_share = 1")
    reg.conn.execute("update register.legal_unit set birth_date = '2024-01-01' where id = %s", [reg.unit_id("1")])
    reg.derive()
    assert figures(reg, "2024", "exists_count", "births") == (2, 1)
    facets = reg.rows("select births from register.statistical_history_facet where year = 2024 and month = 1")
    assert sum(f["births"] for f in facets if f["births"]) == 2, "of the legal unit and of its enterprise"
    assert_agreement(reg)


def test_a_month_with_a_change_a_birth_and_a_death(reg: Register) -> None:
    """The example of the documentation."""
    reg.lu("A", "2023-01-01", "2024-05-10", name="Alfa", employees=4)
    reg.lu("A", "2024-05-10", name="Alpha", employees=4)
    reg.lu("B", "2024-05-20", birth_date="2024-05-20", employees=2)
    reg.lu("C", "2020-01-01", death_date="2024-05-31", employees=7)
    reg.derive()
    measures = ("exists_count", "exists_change", "exists_added_count", "exists_removed_count", "births", "deaths")
    assert figures(reg, "2024-05", *measures, "name_change_count") == (2, 0, 1, 1, 1, 1, 1)
    row = at(reg, "2024-05")
    assert row is not None
    assert (row["stats_summary"]["employees"]["sum"], row["stats_summary"]["employees"]["count"]) == (13, 3)
    assert figures(reg, "2024-06", "exists_count", "exists_removed_count") == (2, 0)

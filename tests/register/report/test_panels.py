"""What a chart of the history shows, and what is in the picture of it."""

from __future__ import annotations

from datetime import date
from pathlib import Path

import pytest

from catchment_register.names import MEASURES
from catchment_register.report.panels import FLOWS, STOCK, panels, partial_until, title
from catchment_register.report.plot import labelled, line_rims, plot_panels
from tests.fixtures.often import some

YEARS = ["2024", "2025", "2026"]


def test_every_measure_has_a_scale_and_words() -> None:
    assert set(STOCK) | set(FLOWS) == set(MEASURES)
    words = [*STOCK.values(), *FLOWS.values()]
    assert len(set(words)) == len(words)


def test_stock_flows_and_sums_are_on_separate_scales() -> None:
    series = {name: [1.0] for name in ("births", "countable_count", "employees", "deaths", "turn_over")}
    assert {scale: list(lines) for scale, lines in panels(series, "year-month").items()} == {
        "Units at the end of the month": ["counted"],
        "Units in the month": ["births", "deaths"],
        "Sum of employees": ["employees"],
        "Sum of turn over": ["turn over"],
    }


@pytest.mark.parametrize(
    ("labels", "today", "until"),
    [
        (["2025", "2026"], date(2026, 5, 24), "24 May 2026"),
        (["2025", "2026"], date(2026, 12, 31), None),
        (["2025"], date(2026, 5, 24), None),
        (["2024-02"], date(2024, 2, 28), "28 February 2024"),
        (["2024-02"], date(2024, 2, 29), None),
        ([], date(2024, 2, 29), None),
    ],
)
def test_a_period_that_is_not_over_is_known(labels: list[str], today: date, until: str | None) -> None:
    assert partial_until(labels, today) == until


def test_titles_are_for_people() -> None:
    assert title("", "legal_unit", YEARS) == "Legal units, 2024 to 2026"
    assert title("Births and deaths", "power_group", YEARS[:1]) == "Births and deaths of power groups, 2024"
    assert title("", "enterprise", []) == "Enterprises"


@pytest.mark.parametrize("bars", some([False, True], one_in=2))
def test_a_picture_has_its_words_and_marks_the_partial_year(tmp_path: Path, bars: bool) -> None:
    file = tmp_path / "history.svg"
    drawn = panels({"countable_count": [5.0, 6.0, 7.0], "births": [1.0, 2.0, 0.0]}, "year")
    plot_panels(file, "Legal units, 2024 to 2026", YEARS, drawn, partial="24 May 2026", bars=bars)
    text = file.read_text()
    scales = ("Units at the end of the year", "Units in the year")
    for words in ("Legal units, 2024 to 2026", *scales, "2026: until 24 May 2026"):
        assert f"<!-- {words} -->" in text
    assert ("url(#h" in text) if bars else ("stroke-dasharray" in text)
    assert "rotate(-45" not in text


@pytest.mark.parametrize("first", [1, 5, 12])
@pytest.mark.parametrize("count", [1, 2, 9, 13, 38, 100, 300])
def test_labels_of_months_fit_and_fall_on_the_beginning_of_years(first: int, count: int) -> None:
    labels = [f"{2000 + n // 12}-{n % 12 + 1:02}" for n in range(first - 1, first - 1 + count)]
    places = labelled(labels)
    assert sum(len(labels[place]) + 1 for place in places) <= 64
    assert len(places) >= 1
    shown = [labels[place] for place in places]
    assert any(label.endswith("-01") for label in shown) == any(label.endswith("-01") for label in labels)


def test_labels_of_years_fit() -> None:
    for count in (1, 12, 13, 40, 200):
        labels = [str(1900 + n) for n in range(count)]
        assert sum(5 for _ in labelled(labels)) <= 64
    assert list(labelled(YEARS)) == [0, 1, 2]


def test_a_line_below_another_one_is_wider() -> None:
    assert line_rims([[1, 2, 3], [3, 2, 1], [0, 2, 0]]) == [0, 0, 0]
    assert line_rims([[9, 5, 5], [0, 1, 2], [4, 5, 5], [9, 1, 2]]) == [1, 1, 0, 0]
    assert line_rims([[1, 1], [1, 1], [1, 1]]) == [2, 1, 0]
    assert line_rims([[1], [1]]) == [1, 0]
    assert line_rims([]) == []

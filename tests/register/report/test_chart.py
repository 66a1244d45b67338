"""Charts of plain characters."""

from __future__ import annotations

import pytest

from catchment_register.report.chart import bar, lines, short


@pytest.mark.parametrize(
    ("value", "largest", "drawn"),
    [
        (0, 10, ""),
        (10, 10, "████"),
        (5, 10, "██"),
        (1, 32, "▏"),
        (0.001, 10, "▏"),
        (3, 0, ""),
        (-1, 10, ""),
        (9, 16, "██▎"),
    ],
)
def test_a_bar_is_the_share_of_the_largest(value: float, largest: float, drawn: str) -> None:
    assert bar(value, largest, 4) == drawn


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0, "0"),
        (950, "950"),
        (9999, "9999"),
        (12345, "12.3k"),
        (4_500_000, "4.5M"),
        (-2_000_000_000, "-2.0G"),
        (2.5, "2.5"),
    ],
)
def test_numbers_are_short(value: float, text: str) -> None:
    assert short(value) == text


def test_a_line_rises_from_the_left_bottom_to_the_right_top() -> None:
    drawn = lines(["2021", "2022", "2023", "2024"], {"units": [0, 1, 2, 3]}, width=40, height=4)
    assert drawn.splitlines() == [
        " 3┤⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⢀⣀⣀⠤⠤⠔⠒⠊⠉ ●",
        "  ┤⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⢀⣀⣀⠤⠤⠒⠒⠊⠉⠁⠀⠀⠀⠀⠀⠀⠀⠀",
        " 1┤⠀⠀⠀⠀⠀⠀⠀⠀⢀⣀⡠⠤⠤⠒⠒⠉⠉⠁⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀",
        " 0┤⣀⡠⠤⠔⠒⠒⠉⠉⠁⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀⠀",
        "  └───────────────────────────────────",
        "   2021       2022        2023    2024",
        "   ● units",
    ]


def test_every_line_fits_the_width() -> None:
    labels = [str(y) for y in range(1990, 2027)]
    series = {"a": [float(n * n) for n in range(37)], "b": [float(-n) for n in range(37)]}
    for width in (20, 40, 80, 200):
        assert all(len(line) <= width for line in lines(labels, series, width=width).splitlines()[:-1])


def test_one_point_no_points_and_only_zeros_are_drawn_too() -> None:
    assert "●" in lines(["2024"], {"a": [5.0]}, width=40)
    assert lines([], {"a": []}, width=40) == "nothing to draw"
    assert "●" in lines(["1", "2"], {"a": [0.0, 0.0]}, width=40)

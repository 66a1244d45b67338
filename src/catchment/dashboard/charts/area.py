"""Stacked areas over time: how much there was of each kind, one on top of the other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from markupsafe import Markup

from catchment.dashboard.charts.svg import element, nice_top, number, path, table
from catchment.dashboard.words import count

WIDTH, HEIGHT = 1080.0, 150.0
LEFT, RIGHT, TOP, BOTTOM = 44.0, 8.0, 8.0, 22.0


def stacked_area(
    series: Mapping[str, Sequence[float]], times: Sequence[str], *, label: str, unit: str = "tasks"
) -> Markup:
    """``series`` by tone (a state, drawn in its colour), all as long as ``times``. The axis starts at zero."""
    totals = [sum(values) for values in zip(*series.values(), strict=True)]
    top = nice_top(max([*totals, 1.0]))
    parts = [element("title", label), *_grid(top), *_times(times)]
    base = [0.0] * len(times)
    for tone, values in series.items():
        upper = [low + value for low, value in zip(base, values, strict=True)]
        if len(times) > 1:
            edge = [*_points(upper, top), *reversed(_points(base, top))]
            parts.append(element("path", d=f"{path(edge)} Z", class_=f"area tone-{tone}"))
        base = upper
    chart = element(
        "svg",
        *parts,
        viewBox=f"0 0 {WIDTH:g} {HEIGHT:g}",
        class_="chart",
        role="img",
        aria_label=label,
    )
    # Every tenth: a table that is read aloud has to end.
    rows = [[time, *(number(values[i]) for values in series.values())] for i, time in enumerate(times)][::-10]
    return chart + table(f"{label}, in {unit}", ["time", *series], rows)


def _points(values: Sequence[float], top: float) -> list[tuple[float, float]]:
    step = (WIDTH - LEFT - RIGHT) / max(1, len(values) - 1)
    return [(LEFT + i * step, _height(value, top)) for i, value in enumerate(values)]


def _height(value: float, top: float) -> float:
    return TOP + (HEIGHT - TOP - BOTTOM) * (1 - value / top)


def _grid(top: float) -> list[Markup]:
    lines: list[Markup] = []
    for share in (0.0, 0.5, 1.0):
        y = number(_height(top * share, top))
        text = count(round(top * share)) if top >= 2 or share in (0.0, 1.0) else ""
        lines.append(element("line", x1=number(LEFT), x2=number(WIDTH - RIGHT), y1=y, y2=y, class_="grid"))
        lines.append(element("text", text, x=number(LEFT - 6), y=y, class_="tick tick-y"))
    return lines


def _times(times: Sequence[str]) -> list[Markup]:
    if len(times) < 2:
        return []
    y = number(HEIGHT - 6)
    return [
        element("text", times[0], x=number(LEFT), y=y, class_="tick"),
        element("text", times[-1], x=number(WIDTH - RIGHT), y=y, class_="tick tick-end"),
    ]

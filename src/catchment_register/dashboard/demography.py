"""Stock, births and deaths over time, as columns: the stock above, births up and deaths down below it."""

from __future__ import annotations

from collections.abc import Sequence

from markupsafe import Markup

from catchment.dashboard.charts import element, number, table
from catchment_register.dashboard.overview import Period

WIDTH = 1080.0
STOCK_HEIGHT, FLOW_HEIGHT = 150.0, 120.0
LEFT, RIGHT, TOP, BOTTOM = 56.0, 8.0, 10.0, 20.0
MOST_LABELS = 12


def demography(periods: Sequence[Period], *, label: str, is_partial: bool = False) -> Markup:
    """Two charts over the same periods. ``is_partial``: the last one is not over, and drawn in outline."""
    drawn = [_stock(periods, f"{label}: stock", is_partial), _flows(periods, f"{label}: births and deaths", is_partial)]
    rows = [[one.label, f"{one.stock:,}", f"{one.births:,}", f"{one.deaths:,}"] for one in reversed(periods)]
    return Markup("").join(drawn) + table(label, ["period", "stock", "births", "deaths"], rows[:40])


def _stock(periods: Sequence[Period], label: str, is_partial: bool) -> Markup:
    top = _top(max([*(period.stock for period in periods), 1]))
    parts = [element("title", label)]
    for share in (0.0, 0.5, 1.0):
        parts += _line(STOCK_HEIGHT - BOTTOM - (STOCK_HEIGHT - TOP - BOTTOM) * share, _tick(top * share))
    for place, period in enumerate(periods):
        height = (STOCK_HEIGHT - TOP - BOTTOM) * period.stock / top
        name = f"{period.label}: {period.stock:,} units"
        parts.append(_column(periods, place, STOCK_HEIGHT - BOTTOM - height, height, "stock", name, is_partial))
    return _svg(STOCK_HEIGHT, label, [*parts, *_labels(periods, STOCK_HEIGHT)])


def _flows(periods: Sequence[Period], label: str, is_partial: bool) -> Markup:
    top = _top(max([*(max(period.births, period.deaths) for period in periods), 1]))
    half = (FLOW_HEIGHT - TOP - BOTTOM) / 2
    middle = TOP + half
    parts = [element("title", label)]
    for share in (-1.0, 0.0, 1.0):
        parts += _line(middle - half * share, _tick(top * abs(share)))
    for place, period in enumerate(periods):
        up, down = half * period.births / top, half * period.deaths / top
        births, deaths = f"{period.label}: {period.births:,} births", f"{period.label}: {period.deaths:,} deaths"
        parts.append(_column(periods, place, middle - up, up, "births", births, is_partial))
        parts.append(_column(periods, place, middle, down, "deaths", deaths, is_partial))
    return _svg(FLOW_HEIGHT, label, [*parts, *_labels(periods, FLOW_HEIGHT)])


def _svg(height: float, label: str, parts: Sequence[Markup]) -> Markup:
    return element("svg", *parts, viewBox=f"0 0 {WIDTH:g} {height:g}", class_="chart", role="img", aria_label=label)


def _column(
    periods: Sequence[Period], place: int, y: float, height: float, kind: str, name: str, is_partial: bool
) -> Markup:
    step = (WIDTH - LEFT - RIGHT) / max(1, len(periods))
    is_last = is_partial and place == len(periods) - 1
    return element(
        "rect",
        element("title", f"{name}, not over yet" if is_last else name),
        x=number(LEFT + step * (place + 0.15)),
        y=number(y),
        width=number(min(60.0, step * 0.7)),
        height=number(max(0.0, height)),
        class_=f"column {kind}{' partial' if is_last else ''}",
    )


def _labels(periods: Sequence[Period], height: float) -> list[Markup]:
    """As many as fit, the last one always."""
    step = (WIDTH - LEFT - RIGHT) / max(1, len(periods))
    every = -(-len(periods) // MOST_LABELS) or 1
    places = range((len(periods) - 1) % every, len(periods), every)
    return [
        element(
            "text",
            periods[place].label,
            x=number(LEFT + step * place + step * 0.15 + min(60.0, step * 0.7) / 2),
            y=number(height - 5),
            class_="tick tick-middle",
        )
        for place in places
    ]


def _line(y: float, text: str) -> list[Markup]:
    return [
        element("line", x1=number(LEFT), x2=number(WIDTH - RIGHT), y1=number(y), y2=number(y), class_="grid"),
        element("text", text, x=number(LEFT - 6), y=number(y), class_="tick tick-y"),
    ]


def _top(value: float) -> float:
    """The round number at or above a value that an axis ends with; its half is round too."""
    step = 1.0
    while step * 10 < value:
        step *= 10
    return next(step * factor for factor in (1, 2, 3, 4, 6, 8, 10) if step * factor >= value)


def _tick(value: float) -> str:
    return f"{value:,.0f}" if value == round(value) else ""

"""A line without axes: how a figure went, with a dot for the last value."""

from __future__ import annotations

from collections.abc import Sequence

from markupsafe import Markup

from catchment.dashboard.charts.svg import element, number, path

WIDTH, HEIGHT, EDGE = 96.0, 24.0, 3.0


def sparkline(values: Sequence[float], *, label: str, tone: str = "plain") -> Markup:
    """The values in order, from zero at the bottom. ``tone`` is a state, or ``plain``. ``label`` is read aloud."""
    top = max([*values, 1.0])
    width, height = WIDTH - 2 * EDGE, HEIGHT - 2 * EDGE
    step = width / max(1, len(values) - 1)
    # A short history is at the right end: the left is not there yet.
    start = EDGE + (width if len(values) == 1 else 0)
    points = [(start + i * step, EDGE + height * (1 - value / top)) for i, value in enumerate(values)]
    parts = [element("title", label)]
    if not points:
        parts.append(element("path", d=f"M{EDGE} {HEIGHT - EDGE} H{WIDTH - EDGE}", class_="spark-none"))
    else:
        (x, y), bottom = points[-1], HEIGHT - EDGE
        area = f"{path(points)} L{number(x)} {number(bottom)} L{number(points[0][0])} {number(bottom)} Z"
        parts += [
            element("path", d=area, class_="spark-area"),
            element("path", d=path(points), class_="spark-line"),
            element("circle", cx=number(x), cy=number(y), r="2.2", class_="spark-dot"),
        ]
    return element(
        "svg",
        *parts,
        viewBox=f"0 0 {WIDTH:g} {HEIGHT:g}",
        class_=f"spark tone-{tone}",
        role="img",
        width=f"{WIDTH:g}",
        height=f"{HEIGHT:g}",
    )

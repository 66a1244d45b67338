"""How old the data of a table were, against its target. The age grows with time, and drops with each refresh."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from itertools import pairwise
from typing import Protocol

from markupsafe import Markup

from catchment.dashboard.charts.svg import element, number, path, table
from catchment.dashboard.words import exact, span

WIDTH, HEIGHT = 1080.0, 190.0
LEFT, RIGHT, TOP, BOTTOM = 64.0, 8.0, 10.0, 22.0
SPARK_WIDTH, SPARK_HEIGHT, SPARK_EDGE = 104.0, 24.0, 3.0
MOST_SPOKEN = 24
_STEPS = (1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 21_600, 43_200, 86_400)


class Point(Protocol):
    """A refresh became visible: the age of the data just before, and right after."""

    @property
    def at(self) -> datetime: ...

    @property
    def before_seconds(self) -> float | None: ...

    @property
    def after_seconds(self) -> float: ...


Corner = tuple[datetime, float]


def corners(points: Sequence[Point], now: datetime, lag: float | None) -> list[Corner]:
    """The line that the age follows, up to now."""
    line: list[Corner] = []
    for point in points:
        if point.before_seconds is not None:
            line.append((point.at, point.before_seconds))
        line.append((point.at, point.after_seconds))
    if lag is not None and line:
        line.append((now, lag))
    return line


def lag_spark(points: Sequence[Point], now: datetime, lag: float | None, target: float | None, *, label: str) -> Markup:
    """A small one without axes; the dashed line is the target."""
    line = corners(points, now, lag)
    width, height = SPARK_WIDTH - 2 * SPARK_EDGE, SPARK_HEIGHT - 2 * SPARK_EDGE
    bottom = SPARK_HEIGHT - SPARK_EDGE
    parts = [element("title", label)]
    is_over = lag is not None and target is not None and lag > target
    if len(line) < 2:
        parts.append(
            element("path", d=f"M{SPARK_EDGE:g} {bottom:g} H{SPARK_WIDTH - SPARK_EDGE:g}", class_="spark-none")
        )
    else:
        top = max([value for _, value in line] + [1.15 * (target or 0), 0.001])
        start, seconds = line[0][0], max(0.001, (line[-1][0] - line[0][0]).total_seconds())
        drawn = [
            (SPARK_EDGE + width * (at - start).total_seconds() / seconds, bottom - height * value / top)
            for at, value in line
        ]
        x, y = drawn[-1]
        area = f"{path(drawn)} L{number(x)} {number(bottom)} L{number(drawn[0][0])} {number(bottom)} Z"
        parts += [element("path", d=area, class_="spark-area"), element("path", d=path(drawn), class_="spark-line")]
        if target is not None:
            level = number(bottom - height * target / top)
            parts.append(element("path", d=f"M{SPARK_EDGE:g} {level} H{SPARK_WIDTH - SPARK_EDGE:g}", class_="target"))
        parts.append(element("circle", cx=number(x), cy=number(y), r="2.2", class_="spark-dot"))
    return element(
        "svg",
        *parts,
        viewBox=f"0 0 {SPARK_WIDTH:g} {SPARK_HEIGHT:g}",
        class_=f"spark tone-{'interrupted' if is_over else 'plain'}",
        role="img",
        width=f"{SPARK_WIDTH:g}",
        height=f"{SPARK_HEIGHT:g}",
    )


def lag_chart(
    points: Sequence[Point], since: datetime, now: datetime, lag: float | None, target: float | None, *, label: str
) -> Markup:
    """With axes: seconds from zero, and the time from ``since`` to ``now``. What is above the target is marked."""
    line = [(max(at, since), value) for at, value in corners(points, now, lag)]
    top = _nice_top(max([value for _, value in line] + [1.1 * (target or 0), 1.0]))
    seconds = max(0.001, (now - since).total_seconds())

    def place(at: datetime, value: float) -> tuple[float, float]:
        share = min(1.0, max(0.0, (at - since).total_seconds() / seconds))
        return LEFT + (WIDTH - LEFT - RIGHT) * share, TOP + (HEIGHT - TOP - BOTTOM) * (1 - value / top)

    parts = [element("title", label)]
    for step in (0.0, 0.5, 1.0):
        y = number(place(now, top * step)[1])
        parts.append(element("line", x1=number(LEFT), x2=number(WIDTH - RIGHT), y1=y, y2=y, class_="grid"))
        parts.append(element("text", span(top * step) if step else "0", x=number(LEFT - 6), y=y, class_="tick tick-y"))
    for at, name in ((since, "tick"), (now, "tick tick-end")):
        x = number(place(at, 0)[0])
        parts.append(element("text", f"{exact(at)[5:-7]} UTC", x=x, y=number(HEIGHT - 6), class_=name))
    if line:
        drawn = [place(at, value) for at, value in line]
        bottom = number(HEIGHT - BOTTOM)
        area = f"{path(drawn)} L{number(drawn[-1][0])} {bottom} L{number(drawn[0][0])} {bottom} Z"
        parts += [element("path", d=area, class_="spark-area"), element("path", d=path(drawn), class_="spark-line")]
        if target is not None:
            for piece in _above(line, target):
                parts.append(element("path", d=path([place(at, value) for at, value in piece]), class_="over"))
    if target is not None:
        y = number(place(now, target)[1])
        parts.append(element("line", x1=number(LEFT), x2=number(WIDTH - RIGHT), y1=y, y2=y, class_="target"))
    chart = element(
        "svg", *parts, viewBox=f"0 0 {WIDTH:g} {HEIGHT:g}", class_="chart lag tone-plain", role="img", aria_label=label
    )
    kept = points[:: -max(1, len(points) // MOST_SPOKEN)]
    rows = [[exact(p.at), span(p.before_seconds or 0.0), span(p.after_seconds)] for p in kept]
    return chart + table(label, ["refresh", "age before", "age after"], rows)


def _above(line: Sequence[Corner], target: float) -> list[list[Corner]]:
    """The pieces of the line that are above the target."""
    pieces: list[list[Corner]] = []
    for (at, value), (next_at, next_value) in pairwise(line):
        if max(value, next_value) <= target or next_value < value:
            continue
        start = (at, value)
        if value < target:
            share = (target - value) / (next_value - value)
            start = (at + timedelta(seconds=(next_at - at).total_seconds() * share), target)
        pieces.append([start, (next_at, next_value)])
    return pieces


def _nice_top(seconds: float) -> float:
    """A length of time that an axis can end with: twice a round one, so that its middle is round too."""
    for step in _STEPS:
        if 2 * step >= seconds:
            return 2.0 * step
    return 2.0 * 86_400 * -(-seconds // (2 * 86_400))

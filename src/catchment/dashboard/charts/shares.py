"""Parts of a whole as one bar."""

from __future__ import annotations

from collections.abc import Mapping

from markupsafe import Markup

from catchment.dashboard.charts.svg import element, number
from catchment.dashboard.words import count

WIDTH, HEIGHT = 1000.0, 10.0
THINNEST = 3.0


def shares(parts: Mapping[str, int], whole: int, *, label: str) -> Markup:
    """``parts`` by tone (a state), in this order. What is there can be seen, however small its share."""
    given = {tone: value for tone, value in parts.items() if value > 0}
    widths = {tone: max(THINNEST, WIDTH * value / max(1, whole)) for tone, value in given.items()}
    # What was widened is taken from the widest.
    over = sum(widths.values()) - WIDTH
    if over > 0:
        widest = max(widths, key=lambda tone: widths[tone])
        widths[widest] -= over
    left, bars = 0.0, list[Markup]()
    for tone, width in widths.items():
        bars.append(
            element(
                "rect",
                element("title", f"{count(given[tone])} {tone}"),
                x=number(left),
                y="0",
                width=number(width),
                height=f"{HEIGHT:g}",
                class_=f"share tone-{tone}",
            )
        )
        left += width
    return element(
        "svg",
        element("title", label),
        *bars,
        viewBox=f"0 0 {WIDTH:g} {HEIGHT:g}",
        preserveAspectRatio="none",
        class_="shares",
        role="img",
        aria_label=label,
    )

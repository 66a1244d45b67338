"""The buckets of a parallel refresh on one time axis: how long each waited, and how long it ran."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Protocol

from markupsafe import Markup

from catchment.dashboard.charts.svg import element, number, table
from catchment.dashboard.words import span

WIDTH, LEFT, RIGHT, TOP, BOTTOM, ROW = 1080.0, 64.0, 8.0, 6.0, 22.0, 14.0
_TONES = {"completed": "completed", "claimed": "processing", "failed": "failed", "pending": "pending"}


class Bar(Protocol):
    @property
    def id(self) -> int: ...

    @property
    def name(self) -> str: ...

    @property
    def status(self) -> str: ...

    @property
    def made_at(self) -> datetime: ...

    @property
    def started_at(self) -> datetime | None: ...

    @property
    def ended_at(self) -> datetime | None: ...

    @property
    def claimed_by(self) -> str | None: ...


def bucket_chart(bars: Sequence[Bar], now: datetime, *, label: str) -> Markup:
    """A row for each: its wait is hatched, its run solid."""
    start = min(bar.made_at for bar in bars)
    end = max([bar.ended_at or now for bar in bars])
    seconds = max(0.001, (end - start).total_seconds())
    height = TOP + ROW * len(bars) + BOTTOM

    def place(at: datetime) -> float:
        return LEFT + (WIDTH - LEFT - RIGHT) * min(1.0, max(0.0, (at - start).total_seconds() / seconds))

    parts = [element("title", label)]
    for share in (0.0, 0.5, 1.0):
        x = number(LEFT + (WIDTH - LEFT - RIGHT) * share)
        parts.append(element("line", x1=x, x2=x, y1=number(TOP), y2=number(height - BOTTOM), class_="grid"))
        name = "tick" if share == 0 else "tick tick-end" if share == 1 else "tick tick-middle"
        parts.append(element("text", span(seconds * share) if share else "0", x=x, y=number(height - 6), class_=name))
    rows: list[list[object]] = []
    for n, bar in enumerate(bars):
        y = TOP + n * ROW
        begun = bar.started_at or bar.ended_at or now
        ended = bar.ended_at or now
        wait, ran = (begun - bar.made_at).total_seconds(), (ended - begun).total_seconds()
        said = f"bucket {bar.name}: {bar.status}, waited {span(wait)}"
        said += f", ran {span(ran)}{f' on {bar.claimed_by}' if bar.claimed_by else ''}" if bar.started_at else ""
        waiting = element(
            "rect", x=number(place(bar.made_at)), y=number(y + 5), height="4", class_="wait",
            width=number(max(0.5, place(begun) - place(bar.made_at))),
        )  # fmt: skip
        pieces = [element("title", said), waiting]
        if bar.started_at is not None:
            pieces.append(
                element("rect", x=number(place(begun)), y=number(y + 2), height="10", rx="2", class_="run",
                        width=number(max(1.5, place(ended) - place(begun))))
            )  # fmt: skip
        parts.append(element("text", bar.name, x=number(LEFT - 6), y=number(y + 7), class_="tick tick-y"))
        parts.append(element("g", *pieces, class_=f"bucket tone-{_TONES.get(bar.status, 'pending')}"))
        rows.append([bar.name, bar.status, span(wait), span(ran) if bar.started_at else "", bar.claimed_by or ""])
    chart = element(
        "svg", *parts, viewBox=f"0 0 {WIDTH:g} {number(height)}", class_="chart buckets", role="img", aria_label=label
    )
    return chart + table(label, ["bucket", "status", "waited", "ran", "worker"], rows)

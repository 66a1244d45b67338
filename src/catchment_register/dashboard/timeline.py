"""The timeline of a unit: a track for each attribute, a bar for each stretch of time in which it has one value."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from itertools import groupby

from markupsafe import Markup

from catchment.dashboard.charts import element, number, table
from catchment_register.dashboard.unit import UnitPeriod

WIDTH, LEFT, RIGHT = 1080.0, 108.0, 8.0
TRACK, BAR, HEAD, AXIS = 30.0, 22.0, 8.0, 22.0
CHARACTER = 6.4
MOST_FIGURES = 3
# Years between two labels of the axis.
_STEPS = (1, 2, 5, 10, 20, 50, 100, 200, 500)


@dataclass(frozen=True)
class Run:
    """A value and the time it is valid for, the end not included. ``is_open``: it has no end."""

    value: str
    start: date
    end: date
    is_open: bool


def timeline(periods: Sequence[UnitPeriod], today: date, *, label: str) -> Markup:
    """The tracks over one axis of time, from the first period to the last, or to today. A line marks today."""
    if not periods:
        return Markup("")
    first = periods[0].valid_from
    last = max([today, *(_end(period, today) for period in periods)])
    scale = _Scale(first, max(last, first + timedelta(days=365)))
    tracks = dict(_tracks(periods, today))
    height = HEAD + TRACK * len(tracks) + AXIS
    parts = [element("title", label), *_years(scale, height)]
    for place, (name, runs) in enumerate(tracks.items()):
        y = HEAD + TRACK * place
        parts.append(element("text", name, x="0", y=number(y + BAR / 2), class_="track"))
        for order, run in enumerate(runs):
            parts += _bar(scale, y, run, is_odd=order % 2 == 1)
    x = number(scale.place(today))
    parts.append(
        element(
            "line", element("title", f"today, {today}"), x1=x, x2=x, y1="0", y2=number(height - AXIS), class_="today"
        )
    )
    chart = element("svg", *parts, viewBox=f"0 0 {WIDTH:g} {height:g}", class_="timeline", role="img", aria_label=label)
    rows = [
        [name, run.value, run.start, "open" if run.is_open else run.end - timedelta(days=1)]
        for name, runs in tracks.items()
        for run in runs
    ]
    return chart + table(label, ["attribute", "value", "from", "to"], rows[:200])


class _Scale:
    """Where a day is on the axis."""

    def __init__(self, first: date, last: date) -> None:
        self.first, self.last = first, last

    def place(self, day: date) -> float:
        share = (day - self.first).days / (self.last - self.first).days
        return LEFT + (WIDTH - LEFT - RIGHT) * min(1.0, max(0.0, share))


def _end(period: UnitPeriod, today: date) -> date:
    """The day after its last one; of an open one, or one that Python cannot count beyond, some time after today."""
    if period.valid_to is None or period.valid_to >= date(9998, 1, 1):
        return max(today, period.valid_from) + timedelta(days=90)
    return period.valid_to + timedelta(days=1)


def _tracks(periods: Sequence[UnitPeriod], today: date) -> Iterator[tuple[str, list[Run]]]:
    """Attributes that have a value, each with its runs."""
    figures = sorted({code for period in periods for code in period.figures})[:MOST_FIGURES]
    tracks: dict[str, list[str | None]] = {
        "Name": [period.name for period in periods],
        "Status": [_status(period) for period in periods],
        "Region": [_both(period.region, period.region_name) for period in periods],
        "Activity": [_both(period.activity, period.activity_name) for period in periods],
        "Sector": [_both(period.sector, period.sector_name) for period in periods],
        "Legal form": [_both(period.legal_form, period.legal_form_name) for period in periods],
        **{code.replace("_", " ").capitalize(): [period.figures.get(code) for period in periods] for code in figures},
    }
    for name, values in tracks.items():
        if any(value is not None for value in values):
            yield name, list(_runs(periods, values, today))


def _status(period: UnitPeriod) -> str | None:
    if period.status is None:
        return None
    return period.status if period.used_for_counting else f"{period.status}, not counted"


def _both(code: str | None, name: str | None) -> str | None:
    return code if name is None else f"{code or ''} {name}".strip()


def _runs(periods: Sequence[UnitPeriod], values: Sequence[str | None], today: date) -> Iterator[Run]:
    """Adjacent periods with the same value are one run; a gap between periods ends it."""
    pairs = zip(periods, values, strict=True)
    block = 0
    keyed: list[tuple[tuple[int, str | None], UnitPeriod]] = []
    before: date | None = None
    for period, value in pairs:
        if before is not None and before != period.valid_from:
            block += 1
        before = _end(period, today)
        keyed.append(((block, value), period))
    for (_, value), group in groupby(keyed, key=lambda pair: pair[0]):
        run = [period for _, period in group]
        if value is not None:
            yield Run(value, run[0].valid_from, _end(run[-1], today), run[-1].valid_to is None)


def _bar(scale: _Scale, y: float, run: Run, *, is_odd: bool) -> list[Markup]:
    start, end = scale.place(run.start), scale.place(run.end)
    width = max(2.0, end - start - 1.5)
    until = "on" if run.is_open else f"to {run.end - timedelta(days=1)}"
    bar = element(
        "rect",
        element("title", f"{run.value}, from {run.start} {until}"),
        x=number(start),
        y=number(y),
        width=number(width),
        height=number(BAR),
        rx="3",
        class_=f"run{' odd' if is_odd else ''}",
    )
    room = int((width - 10) / CHARACTER)
    text = run.value if len(run.value) <= room else f"{run.value[: room - 1].rstrip()}…" if room >= 3 else ""
    if not text:
        return [bar]
    return [bar, element("text", text, x=number(start + 6), y=number(y + BAR / 2), class_="run-text")]


def _years(scale: _Scale, height: float) -> Iterator[Markup]:
    years = scale.last.year - scale.first.year
    step = next((step for step in _STEPS if years / step <= 10), 1000)
    for year in range(scale.first.year + 1, scale.last.year + 1):
        if year % step == 0:
            x = number(scale.place(date(year, 1, 1)))
            yield element("line", x1=x, x2=x, y1="0", y2=number(height - AXIS + 4), class_="grid")
            yield element("text", str(year), x=x, y=number(height - 6), class_="tick tick-middle")

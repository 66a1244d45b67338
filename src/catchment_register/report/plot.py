"""Charts as files, PNG, SVG or PDF by their suffix. Needs matplotlib, which the extra ``register`` brings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

from catchment_register.errors import ReportRefused
from catchment_register.report.panels import Series

SUFFIXES = (".png", ".svg", ".pdf")

# Distinguishable for colour-blind people and in print: after Okabe and Ito.
_COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")
_INK, _FAINT = "#333333", "#d0d0d0"
# How many characters of labels fit on the axis beside a long legend, with a gap between two labels.
_AXIS_CHARACTERS, _GAP = 64, 1
# How many months may lie between two labels, so that years begin with one; above these, whole years.
_MONTHS = (1, 2, 3, 6)
# Lines that lie on each other differ in width by this much, in points.
_RIM = 2.5


def plot_panels(
    file: Path,
    title: str,
    labels: Sequence[str],
    panels: Mapping[str, Series],
    *,
    partial: str | None = None,
    bars: bool = False,
) -> None:
    """Panels above each other over one axis of periods, each with its own scale: name of the scale, then series.

    ``partial`` says until when the last period counts, if that is not its end: it is marked, and a note says so.
    """
    shown = {scale: series for scale, series in panels.items() if series}
    if not labels or not shown:
        raise ReportRefused("there is nothing to draw", hint="There is no history in this time.")
    figure = _figure(file, len(shown))
    all_axes = figure.subplots(len(shown), sharex=True, squeeze=False)[:, 0]
    for axes, (scale, series) in zip(all_axes, shown.items(), strict=True):
        (_bars if bars else _lines)(axes, series, is_partial=partial is not None)
        _dress(axes, scale, labels)
    figure.suptitle(title, x=0.01, ha="left", fontsize=14, fontweight="bold", color=_INK)
    figure.align_ylabels()
    if partial is not None:
        figure.supxlabel(f"{labels[-1]}: until {partial}", x=0.01, ha="left", fontsize=9, color=_INK)
    try:
        figure.savefig(file, dpi=150)
    except OSError as error:
        raise ReportRefused(f"{file} cannot be written: {error.strerror}") from error


def _lines(axes: Any, series: Series, *, is_partial: bool) -> None:
    rims = line_rims(list(series.values()))
    for colour, rim, (name, line) in zip(_COLOURS * len(series), rims, series.items(), strict=False):
        whole = len(line) - 1 if is_partial and len(line) > 1 else len(line)
        width = 1.5 + _RIM * rim
        axes.plot(
            range(whole), line[:whole], color=colour, linewidth=width, marker="o", markersize=width + 2.5, label=name
        )
        if whole < len(line):
            axes.plot([whole - 1, whole], line[whole - 1 :], color=colour, linewidth=width, linestyle="--")
            size = width + 4.5
            axes.plot([whole], line[whole:], color=colour, marker="o", markersize=size, markerfacecolor="white")


def line_rims(lines: Sequence[Sequence[float]]) -> list[int]:
    """How many lines, drawn later, lie on a part of each line and on each other there: it is drawn wider by as many
    rims, and so is seen below them."""
    rims = [0] * len(lines)
    for number in reversed(range(len(lines))):
        hiding = [rims[o] for o in range(number + 1, len(lines)) if _share_a_part(lines[number], lines[o])]
        rims[number] = 1 + max(hiding) if hiding else 0
    return rims


def _share_a_part(one: Sequence[float], two: Sequence[float]) -> bool:
    same = [a == b for a, b in zip(one, two, strict=True)]
    return any(a and b for a, b in pairwise(same)) or (len(same) == 1 and same[0])


def labelled(labels: Sequence[str]) -> range:
    """The places of the labels that are written: as many as fit. Labels of months include the first month of years."""
    most = max(1, _AXIS_CHARACTERS // (max(map(len, labels)) + _GAP))
    step = -(-len(labels) // most)
    if "-" not in labels[0]:
        return range(0, len(labels), step)
    step = next((m for m in _MONTHS if m >= step), -(-step // 12) * 12)
    january = next((place for place, label in enumerate(labels) if label.endswith("-01")), 0)
    return range(january % step, len(labels), step)


def _bars(axes: Any, series: Series, *, is_partial: bool) -> None:
    share = 0.8 / max(1, len(series))
    for number, (name, line) in enumerate(series.items()):
        places = [n + (number - (len(series) - 1) / 2) * share for n in range(len(line))]
        drawn = axes.bar(places, line, width=share * 0.95, color=_COLOURS[number % len(_COLOURS)], label=name)
        if is_partial:
            drawn[-1].set(hatch="///", edgecolor="white")


def _figure(file: Path, panels: int) -> Any:
    if file.suffix.lower() not in SUFFIXES:
        raise ReportRefused(
            f"{file.name} is no kind of picture that can be drawn", hint=f"End it in {', '.join(SUFFIXES)}."
        )
    try:
        # Loaded when needed: it takes a second, and few verbs draw.
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure
    except ImportError:
        raise ReportRefused("matplotlib is not installed", hint="Run: pip install 'catchment[register]'") from None
    figure = Figure(figsize=(9, 1.2 + 3.2 * panels), layout="constrained")
    FigureCanvasAgg(figure)
    return figure


def _dress(axes: Any, scale: str, labels: Sequence[str]) -> None:
    from matplotlib.ticker import FuncFormatter, MaxNLocator

    places = labelled(labels)
    axes.set_xticks(places, [labels[place] for place in places])
    axes.set_xlim(-0.6, len(labels) - 0.4)
    low, high = axes.get_ylim()
    axes.set_ylim(min(0, low), high + 0.03 * (high - min(0, low)))
    axes.yaxis.set_major_locator(MaxNLocator(nbins=6, integer=True))
    axes.yaxis.set_major_formatter(FuncFormatter(_grouped))
    axes.set_ylabel(scale, color=_INK)
    axes.grid(visible=True, axis="y", color=_FAINT, linewidth=0.7)
    axes.set_axisbelow(True)
    axes.tick_params(colors=_INK, length=0)
    axes.spines[["top", "right", "left"]].set_visible(False)
    axes.spines["bottom"].set_color(_FAINT)
    # Beside the panel, where no line is hidden.
    axes.legend(frameon=False, loc="upper left", bbox_to_anchor=(1.0, 1.0), labelcolor=_INK)


def _grouped(value: float, _: object) -> str:
    return f"{value:,.0f}"

"""Charts as files, PNG or SVG by their suffix. Needs matplotlib, which the extra ``register`` brings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from catchment_register.errors import ReportRefused

SUFFIXES = (".png", ".svg", ".pdf")


def plot_lines(file: Path, title: str, labels: Sequence[str], series: Mapping[str, Sequence[float]]) -> None:
    """Lines over the labels of an axis."""
    figure, axes = _begin(file, title)
    for name, line in series.items():
        axes.plot(range(len(labels)), line, marker="o", markersize=3, label=name.replace("_", " "))
    _finish(figure, axes, labels, file)


def plot_bars(file: Path, title: str, labels: Sequence[str], series: Mapping[str, Sequence[float]]) -> None:
    """Bars beside each other over the labels of an axis."""
    figure, axes = _begin(file, title)
    share = 0.8 / max(1, len(series))
    for number, (name, line) in enumerate(series.items()):
        places = [n + (number - (len(series) - 1) / 2) * share for n in range(len(labels))]
        axes.bar(places, line, width=share, label=name.replace("_", " "))
    _finish(figure, axes, labels, file)


def _begin(file: Path, title: str) -> tuple[Any, Any]:
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
    figure = Figure(figsize=(10, 5), layout="constrained")
    FigureCanvasAgg(figure)
    axes: Any = figure.add_subplot()
    axes.set_title(title)
    return figure, axes


def _finish(figure: Any, axes: Any, labels: Sequence[str], file: Path) -> None:
    step = max(1, len(labels) // 15)
    axes.set_xticks(range(0, len(labels), step), labels[::step], rotation=45 if len(labels) > 8 else 0)
    axes.set_ylim(bottom=min(0, axes.get_ylim()[0]))
    axes.grid(visible=True, axis="y", alpha=0.3)
    axes.legend(frameon=False)
    try:
        figure.savefig(file)
    except OSError as error:
        raise ReportRefused(f"{file} cannot be written: {error.strerror}") from error

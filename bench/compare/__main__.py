"""Compares a few figures with a stored baseline, as ratios to a bare server in the same run.

python -m bench.compare [--quick] [--save] [NAME ...]

Each figure is the median of three ratios. Exits with 1 if one is more than 15 % slower than the baseline. ``--save``
stores the figures as the new baseline. ``--quick`` does a small part of the work once and compares nothing.
"""

from __future__ import annotations

import json
import statistics
import sys
from pathlib import Path

from bench.compare.bare import Bare, bare_seconds
from bench.compare.figures import FIGURES
from bench.engine.harness import Bench, bench_server

BASELINE = Path(__file__).with_name("baseline.json")
TIMES = 3
SLOWER = 1.15


def verdict(now: float, before: float | None) -> str:
    """What a ratio is against the one of the baseline."""
    if before is None:
        return "not in the baseline"
    change = now / before
    words = "slower" if change > SLOWER else "faster" if change < 1 / SLOWER else "as before"
    return f"{words}: {change:.2f} x the baseline"


def measured(bench: Bench, name: str, *, quick: bool) -> tuple[float, float]:
    """The medians of the seconds and of the ratio to the bare server."""
    figure = FIGURES[name]
    took: list[float] = []
    ratios: list[float] = []
    for _ in range(1 if quick else TIMES):
        before = bare_seconds(bench, figure.bare)
        took.append(figure.measure(bench, quick))
        ratios.append(took[-1] / statistics.mean([before, bare_seconds(bench, figure.bare)]))
    return statistics.median(took), statistics.median(ratios)


def main() -> int:
    quick, save = "--quick" in sys.argv, "--save" in sys.argv
    chosen = [a for a in sys.argv[1:] if not a.startswith("-")] or list(FIGURES)
    if unknown := [name for name in chosen if name not in FIGURES]:
        sys.exit(f"there is no {', '.join(unknown)}; there are {', '.join(FIGURES)}")
    baseline: dict[str, float] = json.loads(BASELINE.read_text()) if BASELINE.exists() else {}
    slower: list[str] = []
    with bench_server() as bench:
        for kind in Bare:
            bare_seconds(bench, kind)
        for name in chosen:
            took, ratio = measured(bench, name, quick=quick)
            found = "" if quick or save else verdict(ratio, baseline.get(name))
            print(f"{name:<11} {FIGURES[name].title:<42} {took:>8.3f} s {ratio:>8.3f} x bare  {found}", flush=True)
            if found.startswith("slower"):
                slower.append(name)
            if save:
                baseline[name] = round(ratio, 4)
    if save:
        BASELINE.write_text(json.dumps(baseline, indent=2) + "\n")
        print(f"Stored in {BASELINE.name}.")
    if slower:
        print(
            f"Slower by more than {SLOWER - 1:.0%}: {', '.join(slower)}. Run these again before you look for a cause."
        )
    return 1 if slower else 0


if __name__ == "__main__":
    sys.exit(main())

"""The comparison with the stored baseline: its verdicts, and a quick run. Its figures are for quieter machines."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from bench.compare.__main__ import verdict
from bench.compare.figures import FIGURES

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize(
    ("now", "before", "words"),
    [
        (1.16, 1.0, "slower: 1.16 x the baseline"),
        (1.15, 1.0, "as before: 1.15 x the baseline"),
        (0.9, 1.0, "as before: 0.90 x the baseline"),
        (0.5, 1.0, "faster: 0.50 x the baseline"),
        (1.0, None, "not in the baseline"),
    ],
)
def test_a_figure_is_slower_by_more_than_15_percent(now: float, before: float | None, words: str) -> None:
    assert verdict(now, before) == words


def test_a_quick_run_shows_each_figure_and_compares_nothing() -> None:
    done = _compare("--quick", "enqueue", "handlers")
    assert done.returncode == 0, done.stderr
    for name in ("enqueue", "handlers"):
        assert FIGURES[name].title in done.stdout
    assert "baseline" not in done.stdout


def test_an_unknown_figure_is_refused_with_those_that_exist() -> None:
    done = _compare("nonsense")
    assert done.returncode == 1
    assert "there is no nonsense; there are drain, two, lanes" in done.stderr


@pytest.mark.long
@pytest.mark.timeout(900)
def test_every_figure_can_be_measured() -> None:
    done = _compare("--quick")
    assert done.returncode == 0, done.stderr
    for figure in FIGURES.values():
        assert figure.title in done.stdout


def _compare(*arguments: str) -> subprocess.CompletedProcess[str]:
    argv = [sys.executable, "-m", "bench.compare", *arguments]
    return subprocess.run(argv, cwd=ROOT, capture_output=True, text=True, timeout=800)

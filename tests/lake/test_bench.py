"""The benchmarks of dynamic tables run to their end, so that none rots. Their figures are for quieter machines."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.fixtures.ray import needs_ray

ROOT = Path(__file__).parents[2]


@pytest.mark.long
@pytest.mark.timeout(1800)
def test_the_benchmarks_run(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "bench.lake", "--quick"], cwd=ROOT, capture_output=True, text=True, timeout=1700
    )
    assert done.returncode == 0, done.stderr
    for part in ("overhead", "scenario", "speedup", "tenfold", "curve"):
        assert f"— {part}" in done.stdout
    assert "compared with the query" in done.stdout


@needs_ray
@pytest.mark.long
@pytest.mark.timeout(900)
def test_the_benchmark_of_the_cluster_runs() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "bench.scale", "--quick", "keys", "kills"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=800,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("compared with the query") == 2
    assert "left behind                  files 0" in done.stdout

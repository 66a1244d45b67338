"""The benchmark of the register runs, on a register that is too small to say anything."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tests.docs.steps import ROOT


@pytest.mark.long
@pytest.mark.timeout(600)
def test_the_benchmark_runs_to_its_end() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "bench.register", "--quick", "--legal-units", "60", "full", "edit", "scale"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=560,
    )
    assert done.returncode == 0, done.stderr
    for figure in (
        "import, all files",
        "full derivation",
        "one edited unit (region)",
        "1 edited among 240 legal units",
    ):
        assert figure in done.stdout

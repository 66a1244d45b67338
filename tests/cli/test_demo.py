"""The demo a newcomer sees first."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest


def lines_of(tmp_path: Path, *arguments: str) -> list[str]:
    environment = {k: v for k, v in os.environ.items() if k not in ("CATCHMENT_DSN", "CATCHMENT_LAKE")}
    done = subprocess.run(
        [sys.executable, "-m", "catchment", "demo", *arguments],
        capture_output=True,
        text=True,
        timeout=200,
        env=environment | {"COLUMNS": "400", "TMPDIR": str(tmp_path)},
    )
    assert done.returncode == 0, done.stderr
    assert list(tmp_path.glob("catchment-demo-*")) == []
    return done.stdout.strip().splitlines()


def test_demo_tells_the_story_to_its_end(tmp_path: Path) -> None:
    *_, end, _, hint = lines_of(tmp_path, "--no-lake")
    assert re.search(r"Worker 1 was killed at [0-9.]+ s with ([1-4]) tasks? in its hands; worker 2 took", end)
    assert "failed once" in end
    assert "Each of the 200 children took effect exactly once (200 rows)" in end
    assert hint.endswith("catchment register demo")


@pytest.mark.timeout(220)
def test_demo_goes_on_with_a_dynamic_table(tmp_path: Path) -> None:
    created, changed, renamed, audit = lines_of(tmp_path, "--children", "10")[-6:-2]
    assert "100,000 rows" in created
    assert "an incremental refresh wrote 1,000 of 100,000 rows" in changed
    assert "40,000 customers to be computed, in" in renamed
    assert "One commit" in renamed
    assert "all 100,000 rows equal the query" in audit

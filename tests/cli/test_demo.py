"""The demo a newcomer sees first."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path


def test_demo_tells_the_story_to_its_end(tmp_path: Path) -> None:
    environment = {k: v for k, v in os.environ.items() if k != "CATCHMENT_DSN"}
    done = subprocess.run(
        [sys.executable, "-m", "catchment", "demo"],
        capture_output=True,
        text=True,
        timeout=100,
        env=environment | {"COLUMNS": "400", "TMPDIR": str(tmp_path)},
    )
    assert done.returncode == 0, done.stderr
    last = done.stdout.strip().splitlines()[-1]
    assert "Worker 1 was killed" in last
    assert "worker 2 took them over" in last
    assert "failed once" in last
    assert "Each of the 200 children took effect exactly once (200 rows)" in last
    assert list(tmp_path.glob("catchment-demo-*")) == []

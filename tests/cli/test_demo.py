"""The demo a newcomer sees first."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import httpx
import pytest

from tests.fixtures.worker import wait_until
from tests.worker.crew import is_alive


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


ADDRESS = r"The dashboard shows it in a browser: http://127\.0\.0\.1:\d+"


@pytest.mark.timeout(220)
def test_demo_tells_the_story_to_its_end_and_goes_on_with_a_dynamic_table(tmp_path: Path) -> None:
    *lines, created, changed, renamed, audit, ends, _, hint = lines_of(tmp_path)
    (end,) = [line for before, line in pairwise(lines) if re.fullmatch(ADDRESS, before)]
    assert re.search(r"Worker 1 was killed at [0-9.]+ s while it held ([1-4]) tasks?; worker 2 took", end)
    assert "failed once" in end
    assert "Each of the 200 children took effect exactly once (200 rows)" in end
    assert "in a terminal it stays" in ends
    assert hint.endswith("catchment register demo")
    assert "100,000 rows" in created
    assert "an incremental refresh wrote 1,000 of 100,000 rows" in changed
    assert "40,000 customers to be computed, in" in renamed
    assert "One commit" in renamed
    assert "all 100,000 rows equal the query" in audit


@pytest.mark.long
@pytest.mark.parametrize("end", [signal.SIGINT, signal.SIGKILL])
def test_demo_leaves_no_process_behind(tmp_path: Path, end: signal.Signals) -> None:
    """Stopped in the middle: neither workers nor dashboard nor server."""
    demo = subprocess.Popen(
        # More children than it can finish before the signal.
        [sys.executable, "-m", "catchment", "demo", "--no-lake", "--children", "5000"],
        env=os.environ | {"COLUMNS": "400", "TMPDIR": str(tmp_path)},
        stdout=subprocess.PIPE,
        text=True,
        # A background job of a shell would ignore it, and what it starts as well.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    with demo:
        assert demo.stdout is not None
        address = next(line.split()[-1] for line in demo.stdout if re.match(ADDRESS, line))
        pids = _descendants(demo.pid)
        assert len(pids) >= 3  # two workers and the dashboard
        wait_until(lambda: httpx.get(f"{address}/api/tasks").raise_for_status().json()["tasks"])
        demo.send_signal(end)
        demo.stdout.read()  # whoever leaves before the end of the output breaks its pipe, which is another end
    wait_until(lambda: not any(is_alive(pid) for pid in pids))
    if end is signal.SIGINT:
        assert demo.returncode == 130
        assert list(tmp_path.glob("catchment-demo-*")) == []


def _descendants(pid: int) -> list[int]:
    children = [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    return children + [below for child in children for below in _descendants(child)]

"""A coordinator, a publisher or a sweeper dies at any step: the refresh continues where it was, and happens once."""

from __future__ import annotations

import pytest

from tests.fixtures.often import often
from tests.lake.crash.conftest import Crash

SINGLE = often("in the commit", now_and_then=("before publishing rows", "after the commit"))
PARALLEL = often(
    "after the plan",
    now_and_then=("while planning", "before publishing files", "in the commit", "after the commit"),
)
# Before there are subtasks the refresh is decided upon again, and one worker that is left would do it alone.
WORKERS = {"while planning": 3, "after the plan": 3}


@pytest.mark.long
@pytest.mark.parametrize("step", PARALLEL)
def test_a_parallel_refresh_survives_its_coordinator(crash: Crash, step: str) -> None:
    row = crash.run(step, workers=WORKERS.get(step, 2))
    subtasks = crash.crew.subtasks(row["id"])
    assert len(subtasks) == 8
    # What was computed before the death was not computed again.
    assert {(task["status"], task["retry_count"]) for task in subtasks} == {("completed", 0)}


@pytest.mark.parametrize("step", SINGLE)
@pytest.mark.long
def test_a_single_refresh_survives_its_worker(crash: Crash, step: str) -> None:
    row = crash.run(step, is_parallel=False)
    assert row["plan"] is None


@pytest.mark.long
def test_a_sweep_that_dies_is_done_again(crash: Crash) -> None:
    crash.run("before the clean-up")

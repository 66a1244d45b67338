"""A worker dies in the middle of a subtask: its range is computed again, in halves; the others are not."""

from __future__ import annotations

import pytest

from tests.fixtures.often import often
from tests.lake.crash.conftest import Crash


@pytest.mark.long
@pytest.mark.parametrize("step", often("after a bucket's files", now_and_then=["before a bucket's files"]))
def test_a_range_whose_worker_died_is_computed_in_halves(crash: Crash, step: str) -> None:
    row = crash.run(step)
    subtasks = crash.crew.subtasks(row["id"])
    assert len(subtasks) == 8 + 2
    assert {task["status"] for task in subtasks} == {"completed"}
    (split,) = [task for task in subtasks if task["retry_count"]]
    assert (split["retry_count"], split["result_location"]) == (1, None)
    totals = [task["subtask_data"]["total_partitions"] for task in subtasks]
    assert (totals.count(8), totals.count(16)) == (8, 2)
    assert row["figures"]["splits"] == 1

"""A worker dies in the middle of a subtask: its range is computed again, in halves; the others are not."""

from __future__ import annotations

from pathlib import Path

import pytest

from catchment.lake.query.ddl import parse_statements
from catchment.lake.tables.lifecycle import create
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


@pytest.mark.timeout(600)
@pytest.mark.parametrize("replaced", often("up", now_and_then=["dt"]))
def test_subtasks_that_a_new_definition_overtakes_do_not_hang(crash: Crash, tmp_path: Path, replaced: str) -> None:
    """All workers are stopped in a subtask of ``dt`` when the definition of it, or of what it reads, is replaced."""
    case = crash.case
    case.make("source", "k BIGINT, v BIGINT")
    case.sql("INSERT INTO source SELECT i % 100, i FROM range(1000) AS r(i)")
    old = {"up": "SELECT k, v FROM source", "dt": "SELECT k, max(v) AS m FROM up GROUP BY k"}
    spread = "REFRESH_MODE = FULL PARALLEL_THRESHOLD = 2"
    for name, query in old.items():
        case.create(f"CREATE DYNAMIC TABLE {name} TARGET_LAG = '1 day' {spread if name == 'dt' else ''} AS {query}")
    case.refresh("dt")
    case.sql("UPDATE source SET v = v + 1000")
    case.pg("select worker.cancel(id, 'done here') from worker.tasks where command = 'lake_refresh'")
    stopped = []
    for place in range(2):
        crash.marker = tmp_path / f"stopped {place}"
        stopped.append(crash.marker)
        crash.hire("stopped in a bucket", 1)
    crash.crew.wait_free()
    refresh_id = crash.crew.request("dt")
    for marker in stopped:
        crash.marker = marker
        crash.victim()
    (definition,) = parse_statements(
        f"CREATE OR REPLACE DYNAMIC TABLE {replaced} TARGET_LAG = '1 day' AS FROM ({old[replaced]}) WHERE true"
    )
    case.control.request_round([create(case.duck, case.control, definition).dt_id], "create")
    case.fill_replacement()
    for marker in stopped:
        crash.marker = marker
        crash.wake()
    assert crash.crew.wait(refresh_id)["state"] == "SKIPPED"
    crash.crew.refresh("dt")
    case.check("dt")
    subtasks = crash.crew.subtasks(refresh_id)
    assert {(task["status"], task["retry_count"] < 2) for task in subtasks} == {("completed", True)}

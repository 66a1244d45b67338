"""A range that does not fit into memory is halved until it does."""

from __future__ import annotations

import pytest

from tests.lake.tasks.crew import LakeCrew

MEMORY = {
    "CATCHMENT_LAKE_MEMORY_LIMIT": "60MB",
    "CATCHMENT_PARALLEL_MIN_BUCKETS": "1",
    "CATCHMENT_PARALLEL_BUCKETS_PER_WORKER": "1",
}


@pytest.mark.long
def test_a_subtask_without_enough_memory_is_split_and_the_table_is_right(lake_crew: LakeCrew) -> None:
    """Lists are kept in memory whole, so all of them together need more than there is; in parts they do not."""
    case = lake_crew.case
    case.make("words", "k BIGINT, word VARCHAR")
    case.sql("INSERT INTO words SELECT i % 4000, repeat('word number ' || i, 4) FROM range(700000) AS r(i)")
    case.create(
        "CREATE DYNAMIC TABLE dt TARGET_LAG = '1 day' REFRESH_MODE = INCREMENTAL"
        " AS SELECT k, list(word ORDER BY word) AS words FROM words GROUP BY k"
    )
    lake_crew.hire(1, settings=MEMORY)
    row = lake_crew.refresh("dt", seconds=90)
    subtasks = lake_crew.subtasks(row["id"])
    assert row["figures"]["splits"] > 0
    assert {task["status"] for task in subtasks} == {"completed"}
    assert len(subtasks) == 1 + 2 * row["figures"]["splits"]
    assert case.sql("SELECT count(*), sum(len(words)) FROM dt") == [(4000, 700000)]
    case.check("dt")
    lake_crew.wait_clean()

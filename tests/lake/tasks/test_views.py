"""What people see of a parallel refresh while it runs and afterwards, under the names and words they know."""

from __future__ import annotations

import re
import urllib.request

import pytest

from tests.engine.test_metrics_server import listening
from tests.fixtures.worker import wait_until
from tests.lake.tasks.conftest import ToldCrew
from tests.lake.tasks.test_limits import running

SUBTASK_COLUMNS = (
    "id parent_refresh_id dynamic_table subtask_type subtask_data status result_location claimed_by claimed_at "
    "heartbeat_at completed_at error_message retry_count created_at"
)
CLAIM_COLUMNS = (
    "dynamic_table worker_id claimed_at heartbeat_at mode parent_refresh_id subtasks_total subtasks_completed"
)
METRICS = (
    "parallel_refreshes_total",
    "subtasks_created_total",
    "subtasks_completed_total",
    "subtasks_failed_total",
    "parallel_refresh_seconds_count",
    "subtask_seconds_count",
    "coordinator_wait_seconds_count",
)


def columns(crew: ToldCrew, view: str) -> str:
    rows = crew.case.pg(
        "select column_name from information_schema.columns where table_schema = 'lake' and table_name = %s"
        " order by ordinal_position",
        view,
    )
    return " ".join(name for (name,) in rows)


def claims(crew: ToldCrew, mode: str) -> list[dict[str, object]]:
    rows = crew.case.pg("select to_jsonb(c) from lake.refresh_claims as c where mode = %s", mode)
    return [row for (row,) in rows]


@pytest.mark.long
def test_subtasks_and_claims_are_seen_as_they_run(told_crew: ToldCrew) -> None:
    assert columns(told_crew, "refresh_subtasks") == SUBTASK_COLUMNS
    assert columns(told_crew, "refresh_claims") == CLAIM_COLUMNS
    told_crew.fill("seen")
    gate = told_crew.gate("seen")
    refresh_id = told_crew.request("seen")
    wait_until(lambda: running(told_crew, refresh_id) == 3, seconds=40)

    subtasks = told_crew.subtasks(refresh_id)
    total = len(subtasks)
    assert [task["status"] for task in subtasks].count("pending") == total - 3
    assert {task["dynamic_table"] for task in subtasks} == {"main.seen"}
    assert {task["subtask_type"] for task in subtasks} == {"hash_range"}
    assert sorted(task["subtask_data"]["partition"] for task in subtasks) == list(range(total))
    expected = {"key_column": "k", "partition": 0, "total_partitions": total, "method": "hash"}
    assert expected in [task["subtask_data"] for task in subtasks]
    at_work = next(task for task in subtasks if task["status"] == "claimed")
    assert at_work["claimed_by"]
    assert at_work["claimed_at"]
    assert at_work["heartbeat_at"]

    (coordinator,) = claims(told_crew, "coordinator")
    assert (coordinator["dynamic_table"], coordinator["worker_id"]) == ("main.seen", None)
    assert (coordinator["subtasks_total"], coordinator["subtasks_completed"]) == (total, 0)
    assert coordinator["heartbeat_at"]
    at_it = claims(told_crew, "subtask")
    assert [claim["parent_refresh_id"] for claim in at_it] == [refresh_id] * 3
    # Three processes of one machine.
    assert len({claim["worker_id"] for claim in at_it}) == 3
    assert {task["claimed_by"] for task in subtasks if task["claimed_by"]} == {claim["worker_id"] for claim in at_it}

    gate.touch()
    assert told_crew.wait(refresh_id)["state"] == "SUCCEEDED"
    told_crew.wait_clean()
    done = told_crew.subtasks(refresh_id)
    assert {task["status"] for task in done} == {"completed"}
    assert all(re.search(r"/__b=\d+/r\d+-f\d+-\d+-\d+-a1-\w+\.parquet$", task["result_location"]) for task in done)
    assert all(task["completed_at"] and task["error_message"] is None for task in done)
    assert claims(told_crew, "coordinator") == claims(told_crew, "subtask") == []


def test_a_single_refresh_is_a_claim_too(told_crew: ToldCrew) -> None:
    told_crew.make("alone", rows=10, properties="ALLOW_PARALLEL_REFRESH = FALSE")
    # A worker that wants to commit waits here.
    with told_crew.case.commit_lock():
        refresh_id = told_crew.request("alone")
        wait_until(lambda: claims(told_crew, "single") != [], seconds=40)
        (claim,) = claims(told_crew, "single")
    assert (claim["dynamic_table"], claim["subtasks_total"]) == ("main.alone", None)
    assert claim["worker_id"]
    assert claim["claimed_at"]
    assert claim["heartbeat_at"]
    assert told_crew.wait(refresh_id)["state"] == "SUCCEEDED"
    assert told_crew.subtasks(refresh_id) == claims(told_crew, "single") == []


def scraped(crew: ToldCrew) -> dict[str, float]:
    """The metrics of all workers together."""
    found: dict[str, float] = {}
    for place in range(1, 4):
        address = listening(crew.folder.parent / f"worker-{place}.log")
        with urllib.request.urlopen(f"http://{address}/metrics", timeout=10) as answer:
            for line in answer.read().decode().splitlines():
                name, _, value = line.rpartition(" ")
                if name in METRICS:
                    found[name] = found.get(name, 0) + float(value)
    return found


@pytest.mark.long
def test_the_metrics_of_all_workers_add_up(told_crew: ToldCrew) -> None:
    told_crew.fill("measured")
    told_crew.tell("measured", fail=1, only=0)
    before = scraped(told_crew)
    assert set(before) == set(METRICS)
    row = told_crew.refresh("measured")
    subtasks = row["figures"]["subtasks"]
    after = scraped(told_crew)
    grown = {name: after[name] - before[name] for name in METRICS}
    assert grown == {
        "parallel_refreshes_total": 1,
        "subtasks_created_total": subtasks,
        "subtasks_completed_total": subtasks,
        "subtasks_failed_total": 1,
        "parallel_refresh_seconds_count": 1,
        "subtask_seconds_count": subtasks,
        "coordinator_wait_seconds_count": 1,
    }
    assert {"skew", "bytes", "rows_in", "rows_written", "attempts", "publish_ms"} <= set(row["figures"])
    assert row["figures"]["attempts"] == subtasks + 1

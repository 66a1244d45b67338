"""``catchment task retry`` and ``cancel`` by a filter."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

from tests.fixtures.engine import Engine
from tests.fixtures.worker import StartWorker, wait_until


def typed(db: str, *words: str, answer: str = "") -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "catchment", "task", *words],
        input=answer,
        capture_output=True,
        text=True,
        timeout=200,
        env=os.environ | {"CATCHMENT_DSN": db, "COLUMNS": "300"},
    )


def test_a_filter_is_counted_confirmed_and_done_by_any_worker(
    db: str, committed: Engine, start_worker: StartWorker
) -> None:
    committed.queue("idle")
    failed = [committed.enqueue(fail="no") for _ in range(2)]
    committed.drain()
    committed.conn.execute("select worker.pause_queue('work')")
    left = typed(db, "retry", "--failed", "--since", "1h", answer="n\n")
    assert left.returncode == 1
    assert "Retry 2 tasks?" in left.stderr
    for more in ((), ("--json",)):
        silent = typed(db, "retry", "--failed", *more)
        assert (silent.returncode, silent.stdout) == (1, "")
        assert "2 tasks would be retried; nothing was done" in silent.stderr
        assert "--yes" in silent.stderr
    assert typed(db, "retry", "--failed", "--dry-run").stdout == "2 tasks would be retried.\n"
    counted = json.loads(typed(db, "cancel", "--command", "act", "--dry-run", "--json").stdout)
    assert (counted["id"], counted["verb"], counted["expected"], counted["done"]) == (None, "cancel", 0, 0)
    assert committed.value("select count(*) from worker.bulk") == 0
    alone = typed(db, "cancel", "--state", "pending", "--queue", "work", "--yes")
    assert "No task matches." in alone.stderr
    none = typed(db, "retry", "--failed", "--error", "NO", "--yes")
    assert "as soon as a worker is alive: catchment worker" in none.stderr
    start_worker("--queue", "idle")
    bulk = int(none.stdout)
    wait_until(lambda: committed.state(bulk) == "completed")
    assert [committed.state(task) for task in failed] == ["pending"] * 2
    done = typed(db, "cancel", "--queue", "work", "--yes", "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["done"] == 2
    assert [committed.state(task) for task in failed] == ["cancelled"] * 2
    said = typed(db, "retry", "--state", "cancelled", "--yes")
    assert said.stdout == "2 tasks retried\n"
    # Children of a task that has failed run again with it: the question and the answer say where they are.
    committed.conn.execute("select worker.resume_queue('work')")
    parent = committed.enqueue(spawn=[{"fail": "no"}, {"fail": "no"}])
    committed.drain()
    assert committed.state(parent) == "failed"
    trees = typed(db, "retry", "--failed", "--queue", "work", answer="y\n")
    assert "Retry 5 tasks, 2 of them with the tasks above them that failed too?" in trees.stderr
    assert trees.stdout.strip() == "3 tasks retried, 2 more with the tasks above them"


@pytest.mark.long
def test_ids_or_a_filter_not_both_and_not_none(db: str) -> None:
    assert typed(db, "retry", "17", "--dry-run").returncode == 2
    both, none = typed(db, "retry", "17", "--failed"), typed(db, "cancel")
    assert (both.returncode, none.returncode) == (2, 2)
    assert "give task ids, or a filter such as --failed, not both" in both.stderr
    assert "give task ids, or a filter such as --state pending" in none.stderr

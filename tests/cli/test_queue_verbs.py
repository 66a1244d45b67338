"""``catchment queue …``."""

from __future__ import annotations

from tests.fixtures.cli import Run, read_json
from tests.fixtures.engine import Engine
from tests.fixtures.worker import StartWorker, wait_until


def test_paused_queue_stays_paused_through_a_restart(committed: Engine, cli: Run, start_worker: StartWorker) -> None:
    cli("queue", "pause", "work")
    task = committed.enqueue()
    worker = start_worker()
    wait_until(lambda: committed.value("select count(*) from worker.sleeper") > 0)
    worker.terminate()
    worker.wait()
    start_worker()
    wait_until(lambda: committed.value("select count(*) from worker.sleeper") > 0)
    assert committed.state(task) == "pending"
    rows = read_json(cli("queue", "list", "--json"))
    assert next(row for row in rows if row["queue"] == "work")["is_paused"]
    cli("queue", "resume", "work")
    wait_until(lambda: committed.state(task) == "completed")


def test_queue_list_counts_workers_that_have_a_command_of_the_queue(
    committed: Engine, cli: Run, start_worker: StartWorker
) -> None:
    committed.queue("python")
    committed.command("paint", "python", handler_kind="python", handler_procedure="studio:paint")

    start_worker()
    wait_until(lambda: committed.value("select count(*) from worker.worker") == 1)
    workers = {row["queue"]: row["workers"] for row in read_json(cli("queue", "list", "--json"))}
    assert (workers["work"], workers["python"]) == (1, 0)
    concurrency = {row["queue"]: row["concurrency"] for row in read_json(cli("queue", "list", "--json"))}
    assert (concurrency["work"], concurrency["python"]) == (1, None)  # it bounds SQL handlers alone
    # Whoever else says it, says the same.
    assert committed.value("select workers from worker.queue_figures(now()) where queue = 'python'") == 0
    top = read_json(cli("top", "--once", "--json"))
    assert {row["queue"]: row["workers"] for row in top["queues"]} == workers
    for (worker,) in (top["workers"], read_json(cli("workers", "list", "--json"))):
        assert "work" in worker.get("served", worker["queues"])
        assert "python" not in worker.get("served", worker["queues"])

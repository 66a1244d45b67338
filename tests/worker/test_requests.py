"""An operator pauses, resumes and drains a worker: it obeys, also after it had to register again."""

from __future__ import annotations

import pytest

from catchment.store import task as task_store
from tests.fixtures.engine import Engine
from tests.fixtures.worker import StartWorker, wait_until
from tests.worker.app import hold, step
from tests.worker.crew import Crew


def _leader(engine: Engine) -> int | None:
    return engine.value(
        "select worker_id from worker.top join worker.queue_registry using (queue_id) where queue = 'work'"
    )


def test_a_paused_worker_finishes_what_runs_and_takes_nothing_until_it_is_resumed(crew: Crew) -> None:
    """Neither by claims nor by continuing in a lane, and also if it is declared dead meanwhile."""
    crew.hire(max_concurrent_tasks=5, lease_seconds=3)
    running = crew.enqueue(hold, key="a", lane="a")
    behind = crew.enqueue(step, key="a", seq=1, lane="a")
    wait_until(lambda: len(crew.records.spans("a")) == 1)
    task_store.ask_worker(crew.engine.conn, crew.worker_id(), "pause")
    wait_until(lambda: crew.logged("worker.paused"))
    crew.records.open_gate("gate")
    crew.result(running)
    other = crew.enqueue(step, key="b")
    # Its row goes, as if its lease had ended.
    before = crew.worker_id()
    crew.engine.conn.execute("delete from worker.worker")
    wait_until(lambda: crew.engine.value("select max(worker_id) from worker.worker") not in (before, None))
    assert crew.engine.value("select asked from worker.worker") == "pause"
    assert [crew.engine.state(task) for task in (behind, other)] == ["pending", "pending"]
    assert crew.engine.value("select kind from worker.explain(%s)", other) == "worker_paused"
    task_store.ask_worker(crew.engine.conn, crew.worker_id(), "resume")
    crew.result(behind)
    crew.result(other)
    assert crew.engine.value("select loop_lag from worker.worker") >= 0
    crew.engine.check()


def test_a_drained_worker_ends_when_its_last_handler_has(crew: Crew) -> None:
    """It gives no handler a limit, gives back nothing that runs, and exits with 0."""
    (worker,) = crew.hire(max_concurrent_tasks=3, shutdown_grace_seconds=0)
    crew.enqueue_many(hold, [{"seq": n} for n in range(5)], by_key=False)
    wait_until(lambda: len(crew.records.spans()) == 3)
    task_store.ask_worker(crew.engine.conn, crew.worker_id(), "drain")
    wait_until(lambda: crew.logged("worker.draining"))
    assert worker.poll() is None
    crew.records.open_gate("gate")
    assert worker.wait(timeout=60) == 0
    assert crew.states() == {"completed": 3, "pending": 2}
    assert crew.registered() == 0
    crew.engine.check()


def test_a_paused_worker_leaves_its_serial_queue_to_another(committed: Engine, start_worker: StartWorker) -> None:
    start_worker("--queue", "work")
    wait_until(lambda: _leader(committed) is not None)
    first = _leader(committed)
    start_worker("--queue", "work")
    wait_until(lambda: committed.value("select count(*) from worker.worker") == 2)
    assert first is not None
    task_store.ask_worker(committed.conn, first, "pause")
    wait_until(lambda: _leader(committed) not in (first, None))
    second = _leader(committed)
    assert second is not None
    task = committed.enqueue(spawn=[{"note": "child"}])
    wait_until(lambda: committed.state(task) == "completed")
    # And back, with a worker that ends.
    task_store.ask_worker(committed.conn, first, "resume")
    task_store.ask_worker(committed.conn, second, "drain")
    wait_until(lambda: _leader(committed) == first)
    task = committed.enqueue()
    wait_until(lambda: committed.state(task) == "completed")
    wait_until(lambda: committed.value("select count(*) from worker.worker") == 1)


def test_a_request_to_nobody_and_one_that_there_is_not_are_refused(engine: Engine) -> None:
    from catchment.errors import CatchmentError

    with pytest.raises(CatchmentError, match="there is no worker 999"), engine.conn.transaction():
        task_store.ask_worker(engine.conn, 999, "pause")
    with pytest.raises(CatchmentError, match="expected pause, drain or resume"), engine.conn.transaction():
        task_store.ask_worker(engine.conn, 1, "sleep")

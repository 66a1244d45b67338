"""Workers killed with SIGKILL: nothing is lost, nothing takes effect twice."""

from __future__ import annotations

import random
import signal
import time

import pytest

from tests.fixtures.engine import Engine
from tests.fixtures.load import measured
from tests.fixtures.worker import StartWorker, wait_until

CHILDREN = 80


def _effects_per_task(engine: Engine) -> set[int]:
    rows = engine.conn.execute("select count(*) from probe.effect where note like 'child%%' group by task_id")
    return {row[0] for row in rows}


def test_a_scope_survives_worker_after_worker_killed(committed: Engine, start_worker: StartWorker) -> None:
    committed.conn.execute("update worker.queue_registry set concurrency = 4 where queue = 'work'")
    # The first one takes so long that kills meet it, however slow the machine is.
    waits = [5.0, *(0.02 + 0.05 * (n % 3) for n in range(1, CHILDREN))]
    parent = committed.enqueue(
        note="parent", spawn=[{"note": f"child {n}", "sleep": wait} for n, wait in enumerate(waits)]
    )
    settled = "select count(*) from worker.outcome"
    chance = random.Random(7)
    # One fewer than the interruptions after which a task fails: a slow machine may hit one child each time.
    for _ in range(4):
        before = committed.value(settled)
        worker = start_worker("--queue", "work")
        # It gets to work, and long enough at it that no child is interrupted again and again.
        wait_until(lambda before=before: committed.value(settled) > before or committed.state(parent) == "completed")
        time.sleep(0.25 + chance.random() * 0.25)
        worker.send_signal(signal.SIGKILL)
        worker.wait()
        if committed.state(parent) == "completed":
            break
    else:
        start_worker("--queue", "work")
        wait_until(lambda: committed.state(parent) == "completed")
    assert committed.value("select count(*) from worker.attempt where state = 'interrupted'") > 0
    assert _effects_per_task(committed) == {1}
    assert len(committed.children(parent)) == CHILDREN
    committed.check()


def test_another_worker_takes_over_from_a_killed_one(committed: Engine, start_worker: StartWorker) -> None:
    victim = start_worker("--queue", "work")
    task = committed.enqueue(note="slow", sleep=30)
    wait_until(lambda: committed.state(task) == "processing")
    heir = start_worker("--queue", "work")
    wait_until(lambda: committed.value("select count(*) from worker.worker") == 2)

    committed.conn.execute('update worker.task set payload = \'{"note": "quick"}\' where id = %s', [task])
    with measured() as load:
        killed = time.time()
        victim.send_signal(signal.SIGKILL)
        wait_until(lambda: committed.state(task) == "completed")
        started = committed.value("select process_start_at from worker.tasks where id = %s", task).timestamp()
        assert started - killed < load.bound(2)
    assert committed.task(task)["attempt"] == 2
    assert committed.notes() == ["quick"]
    assert heir.poll() is None
    committed.check()


def test_a_hanging_backend_of_a_dead_worker_is_ended(committed: Engine, start_worker: StartWorker) -> None:
    """A worker that is stopped, not dead, keeps its sockets open: its lease ends, and its backend with it."""
    victim = start_worker("--queue", "work")
    task = committed.enqueue(note="slow", sleep=60)
    wait_until(lambda: committed.state(task) == "processing")
    backend = committed.task(task)["worker_pid"]
    victim.send_signal(signal.SIGSTOP)
    committed.conn.execute('update worker.task set payload = \'{"note": "quick"}\' where id = %s', [task])
    committed.conn.execute("update worker.worker set lease_until = clock_timestamp() - interval '1 second'")

    start_worker("--queue", "work")
    wait_until(lambda: committed.value("select count(*) from pg_stat_activity where pid = %s", backend) == 0)
    victim.send_signal(signal.SIGKILL)
    wait_until(lambda: committed.state(task) == "completed")
    assert committed.notes() == ["quick"]
    committed.check()


def test_cutting_a_live_workers_lock_connection_moves_no_task(committed: Engine, start_worker: StartWorker) -> None:
    start_worker("--queue", "work")
    start_worker("--queue", "work")
    task = committed.enqueue(sleep=2.5)
    wait_until(lambda: committed.state(task) == "processing")
    wait_until(lambda: committed.value("select count(*) from worker.worker") == 2)
    identities = committed.value("select array_agg(worker_id order by worker_id) from worker.worker")
    for _ in range(3):
        committed.conn.execute(
            "select pg_terminate_backend(pid) from pg_stat_activity"
            " where application_name = 'catchment heartbeat' and datname = current_database()"
        )
        time.sleep(0.3)
    wait_until(lambda: committed.state(task) == "completed")
    assert committed.task(task)["attempt"] == 1
    assert committed.value("select array_agg(worker_id order by worker_id) from worker.worker") == identities


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_stopped_worker_finishes_what_runs_and_claims_no_more(
    committed: Engine, start_worker: StartWorker, number: signal.Signals
) -> None:
    worker = start_worker("--queue", "work")
    running = committed.enqueue(sleep=0.7, note="runs")
    later = committed.enqueue(note="waits")
    wait_until(lambda: committed.state(running) == "processing")
    worker.send_signal(number)
    assert worker.wait(timeout=60) == 0
    assert committed.state(running) == "completed"
    assert committed.state(later) == "pending"
    assert committed.task(later)["attempt"] == 0
    assert committed.value("select count(*) from worker.worker") == 0
    assert committed.value("select count(*) from worker.sleeper") == 0

"""One worker runs the top level of a serial queue; the others stand by, or exit if they were started with --single."""

from __future__ import annotations

import signal
import time
from pathlib import Path

import pytest

from tests.fixtures.engine import Engine
from tests.fixtures.load import measured
from tests.fixtures.often import some
from tests.fixtures.server import Connect
from tests.fixtures.worker import StartWorker, WorkerProcess, wait_until


def _leader(engine: Engine) -> int | None:
    return engine.value(
        "select worker_id from worker.top join worker.queue_registry using (queue_id) where queue = 'work'"
    )


def _workers(engine: Engine) -> int:
    return engine.value("select count(*) from worker.worker")


@pytest.fixture
def pair(committed: Engine, start_worker: StartWorker) -> tuple[WorkerProcess, WorkerProcess]:
    """A worker of queue ``work``, which has concurrency 1, and one that stands by."""
    first = start_worker("--queue", "work")
    wait_until(lambda: _leader(committed) is not None)
    second = start_worker("--queue", "work")
    wait_until(lambda: _workers(committed) == 2)
    return first, second


def test_standby_of_a_queue_with_one_fiber_takes_over_when_the_first_stops(
    committed: Engine, pair: tuple[WorkerProcess, WorkerProcess]
) -> None:
    before = _leader(committed)
    pair[0].send_signal(signal.SIGTERM)
    assert pair[0].wait(timeout=30) == 0
    wait_until(lambda: _leader(committed) not in (before, None))
    task = committed.enqueue(note="after", spawn=[{"note": "child"}])
    wait_until(lambda: committed.state(task) == "completed")


def test_standby_takes_over_within_two_seconds_of_a_kill(
    committed: Engine, pair: tuple[WorkerProcess, WorkerProcess]
) -> None:
    before = _leader(committed)
    task = committed.enqueue(sleep=0.01)
    wait_until(lambda: committed.state(task) == "completed")
    with measured() as load:
        pair[0].send_signal(signal.SIGKILL)
        pair[0].wait()
        killed = time.monotonic()
        wait_until(lambda: _leader(committed) not in (before, None))
        assert time.monotonic() - killed < load.bound(2)
    after = committed.enqueue(note="after")
    wait_until(lambda: committed.state(after) == "completed")
    committed.check()


@pytest.mark.parametrize("round_", some(range(4), one_in=2))
def test_of_two_single_workers_started_together_one_stays(
    committed: Engine, db: str, tmp_path: Path, start_worker: StartWorker, round_: int
) -> None:
    committed.queue("other")
    both = [start_worker("--single"), start_worker("--single")]
    wait_until(lambda: any(w.poll() is not None for w in both), seconds=60)
    stays, leaves = sorted(both, key=lambda w: w.poll() is not None)
    assert leaves.returncode == 1
    log = tmp_path / f"worker-{both.index(leaves) + 1}.log"
    assert "another worker runs the top level of queue" in log.read_text()
    task = committed.enqueue()
    wait_until(lambda: committed.state(task) == "completed")
    assert stays.poll() is None
    assert _workers(committed) == 1


def test_single_worker_comes_after_one_that_was_killed(committed: Engine, start_worker: StartWorker) -> None:
    first = start_worker("--single")
    wait_until(lambda: committed.value("select count(*) from worker.worker where lock_pid is not null") == 1)
    first.send_signal(signal.SIGKILL)
    first.wait()
    wait_until(lambda: _workers(committed) == 1)
    # The second finds the lock of the first free after the usual grace; until then a supervisor starts it again.
    wait_until(lambda: _starts(start_worker, committed), seconds=60)


def _starts(start_worker: StartWorker, engine: Engine) -> bool:
    worker = start_worker("--single")
    wait_until(lambda: worker.poll() is not None or _leads(engine), seconds=30)
    return worker.poll() is None


def _leads(engine: Engine) -> bool:
    return engine.value(
        "select exists (select from worker.top join worker.worker as w using (worker_id) where w.lock_pid in"
        " (select pid from pg_locks where locktype = 'advisory'))"
    )


def test_worker_takes_all_the_queues_it_asks_for_or_none(committed: Engine, connect: Connect) -> None:
    committed.queue("other")
    hands = [
        committed.value("select worker_id from worker.register_worker('hand', '{}', 1, '1 hour', false)")
        for _ in range(2)
    ]
    take = "select worker.take_top(%s, %s)"
    assert committed.value(take, hands[0], ["other"]) is None
    assert committed.value(take, hands[0], ["other"]) is None
    assert committed.value(take, hands[1], ["work", "other"]) == "other"
    assert committed.value(take, hands[0], ["work", "other"]) is None
    committed.value("select worker.unregister_worker(%s)", hands[0])
    assert committed.value(take, hands[1], ["work", "other"]) is None


def test_top_of_a_worker_whose_lease_has_ended_is_free(committed: Engine) -> None:
    dead = committed.value("select worker_id from worker.register_worker('gone', '{}', 1, '-1 second', false)")
    live = committed.value("select worker_id from worker.register_worker('hand', '{}', 1, '1 hour', false)")
    assert committed.value("select worker.take_top(%s, '{work}')", dead) is None
    assert committed.value("select worker.take_top(%s, '{work}')", live) is None
    assert _leader(committed) == live


def test_single_worker_that_leaves_is_not_registered(committed: Engine, db: str, start_worker: StartWorker) -> None:
    start_worker("--queue", "work")
    wait_until(lambda: _leader(committed) is not None)
    second = start_worker("--queue", "work", "--single")
    assert second.wait(timeout=60) == 1
    assert _workers(committed) == 1

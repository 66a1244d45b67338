"""The worker process in good weather: wake-ups, discovery, standing by."""

from __future__ import annotations

import asyncio
import json
import logging
import re
import subprocess
import sys
import time
from pathlib import Path

import psycopg
import pytest

from catchment.runtime.dispatcher import Dispatcher
from catchment.runtime.events import Event, Events
from catchment.runtime.options import WorkerOptions
from catchment.store.task import list_queues
from tests.fixtures.engine import Engine
from tests.fixtures.load import measured, processor_seconds
from tests.fixtures.server import Connect
from tests.fixtures.worker import StartWorker, wait_until


def _sleeping(engine: Engine, queue: str = "work") -> bool:
    return engine.value(
        "select exists (select from worker.sleeper join worker.queue_registry using (queue_id) where queue = %s)", queue
    )


def _looked(engine: Engine, looks: set[object]) -> int:
    """How often a fiber looked at its queue, read from the outside, often."""
    asked = "select query_start from pg_stat_activity where query like '%process_tasks%' and pid <> pg_backend_pid()"
    looks.update(engine.conn.execute(asked + " and datname = current_database()").fetchall())
    return len(looks)


def test_scope_runs_with_one_top_fiber_and_child_fibers(committed: Engine, start_worker: StartWorker) -> None:
    committed.conn.execute("update worker.queue_registry set concurrency = 4 where queue = 'work'")
    start_worker()
    first = committed.enqueue(note="first", spawn=[{"sleep": 0.7} for _ in range(6)])
    second = committed.enqueue(note="second")
    wait_until(lambda: committed.state(second) == "completed")
    assert committed.state(first) == "completed"
    spans = committed.conn.execute(
        "select process_start_at, process_stop_at from worker.tasks where parent_id = %s", [first]
    ).fetchall()
    overlap = max(sum(1 for s, e in spans if s <= start < e) for start, _ in spans)
    assert overlap == 3
    started_second = committed.value("select process_start_at from worker.tasks where id = %s", second)
    assert started_second >= committed.value("select completed_at from worker.tasks where id = %s", first)
    committed.check()


def test_plain_insert_wakes_a_sleeping_worker_long_before_its_poll(
    committed: Engine, start_worker: StartWorker
) -> None:
    start_worker()
    wait_until(lambda: _sleeping(committed))
    waits: list[float] = []
    with measured() as load:
        for _ in range(5):
            wait_until(lambda: _sleeping(committed))
            time.sleep(0.05)
            task = committed.value("insert into worker.tasks (command, payload) values ('act', '{}') returning id")
            wait_until(lambda task=task: committed.state(task) == "completed")
            row = committed.task(task)
            waits.append(_seconds(row["process_start_at"]) - _seconds(row["created_at"]))
        assert sorted(waits)[2] < load.bound(0.5)


def test_enqueue_that_could_not_see_the_sleeper_is_found_soon_after_its_commit(
    committed: Engine, db: str, start_worker: StartWorker
) -> None:
    with psycopg.connect(db) as conn:
        ((task,),) = conn.execute("select worker.enqueue('act', '{}')").fetchall()
        start_worker()
        wait_until(lambda: _sleeping(committed))
        looks = set[object]()
        wait_until(lambda: _looked(committed, looks) > 8)  # an unworried sleeper looks once in many seconds
    committed_at = time.time()
    with measured() as load:
        wait_until(lambda: committed.state(task) == "completed")
        assert _seconds(committed.task(task)["process_start_at"]) - committed_at < load.bound(1.5)


def _seconds(text: str) -> float:
    from datetime import datetime

    return datetime.fromisoformat(text).timestamp()


def test_enqueues_notify_only_sleepers_and_once_per_transaction(committed: Engine, connect: Connect) -> None:
    ear = connect()
    ear.execute("listen worker_tasks")
    for _ in range(3):
        committed.enqueue()
    assert [n.payload for n in ear.notifies(timeout=0.2)] == []
    committed.conn.execute(
        "insert into worker.sleeper select 1, queue_id, 1, 's' from worker.queue_registry where queue = 'work'"
    )
    with committed.conn.transaction():
        for _ in range(3):
            committed.enqueue()
    assert [n.payload for n in ear.notifies(timeout=0.5)] == ["work"]


def test_a_queue_without_sql_commands_takes_no_session(committed: Engine, start_worker: StartWorker) -> None:
    sessions = "select count(*) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()"
    committed.conn.execute(
        "insert into worker.queue_registry (queue) select format('empty_%s', n) from generate_series(1, 60) as n"
    )
    start_worker()
    wait_until(lambda: _sleeping(committed))
    assert committed.value(sessions) < 20
    committed.command("late", queue="empty_60")
    late = committed.enqueue("late")
    wait_until(lambda: committed.state(late) == "completed")


def test_queue_made_while_a_worker_runs_is_served_and_counted(committed: Engine, start_worker: StartWorker) -> None:
    start_worker()
    wait_until(lambda: _sleeping(committed))
    ((before,),) = committed.conn.execute("select max_capacity from worker.worker").fetchall()
    committed.queue("fresh")
    committed.command("fresh_act", "fresh")
    task = committed.enqueue("fresh_act")
    wait_until(lambda: committed.state(task) == "completed")
    (row,) = [row for row in list_queues(committed.conn) if row["queue"] == "fresh"]
    assert row["workers"] == 1
    assert committed.value("select 'fresh' = any (queues) and max_capacity > %s from worker.worker", before)


def test_single_worker_refuses_company(committed: Engine, db: str, start_worker: StartWorker) -> None:
    start_worker("--queue", "work")
    wait_until(lambda: _sleeping(committed))
    second = subprocess.run(
        [sys.executable, "-m", "catchment", "worker", "--queue", "work", "--single", "--dsn", db],
        capture_output=True,
        text=True,
        timeout=30,
    )
    assert second.returncode == 1
    assert "another worker runs the top level of queue 'work'" in second.stderr


def test_worker_without_the_top_lock_serves_children(committed: Engine, start_worker: StartWorker) -> None:
    committed.conn.execute("update worker.queue_registry set concurrency = 2 where queue = 'work'")
    start_worker()
    wait_until(lambda: _sleeping(committed))
    start_worker()
    wait_until(lambda: committed.value("select count(*) from worker.worker") == 2)
    wait_until(lambda: committed.value("select count(*) from worker.sleeper where tier = 0") >= 2)
    parent = committed.enqueue(spawn=[{"sleep": 0.2} for _ in range(8)])
    wait_until(lambda: committed.state(parent) == "completed")
    pids = committed.value("select count(distinct worker_pid) from worker.tasks where parent_id = %s", parent)
    assert pids == 2


def test_running_sql_handler_is_cancelled_through_its_backend(committed: Engine, start_worker: StartWorker) -> None:
    start_worker()
    task = committed.enqueue(sleep=60)
    behind = committed.enqueue(note="behind")
    wait_until(lambda: committed.state(task) == "processing")
    assert committed.value("select worker.cancel(%s, 'no longer wanted')", task) == "cancelling"
    wait_until(lambda: committed.state(task) == "cancelled")
    assert committed.task(task)["error"] == "no longer wanted"
    wait_until(lambda: committed.state(behind) == "completed")
    committed.check()


def test_running_sql_handler_past_its_timeout_fails(committed: Engine, start_worker: StartWorker) -> None:
    committed.command("brief", timeout="300 ms", handler_procedure="probe.act")
    start_worker()
    task = committed.enqueue("brief", sleep=60)
    wait_until(lambda: committed.state(task) == "failed")
    assert committed.task(task)["error"] == "timed out after 00:00:00.3"
    committed.check()


def test_schedule_fires_whatever_the_outcome_of_the_last_run(committed: Engine, start_worker: StartWorker) -> None:
    committed.conn.execute(
        "insert into worker.schedule (name, command, payload, every, next_at)"
        " values ('tick', 'act', '{\"fail\": \"always\"}', '1 second', clock_timestamp())"
    )
    start_worker()
    wait_until(
        lambda: committed.value("select count(*) from worker.tasks where command = 'act' and state = 'failed'") >= 2
    )


def test_worker_logs_each_task(committed: Engine, start_worker: StartWorker, tmp_path: Path) -> None:
    good = committed.enqueue()
    bad = committed.enqueue(fail="broken on purpose")
    worker = start_worker("--stop-when-idle")
    assert worker.wait(timeout=30) == 0
    lines = [json.loads(line) for line in (tmp_path / "worker-1.log").read_text().splitlines()]
    seen = {line["task_id"]: line for line in lines if line["event"] == "task.processed"}
    assert seen[good]["state"] == "completed"
    assert seen[good]["command"] == "act"
    assert seen[good]["duration_ms"] > 0
    assert seen[bad]["state"] == "failed"
    assert seen[bad]["error"] == "broken on purpose"
    assert seen[bad]["level"] == "error"


def test_an_idle_worker_names_the_queues_it_serves_and_stops_without_a_warning(committed: Engine, db: str) -> None:
    committed.conn.execute("update worker.queue_registry set concurrency = 4 where queue = 'work'")
    committed.queue("python_only")
    committed.command("elsewhere", "python_only", handler_kind="python")
    heard: list[Event] = []

    async def start_and_stop() -> None:
        worker = Dispatcher(db, WorkerOptions(), Events(heard.append))
        running = asyncio.create_task(worker.run())
        async with asyncio.timeout(60):
            while not _sleeping(committed):  # noqa: ASYNC110 - nothing tells
                await asyncio.sleep(0.02)
        worker.stop(now=True)
        await running

    for _ in range(3):
        asyncio.run(start_and_stop())
    assert [event.text for event in heard if event.level >= logging.WARNING] == []
    started = [event.text for event in heard if event.name == "worker.started"]
    assert all("work" in text and "python_only" not in text for text in started)


@pytest.mark.long
@pytest.mark.parametrize("arguments", [[], ["--app", "tests.worker.app:app"]], ids=["SQL", "Python"])
def test_an_idle_worker_hardly_wakes_up_and_needs_less_than_a_millisecond_per_second(
    committed: Engine, start_worker: StartWorker, arguments: list[str]
) -> None:
    worker = start_worker(*arguments)
    wait_until(lambda: _sleeping(committed))
    time.sleep(2)
    with measured() as load:
        wake_ups, used = _wake_ups(worker.pid), processor_seconds(worker.pid)
        time.sleep(10)
        assert _wake_ups(worker.pid) - wake_ups < 10 * 8
        # What others do to the caches makes the same work dearer, up to twice.
        assert processor_seconds(worker.pid) - used < 0.010 * min(2, load.stretch())


def _wake_ups(pid: int) -> int:
    """How often the threads of a process went to sleep so far."""
    stats = [path.read_text() for path in Path(f"/proc/{pid}/task").glob("*/status")]
    return sum(int(re.findall(r"^voluntary_ctxt_switches:\s+(\d+)", stat, re.MULTILINE)[0]) for stat in stats)

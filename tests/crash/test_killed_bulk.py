"""A bulk over many tasks, whose worker is killed in the middle."""

from __future__ import annotations

import signal

import pytest
from psycopg.types.json import Jsonb

from tests.fixtures.engine import Engine
from tests.fixtures.worker import StartWorker, wait_until


@pytest.mark.parametrize("number", [1500, pytest.param(20_000, marks=[pytest.mark.long, pytest.mark.timeout(1200)])])
def test_a_bulk_goes_on_where_its_killed_worker_was(committed: Engine, start_worker: StartWorker, number: int) -> None:
    """By workers that serve another queue: any worker runs bulks. Each task is retried once."""
    committed.queue("mail", mode="concurrent")
    committed.command("send", "mail", handler_kind="python")
    committed.conn.execute(
        "insert into worker.task (command, queue_id, kind, payload, priority, place, max_attempts, created_at)"
        " select 'send', q.queue_id, 'p', '{}', 100, n, 1, worker.now()"
        " from worker.queue_registry as q, generate_series(1, %s) as n where q.queue = 'mail'",
        [number],
    )
    committed.conn.execute(
        "insert into worker.outcome (id, state, attempt, completed_at, error)"
        " select id, 'failed', 1, worker.now(), '{\"message\": \"no\"}' from worker.task where command = 'send'"
    )
    first = start_worker("--queue", "work")
    wait_until(lambda: committed.value("select count(*) from worker.worker") == 1)
    bulk = committed.value("select worker.start_bulk('retry', %s)", Jsonb({"queue": "mail"}))

    def done() -> int:
        return committed.value("select done from worker.bulk where task_id = %s", bulk)

    wait_until(lambda: done() > 0)
    first.send_signal(signal.SIGKILL)
    first.wait()
    at_death = done()
    assert at_death < number
    start_worker("--queue", "work")
    wait_until(lambda: committed.state(bulk) == "completed", seconds=600)
    assert done() == number
    assert committed.value("select count(*) from worker.tasks where command = 'send' and state = 'pending'") == number
    wait_until(lambda: committed.value("select count(*) from worker.audit") == 1)
    assert committed.value("select detail from worker.audit") == f"completed: {number} tasks retried, 0 skipped"
    committed.check()

"""Claims of limited queues and of limited commands wait for each other in one order: no deadlock."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from psycopg import Connection

from tests.fixtures.engine import Engine
from tests.fixtures.server import Connect
from tests.fixtures.worker import wait_until

LIMITS = "set lock_timeout = '30s'; set deadlock_timeout = '50ms'"
SESSIONS = 4
TASKS = 400


@pytest.mark.long
def test_sessions_on_a_limited_queue_and_limited_keys_never_deadlock(committed: Engine, connect: Connect) -> None:
    committed.conn.execute("update worker.queue_registry set max_running = 3 where queue = 'work'")
    committed.command("narrow", limit_key=["key"], max_running=2)
    is_over = threading.Event()

    def run() -> None:
        conn = connect()
        conn.execute(LIMITS)
        while not is_over.is_set():
            conn.execute("call worker.process_tasks(p_queue => 'work')")

    with ThreadPoolExecutor(SESSIONS) as pool:
        runners = [pool.submit(run) for _ in range(SESSIONS)]
        try:
            for number in range(TASKS):
                committed.enqueue("narrow", key=number % 6)
                if number % 20 == 0:
                    wait_until(lambda: any(r.done() for r in runners) or _open(committed) < SESSIONS, seconds=120)
            wait_until(lambda: any(r.done() for r in runners) or _open(committed) == 0, seconds=120)
        finally:
            is_over.set()
    for runner in runners:
        runner.result()
    committed.check()


def _open(engine: Engine) -> int:
    return engine.value("select count(*) from worker.tasks where state <> 'completed'")


def test_workers_that_name_limited_queues_in_different_orders_never_deadlock(
    committed: Engine, connect: Connect
) -> None:
    for queue in ("left", "right"):
        committed.queue(queue, max_running=5)
        committed.command(f"of_{queue}", queue, handler_kind="python")
    worker_id = committed.value("select worker_id from worker.register_worker('both', '{left,right}')")
    committed.conn.execute("select worker.claim_tasks(%s, '{left,right}', 9)", [worker_id])
    orders = ["{left,right}", "{right,left}"]
    conns = [connect() for _ in orders]
    with ThreadPoolExecutor(2) as pool:
        for conn in conns:
            conn.execute(LIMITS)
        for _ in range(3):
            with committed.conn.transaction():
                committed.conn.execute("select from worker.queue_meter for update")
                calls = [pool.submit(_claim, c, worker_id, o) for c, o in zip(conns, orders, strict=True)]
                wait_until(lambda: _waiting(committed, conns) == len(conns))
            assert [call.result(timeout=60) for call in calls] == [[], []]


def _claim(conn: Connection[Any], worker_id: int, queues: str) -> list[Any]:
    return conn.execute("select id from worker.claim_tasks(%s, %s, 9)", [worker_id, queues]).fetchall()


def _waiting(engine: Engine, conns: list[Connection[Any]]) -> int:
    pids = [c.info.backend_pid for c in conns]
    return engine.value("select count(*) from unnest(%s::int[]) as p where pg_blocking_pids(p) <> '{}'", pids)

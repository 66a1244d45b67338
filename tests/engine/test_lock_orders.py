"""Locks that a transaction keeps from one step to the next: what comes later never waits against the one order."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from psycopg import Connection

from tests.fixtures.engine import Engine
from tests.fixtures.server import Connect
from tests.fixtures.worker import wait_until

LIMITS = "set lock_timeout = '30s'; set deadlock_timeout = '50ms'"
IMPATIENT = "set lock_timeout = '2s'"


def _waits(engine: Engine, conn: Connection[Any]) -> bool:
    return engine.value("select pg_blocking_pids(%s) <> '{}'", conn.info.backend_pid)


def test_a_call_that_sweeps_cancelled_tasks_keeps_no_lane_while_it_admits_to_others(
    committed: Engine, connect: Connect
) -> None:
    committed.queue("flow", mode="concurrent")
    committed.command("step", "flow", handler_kind="python")
    worker_id = committed.value("select worker_id from worker.register_worker('probe')")
    for lane in "ab":
        committed.enqueue("step", lane=lane)
    heads = committed.conn.execute("select lane, id from worker.claim_tasks(%s, '{flow}', 9)", [worker_id]).fetchall()
    committed.enqueue("step", lane="a")
    committed.value("select worker.cancel(%s)", dict(heads)["b"])
    holder, runner = connect(), connect()
    with ThreadPoolExecutor(1) as pool:
        with holder.transaction():
            holder.execute("select from worker.lane where lane = 'a' for update")
            call = pool.submit(runner.execute, "call worker.process_tasks(p_queue => 'work')")
            wait_until(lambda: _waits(committed, runner))
            free = committed.conn.execute("select lane from worker.lane for update skip locked").fetchall()
            assert free == [("b",)]
        call.result(timeout=60)
    committed.check()


@pytest.mark.parametrize("verb", ["complete_tasks", "settle"])
def test_running_rows_are_locked_by_their_place_by_all_who_wait_for_them(
    committed: Engine, connect: Connect, verb: str
) -> None:
    committed.queue("flow", mode="concurrent")
    committed.command("step", "flow", handler_kind="python")
    worker_id = committed.value("select worker_id from worker.register_worker('probe')")
    second = committed.enqueue("step")
    first = committed.enqueue("step", priority=1)
    claims: dict[int, int] = {}
    for _ in range(2):  # the later task is claimed first, so its row comes first
        claims |= dict(committed.conn.execute("select id, fence from worker.claim_tasks(%s, '{flow}', 1)", [worker_id]))
    assert list(claims) == [first, second]
    given = [sorted(claims), [claims[task] for task in sorted(claims)]]
    call = f"select worker.{verb}(%s::bigint[], %s::bigint[]" + (", '{failed,failed}')" if verb == "settle" else ")")
    holder, runner = connect(), connect()
    with ThreadPoolExecutor(1) as pool:
        with holder.transaction():
            holder.execute("select from worker.running where id = %s for update", [first])
            done = pool.submit(runner.execute, call, given)
            wait_until(lambda: _waits(committed, runner))
            free = committed.conn.execute("select id from worker.running for update skip locked").fetchall()
            assert free == [(second,)]
        done.result(timeout=60)
    committed.check()


@pytest.fixture
def limited(committed: Engine) -> Engine:
    """A limited queue whose command has a gate for each key; those of keys 1 and 2 are there."""
    committed.queue("tight", mode="concurrent", max_running=5)
    committed.command("narrow", "tight", limit_key=["key"], max_running=2)
    for key in (1, 2):
        committed.enqueue("narrow", key=key)
    committed.drain("tight")
    return committed


def test_process_tasks_inside_a_transaction_and_claims_of_its_queue_never_deadlock(
    limited: Engine, connect: Connect
) -> None:
    inside, outside = connect(), connect()
    for conn in (inside, outside):
        conn.execute(LIMITS)
    call = "call worker.process_tasks(p_queue => 'tight')"
    with ThreadPoolExecutor(1) as pool:
        with inside.transaction():
            limited.enqueue("narrow", key=1)
            inside.execute(call)
            limited.enqueue("narrow", key=2)
            other = pool.submit(outside.execute, call)
            wait_until(lambda: _waits(limited, outside))
            limited.enqueue("narrow", key=2)
            inside.execute(call)
        other.result(timeout=60)
    limited.drain("tight")
    assert set(limited.states().values()) == {"completed"}
    limited.check()


LEAVE = {
    "cancel": "select worker.cancel(%s)",
    "put off": "update worker.tasks set scheduled_at = worker.now() + interval '1 hour' where id = %s",
}


@pytest.mark.parametrize("leave", LEAVE.values(), ids=LEAVE)
def test_transactions_that_leave_the_same_limits_in_opposite_orders_do_not_wait(
    limited: Engine, connect: Connect, leave: Any
) -> None:
    tasks = {key: [limited.enqueue("narrow", key=key) for _ in range(3)] for key in (1, 2)}
    limited.value("select worker.let_in()")
    left, right = connect(), connect()
    for conn in (left, right):
        conn.execute(IMPATIENT)
    with left.transaction(), right.transaction():
        left.execute(leave, [tasks[1][0]])
        right.execute(leave, [tasks[2][0]])
        left.execute(leave, [tasks[2][1]])
        right.execute(leave, [tasks[1][1]])
    limited.check()
    limited.value("select worker.let_in()")
    ready = limited.conn.execute("select id from worker.ready order by id").fetchall()
    assert ready == [(tasks[1][2],), (tasks[2][2],)]
    limited.check()


def test_a_transaction_that_leaves_a_limit_holds_nobody_up_who_lets_tasks_in(limited: Engine, connect: Connect) -> None:
    tasks = [limited.enqueue("narrow", key=1) for _ in range(2)]
    limited.value("select worker.let_in()")
    other = connect()
    with other.transaction():
        other.execute("select worker.cancel(%s)", [tasks[0]])
        waiting = [limited.enqueue("narrow", key=key) for key in (1, 2)]
        limited.conn.execute(IMPATIENT)
        limited.value("select worker.let_in()")
        assert limited.conn.execute("select id from worker.ready").fetchall() == [(i,) for i in (*tasks, waiting[1])]
    limited.value("select worker.let_in()")
    assert limited.value("select count(*) from worker.ready where id = %s", waiting[0]) == 1
    limited.check()

"""The last children of a scope settle at the same instant: their parent settles exactly once, and nobody hangs."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from psycopg import Connection
from psycopg.types.json import Jsonb

from tests.fixtures.engine import Engine
from tests.fixtures.server import Connect

ROUNDS = 120
FAILED = Jsonb({"kind": "probe", "message": "failed", "retryable": False})
# A hang becomes an error.
LIMITS = "set lock_timeout = '10s'; set statement_timeout = '20s'"

Claim = tuple[int, int]
Settle = Callable[[Connection[Any], Claim], object]


def complete(conn: Connection[Any], claim: Claim) -> object:
    return conn.execute("select worker.complete_task(%s, %s)", claim)


def fail(conn: Connection[Any], claim: Claim) -> object:
    return conn.execute("select worker.fail_task(%s, %s, %s)", [*claim, FAILED])


# How the two last children end, and how their parent must.
ENDINGS: list[tuple[Settle, Settle, str]] = [
    (complete, complete, "completed"),
    (complete, fail, "failed"),
    (fail, complete, "failed"),
    (fail, fail, "failed"),
]


@pytest.fixture
def flow(committed: Engine) -> Engine:
    """Python tasks whose settling leaves one row each in ``worker.after_call``."""
    committed.queue("flow", mode="concurrent", max_depth=2)
    committed.command("child", "flow", handler_kind="python")
    committed.command("parent", "flow", handler_kind="python", after_procedure="probe.note")
    return committed


def claim(engine: Engine, worker_id: int, limit: int) -> dict[int, list[Claim]]:
    """Claims by the id of their parent."""
    rows = engine.conn.execute(
        "select id, fence, parent_id from worker.claim_tasks(%s, '{flow}', %s)", [worker_id, limit]
    )
    claims: dict[int, list[Claim]] = {}
    for task_id, fence, parent_id in rows:
        claims.setdefault(parent_id or task_id, []).append((task_id, fence))
    return claims


def open_scopes(engine: Engine, claims: dict[int, list[Claim]], spawns: list[dict[str, Any]]) -> None:
    held = [c for claims_of_one in claims.values() for c in claims_of_one]
    engine.conn.execute(
        "select worker.complete_task(h.id, h.fence, p_spawns => %s)"
        "  from unnest(%s::bigint[], %s::bigint[]) as h (id, fence)",
        [Jsonb(spawns), [task_id for task_id, _ in held], [fence for _, fence in held]],
    )


def make_parents(engine: Engine, count: int) -> tuple[int, list[int]]:
    """A worker and the ids of that many parents, each waiting for two children."""
    worker_id = engine.value("select worker_id from worker.register_worker('probe')")
    ids = engine.value("select worker.enqueue_many('parent', array_fill('{}'::jsonb, array[%s]))", count)
    open_scopes(engine, claim(engine, worker_id, count), [{"command": "child", "payload": {}}] * 2)
    return worker_id, ids


def settle_in_pairs(conns: list[Connection[Any]], pairs: list[list[tuple[Settle, Claim]]]) -> int:
    """Each connection settles its half of each pair when the other does; returns how often the two calls overlapped."""
    barrier = threading.Barrier(2)

    def run(side: int) -> list[tuple[float, float]]:
        times = []
        try:
            for pair in pairs:
                settle, claimed = pair[side]
                barrier.wait(timeout=30)
                began = time.monotonic()
                settle(conns[side], claimed)
                times.append((began, time.monotonic()))
        except BaseException:
            barrier.abort()
            raise
        return times

    with ThreadPoolExecutor(2) as pool:
        left, right = (future.result() for future in [pool.submit(run, 0), pool.submit(run, 1)])
    return sum(a[0] < b[1] and b[0] < a[1] for a, b in zip(left, right, strict=True))


def test_last_two_children_settle_their_parent_exactly_once(flow: Engine, connect: Connect) -> None:
    worker_id, parents = make_parents(flow, ROUNDS)
    children = claim(flow, worker_id, 2 * ROUNDS)
    conns = [connect(), connect()]
    for conn in conns:
        conn.execute(LIMITS)

    endings = [ENDINGS[n % len(ENDINGS)] for n in range(ROUNDS)]
    pairs = [
        [(first, children[parent][0]), (second, children[parent][1])]
        for parent, (first, second, _) in zip(parents, endings, strict=True)
    ]
    overlaps = settle_in_pairs(conns, pairs)

    states = flow.states()
    assert [states[parent] for parent in parents] == [state for _, _, state in endings]
    settled = flow.conn.execute("select task_id, count(*) from worker.after_call group by task_id").fetchall()
    assert sorted(settled) == [(parent, 1) for parent in parents]
    assert overlaps > ROUNDS // 10, "the calls hardly met: this run shows nothing"
    flow.check()


@pytest.mark.long
def test_last_two_grandchildren_settle_their_root_exactly_once(flow: Engine, connect: Connect) -> None:
    rounds = ROUNDS // 5
    worker_id, roots = make_parents(flow, rounds)
    children = claim(flow, worker_id, 2 * rounds)
    open_scopes(flow, children, [{"command": "child", "payload": {}}])
    grandchildren = claim(flow, worker_id, 2 * rounds)
    conns = [connect(), connect()]
    for conn in conns:
        conn.execute(LIMITS)

    settle_in_pairs(conns, [[(complete, grandchildren[c][0]) for c, _ in children[root]] for root in roots])

    assert {flow.state(root) for root in roots} == {"completed"}
    settled = flow.conn.execute("select task_id, count(*) from worker.after_call group by task_id").fetchall()
    assert sorted(settled) == [(root, 1) for root in roots]
    flow.check()

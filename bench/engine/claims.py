"""Claims and enqueues: their cost must not grow with finished, blocked or foreign tasks."""

from __future__ import annotations

import time
from typing import Any

from psycopg import Connection

from bench.engine.harness import Bench, median_of, report, seconds

FILL = """
insert into worker.task (id, command, queue_id, kind, payload, priority, place, max_attempts, created_at, lane)
overriding system value
select nextval('worker.task_id_seq'), 'nothing', q.queue_id, 's', '{}', 100, n, 1, now(), %(lane)s
  from generate_series(1, %(n)s) as n, worker.queue_registry as q where q.queue = 'bench'
"""


def fill_finished(conn: Connection[Any], count: int) -> None:
    conn.execute(FILL, {"n": count, "lane": None})
    conn.execute(
        "insert into worker.outcome (id, state, attempt, started_at, stopped_at, completed_at)"
        " select id, 'completed', 1, now(), now(), now() from worker.task"
    )


def fill_blocked(conn: Connection[Any], count: int) -> None:
    """Half behind one lane, a quarter not due, and as many again of another queue."""
    conn.execute(
        "select worker.enqueue_many('nothing', array_fill('{}'::jsonb, array[%s]),"
        " p_lanes => array_fill('hot'::text, array[%s]))",
        [count // 2, count // 2],
    )
    conn.execute(
        "select worker.enqueue_many('nothing', array_fill('{}'::jsonb, array[%s]),"
        " p_scheduled_at => now() + interval '1 day')",
        [count // 4],
    )
    conn.execute("select worker.enqueue_many('foreign', array_fill('{}'::jsonb, array[%s]))", [count // 4])
    # The lane's head starts and waits for its retry: the lane is held.
    conn.execute("update worker.command_registry set max_attempts = 2, retry_delay = '1 day' where command = 'nothing'")
    conn.execute("update worker.task set max_attempts = 2 where lane = 'hot'")
    conn.execute(
        "select worker.settle(array[c.id], array[c.fence], array['failed'])"
        " from worker.queue_registry as q, worker.claim(q.queue_id, 's', 1, 1, null, 1, 1) as c"
        " where q.queue = 'bench'"
    )


def claim_microseconds(conn: Connection[Any]) -> float:
    """Claim and complete 2,000 tasks one by one in one statement each way; the mean of both."""
    count = 2_000
    conn.execute("select worker.enqueue_many('nothing', array_fill('{}'::jsonb, array[%s]))", [count])
    took = seconds(lambda: conn.execute("call worker.process_tasks(p_queue => 'bench', p_batch_size => %s)", [count]))
    return took / count * 1e6


def claim_cost(bench: Bench, *, quick: bool) -> None:
    finished, blocked = (20_000, 10_000) if quick else (1_000_000, 100_000)
    with bench.database() as connect, connect() as conn:
        claim_microseconds(conn)
        empty = median_of(3, lambda: claim_microseconds(conn))
    with bench.database() as connect, connect() as conn:
        fill_finished(conn, finished)
        fill_blocked(conn, blocked)
        conn.execute("analyze")
        claim_microseconds(conn)
        full = median_of(3, lambda: claim_microseconds(conn))
    report("claim, run and settle one no-op in an empty database", f"{empty:.0f} us")
    report(f"  with {finished} finished and {blocked} blocked tasks", f"{full:.0f} us")
    report("  against empty", f"{full / empty:.2f} x", bar="<= 1.5")


def enqueue_rates(bench: Bench, *, quick: bool) -> None:
    singles, bulk = (500, 5_000) if quick else (3_000, 100_000)
    with bench.database() as connect, connect() as conn:

        def one_by_one() -> None:
            for n in range(singles):
                conn.execute("select worker.enqueue('nothing', jsonb_build_object('n', %s::int))", [n])

        def plain_inserts() -> None:
            for n in range(singles):
                conn.execute(
                    "insert into worker.tasks (command, payload) values ('nothing', jsonb_build_object('n', %s::int))",
                    [n],
                )

        def many() -> None:
            for _ in range(bulk // 1_000):
                conn.execute("select worker.enqueue_many('nothing', array_fill('{\"n\": 1}'::jsonb, array[1000]))")

        def copied() -> None:
            with conn.cursor() as cursor, cursor.copy("copy worker.tasks (command, payload) from stdin") as copy:
                for _ in range(bulk // 10):
                    copy.write_row(["nothing", '{"n": 1}'])

        report("enqueue, one call and commit per task", f"{singles / seconds(one_by_one):.0f} /s")
        report("plain INSERT INTO worker.tasks, one commit per task", f"{singles / seconds(plain_inserts):.0f} /s")
        report("enqueue_many, 1000 per call", f"{bulk / seconds(many):.0f} /s")
        report("COPY worker.tasks", f"{bulk // 10 / seconds(copied):.0f} /s")


def open_transaction(bench: Bench, *, quick: bool) -> None:
    """One session enqueues to a lane and to a dedup key and does not commit for a while; no other session is held
    up."""
    with bench.database() as connect, connect() as idler, connect() as conn:
        conn.execute(
            "insert into worker.command_registry (command, queue, handler_procedure, dedup, merge)"
            " values ('merged', 'bench', 'bench.nothing', '{}', '{\"ids\": \"union\"}')"
        )
        idler.execute("begin")
        idler.execute("select worker.enqueue('nothing', p_lane => 'hot'), worker.enqueue('merged', '{\"ids\": [1]}')")
        worst = 0.0
        done = 0
        began = time.perf_counter()
        while time.perf_counter() - began < (2 if quick else 10):
            for sql in (
                "select worker.enqueue('nothing', p_lane => 'hot')",
                "select worker.enqueue('merged', '{\"ids\": [2]}')",
            ):
                worst = max(worst, seconds(lambda sql=sql: conn.execute(sql)))
            conn.execute("call worker.process_tasks(p_queue => 'bench')")
            done += 2
        row = conn.execute("select count(*) from worker.tasks where state = 'completed'").fetchone()
        assert row == (done,), (row, done)
        idler.execute("commit")
    report("slowest enqueue beside an open one to the same lane and key", f"{worst * 1e3:.1f} ms", bar="< 10 ms")
    report("  tasks of that lane and key completed meanwhile", f"{done} of {done}")

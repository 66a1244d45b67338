"""SQL handlers: what a no-op child costs in sessions of a worker, in batches and one by one, in one run."""

from __future__ import annotations

import statistics
import threading
from typing import Any

from psycopg import Connection

from bench.engine.harness import Bench, processor_ms, report, seconds

CALL = "call worker.process_tasks(p_queue => 'bench', p_mode => 'child', p_batch_size => 100, p_max_runtime_ms => 500)"


def _serve(conn: Connection[Any]) -> None:
    """What a fiber does, until nothing is left."""
    while True:
        conn.execute(CALL)
        row = conn.execute("select worker.last_processed()").fetchone()
        if row == ([],):
            return


def rate(bench: Bench, sessions: int, children: int, *, is_batched: bool) -> tuple[float, float]:
    """Tasks per second, and microseconds of processor time in the server for each."""
    with bench.database() as connect, connect() as conn:
        conn.execute("update worker.command_registry set is_batched = %s", [is_batched])
        conn.execute("select worker.enqueue('fan_out', jsonb_build_object('n', %s::int))", [children])
        conn.execute("call worker.process_tasks(p_queue => 'bench')")
        fibers = [connect() for _ in range(sessions)]
        for fiber in fibers:
            fiber.execute(
                "select set_config('worker.worker_id', worker_id::text, false) from worker.register_worker('bench')"
            )
        threads = [threading.Thread(target=_serve, args=[fiber]) for fiber in fibers]

        def run() -> None:
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()

        before = sum(processor_ms(fiber) for fiber in fibers)
        took = seconds(run)
        used = sum(processor_ms(fiber) for fiber in fibers) - before
        row = conn.execute("select state from worker.tasks where command = 'fan_out'").fetchone()
        assert row == ("completed",), row
        for fiber in fibers:
            fiber.close()
    return children / took, used * 1000 / children


def handlers(bench: Bench, *, quick: bool) -> None:
    size = 2_000 if quick else 10_000
    for sessions in (1, 4):
        runs: dict[bool, list[tuple[float, float]]] = {True: [], False: []}
        for _ in range(1 if quick else 3):
            for is_batched in (False, True):
                runs[is_batched].append(rate(bench, sessions, size, is_batched=is_batched))
        (alone, alone_used), (batched, batched_used) = (
            [statistics.median(figures) for figures in zip(*runs[key], strict=True)] for key in (False, True)
        )
        words = "one session" if sessions == 1 else f"{sessions} sessions"
        report(f"{words}: no-op SQL children one by one", f"{1e6 / alone:.0f} us, {alone:.0f}/s")
        bar = "<= 300 us" if sessions == 1 else ">= 6,000/s"
        report("  in batches", f"{1e6 / batched:.0f} us, {batched:.0f}/s", bar=bar)
        report("  against one by one", f"{batched / alone:.1f} x")
        report("  processor time of the server", f"{alone_used:.0f} and {batched_used:.0f} us")

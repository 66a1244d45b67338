"""Scopes: the time per child must not grow with the number of children."""

from __future__ import annotations

import statistics
import threading
import time
from typing import Any

from psycopg import Connection

from bench.engine.harness import Bench, report, seconds


def run_scope(conn: Connection[Any], children: int) -> tuple[float, float]:
    """Seconds to spawn, and to run all children and settle the parent, in one session."""
    conn.execute("select worker.enqueue('fan_out', jsonb_build_object('n', %s::int))", [children])
    spawn = seconds(lambda: conn.execute("call worker.process_tasks(p_queue => 'bench')"))
    settle = seconds(lambda: conn.execute("call worker.process_tasks(p_queue => 'bench')"))
    row = conn.execute("select state from worker.tasks where command = 'fan_out' order by id desc limit 1").fetchone()
    assert row == ("completed",), row
    return spawn, settle


def linear(bench: Bench, *, quick: bool) -> None:
    sizes = [1_000, 10_000] if quick else [1_000, 10_000, 100_000]
    base: float | None = None
    for size in sizes:
        runs: list[tuple[float, float]] = []
        for _ in range(1 if size > 10_000 else 3):
            with bench.database() as connect, connect() as conn:
                runs.append(run_scope(conn, size))
        per_spawn, per_child = (statistics.median(times) / size for times in zip(*runs, strict=True))
        base = base or per_child
        report(f"scope of {size} no-op SQL children: run and settle", f"{per_child * 1e6:.0f} us/child")
        report("  against 1000 children", f"{per_child / base:.2f} x", bar="<= 1.3")
        report("  spawn from one handler", f"{per_spawn * 1e6:.0f} us/child")


def held_snapshot(bench: Bench, *, quick: bool) -> None:
    size = 2_000 if quick else 10_000
    with bench.database() as connect, connect() as conn:
        _, free = run_scope(conn, size)
    with bench.database() as connect, connect() as conn, connect() as holder:
        holder.execute("begin isolation level repeatable read")
        holder.execute("select count(*) from worker.ready")
        _, held = run_scope(conn, size)
        holder.execute("rollback")
    report(f"scope of {size} children under a held snapshot", f"{held / size * 1e6:.0f} us/child")
    report("  against no held snapshot", f"{held / free:.2f} x")


def slow_sibling(bench: Bench) -> None:
    """A child spawns a sibling and then runs 5 s; the others settle meanwhile."""
    size = 500
    with bench.database() as connect, connect() as conn, connect() as other, connect() as watch:
        conn.execute("select worker.enqueue('fan_out_slow', jsonb_build_object('n', %s::int, 'seconds', 5))", [size])
        conn.execute("call worker.process_tasks(p_queue => 'bench', p_mode => 'top', p_batch_size => 1)")
        slow = threading.Thread(
            target=lambda: conn.execute(
                "call worker.process_tasks(p_queue => 'bench', p_mode => 'child', p_batch_size => 1)"
            )
        )
        slow.start()
        while watch.execute("select count(*) from worker.running").fetchone() != (1,):
            time.sleep(0.01)
        took = seconds(lambda: other.execute("call worker.process_tasks(p_queue => 'bench', p_mode => 'child')"))
        slow.join()
        other.execute("call worker.process_tasks(p_queue => 'bench')")
        row = watch.execute("select state from worker.tasks where command = 'fan_out_slow'").fetchone()
        assert row == ("completed",), row
    report(f"{size} siblings settle beside one that spawned and runs 5 s", f"{took:.2f} s", bar="< 5 s")

"""The workloads: each prints its figure beside the bar it has to meet."""

from __future__ import annotations

import asyncio
import statistics
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import psycopg

from bench.engine.harness import Bench, report
from bench.worker import bare
from bench.worker.app import fan_children, in_hot_lane, in_lane, no_op, wait, write
from bench.worker.fleet import TUNED, Fleet, fleet
from bench.worker.probe import ORDER, OVERLAP
from catchment import App


def _client(made: Fleet) -> App:
    return App(made.dsn)


def preload(made: Fleet, command: Any, payloads: list[dict[str, int]], **options: Any) -> None:
    client = _client(made)
    client.commands.add(command)
    client.sync.enqueue_many(command.name, payloads, **options)
    client.sync.close()
    made.conn.execute("analyze")


def _median(times: int, run: Any) -> float:
    return statistics.median(run() for _ in range(times))


def drain(bench: Bench, *, quick: bool, workers: int) -> None:
    """No-ops, with the settings tuned and as they come."""
    tasks = 10_000 if quick else 50_000

    def run(settings: dict[str, str]) -> float:
        with fleet(bench, tasks=tasks) as made:
            preload(made, no_op, [{"i": i} for i in range(tasks)])
            made.start(workers, **settings)
            return tasks / made.drain(tasks)

    times = 1 if quick else 3
    name = f"drain {tasks:,} no-ops, {workers} process{'es' if workers > 1 else ''}"
    report(name, f"{_median(times, lambda: run(TUNED)):,.0f}/s")
    report(f"{name}, default settings", f"{_median(times, lambda: run({})):,.0f}/s")


def transactions(bench: Bench, *, quick: bool) -> None:
    """Handlers that write one row with ``ctx.transaction()``."""
    tasks = 2_000 if quick else 10_000

    def run() -> float:
        with fleet(bench, tasks=tasks) as made:
            made.conn.execute("create table public.written (i integer)")
            made.conn.execute("grant insert on public.written to public")
            preload(made, write, [{"i": i} for i in range(tasks)])
            made.start()
            made.wait(lambda: made.value("select count(*) from worker.outcome") > 0, pause=0.002)
            began, done = time.monotonic(), made.value("select count(*) from worker.outcome")
            made.wait(lambda: made.unfinished() == 0, pause=0.005)
            rate = (tasks - done) / (time.monotonic() - began)
            assert made.value("select count(*) from public.written") == tasks
            return rate

    report(f"{tasks:,} handlers that write a row", f"{_median(1 if quick else 3, run):,.0f}/s")


def pickup_delays(bench: Bench, tasks: int) -> list[float]:
    """One task at a time for an idle worker: milliseconds from its commit to the start of its handler, sorted."""
    with fleet(bench, tasks=tasks) as made:
        made.start()
        made.wait(lambda: made.value("select count(*) from worker.sleeper") >= 2)

        async def produce() -> list[float]:
            async with _client(made) as client:
                nothing = no_op.using(app=client)
                return await _delays(made, tasks, lambda i: nothing.enqueue(i=i))

        return asyncio.run(produce())


def bare_pickup_delays(bench: Bench, tasks: int) -> list[float]:
    """The same for a process that hears a notification and commits one row."""
    with fleet(bench, tasks=tasks) as made:
        made.conn.execute(bare.TABLE)
        made.start_bare()
        made.wait(lambda: made.value("select to_regclass('public.bare_is_ready') is not null"))

        async def produce() -> list[float]:
            async with await psycopg.AsyncConnection.connect(made.dsn, autocommit=True) as conn:
                return await _delays(made, tasks, lambda i: conn.execute(bare.NOTIFY, [str(i)]))

        return asyncio.run(produce())


async def _delays(made: Fleet, tasks: int, send: Callable[[int], Awaitable[object]]) -> list[float]:
    delays: list[float] = []
    for i in range(tasks):
        await send(i)
        committed = time.monotonic_ns()
        while not made.probe.ended_at(i):  # noqa: ASYNC110 - another process writes it
            await asyncio.sleep(0.0002)
        delays.append(max(0.0, (made.probe.started_at(i) - committed) / 1e6))
        await asyncio.sleep(0.02)
    return sorted(delays[5:])


def pickup(bench: Bench, *, quick: bool) -> None:
    """How soon an idle worker starts a task, beside the least that this takes on the same machine."""
    tasks = 40 if quick else 400
    for name, delays, bars in (
        ("pickup by an idle worker", pickup_delays(bench, tasks), ("<= 0.8", "<= 2.5")),
        ("notification and one committed row", bare_pickup_delays(bench, tasks), ("", "")),
    ):
        report(f"{name}, p50", f"{delays[len(delays) // 2]:.2f} ms", bar=bars[0])
        report(f"{name}, p99", f"{delays[int(len(delays) * 0.99)]:.2f} ms", bar=bars[1])


def sleepers(bench: Bench, *, quick: bool) -> None:
    """5,000 tasks that wait 100 ms, 1,000 in flight: half a second by arithmetic."""
    tasks = 5_000

    def run(settings: dict[str, str]) -> float:
        with fleet(bench, tasks=tasks) as made:
            preload(made, wait, [{"i": i} for i in range(tasks)])
            made.start(**settings)
            made.wait(lambda: made.unfinished() == 0)
            stamps = [(made.probe.started_at(i), made.probe.ended_at(i)) for i in range(tasks)]
            return (max(e for _, e in stamps) - min(s for s, _ in stamps)) / 1e9

    times = 1 if quick else 5
    name = "5,000 tasks of 100 ms, 1,000 in flight"
    report(f"{name}, default settings", f"{_median(times, lambda: run({})):.2f} s", bar="<= 0.57")
    ahead = {"CATCHMENT_CLAIM_AHEAD": "1000"}
    report(f"{name}, 1,000 claimed ahead", f"{_median(times, lambda: run(ahead)):.2f} s", bar="0.50 at best")


def memory(bench: Bench, *, quick: bool) -> None:
    """5,000 handlers that sleep at once in one process."""
    tasks = 5_000
    with fleet(bench, tasks=tasks) as made:
        preload(made, wait, [{"i": i, "seconds": 3 if quick else 10} for i in range(tasks)])
        made.start(CATCHMENT_MAX_CONCURRENT_TASKS="5000", CATCHMENT_CLAIM_BATCH_SIZE="500")
        made.wait(lambda: all(made.probe.started_at(i) for i in range(tasks)), pause=0.05)
        at_once = sum(1 for i in range(tasks) if not made.probe.ended_at(i))
        status = Path(f"/proc/{made.workers[0].pid}/status").read_text()
        peak = int(status.split("VmHWM:")[1].split()[0]) / 1024
    report(f"resident memory with {at_once:,} tasks at once", f"{peak:,.0f} MB", bar="<= 400")


def hot(bench: Bench, *, quick: bool) -> None:
    """Pickup in 500 lanes while one other lane has 5,000 tasks of 1 ms queued."""
    keys = 100 if quick else 500
    with fleet(bench, tasks=keys) as made:
        preload(made, in_hot_lane, [{"number": n, "seconds": 0.001} for n in range(5_000)], lane="hot")
        made.start()
        made.wait(lambda: made.value("select count(*) from worker.outcome") > 0)
        client = _client(made)
        committed: list[int] = []
        for i in range(keys):
            no_op.sync.using(app=client, lane=f"w{i}").enqueue(i=i)
            committed.append(time.monotonic_ns())
            time.sleep(0.005)
        made.wait(lambda: all(made.probe.ended_at(i) for i in range(keys)))
        left = made.value("select count(*) from worker.blocked where lane = 'hot'")
        client.sync.close()
        delays = sorted(max(0.0, (made.probe.started_at(i) - committed[i]) / 1e6) for i in range(keys))
    report(
        f"pickup in {keys} lanes beside a hot one ({left:,} left in it), p50 / p99",
        f"{delays[len(delays) // 2]:.1f} / {delays[int(len(delays) * 0.99)]:.1f} ms",
        bar="p99 <= 200",
    )


def lanes_rate(bench: Bench, *, tasks: int, keys: int, hot: int = 0, **settings: str) -> float:
    """Tasks per second in many lanes, behind ``hot`` tasks of one other lane."""
    with fleet(bench, tasks=0, lanes=keys) as made:
        preload(made, in_hot_lane, [{"number": n} for n in range(hot)], lane="hot")
        payloads = [{"key": i % keys, "number": i // keys + 1} for i in range(tasks)]
        preload(made, in_lane, payloads, lane=lambda payload: f"w{payload['key']}")
        cells = made.probe.cells
        made.start(**settings)
        made.wait(lambda: made.probe.ended() > 0)
        began, done = time.monotonic(), made.probe.ended()
        made.wait(lambda: made.probe.ended() >= tasks)
        seconds = time.monotonic() - began
        assert cells[ORDER] == cells[OVERLAP] == 0
        return (tasks - done) / seconds


def lanes(bench: Bench, *, quick: bool) -> None:
    """10,000 tasks in 1,000 lanes, alone and behind 50,000 tasks of one other lane."""

    def run(hot: int, **settings: str) -> float:
        return lanes_rate(bench, tasks=10_000, keys=1_000, hot=hot, **settings)

    times = 1 if quick else 3
    alone = _median(times, lambda: run(0, **TUNED))
    report("10,000 tasks in 1,000 lanes", f"{alone:,.0f}/s")
    report("the same, default settings", f"{_median(times, lambda: run(0)):,.0f}/s")
    behind = _median(times, lambda: run(5_000 if quick else 50_000, **TUNED))
    report("the same behind 50,000 tasks of one lane", f"{behind:,.0f}/s = {behind / alone:.2f}", bar=">= 0.5")


def fan(bench: Bench, *, quick: bool) -> None:
    """A parent with 10,000 children, from its enqueue until it has settled."""
    children = 1_000 if quick else 10_000

    def run() -> float:
        with fleet(bench, tasks=children) as made:
            made.start(**TUNED)
            made.wait(lambda: made.value("select count(*) from worker.sleeper") >= 2)
            client = _client(made)
            began = time.monotonic()
            fan_children.sync.using(app=client).enqueue(count=children).result(timeout=60)
            seconds = time.monotonic() - began
            client.sync.close()
            return seconds

    report(f"parent with {children:,} children", f"{_median(1 if quick else 3, run):.2f} s", bar="<= 1.0")


def decay(bench: Bench, *, quick: bool) -> None:
    """Throughput after a million finished tasks, and with a snapshot held open."""
    tasks, history = (10_000, 50_000) if quick else (50_000, 1_000_000)
    minutes = 0.1 if quick else 10

    def rate(made: Fleet) -> float:
        preload(made, no_op, [{"i": 0} for _ in range(tasks)])
        made.start(**TUNED)
        seconds = made.drain(tasks)
        made.stop()
        return tasks / seconds

    with fleet(bench, tasks=1) as made:
        fresh = statistics.median(rate(made) for _ in range(3))
        report("drain, fresh", f"{fresh:,.0f}/s")
        for _ in range(history // tasks):
            rate(made)
        later = statistics.median(rate(made) for _ in range(3))
        report(f"drain after {history:,} finished", f"{later:,.0f}/s = {later / fresh:.2f}", bar=">= 0.9")
        with psycopg.connect(made.dsn) as holder:
            holder.execute("set transaction isolation level repeatable read")
            holder.execute("select count(*) from worker.ready")
            until = time.monotonic() + minutes * 60
            while time.monotonic() < until:
                rate(made)
            held = statistics.median(rate(made) for _ in range(3))
        report(f"drain with a snapshot held {minutes:g} min", f"{held:,.0f}/s = {held / fresh:.2f}", bar=">= 0.8")


def chaos(bench: Bench, *, quick: bool) -> None:
    """Order and exclusion under kill -9: nothing out of order, nothing twice at once, nothing lost."""
    tasks, keys, every = (20_000, 100, 1.0) if quick else (1_000_000, 1_000, 5.0)
    with fleet(bench, tasks=0, lanes=keys) as made:
        payloads = [{"key": i % keys, "number": i // keys + 1} for i in range(tasks)]
        preload(made, in_lane, payloads, lane=lambda payload: f"w{payload['key']}")
        made.start(3, **TUNED)
        began = last = time.monotonic()
        kills = 0
        while left := made.unfinished():
            if time.monotonic() - last > every:
                made.kill_one(**TUNED)
                kills, last = kills + 1, time.monotonic()
            time.sleep(0.05 if left > 1_000 else 0.005)
        seconds = time.monotonic() - began
        completed = made.value("select count(*) from worker.outcome where state = 'completed'")
        order, overlap = made.probe.cells[ORDER], made.probe.cells[OVERLAP]
        broken = made.value("select count(*) from worker.check_invariants()") if quick else 0
    report(f"{tasks:,} tasks in {keys:,} lanes, {kills} kills", f"{tasks / seconds:,.0f}/s")
    report(
        "out of order / at once / lost / rules broken", f"{order} / {overlap} / {tasks - completed} / {broken}", bar="0"
    )
    if order or overlap or completed != tasks or broken:
        raise SystemExit("the order of a lane was broken")

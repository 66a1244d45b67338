"""Rates of the client: enqueue one by one, from many callers at once, and many; record spawns.

python -m bench.client [--quick] [meet]

``meet`` measures enqueue alone, beside a bare server: one prepared INSERT of one row, and its commit, per task; and the
SQL function through libpq, which is all that a client could reach. Both depend on the disk, so read the ratios.
"""

from __future__ import annotations

import asyncio
import statistics
import sys
import time
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import psycopg
from psycopg.sql import SQL, Identifier

from bench.engine.harness import Bench, bench_server, median_of, report, seconds
from catchment import App, Context, Request

app = App()


@app.command(queue="bench_client")
async def no_op() -> None:
    """Nothing."""


@app.command(queue="bench_client")
async def send(to: str, body: str = "") -> None:
    """Nothing, with a payload."""


def rates(dsn: str, *, quick: bool) -> None:
    """Each figure is the median of three."""
    singles, bulk = (300, 5_000) if quick else (3_000, 100_000)
    mine = App(dsn)
    nothing = no_op.using(app=mine)

    async def one_by_one() -> None:
        for _ in range(singles):
            await nothing.enqueue()

    async def at_once() -> None:
        async with asyncio.TaskGroup() as group:
            for _ in range(singles):
                group.create_task(nothing.enqueue())

    async def many() -> None:
        await nothing.enqueue_many(no_op.item() for _ in range(bulk))

    async def many_with_lane() -> None:
        sends = [send.using(lane=f"w{n}") for n in range(100)]
        await send.using(app=mine).enqueue_many(sends[n % 100].item(to=str(n)) for n in range(bulk))

    def many_sync() -> None:
        nothing.sync.enqueue_many(no_op.item() for _ in range(bulk))

    def singles_sync() -> None:
        for _ in range(singles):
            nothing.sync.enqueue()

    async def measure(action: Callable[[], Awaitable[object]]) -> float:
        loop = asyncio.get_running_loop()
        await action()
        times: list[float] = []
        for _ in range(3):
            began = loop.time()
            await action()
            times.append(loop.time() - began)
        return sorted(times)[1]

    async def run_async() -> None:
        async with mine:
            rate = singles / await measure(one_by_one)
            report("enqueue one by one", f"{rate:,.0f}/s", bar=">= 3,000")
            report("enqueue at once over 4 connections", f"{singles / await measure(at_once):,.0f}/s")
            rate = bulk / await measure(many)
            report("enqueue_many without payload", f"{rate:,.0f}/s", bar=">= 80,000")
            report("enqueue_many with payload and lane", f"{bulk / await measure(many_with_lane):,.0f}/s")

    asyncio.run(run_async())
    report("app.sync.enqueue one by one", f"{singles / median_of(3, lambda: seconds(singles_sync)):,.0f}/s")
    report("app.sync.enqueue_many without payload", f"{bulk / median_of(3, lambda: seconds(many_sync)):,.0f}/s")
    mine.sync.close()


CALLERS = 32


def meetings(dsn: str, *, quick: bool) -> None:
    """Enqueue one by one, and from callers that meet. The order turns, so that each meets the same machine."""
    calls = 640 if quick else 6_400
    mine = App(dsn)
    nothing = no_op.using(app=mine)
    with psycopg.connect(dsn, autocommit=True) as bare:
        bare.execute("create table bench.bare (id bigint generated always as identity primary key, payload jsonb)")

        def probe() -> None:
            for _ in range(calls // 4):
                bare.execute("insert into bench.bare (payload) values ('{}') returning id", prepare=True)

        nothing.sync.enqueue()  # registers the command
        bare.pgconn.prepare(b"enqueue", b"select worker.enqueue($1, $2::jsonb)")

        def function() -> None:
            for _ in range(calls // 4):
                answer = bare.pgconn.exec_prepared(b"enqueue", [b"no_op", b"{}"])
                assert answer.ntuples == 1, answer.error_message

        def alone() -> None:
            asyncio.run(_callers(nothing, 1, calls // 4))

        def alone_in_a_thread() -> None:
            for _ in range(calls // 4):
                nothing.sync.enqueue()

        def coroutines() -> None:
            asyncio.run(_callers(nothing, CALLERS, calls))

        def threads() -> None:
            with ThreadPoolExecutor(CALLERS) as pool:
                for one in [pool.submit(_enqueue, nothing, calls // CALLERS) for _ in range(CALLERS)]:
                    one.result()

        parts: dict[str, tuple[Callable[[], None], int, str]] = {
            "bare server, one INSERT and commit each": (probe, calls // 4, ""),
            "worker.enqueue through libpq, one session": (function, calls // 4, ""),
            "await enqueue, one caller": (alone, calls // 4, ">= 3,200"),
            "sync.enqueue, one thread": (alone_in_a_thread, calls // 4, ">= 3,200"),
            f"await enqueue, {CALLERS} callers": (coroutines, calls, ">= 12,000"),
            f"sync.enqueue, {CALLERS} threads": (threads, calls, ">= 12,000"),
        }
        figures: dict[str, list[tuple[float, float]]] = {name: [] for name in parts}
        for _ in range(1 if quick else 5):
            for name, (action, count, _) in parts.items():
                before = time.process_time()
                took = seconds(action)
                figures[name].append((count / took, (time.process_time() - before) / count * 1e6))
    for name, (_, _, bar) in parts.items():
        rate, used = (statistics.median(values) for values in zip(*figures[name], strict=True))
        report(name, f"{rate:,.0f}/s, {used:.0f} us", bar=bar)
    mine.sync.close()


async def _callers(request: Request[[], None], callers: int, calls: int) -> None:
    async def caller() -> None:
        for _ in range(calls // callers):
            await request.enqueue()

    async with asyncio.TaskGroup() as group:
        for _ in range(callers):
            group.create_task(caller())


def _enqueue(request: Request[[], None], calls: int) -> None:
    for _ in range(calls):
        request.sync.enqueue()


def record_spawns() -> None:
    def spawn() -> None:
        context = Context.local()
        for n in range(10_000):
            context.spawn(send, to=str(n))
        assert context.recorded is not None
        context.recorded.spawns_json()

    report("record 10,000 spawns", f"{median_of(5, lambda: seconds(spawn)) * 1e3:.0f} ms", bar="<= 100")


def with_commit(bench: Bench, setting: str, *, quick: bool) -> None:
    with bench.database() as connect, connect() as conn:
        report(f"-- synchronous_commit = {setting}", "")
        name: Any = conn.info.dbname
        conn.execute(SQL("alter database {} set synchronous_commit = {}").format(Identifier(name), setting))
        meetings(conn.info.dsn, quick=quick)
        if "meet" not in sys.argv:
            rates(conn.info.dsn, quick=quick)


def main() -> None:
    quick = "--quick" in sys.argv
    if "meet" not in sys.argv:
        record_spawns()
    with bench_server() as bench:
        with_commit(bench, "on", quick=quick)
        # Where the disk is the limit, this shows what is left to the client.
        with_commit(bench, "off", quick=quick)


if __name__ == "__main__":
    main()

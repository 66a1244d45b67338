"""Rates of the client: enqueue one by one, enqueue many, wait for results, record spawns.

python -m bench.client [--quick]
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Awaitable, Callable
from typing import Any

from psycopg.sql import SQL, Identifier

from bench.engine.harness import Bench, bench_server, median_of, report, seconds
from catchment import App, Context

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
        rates(conn.info.dsn, quick=quick)


def main() -> None:
    quick = "--quick" in sys.argv
    record_spawns()
    with bench_server() as bench:
        with_commit(bench, "on", quick=quick)
        # Where the disk is the limit, this shows what is left to the client.
        with_commit(bench, "off", quick=quick)


if __name__ == "__main__":
    main()

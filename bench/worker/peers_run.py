"""Drains no-ops with another queue and prints the seconds: ``peers_run.py NAME DSN TASKS``, run in its environment."""
# pyright: basic, reportMissingImports=false, reportUnknownMemberType=false

from __future__ import annotations

import asyncio
import sys
import time
from datetime import timedelta
from typing import Any

import uvloop


async def wait_until_empty(conn: Any, sql: str) -> None:
    while await conn.fetchval(sql):  # noqa: ASYNC110 - the database has nothing to wait for
        await asyncio.sleep(0.01)


async def pgqueuer(dsn: str, tasks: int) -> float:
    """Two connections in one process and batches of 1,000 measured best."""
    import asyncpg
    from pgqueuer import PgQueuer
    from pgqueuer.db import AsyncpgDriver
    from pgqueuer.queries import Queries

    queries = Queries(AsyncpgDriver(await asyncpg.connect(dsn)))
    await queries.install()
    await queries.enqueue(["no_op"] * tasks, [b'{"i": 1}'] * tasks, [0] * tasks)
    watch = await asyncpg.connect(dsn)

    async def serve() -> None:
        own = Queries(AsyncpgDriver(await asyncpg.connect(dsn)))
        queue = PgQueuer(own.driver, queries=own)

        @queue.entrypoint("no_op")
        async def no_op(_job: Any) -> None: ...

        await queue.run(dequeue_timeout=timedelta(seconds=30), batch_size=1_000)

    began = time.monotonic()
    workers = [asyncio.create_task(serve()) for _ in range(2)]
    await wait_until_empty(watch, "select count(*) from pgqueuer")
    seconds = time.monotonic() - began
    for worker in workers:
        worker.cancel()
    return seconds


async def procrastinate(dsn: str, tasks: int) -> float:
    import asyncpg
    from procrastinate import App, PsycopgConnector

    app = App(connector=PsycopgConnector(conninfo=dsn, max_size=20))

    @app.task(queue="bench")
    async def no_op(i: int) -> None: ...

    watch = await asyncpg.connect(dsn)
    async with app.open_async():
        await app.schema_manager.apply_schema_async()
        await no_op.batch_defer_async(*[{"i": i} for i in range(tasks)])
        began = time.monotonic()
        worker = asyncio.create_task(app.run_worker_async(concurrency=50, install_signal_handlers=False))
        await wait_until_empty(watch, "select count(*) from procrastinate_jobs where status in ('todo', 'doing')")
        seconds = time.monotonic() - began
        worker.cancel()
        await asyncio.wait([worker])
    return seconds


if __name__ == "__main__":
    _, name, dsn, tasks = sys.argv
    print(uvloop.run({"pgqueuer": pgqueuer, "procrastinate": procrastinate}[name](dsn, int(tasks))))

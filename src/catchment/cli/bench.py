"""``catchment bench``: what this server and this machine reach, measured in a separate database that is dropped."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Generator
from contextlib import contextmanager
from typing import Annotated, Any
from uuid import uuid4

import psycopg
import typer
from psycopg import Connection, sql
from psycopg.conninfo import make_conninfo

from catchment.cli.bench_app import QUEUE, bench_no_op
from catchment.cli.numbers import MOST_PROCESSES
from catchment.client.app import App
from catchment.commands.options import Dsn, Json
from catchment.commands.output import errors, print_rows
from catchment.errors import RequestRefused
from catchment.model.check import LARGEST_INTEGER
from catchment.store import bench as bench_store
from catchment.store.connect import DSN_VARIABLE, connect, find_dsn
from catchment.store.migrate import migrate
from catchment.task.handle import SyncTask

SINGLES = 500
PICKUPS = 100
PATIENCE = 300.0


def bench(
    tasks: Annotated[int, typer.Option(min=100, max=LARGEST_INTEGER, help="Number of tasks to run.")] = 20_000,
    processes: Annotated[int, typer.Option(min=1, max=MOST_PROCESSES, help="Number of worker processes.")] = 1,
    as_json: Json = False,
    dsn: Dsn = None,
) -> None:
    """Measure enqueue rate, throughput and pickup latency on this server.

    Creates a separate database, drops it afterwards, and uses the worker settings of the environment.
    """
    with _own_database(find_dsn(dsn)) as where, connect(where) as conn:
        client = App(where)
        try:
            rows = [*_enqueue(client, tasks), *_drain(conn, where, tasks, processes), *_pick_up(conn, client, where)]
        finally:
            client.sync.close()
    print_rows(rows, ["measured", "figure"], as_json=as_json, empty="")


def _enqueue(client: App, tasks: int) -> Generator[dict[str, Any]]:
    with errors.status("enqueuing"):
        client.sync.register()
        began = time.monotonic()
        no_op = bench_no_op.sync.using(app=client)
        for number in range(SINGLES):
            no_op.enqueue(number=number)
        yield _row("enqueue, one call each", SINGLES / (time.monotonic() - began), "tasks/s")
        began = time.monotonic()
        no_op.enqueue_many(bench_no_op.item(number=number) for number in range(tasks))
        yield _row("enqueue, many at a time", tasks / (time.monotonic() - began), "tasks/s")


def _drain(conn: Connection[Any], where: str, tasks: int, processes: int) -> Generator[dict[str, Any]]:
    total = tasks + SINGLES
    with errors.status(f"draining {total:,} tasks") as status, _workers(where, processes):
        _wait(lambda: bench_store.completed(conn) > 0)
        began, before = time.monotonic(), bench_store.completed(conn)

        def is_drained() -> bool:
            done = bench_store.completed(conn)
            status.update(f"draining: {done:,} of {total:,} tasks")
            return done >= total

        _wait(is_drained)
        yield _row(f"drain no-ops, {processes} process(es)", (total - before) / (time.monotonic() - began), "tasks/s")


def _pick_up(conn: Connection[Any], client: App, where: str) -> Generator[dict[str, Any]]:
    with errors.status("waking an idle worker"), _workers(where, 1):
        _wait(lambda: bench_store.is_asleep(conn, QUEUE))
        made: list[SyncTask[None]] = []
        for number in range(PICKUPS):
            made.append(bench_no_op.sync.using(app=client).enqueue(number=number))
            time.sleep(0.02)
        made[-1].result(timeout=PATIENCE)
        delays = bench_store.pickup_ms(conn, [task.id for task in made])
        yield _row("pickup by an idle worker, p50", delays[len(delays) // 2], "ms")
        yield _row("pickup by an idle worker, p99", delays[int(len(delays) * 0.99)], "ms")


def _row(measured: str, value: float, unit: str) -> dict[str, Any]:
    digits = 0 if unit == "tasks/s" else 2
    return {"measured": measured, "figure": f"{value:,.{digits}f} {unit}", "value": round(value, 3), "unit": unit}


def _wait(is_done: Any) -> None:
    until = time.monotonic() + PATIENCE
    while not is_done():
        if time.monotonic() > until:
            raise RequestRefused(
                f"not done after {PATIENCE:g} s", hint="Try fewer --tasks, and check that workers can start."
            )
        time.sleep(0.005)


@contextmanager
def _workers(where: str, count: int) -> Generator[None]:
    started = [
        subprocess.Popen(
            [
                sys.executable,
                "-m",
                "catchment",
                "worker",
                "--app",
                "catchment.cli.bench_app:app",
                "--log-level",
                "error",
            ],
            env=os.environ | {DSN_VARIABLE: where},
        )
        for _ in range(count)
    ]
    try:
        yield
    finally:
        for worker in started:
            worker.terminate()
        for worker in started:
            worker.wait()


@contextmanager
def _own_database(dsn: str) -> Generator[str]:
    """A fresh database on that server, dropped whatever happens."""
    name = f"catchment_bench_{uuid4().hex[:8]}"
    with connect(dsn) as admin:
        try:
            admin.execute(sql.SQL("create database {}").format(sql.Identifier(name)))
        except psycopg.errors.InsufficientPrivilege as error:
            raise RequestRefused(
                f"{admin.info.user} may not create a database to measure in",
                hint="Use a user with CREATEDB, or omit --dsn to measure on Catchment's own server.",
            ) from error
        try:
            where = make_conninfo(dsn, dbname=name)
            with connect(where) as conn:
                migrate(conn)
            yield where
        finally:
            admin.execute(sql.SQL("drop database if exists {} with (force)").format(sql.Identifier(name)))

"""The figures: each is the seconds of some fixed work, at default settings, so that less is better."""

from __future__ import annotations

import asyncio
import statistics
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stdout
from dataclasses import dataclass, replace
from io import StringIO

from bench.client.__main__ import no_op as client_no_op
from bench.compare.bare import Bare
from bench.engine.handlers import rate
from bench.engine.harness import Bench, seconds
from bench.lake import incremental
from bench.lake.lab import opened
from bench.register.edit import median
from bench.register.harness import register_server
from bench.worker.app import no_op
from bench.worker.fleet import fleet
from bench.worker.workloads import lanes_rate, pickup_delays, preload
from catchment import App
from catchment_register.generate.plan import PROFILES

Measure = Callable[[Bench, bool], float]


@dataclass(frozen=True, slots=True)
class Figure:
    """Something that is measured; ``measure`` takes whether it is to be quick."""

    title: str
    bare: Bare
    measure: Measure


def _drain(workers: int) -> Measure:
    def measure(bench: Bench, quick: bool) -> float:
        tasks = 2_000 if quick else 30_000
        with fleet(bench, tasks=tasks) as made:
            preload(made, no_op, [{"i": i} for i in range(tasks)])
            made.start(workers)
            return made.drain(tasks)

    return measure


def _lanes(bench: Bench, quick: bool) -> float:
    tasks = 1_000 if quick else 10_000
    return tasks / lanes_rate(bench, tasks=tasks, keys=tasks // 10)


def _pickup(bench: Bench, quick: bool) -> float:
    return statistics.median(pickup_delays(bench, 20 if quick else 200)) / 1e3


@contextmanager
def _client(bench: Bench) -> Iterator[App]:
    with bench.database() as connect, connect() as conn:
        app = App(conn.info.dsn)
        try:
            yield app
        finally:
            app.sync.close()


def _enqueue(bench: Bench, quick: bool) -> float:
    tasks = 50 if quick else 1_000
    with _client(bench) as app:
        enqueue = client_no_op.sync.using(app=app).enqueue
        enqueue()
        return seconds(lambda: [enqueue() for _ in range(tasks)])


def _enqueue_at_once(bench: Bench, quick: bool) -> float:
    tasks, callers = (320, 32) if quick else (9_600, 32)

    async def run(dsn: str) -> float:
        async with App(dsn) as app:
            enqueue = client_no_op.using(app=app).enqueue

            async def call(count: int) -> None:
                for _ in range(count):
                    await enqueue()

            await call(1)
            loop = asyncio.get_running_loop()
            began = loop.time()
            async with asyncio.TaskGroup() as group:
                for _ in range(callers):
                    group.create_task(call(tasks // callers))
            return loop.time() - began

    with bench.database() as connect, connect() as conn:
        return asyncio.run(run(conn.info.dsn))


def _enqueue_many(bench: Bench, quick: bool) -> float:
    tasks = 5_000 if quick else 100_000
    with _client(bench) as app:
        many = client_no_op.sync.using(app=app).enqueue_many
        many(client_no_op.item() for _ in range(10))
        return seconds(lambda: many(client_no_op.item() for _ in range(tasks)))


def _handlers(bench: Bench, quick: bool) -> float:
    tasks = 500 if quick else 10_000
    return tasks / rate(bench, 1, tasks, is_batched=True)[0]


def _refresh(percent: float) -> Measure:
    """An incremental refresh after some keys have changed, the last of several."""

    def measure(_bench: Bench, quick: bool) -> float:
        groups = 20_000 if quick else 1_000_000
        with redirect_stdout(StringIO()), opened() as lab:
            incremental.make(lab, groups)
            took = [0.0]
            for step in range(2 if quick else 5):
                incremental.change(lab, groups, percent, step)
                took.append(incremental.refresh(lab, "incremental")[0])
            return statistics.median(took[2:])

    return measure


def _edit(_bench: Bench, quick: bool) -> float:
    plan = replace(PROFILES["national"], legal_units=60 if quick else 11_000)
    with redirect_stdout(StringIO()), register_server() as server, server.bed(plan) as bed:
        bed.load()
        bed.start_worker("analytics")
        bed.wait_settled("analytics")
        return median(bed, "turnover", 1, 2 if quick else 7).wall


FIGURES = {
    "drain": Figure("30,000 no-ops, one process", Bare.ROWS, _drain(1)),
    "two": Figure("30,000 no-ops, two processes", Bare.ROWS, _drain(2)),
    "lanes": Figure("10,000 tasks in 1,000 lanes", Bare.ROWS, _lanes),
    "pickup": Figure("pickup by an idle worker, p50", Bare.COMMITS, _pickup),
    "enqueue": Figure("1,000 tasks enqueued one by one", Bare.COMMITS, _enqueue),
    "callers": Figure("9,600 tasks enqueued by 32 callers", Bare.COMMITS, _enqueue_at_once),
    "many": Figure("100,000 tasks enqueued at once", Bare.ROWS, _enqueue_many),
    "handlers": Figure("10,000 SQL handlers, one session", Bare.ROWS, _handlers),
    "smallest": Figure("refresh after 0.001 % of a million keys", Bare.ROWS, _refresh(0.001)),
    "thousandth": Figure("refresh after 0.1 % of a million keys", Bare.ROWS, _refresh(0.1)),
    "edit": Figure("one edit in a register of 11,000 units", Bare.COMMITS, _edit),
}

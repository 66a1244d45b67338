"""Parallel refresh: the scenario, how it grows with processes, and what coordination costs."""

from __future__ import annotations

import os
from datetime import datetime
from typing import Any

from bench.lake import data
from bench.lake.data import Size
from bench.lake.lab import PROCESS_MEMORY, Lab, RefreshFailed, opened, show

GIB = 2**30
# Whatever there is to do is too much for one process, so that one worker alone takes buckets too.
ALWAYS = {"CATCHMENT_PARALLEL_MEMORY_SHARE": "0.0000001"}
SEED = {2: "1.6-1.8", 4: "2.5-3.5", 8: "4-6"}


def scenario(*, quick: bool) -> None:
    """A dimension change that affects 40 % of a table, by four processes and by one."""
    size = data.QUICK if quick else data.FULL
    cores = len(os.sched_getaffinity(0))
    with opened() as lab:
        data.fill(lab, size)
        lab.hire(4, **ALWAYS)
        show("first fill, 4 processes", seconds=data.create(lab, size))
        took, row = _renamed(lab, "renamed by four")
        _tell("4 processes", lab, took, row)
        show("compared with the query", customers=data.check(lab, share=1 if quick else 100))
        lab.lake.alter("totals", allow_parallel_refresh="false")
        for memory in ("20GiB", PROCESS_MEMORY):
            name = f"1 process, {cores} threads, {memory}"
            lab.hire(1, memory=memory, threads=cores)
            try:
                took, row = _renamed(lab, f"renamed with {memory}")
            except RefreshFailed as error:
                show(name, failed=str(error).splitlines()[0])
            else:
                _tell(name, lab, took, row)


def _renamed(lab: Lab, name: str) -> tuple[float, dict[str, Any]]:
    data.rename_country(lab, name)
    took, row = lab.refresh("totals")
    lab.clean()
    return took, row


def _tell(name: str, lab: Lab, took: float, row: dict[str, Any]) -> None:
    figures = row["figures"]
    show(
        name,
        seconds=took,
        keys=row["keys"],
        subtasks=figures.get("subtasks", 0),
        skew=figures.get("skew", 1.0),
        peak_gib=[round(peak / GIB, 2) for peak in lab.peaks()],
    )


def speedup(*, quick: bool) -> None:
    """The same change with 1, 2, 4 and 8 processes of one thread each."""
    size = data.QUICK if quick else Size(10_000_000, 5_000_000)
    cores = len(os.sched_getaffinity(0))
    with opened() as lab:
        data.fill(lab, size)
        lab.hire(2, **ALWAYS)
        data.create(lab, size)
        first = 0.0
        for processes in (1, 2, 4) if quick else (1, 2, 4, 8):
            lab.hire(processes, memory="700MB", **ALWAYS)
            _renamed(lab, f"warm {processes}")
            took, _ = _renamed(lab, f"by {processes}")
            first = first or took
            show(f"{processes} processes", seconds=took, speed_up=first / took, seed_expects=SEED.get(processes, "1"))
    print(f"{cores} cores: the ceiling is {cores}")


def overhead(*, quick: bool) -> None:
    """What a parallel refresh costs where there is nothing to compute: a small table, four warm workers.

    All of ``total`` is overhead; ``subtasks`` is from the start of the first to the end of the last.
    """
    rounds = 3 if quick else 10
    with opened() as lab:
        lab.lake.query("CREATE TABLE source (k BIGINT, v BIGINT)")
        lab.lake.query("INSERT INTO source SELECT i, i FROM range(1000) AS r(i)")
        lab.hire(4, CATCHMENT_PARALLEL_BUCKETS_PER_WORKER="2")
        lab.lake.create(
            "CREATE DYNAMIC TABLE totals TARGET_LAG = '30 days' SCHEDULER = DISABLE REFRESH_MODE = INCREMENTAL"
            " PARALLEL_THRESHOLD = 2 AS SELECT k, max(v) AS m FROM source GROUP BY k"
        )
        for place in range(rounds + 2):
            with lab.lake.commit_lock():
                lab.lake.query("UPDATE source SET v = v + 1")
            took, row = lab.refresh("totals")
            swept = lab.clean()
            if place >= 2:
                _tell_overhead(lab, took, row, swept)


def _tell_overhead(lab: Lab, took: float, row: dict[str, Any], swept: float) -> None:
    (span,) = lab.rows(
        "select min(process_start_at) as first, max(process_stop_at) as last, count(*) as count from worker.tasks"
        " where parent_id = %(id)s",
        id=row["task_id"],
    )
    started, planned, published, finished = (
        datetime.fromisoformat(row[name]) for name in ("started_at", "planned_at", "published_at", "finished_at")
    )
    show(
        f"{span['count']} subtasks",
        total=took + swept,
        plan=(planned - started).total_seconds(),
        spawn=(span["first"] - planned).total_seconds(),
        subtasks=(span["last"] - span["first"]).total_seconds(),
        join_and_publish=(published - span["last"]).total_seconds(),
        finish=(finished - published).total_seconds(),
        sweep=swept,
    )

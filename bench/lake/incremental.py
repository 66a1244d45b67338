"""Incremental refresh against full refresh: one point that matters, and the whole curve."""

from __future__ import annotations

import os
import statistics
import time

from bench.lake.lab import Lab, opened, show

SHARES = (0.001, 0.01, 0.1, 1, 5, 10, 30, 60, 100)
SCATTERED = (0.001, 0.1, 1, 10)
WARM_UPS = 3
TURNS = 3


def make(lab: Lab, groups: int, *, commits: int = 20) -> None:
    """A table of sums over twice as many rows as it has groups; the rows came in ``commits`` commits, each of which
    wrote a file."""
    lab.lake.query("CREATE TABLE orders (order_id BIGINT, customer_id BIGINT, amount DECIMAL(12,2))")
    step = groups * 2 // commits
    for first in range(0, groups * 2, step):
        lab.lake.query(
            f"INSERT INTO orders SELECT i, i % {groups}, (i % 99991) / 100.0"
            f" FROM range({first}, {first + step}) AS r(i)"
        )
    cores = len(os.sched_getaffinity(0))
    lab.hire(1, memory="8GiB", threads=cores, CATCHMENT_PARALLEL_REFRESH_ENABLED="false")
    began = time.perf_counter()
    lab.lake.create(
        "CREATE DYNAMIC TABLE totals TARGET_LAG = '30 days' SCHEDULER = DISABLE AS"
        " SELECT customer_id, count(*) AS n, max(amount) AS most FROM orders GROUP BY customer_id"
    )
    show("first fill", groups=groups, seconds=time.perf_counter() - began)


def change(lab: Lab, groups: int, percent: float, step: int, *, scattered: bool = False) -> None:
    """Change the orders of ``percent`` per cent of the customers, different ones each time: neighbours, or
    scattered."""
    count = max(1, round(groups * percent / 100))
    if scattered:
        chosen = f"customer_id % {groups // count} = {step * 7919 % (groups // count)}"
    else:
        first = (step * 7919) % max(1, groups - count + 1)
        chosen = f"customer_id >= {first} AND customer_id < {first + count}"
    with lab.lake.commit_lock():
        lab.lake.query(f"UPDATE orders SET amount = amount + 1 WHERE {chosen}")


def refresh(lab: Lab, mode: str) -> tuple[float, str]:
    """Seconds of the refresh itself, and what it did."""
    lab.lake.alter("totals", refresh_mode=mode)
    (info,) = lab.lake.refresh("totals")
    if info.state != "SUCCEEDED" or info.seconds is None:
        raise SystemExit(f"the refresh is {info.state}: {info.error}")
    return info.seconds, info.action or ""


def tenfold(*, quick: bool) -> None:
    """A thousandth of the keys of a big table: incremental, full, and the query itself. With the source in 20 files
    and in one, of which only the row groups with changed rows are to be read."""
    groups = 500_000 if quick else 10_000_000
    for commits in (20, 1):
        _tenfold(groups, commits)


def _tenfold(groups: int, commits: int) -> None:
    with opened() as lab:
        make(lab, groups, commits=commits)
        times: dict[str, list[float]] = {"incremental": [], "full": []}
        for step in range(3):
            for mode, taken in times.items():
                change(lab, groups, 0.1, step * 2 + (mode == "full"))
                taken.append(refresh(lab, mode)[0])
        began = time.perf_counter()
        lab.lake.query(
            "CREATE TABLE plain AS SELECT customer_id, count(*) AS n, max(amount) AS most FROM orders GROUP BY ALL"
        )
        plain = time.perf_counter() - began
        best = {mode: min(taken) for mode, taken in times.items()}
        show(
            f"0.1 % of the keys, source files: {commits}",
            **best,
            create_table_as=plain,
            ratio=best["full"] / best["incremental"],
        )


def smallest(*, quick: bool) -> None:
    """What a refresh costs that has almost nothing to do: 30 of 3 M keys."""
    groups = 300_000 if quick else 3_000_000
    with opened() as lab:
        make(lab, groups)
        times: list[float] = []
        for step in range(3 if quick else 15):
            change(lab, groups, 30 / groups * 100, step)
            times.append(refresh(lab, "incremental")[0])
        times = sorted(times[WARM_UPS - 1 :])
        show("30 keys", groups=groups, median=statistics.median(times), least=times[0], most=times[-1])


def curve(*, quick: bool) -> None:
    """Every size of change: what AUTO chooses, and that it is never much slower than a full refresh."""
    groups = 300_000 if quick else 3_000_000
    points = [(percent, False) for percent in SHARES] + [(percent, True) for percent in SCATTERED]
    worst = 0.0
    with opened() as lab:
        make(lab, groups)
        for step in range(WARM_UPS):
            for mode in ("full", "incremental"):
                change(lab, groups, 1, step)
                refresh(lab, mode)
        for place, (percent, scattered) in enumerate(points[::4] if quick else points):
            worst = max(worst, _point(lab, groups, percent, 100 + place * TURNS, scattered, 1 if quick else TURNS))
    show("largest auto / full", ratio=worst)


def _point(lab: Lab, groups: int, percent: float, step: int, scattered: bool, turns: int) -> float:
    """AUTO / FULL for one size of change. In turns, and the best of each: what else the machine does hits all alike."""
    found: dict[str, tuple[float, str]] = {}
    for turn in range(turns):
        for mode in ("full", "incremental", "auto"):
            change(lab, groups, percent, step + turn, scattered=scattered)
            took = refresh(lab, mode)
            found[mode] = min(found.get(mode, took), took)
    ratio = found["auto"][0] / found["full"][0]
    show(
        f"{percent} % of the keys{', scattered' if scattered else ''}",
        auto=found["auto"][0],
        chosen=found["auto"][1],
        incremental=found["incremental"][0],
        full=found["full"][0],
        auto_by_full=ratio,
    )
    return ratio

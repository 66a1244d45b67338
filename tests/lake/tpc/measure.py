"""How long refreshes of TPC-H take: ``python -m tests.lake.tpc.measure [--scale 1] [--share 0.001] [--only 4 17]``.

Each query is a dynamic table for each mode: refreshed fully, by changes, or as is chosen (``--modes``). In each round,
a share of the rows of every table that grows with the scale is deleted, updated or inserted, at random positions. Then
all tables of a mode are refreshed in one round of the lake, one after another in this process. Prints a table in
Markdown: medians of all rounds, and full by incremental for each round. With ``--processor``, times are the processor
time of this process, without that of the database server: for a machine that is in use, and with one thread.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from collections import defaultdict
from pathlib import Path
from random import Random
from statistics import median

from catchment.lake.names import quoted
from catchment.store import embedded
from tests.fixtures.lake_case import LakeCase
from tests.lake.fuzz.__main__ import new_lake
from tests.lake.tpc.benchmark import Changes, Query, queries
from tests.lake.tpc.on_lake import LakeBenchmark

TABLES = ("supplier", "part", "customer", "partsupp", "orders", "lineitem")
MODES = ("full", "incremental", "auto")
CARRIED = (1, 3, 5, 6, 7, 8, 9, 10, 12, 14, 19)
"""The queries whose sums are carried forward."""

Times = defaultdict[tuple[int, str], list[float]]


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.lake.tpc.measure", description=__doc__)
    parser.add_argument("--scale", type=float, default=1)
    parser.add_argument("--share", type=float, default=0.001)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--only", type=int, nargs="*", default=CARRIED, help="queries; those that carry sums forward")
    parser.add_argument("--modes", nargs="*", choices=MODES, default=MODES[:2])
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--memory", default="6GB")
    parser.add_argument("--processor", action="store_true")
    options = parser.parse_args()
    wanted = [query for query in queries("tpch").values() if query.number in options.only]
    with tempfile.TemporaryDirectory(prefix="catchment-tpch-") as folder:
        Path(folder).chmod(0o755)
        server = embedded.start(Path(folder) / "data")
        with new_lake(server, Path(folder) / "lake") as case:
            change = {"lake_threads": options.threads, "lake_memory_limit": options.memory}
            case.duck.configure(case.settings.model_copy(update=change))
            lake = LakeBenchmark("tpch", case, Path(folder), scale=options.scale)
            _tell(wanted, _measure(lake, case, wanted, options), options.modes)


def _measure(lake: LakeBenchmark, case: LakeCase, wanted: list[Query], options: argparse.Namespace) -> Times:
    for query in wanted:
        for mode in options.modes:
            head = f"CREATE DYNAMIC TABLE {_name(query.number, mode)} TARGET_LAG = DOWNSTREAM REFRESH_MODE"
            case.create(f"{head} = {mode} AS {query.table}")
    times = Times(list)
    random = Random(1)
    for number in range(options.rounds + 1):
        if number:
            for table in TABLES:
                [(rows,)] = case.sql(f"SELECT count(*) FROM {quoted(table)}")
                changes = Changes(random, quoted(table), lake.columns[table], "rowid")
                for statement in changes.statements(rows, options.share / 3):
                    case.sql(statement)
        for mode in options.modes:
            names = {query.number: _name(query.number, mode) for query in wanted}
            taken = _refreshed(case, names, by_processor=options.processor)
            for query, spent in taken.items() if number else ():
                times[query, mode].append(spent)
    return times


def _refreshed(case: LakeCase, names: dict[int, str], *, by_processor: bool) -> dict[int, float]:
    """Refresh these tables in one round; returns the milliseconds of each."""
    clock: dict[str, float] = {}
    last = [time.process_time()]

    def note(name: str) -> None:
        clock[name] = (time.process_time() - last[0]) * 1000
        last[0] = time.process_time()

    round_id = case.control.request_round([case.find(name) for name in names.values()])
    ((refresh_id,),) = case.pg("select min(id) from lake.refresh where round_id = %s", round_id)
    case.finish_round(refresh_id, between=note)
    taken: dict[int, float] = {}
    for number, name in names.items():
        ((row,),) = case.pg(
            "select to_jsonb(r) from lake.refresh as r where round_id = %s and dt_id = %s", round_id, case.find(name)
        )
        figures = row["figures"]
        by_clock = sum(figures.get(part) or 0 for part in ("plan_ms", "compute_ms", "publish_ms"))
        taken[number] = clock[name] if by_processor else by_clock
        shown = f"{row['action']} {row['reason'] or ''} {figures.get('strategy') or ''}"
        print(f"{name} {taken[number]:.0f} ms {shown}", file=sys.stderr, flush=True)
    return taken


def _tell(wanted: list[Query], times: Times, modes: list[str]) -> None:
    print(f"| query | {', ms | '.join(modes)}, ms | full ÷ incremental, by round |\n|{'---|' * (len(modes) + 2)}")
    ratios: list[float] = []
    for number in (query.number for query in wanted):
        medians = " | ".join(f"{median(times[number, mode]):.0f}" for mode in modes)
        pairs = zip(times[number, "full"], times[number, "incremental"], strict=False)
        by_round = [full / incremental for full, incremental in pairs]
        ratios += [median(by_round)] if by_round else []
        print(f"| {number} | {medians} | {', '.join(f'{ratio:.2f}' for ratio in by_round)} |")
    for mode in modes:
        rounds = zip(*(times[query.number, mode] for query in wanted), strict=True)
        print(f"all, {mode}: {', '.join(f'{sum(spent):.0f}' for spent in rounds)} ms")
    if ratios:
        print(f"median of full ÷ incremental: {median(ratios):.2f}")


def _name(number: int, mode: str) -> str:
    return f"q{number}_{mode}"


if __name__ == "__main__":
    main()

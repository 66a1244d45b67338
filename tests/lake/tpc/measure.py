"""How long refreshes of TPC-H take: ``python -m tests.lake.tpc.measure [--scale 1] [--share 0.001] [--only 4 17]``.

Each query is three dynamic tables over the same sources: one is always refreshed fully, one always by changes if that
is possible, one as is chosen. After a share of the rows of each fact table has changed, all three are refreshed. Prints
a table in Markdown; the last column is the chosen time over the better of the two.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections import defaultdict
from pathlib import Path
from random import Random
from statistics import median

from catchment.errors import TableRefused
from catchment.lake.names import quoted
from catchment.store import embedded
from tests.fixtures.lake_case import LakeCase
from tests.lake.fuzz.__main__ import new_lake
from tests.lake.tpc.benchmark import Changes, Query, queries
from tests.lake.tpc.on_lake import LakeBenchmark

FACTS = ("orders", "lineitem", "partsupp")
MODES = ("FULL", "INCREMENTAL", "AUTO")
MOST = 1.2


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.lake.tpc.measure", description=__doc__)
    parser.add_argument("--scale", type=float, default=1)
    parser.add_argument("--share", type=float, default=0.001)
    parser.add_argument("--rounds", type=int, default=4, help="medians of those after the first are shown")
    parser.add_argument("--only", type=int, nargs="*", default=[])
    options = parser.parse_args()
    wanted = [query for query in queries("tpch").values() if not options.only or query.number in options.only]
    with tempfile.TemporaryDirectory(prefix="catchment-tpch-") as folder:
        Path(folder).chmod(0o755)
        server = embedded.start(Path(folder) / "data")
        with new_lake(server, Path(folder) / "lake") as case:
            lake = LakeBenchmark("tpch", case, Path(folder), scale=options.scale)
            return 0 if _measure(lake, case, wanted, options) else 1


def _measure(lake: LakeBenchmark, case: LakeCase, wanted: list[Query], options: argparse.Namespace) -> bool:
    made = [(query, mode) for query in wanted for mode in MODES if _create(case, query, mode)]
    times = defaultdict[tuple[int, str], list[float]](list)
    ways: dict[int, str] = {}
    random = Random(1)
    for number in range(options.rounds + 1):
        if number:
            for table in FACTS:
                [(rows,)] = case.sql(f"SELECT count(*) FROM {quoted(table)}")
                changes = Changes(random, quoted(table), lake.columns[table], "rowid")
                for statement in changes.statements(rows, options.share / 3):
                    case.sql(statement)
        for query, mode in made:
            row = case.refresh(_name(query, mode))
            figures = row["figures"]
            spent = sum(figures.get(name) or 0 for name in ("plan_ms", "compute_ms", "publish_ms"))
            if number > 1 or number == options.rounds:  # the first ones teach the cost model
                times[query.number, mode].append(spent)
            if mode == "AUTO":
                ways[query.number] = row["reason"] or row["action"]
            print(f"{query} {mode} {spent:.0f} ms {row['action']} {row['reason'] or ''}", file=sys.stderr, flush=True)
    print("| query | full, ms | incremental, ms | chosen, ms | as | chosen ÷ better |\n|---|---|---|---|---|---|")
    ratios: list[float] = []
    for query in wanted:
        full, chosen = (median(times[query.number, mode]) for mode in ("FULL", "AUTO"))
        incremental = times.get((query.number, "INCREMENTAL"))
        ratios.append(chosen / min(full, median(incremental or [full])))
        shown = f"{median(incremental):.0f}" if incremental else "-"
        print(f"| {query.number} | {full:.0f} | {shown} | {chosen:.0f} | {ways[query.number]} | {ratios[-1]:.2f} |")
    return max(ratios) <= MOST


def _create(case: LakeCase, query: Query, mode: str) -> bool:
    head = f"CREATE DYNAMIC TABLE {_name(query, mode)} TARGET_LAG = DOWNSTREAM REFRESH_MODE"
    try:
        case.create(f"{head} = {mode} AS {query.table}")
    except TableRefused:
        if mode != "INCREMENTAL":
            raise
        return False
    return True


def _name(query: Query, mode: str) -> str:
    return f"q{query.number}_{mode.lower()}"


if __name__ == "__main__":
    sys.exit(main())

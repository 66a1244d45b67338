"""What becomes of each query: ``python -m tests.lake.tpc [--only tpcds:64 …] [--refresh]``.

Prints the number of queries for each outcome. With ``--refresh`` all are refreshed in memory and compared as well, with
the time that each took.
"""

from __future__ import annotations

import argparse
import time
from collections import defaultdict

from tests.lake.tpc.benchmark import NAMES, Query, queries
from tests.lake.tpc.in_memory import Benchmark, Outcome


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.lake.tpc", description=__doc__)
    parser.add_argument("--only", nargs="*", default=[], help="queries such as tpch:4 or tpcds:64, or a benchmark")
    parser.add_argument("--refresh", action="store_true", help="refresh and compare, instead of planning only")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    for name in NAMES:
        wanted = [
            query
            for query in queries(name).values()
            if not options.only or name in options.only or f"{name}:{query.number}" in options.only
        ]
        if not wanted:
            continue
        benchmark = Benchmark(name)
        groups: defaultdict[str, list[int]] = defaultdict(list)
        for query in wanted:
            start = time.perf_counter()
            outcome = _outcome(benchmark, query, options)
            groups[outcome.how].append(query.number)
            if options.refresh:
                print(f"{query}: {outcome.how}, {outcome.rows} rows, {time.perf_counter() - start:.1f} s", flush=True)
        print(f"\n{name}: {len(wanted)} queries")
        for how, numbers in sorted(groups.items(), key=lambda item: -len(item[1])):
            print(f"  {len(numbers):3}  {how}: {', '.join(map(str, numbers))}")


def _outcome(benchmark: Benchmark, query: Query, options: argparse.Namespace) -> Outcome:
    if not options.refresh:
        return benchmark.plan(query)
    try:
        return benchmark.refresh([query], seed=options.seed)[0]
    except AssertionError as error:
        return Outcome(query, f"WRONG {str(error)[:300]}")


if __name__ == "__main__":
    main()

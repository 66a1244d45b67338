"""Runs the benchmarks of dynamic tables.

python -m bench.lake [--quick] [scenario|speedup|overhead|tenfold|smallest|curve ...]

Without names: all. ``--quick`` is a fiftieth of the data and about a minute in all. Ratios are within one run.
"""

from __future__ import annotations

import sys

from bench.lake import incremental, parallel

PARTS = {
    "overhead": parallel.overhead,
    "scenario": parallel.scenario,
    "speedup": parallel.speedup,
    "tenfold": incremental.tenfold,
    "smallest": incremental.smallest,
    "curve": incremental.curve,
}


def main() -> None:
    quick = "--quick" in sys.argv
    chosen = [a for a in sys.argv[1:] if not a.startswith("-")] or list(PARTS)
    unknown = [name for name in chosen if name not in PARTS]
    if unknown:
        sys.exit(f"there is no {', '.join(unknown)}; there are {', '.join(PARTS)}")
    for name in chosen:
        print(f"— {name}")
        PARTS[name](quick=quick)


if __name__ == "__main__":
    main()

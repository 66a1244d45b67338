"""The long run: ``python -m tests.lake.fuzz --minutes 30 [--seed N] [--lake]``. Ends with the first finding, shrunk."""

from __future__ import annotations

import argparse
import random
import sys
import time

import pytest

from tests.lake.fuzz.case import Finding, Tally, run_case, shrink
from tests.lake.fuzz.memory import Memory

LAKE_TESTS = ("tests/lake/refresh/test_lake_fuzz.py", "tests/lake/refresh/test_together_fuzz.py")


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.lake.fuzz", description=__doc__)
    parser.add_argument("--minutes", type=float, default=30)
    parser.add_argument("--seed", type=int, default=None, help="the first seed; a random one if it is not given")
    parser.add_argument("--cases", type=int, default=None, help="how many seeds, instead of a time")
    parser.add_argument("--lake", action="store_true", help="on real lakes instead, with the seeds of the long tests")
    options = parser.parse_args()
    if options.lake:
        return pytest.main(["-q", "-m", "long", *LAKE_TESTS])
    first = options.seed if options.seed is not None else random.randrange(10**9)
    print(f"first seed {first}", flush=True)
    memory, tally, start = Memory(), Tally(), time.monotonic()
    seed = first
    while seed - first < options.cases if options.cases else time.monotonic() - start < options.minutes * 60:
        try:
            run_case(seed, memory, tally)
        except Finding as finding:
            print(f"seed {seed}: {finding.error}\n\nmade smaller:", flush=True)
            small = shrink(finding.script, Memory())
            print(small.text(), "\n", small.play(Memory()))
            return 1
        seed += 1
    print(f"{seed - first} cases, {tally.comparisons} comparisons, {time.monotonic() - start:.0f} s")
    print(dict(tally.refreshes), dict(tally.plans.most_common()))
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""The long run: ``python -m tests.lake.fuzz --minutes 30 [--seed N] [--lake]``. Ends with the first finding.

Without ``--lake`` the algebra alone is looked at, in memory, and what is found is made smaller. With it every seed has
a lake of its own: feeds, windows, commits and upkeep take part, with tables by themselves and tables that read each
other, and with sources that we or strangers write, by turns.
"""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import psycopg

from catchment.lake.duck.address import parse
from catchment.lake.settings import LakeSettings
from catchment.store import embedded
from catchment.store.migrate import migrate
from tests.fixtures.lake import install_lake
from tests.fixtures.lake_case import SETTINGS, LakeCase
from tests.fixtures.server import cloned
from tests.lake.fuzz.case import Finding, Tally, run_case, shrink
from tests.lake.fuzz.lakeside import Lakeside
from tests.lake.fuzz.memory import Memory
from tests.lake.fuzz.strangers import Strangers, StrangersTogether
from tests.lake.fuzz.together import Together

ROUNDS = 7
KINDS: tuple[type[Lakeside], ...] = (Lakeside, Together, Strangers, StrangersTogether)


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.lake.fuzz", description=__doc__)
    parser.add_argument("--minutes", type=float, default=30)
    parser.add_argument("--seed", type=int, default=None, help="the first seed; a random one if it is not given")
    parser.add_argument("--cases", type=int, default=None, help="how many seeds, instead of a time")
    parser.add_argument("--lake", action="store_true", help="on real lakes instead of in memory")
    options = parser.parse_args()
    first: int = options.seed if options.seed is not None else random.randrange(10**9)
    print(f"first seed {first}", flush=True)
    seeds = _seeds(first, options.minutes, options.cases)
    return _on_lakes(seeds) if options.lake else _in_memory(seeds)


def _seeds(first: int, minutes: float, cases: int | None) -> Iterator[int]:
    """One seed after the other, as long as there is time, or so many."""
    start, seed = time.monotonic(), first
    while seed - first < cases if cases else time.monotonic() - start < minutes * 60:
        yield seed
        seed += 1
    print(f"{seed - first} seeds, {time.monotonic() - start:.0f} s")


def _in_memory(seeds: Iterator[int]) -> int:
    memory, tally = Memory(), Tally()
    for seed in seeds:
        try:
            run_case(seed, memory, tally)
        except Finding as finding:
            print(f"seed {seed}: {finding.error}\n\nmade smaller:", flush=True)
            small = shrink(finding.script, Memory())
            print(small.text(), "\n", small.play(Memory()))
            return 1
    print(f"{tally.comparisons} comparisons", dict(tally.refreshes), dict(tally.plans.most_common()))
    return 0


def _on_lakes(seeds: Iterator[int]) -> int:
    done: Counter[str] = Counter()
    with tempfile.TemporaryDirectory(prefix="catchment-fuzz-") as folder:
        Path(folder).chmod(0o755)
        server = embedded.start(Path(folder) / "data")
        for seed in seeds:
            with new_lake(server, Path(folder) / f"lake{seed}") as case:
                try:
                    with ExitStack() as held:
                        run = KINDS[seed % len(KINDS)](case, seed)
                        if isinstance(run, Strangers):
                            held.enter_context(run)
                        run.play(ROUNDS)
                    assert run.left_behind() == {}, f"seed {seed} left behind: {run.left_behind()}"
                except Exception as error:
                    print(f"{error}\n\nagain: python -m tests.lake.fuzz --lake --cases 1 --seed {seed}", flush=True)
                    return 1
                done.update(run.done)
                print(f"seed {seed}: {run.comparisons} comparisons", flush=True)
    print(f"{done.total()} comparisons", dict(done.most_common()))
    return 0


@contextmanager
def new_lake(server: str, folder: Path) -> Iterator[LakeCase]:
    """A database with a lake, for as long as it is open."""
    with cloned(server, "template1") as dsn:
        with psycopg.connect(dsn, autocommit=True) as conn:
            migrate(conn)
        install_lake(dsn, parse(str(folder)), LakeSettings(**SETTINGS))
        case = LakeCase(dsn, folder)
        try:
            yield case
        finally:
            case.close()


if __name__ == "__main__":
    sys.exit(main())

"""python -m tests.torture [--seeds 1 2 3] [--minutes 10]: a server of its own, and each seed for that long."""

from __future__ import annotations

import argparse
import sys

import psycopg
from psycopg.conninfo import make_conninfo

from catchment.store import embedded
from catchment.store.migrate import migrate
from tests.fixtures.server import make_folder, stop_server
from tests.torture.run import torture


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, nargs="+", default=[1, 2, 3])
    parser.add_argument("--minutes", type=float, default=10)
    parser.add_argument("--rate", type=float, default=60, help="tasks a second")
    options = parser.parse_args()
    folder = make_folder("torture")
    dsn = embedded.start(folder / "data")
    problems = 0
    try:
        for seed in options.seeds:
            with psycopg.connect(dsn, autocommit=True) as conn:
                conn.execute(f"create database torture_{seed}")
            there = make_conninfo(dsn, dbname=f"torture_{seed}")
            with psycopg.connect(there, autocommit=True) as conn:
                migrate(conn)
            logs = folder / f"seed-{seed}"
            logs.mkdir()
            outcome = torture(there, logs, seed=seed, seconds=options.minutes * 60, rate=options.rate)
            print(f"seed {seed}: {outcome}; logs in {logs}", flush=True)
            for problem in outcome.problems[:20]:
                print(f"  {problem}", flush=True)
            problems += len(outcome.problems)
    finally:
        stop_server(folder / "data")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())

"""Other queues on the same server, one process each, medians of three, as ratios to ours in the same run.

They are installed from the package registry into a separate virtual environment, and are never dependencies.
"""

from __future__ import annotations

import statistics
import subprocess
import sys
from pathlib import Path

from bench.engine.harness import Bench, report
from bench.worker.app import no_op
from bench.worker.fleet import TUNED, fleet
from bench.worker.workloads import preload

ROOT = Path(__file__).parents[2]
ENVIRONMENT = ROOT / ".venv-peers"
PACKAGES = ["pgqueuer", "procrastinate", "asyncpg", "psycopg[binary,pool]", "uvloop"]
# What each is given to drain: enough for a second or more.
TASKS = {"pgqueuer": 20_000, "procrastinate": 1_000}


def compare(bench: Bench, *, quick: bool) -> None:
    """Drain no-ops with one process of each."""
    _install()
    times = 1 if quick else 3
    ours = statistics.median(_ours(bench, 5_000 if quick else 50_000) for _ in range(times))
    report("drain, one process: catchment", f"{ours:,.0f}/s")
    for name, tasks in TASKS.items():
        rate = statistics.median(_theirs(bench, name, tasks // 10 if quick else tasks) for _ in range(times))
        report(f"drain, one process: {name}", f"{rate:,.0f}/s = 1/{ours / rate:.1f}", bar="<= 1/2.5")


def _install() -> None:
    if not ENVIRONMENT.exists():
        subprocess.run([sys.executable, "-m", "venv", ENVIRONMENT], check=True)
    subprocess.run([ENVIRONMENT / "bin" / "pip", "install", "-q", *PACKAGES], check=True)


def _ours(bench: Bench, tasks: int) -> float:
    with fleet(bench, tasks=tasks) as made:
        preload(made, no_op, [{"i": i} for i in range(tasks)])
        made.start(**TUNED)
        return tasks / made.drain(tasks)


def _theirs(bench: Bench, name: str, tasks: int) -> float:
    with bench.database() as connect, connect() as conn:
        script = Path(__file__).with_name("peers_run.py")
        argv = [ENVIRONMENT / "bin" / "python", script, name, conn.info.dsn, str(tasks)]
        done = subprocess.run(argv, check=True, capture_output=True, text=True)
        return tasks / float(done.stdout.splitlines()[-1])

"""Runs the benchmarks of the Python worker.

python -m bench.worker [--quick]
  [drain|two|steps|transactions|pickup|sleepers|memory|lanes|hot|fan|decay|chaos|peers ...]

Without names: all but decay and chaos, which take long. ``peers`` measures other queues beside ours, in a separate
virtual environment that it creates.
"""

from __future__ import annotations

import sys

from bench.engine.harness import bench_server
from bench.worker import peers, steps, workloads

LONG = ("decay", "chaos", "peers")


def main() -> None:
    quick = "--quick" in sys.argv
    chosen = [a for a in sys.argv[1:] if not a.startswith("-")]
    with bench_server() as bench:
        parts = {
            "drain": lambda: workloads.drain(bench, quick=quick, workers=1),
            "two": lambda: workloads.drain(bench, quick=quick, workers=2),
            "steps": lambda: steps.steps(quick=quick),
            "transactions": lambda: workloads.transactions(bench, quick=quick),
            "pickup": lambda: workloads.pickup(bench, quick=quick),
            "sleepers": lambda: workloads.sleepers(bench, quick=quick),
            "memory": lambda: workloads.memory(bench, quick=quick),
            "hot": lambda: workloads.hot(bench, quick=quick),
            "lanes": lambda: workloads.lanes(bench, quick=quick),
            "fan": lambda: workloads.fan(bench, quick=quick),
            "decay": lambda: workloads.decay(bench, quick=quick),
            "chaos": lambda: workloads.chaos(bench, quick=quick),
            "peers": lambda: peers.compare(bench, quick=quick),
        }
        for name, part in parts.items():
            if name in chosen or (not chosen and name not in LONG):
                part()


if __name__ == "__main__":
    main()

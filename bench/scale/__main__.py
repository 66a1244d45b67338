"""Runs the benchmarks of the cluster: python -m bench.scale [--quick] [nodes|model|keys|kills ...].

Without names: all. Everything runs on this machine: an S3 server (moto), a PostgreSQL, one worker, and a cluster of Ray
whose nodes are processes. So nothing here shows a speed-up; it shows costs. ``--quick`` uses about a tenth of the rows.
"""

from __future__ import annotations

import signal
import sys

from bench.lake.lab import show
from bench.scale import costs, keys, kills
from bench.scale import model as models


def model(*, quick: bool) -> None:
    """The costs of ranges, and what they mean for 1 B rows on 32 hosts."""
    small, large, cut = costs.sampled(quick=quick)
    found = models.costs_of(small, large, cut)
    show(
        "costs",
        range_ms=found.fixed * 1e3,
        million_rows_ms=found.per_row * 1e9,
        million_keys_ms=found.per_key * 1e9,
        bytes_per_row=found.read_per_row,
        dispatch_ms=found.dispatch * 1e3,
        plan_ms=found.plan_fixed * 1e3,
        plan_million_keys_ms=found.plan_per_key * 1e9,
        publish_ms=found.publish_fixed * 1e3,
        publish_range_ms=found.publish_per_range * 1e3,
    )
    print(models.ASSUMPTIONS)
    for hosts in (1, 8, models.HOSTS):
        changed = int(models.ROWS / 3 * models.KEYS_SHARE)
        said = models.predict(found, rows=models.ROWS, keys=changed, hosts=hosts, cpus=models.CPUS, ranges=256)
        show(
            f"{hosts} hosts",
            seconds=said.seconds,
            plan=said.plan,
            dispatch=said.dispatch,
            compute=said.compute,
            transfer=said.transfer,
            publish=said.publish,
        )


PARTS = {"nodes": costs.nodes, "model": model, "keys": keys.keys, "kills": kills.kills}


def main() -> None:
    # So that a run that is stopped takes its cluster and its servers with it.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
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

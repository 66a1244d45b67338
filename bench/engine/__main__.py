"""Runs every engine benchmark.

python -m bench.engine [--quick] [scopes|handlers|snapshot|sibling|claims|lanes|enqueue|open|takeover|why ...]
"""

from __future__ import annotations

import sys

from bench.engine import claims, handlers, lanes, scopes, takeover, why
from bench.engine.harness import bench_server


def main() -> None:
    quick = "--quick" in sys.argv
    chosen = [a for a in sys.argv[1:] if not a.startswith("-")]
    with bench_server() as bench:
        parts = {
            "scopes": lambda: scopes.linear(bench, quick=quick),
            "handlers": lambda: handlers.handlers(bench, quick=quick),
            "snapshot": lambda: scopes.held_snapshot(bench, quick=quick),
            "sibling": lambda: scopes.slow_sibling(bench),
            "claims": lambda: claims.claim_cost(bench, quick=quick),
            "lanes": lambda: lanes.lanes(bench, quick=quick),
            "enqueue": lambda: claims.enqueue_rates(bench, quick=quick),
            "open": lambda: claims.open_transaction(bench, quick=quick),
            "takeover": lambda: takeover.takeover(bench),
            "why": lambda: why.explain_cost(bench, quick=quick),
        }
        for name, part in parts.items():
            if not chosen or name in chosen:
                part()


if __name__ == "__main__":
    main()

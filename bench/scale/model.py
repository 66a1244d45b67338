"""How long a refresh of 1 B rows takes on 32 hosts, from costs measured here. The assumptions are printed with it.

A range reads all of its sources, and computes the keys that are its own. So its CPU time is a fixed part, one for each
row of the sources, and one for each key that it owns. Three refreshes that differ in their rows and in the number of
their ranges give the three. Planning and publishing are done by one worker, and do not get faster with more hosts.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from bench.scale.costs import Sample

ROWS = 1_000_000_000
KEYS_SHARE = 0.4
HOSTS = 32
CPUS = 8
LINK = 10e9 / 8
ASSUMPTIONS = f"""\
- {HOSTS} hosts with {CPUS} CPUs each, as fast as one core of this machine; a link of 10 Gbit/s each; a bucket that
  serves all of them at once; no host dies.
- Of {ROWS:,} rows, two thirds are orders and a third customers; 40 % of the customers change. 256 ranges, one CPU each.
- Costs grow linearly with rows and keys. Time on the CPU and time on the link do not overlap.
- Bodies take the CPU time measured here, of a DuckDB with one thread that has read its sources before. Each process
  reads its sources from the bucket once, as many bytes per row as at the first fill measured here."""


@dataclass(frozen=True)
class Costs:
    """Seconds of CPU, and bytes: of each range, source row, key; and what one worker does alone."""

    fixed: float
    per_row: float
    per_key: float
    read_per_row: float
    dispatch: float
    plan_fixed: float
    plan_per_key: float
    publish_fixed: float
    publish_per_range: float


@dataclass(frozen=True)
class Predicted:
    """The seconds of each part of a refresh."""

    plan: float
    dispatch: float
    compute: float
    transfer: float
    publish: float

    @property
    def seconds(self) -> float:
        return self.plan + max(self.dispatch, self.compute + self.transfer) + self.publish


def costs_of(small: Sample, large: Sample, cut: Sample) -> Costs:
    """From two sizes in equally many ranges, and the larger one in more of them."""
    own = [sample.keys / sample.ranges for sample in (small, large, cut)]
    cpu = [sample.cost.cpu / sample.ranges for sample in (small, large, cut)]
    per_key = max(0.0, (cpu[1] - cpu[2]) / (own[1] - own[2]))
    per_row = max(0.0, (cpu[1] - cpu[0] - per_key * (own[1] - own[0])) / (large.rows - small.rows))
    plan = [_seconds(sample, "started_at", "planned_at") for sample in (small, large)]
    publish = [sample.cost.row["figures"].get("publish_ms", 0) / 1000 for sample in (large, cut)]
    plan_per_key = max(0.0, (plan[1] - plan[0]) / (large.keys - small.keys))
    publish_each = max(0.0, (publish[1] - publish[0]) / (cut.ranges - large.ranges))
    return Costs(
        fixed=max(0.0, cpu[0] - per_row * small.rows - per_key * own[0]),
        per_row=per_row,
        per_key=per_key,
        read_per_row=large.first_read / large.rows,
        dispatch=cut.cost.worker_cpu / cut.ranges,
        plan_fixed=max(0.0, plan[0] - plan_per_key * small.keys),
        plan_per_key=plan_per_key,
        publish_fixed=max(0.0, publish[0] - publish_each * large.ranges),
        publish_per_range=publish_each,
    )


def predict(costs: Costs, *, rows: int, keys: int, hosts: int, cpus: int, ranges: int) -> Predicted:
    """A refresh of these rows and keys on a number of hosts. Ranges run in waves of one on each CPU."""
    slots = hosts * cpus
    waves = -(-ranges // slots)
    processes = min(cpus, -(-ranges // hosts))
    each = costs.fixed + costs.per_row * rows + costs.per_key * keys / ranges
    return Predicted(
        plan=costs.plan_fixed + costs.plan_per_key * keys,
        dispatch=costs.dispatch * ranges,
        compute=waves * each,
        transfer=processes * costs.read_per_row * rows / LINK,
        publish=costs.publish_fixed + costs.publish_per_range * ranges,
    )


def _seconds(sample: Sample, first: str, last: str) -> float:
    row = sample.cost.row
    return (datetime.fromisoformat(row[last]) - datetime.fromisoformat(row[first])).total_seconds()

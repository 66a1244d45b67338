"""A change of a small table that affects 10 M keys, with the data in a bucket and the ranges on a cluster."""

from __future__ import annotations

from bench.lake import data
from bench.lake.data import Size
from bench.lake.lab import show
from bench.scale.costs import Sample, tell
from bench.scale.lab import opened

FULL = Size(10_000_000, 10_000_000)
QUICK = Size(500_000, 500_000)


def keys(*, quick: bool) -> None:
    """Two nodes of one CPU; all countries are renamed, and with them the totals of all customers."""
    size = QUICK if quick else FULL
    with opened() as lab:
        assert lab.cluster is not None
        for _ in range(2):
            lab.cluster.add_node(cpus=1)
        data.fill(lab, size)
        lab.hire_one(2, buckets=8, memory="1300MB")
        show("first fill", seconds=data.create(lab, size))
        with lab.lake.commit_lock():
            lab.lake.query("UPDATE country SET name = name || ' renamed'")
        sample = Sample(size.orders + size.customers, size.customers, lab.cost("totals"))
        tell(f"{sample.keys:,} keys", sample)
        figures = sample.cost.row["figures"]
        show("", keys=sample.cost.row["keys"], subtasks=figures["subtasks"], on_ray=figures["subtasks_on_ray"])
        show("compared with the query", customers=data.check(lab, share=1 if quick else 100))

"""What a range costs, with 1, 2, 4 and 8 nodes, and with more rows and more ranges, from which the model is fed."""

from __future__ import annotations

import statistics
from dataclasses import dataclass, replace

from bench.lake import data
from bench.lake.data import Size
from bench.lake.lab import show
from bench.scale.lab import Cost, RayLab, opened

MIB = 2**20
NODES = (1, 2, 4, 8)


@dataclass(frozen=True)
class Sample:
    """A refresh: rows of its sources, keys that it computes, and its cost. ``first_read``: what one process read from
    the bucket when the table was filled, and before it had anything in its cache."""

    rows: int
    keys: int
    cost: Cost
    first_read: float = 0

    @property
    def ranges(self) -> int:
        return len(self.cost.bodies)


def nodes(*, quick: bool) -> None:
    """The same refresh with 1, 2, 4 and 8 nodes of one CPU, which share the cores of this machine."""
    size = Size(500_000, 250_000) if quick else Size(4_000_000, 2_000_000)
    with opened() as lab:
        data.fill(lab, size)
        assert lab.cluster is not None
        for count in NODES[:2] if quick else NODES:
            while len(lab.cluster.nodes) - 1 < count:
                lab.cluster.add_node(cpus=1)
            lab.hire_one(count, buckets=16)
            if count == 1:
                data.create(lab, size)
            renamed(lab, f"warm {count}", size)
            tell(f"{count} nodes", renamed(lab, f"by {count}", size))


def _first_read(lab: RayLab, size: Size) -> float:
    """Fill the table; returns the bytes that a process of the cluster read for it. The worker reads only metadata."""
    assert lab.store is not None
    before = lab.store.moved()
    data.create(lab, size)
    return (lab.store.moved() - before).bytes_read / len({one.pid for one in lab.bodies()})


def renamed(lab: RayLab, name: str, size: Size) -> Sample:
    """Rename the country of 40 % of the customers, and refresh."""
    data.rename_country(lab, name)
    return Sample(size.orders + size.customers, size.affected, lab.cost("totals"))


def tell(name: str, sample: Sample) -> None:
    cost, bodies = sample.cost, sample.cost.bodies
    show(
        name,
        seconds=cost.seconds,
        ranges=sample.ranges,
        cpu_each=cost.cpu / len(bodies),
        overhead_each=statistics.median(cost.overhead),
        worker_cpu_each=cost.worker_cpu / len(bodies),
        sent_kib=statistics.mean(one.sent for one in bodies) / 1024,
        answered_kib=statistics.mean(one.answered for one in bodies) / 1024,
        s3_reads_each=cost.moved.reads / len(bodies),
        s3_read_mib_each=cost.moved.bytes_read / len(bodies) / MIB,
        s3_written_mib=cost.moved.bytes_written / MIB,
        peak_mib=max(one.peak for one in bodies) // MIB,
    )


def sampled(*, quick: bool) -> list[Sample]:
    """Refreshes that differ in their rows and in the number of their ranges: what the model needs."""
    sizes = (Size(500_000, 250_000), Size(4_000_000, 2_000_000)) if quick else (
        Size(1_000_000, 500_000), Size(8_000_000, 4_000_000),
    )  # fmt: skip
    found: list[Sample] = []
    for size in sizes:
        with opened() as lab:
            assert lab.cluster is not None
            lab.cluster.add_node(cpus=2)
            data.fill(lab, size)
            first = 0.0
            for buckets in (8, 32) if size == sizes[-1] else (8,):
                lab.hire_one(2, buckets=buckets)
                if buckets == 8:
                    first = _first_read(lab, size)
                renamed(lab, f"warm {buckets}", size)
                sample = replace(renamed(lab, f"in {buckets}", size), first_read=first)
                tell(f"{sample.rows:,} rows, {sample.ranges} ranges", sample)
                found.append(sample)
    return found

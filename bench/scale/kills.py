"""The time that a refresh loses when a node of its cluster is killed every ten seconds, and started again."""

from __future__ import annotations

import threading
import time
from collections.abc import Generator
from contextlib import contextmanager

from bench.lake import data
from bench.lake.data import Size
from bench.lake.lab import show
from bench.scale.lab import Cost, RayLab, opened
from tests.fixtures.ray import Cluster

FULL = Size(10_000_000, 10_000_000)
QUICK = Size(1_000_000, 1_000_000)
NODES = 3
RANGES = 16
EVERY, QUICK_EVERY = 10.0, 3.0
# A killed node takes its bodies with it at once: nothing writes after that.
GRACE = {"CATCHMENT_LAKE_ARTIFACT_GRACE_SECONDS": "5"}


def kills(*, quick: bool) -> None:
    """Rename all countries, and with them change all totals: undisturbed, then with kills; compare with the query."""
    size = QUICK if quick else FULL
    with opened() as lab:
        assert lab.cluster is not None
        for _ in range(NODES):
            lab.cluster.add_node(cpus=1)
        data.fill(lab, size)
        lab.hire_one(NODES, buckets=RANGES, memory="1000MB", **GRACE)
        data.create(lab, size)
        _refresh(lab, "undisturbed", "calm")
        with _killing(lab.cluster, QUICK_EVERY if quick else EVERY) as killed:
            _refresh(lab, "killed", "kills")
            killed.end()
        show("killed", nodes=killed.count)
        show("compared with the query", customers=data.check(lab, share=1 if quick else 20))
        show("left behind", files=_strays(lab))


def _refresh(lab: RayLab, name: str, title: str) -> None:
    with lab.lake.commit_lock():
        lab.lake.query("UPDATE country SET name = country_id || ?", [f" {name}"])
    tell(title, lab.cost("totals"))


def tell(title: str, cost: Cost) -> None:
    figures = cost.row["figures"]
    show(
        title,
        seconds=cost.seconds,
        keys=cost.row["keys"],
        subtasks=figures["subtasks"],
        on_ray=figures["subtasks_on_ray"],
        splits=figures["splits"],
        computed=len(cost.bodies),
        cpu=cost.cpu,
        not_on_ray=figures.get("not_on_ray", "-"),
    )


class _Killed(threading.Thread):
    """Kills the node that has run for longest, every few seconds, and starts another in its place."""

    def __init__(self, cluster: Cluster, every: float) -> None:
        super().__init__(name="kills", daemon=True)
        self._cluster = cluster
        self._every = every
        self._ended = threading.Event()
        self.count = 0

    def run(self) -> None:
        due = time.monotonic() + self._every
        while not self._ended.wait(max(0.0, due - time.monotonic())):
            self._cluster.remove(self._cluster.nodes[1])
            self.count += 1
            due += self._every
            self._cluster.add_node(cpus=1)

    def end(self) -> None:
        self._ended.set()
        self.join()


@contextmanager
def _killing(cluster: Cluster, every: float) -> Generator[_Killed]:
    killed = _Killed(cluster, every)
    killed.start()
    try:
        yield killed
    finally:
        killed.end()


def _strays(lab: RayLab) -> int:
    """Files of the bucket that the catalog does not know."""
    [(strays,)] = lab.lake.query(
        "SELECT count(*) FROM ducklake_delete_orphaned_files('lake', cleanup_all => true, dry_run => true)"
    )
    return strays

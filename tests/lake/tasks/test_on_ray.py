"""A refresh whose ranges are computed on a cluster of Ray, while parts of it die: published once, right, without a file
that is left. The short form is in ``tests/worker/test_ray.py``."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.fixtures.lake import WORKER_SETTINGS, cloned_lake
from tests.fixtures.lake_case import LakeCase
from tests.fixtures.ray import Cluster, Node, drivers_of, needs_ray, ray_cluster, ray_settings
from tests.fixtures.worker import StartWorker, WorkerProcess, starting_workers, wait_until
from tests.lake.tasks import ray_body
from tests.lake.tasks.crew import LakeCrew
from tests.worker.crew import is_alive

pytestmark = [needs_ray, pytest.mark.long, pytest.mark.timeout(1200)]
APP = "tests.lake.tasks.ray_app:app"
MINUTES = 500
SLOTS = 3


@dataclass
class Rays:
    """A lake, a cluster, and workers that only hold slots."""

    crew: LakeCrew
    cluster: Cluster
    folder: Path

    def fill(self, *, first: int = 0) -> None:
        case = self.crew.case
        case.make("source", "k BIGINT, v BIGINT")
        case.sql(f"INSERT INTO source SELECT i % 1000, i FROM range({first}, {first + 4000}) AS r(i)")
        case.create(
            "CREATE DYNAMIC TABLE dt TARGET_LAG = '1 day' REFRESH_MODE = INCREMENTAL PARALLEL_THRESHOLD = 2"
            " EXECUTOR = RAY AS SELECT k, max(v) AS m, count(*) AS n FROM source GROUP BY k"
        )
        case.refresh("dt")
        with case.commit_lock():
            case.sql("UPDATE source SET v = v + 1000000 WHERE k % 2 = 0")
            case.sql("DELETE FROM source WHERE k = 7")
        # Its task was carried out here and would be claimed by the first worker.
        case.pg("select worker.cancel(id, 'done here') from worker.tasks where command = 'lake_refresh'")

    def hire(self, **more: str) -> WorkerProcess:
        settings = {
            **ray_settings(self.cluster),
            "CATCHMENT_MAX_CONCURRENT_TASKS": str(SLOTS),
            "CATCHMENT_LAKE_RAY_MEMORY": "300MB",
            "CATCHMENT_PARALLEL_MIN_BUCKETS": "4",
            "CATCHMENT_PARALLEL_BUCKETS_PER_WORKER": "1",
            **more,
        }
        return self.crew.hire(1, app=APP, settings=settings)[0]

    def lines(self, name: str) -> list[int]:
        path = self.folder / name
        return [int(line) for line in path.read_text().split()] if path.exists() else []

    @contextmanager
    def held(self, where: str) -> Iterator[int]:
        """Bodies wait inside, before or after they compute; gives the refresh when one does and all slots are taken."""
        hold = self.folder / f"hold-{where}"
        hold.touch()
        refresh_id = self.crew.request("dt")
        wait_until(lambda: len(self.lines("starts")) == SLOTS, seconds=MINUTES)
        wait_until(lambda: self.lines("starts" if where == "before" else "computed"), seconds=MINUTES)
        try:
            yield refresh_id
        finally:
            hold.unlink()

    def body(self) -> int:
        return self.lines("starts")[0]

    def wait_restarted(self, fault: str) -> None:
        """Wait until a body has started after a fault of this moment, and print how long that took."""
        began = time.monotonic()
        wait_until(lambda: len(self.lines("starts")) > SLOTS, seconds=MINUTES)
        print(f"\n{fault}: a body has started again after {time.monotonic() - began:.1f} s")

    def end_well(self, refresh_id: int, *, table: str = "dt", clean: float = 120) -> dict[str, Any]:
        began = time.monotonic()
        row = self.crew.wait(refresh_id, seconds=MINUTES)
        ended = time.monotonic() - began
        assert row["state"] == "SUCCEEDED", row
        self.crew.case.check(table)
        assert self.crew.publications(refresh_id) == 1
        self.crew.wait_clean(seconds=clean)
        figures = row["figures"]
        print(
            f"published after another {ended:.1f} s: {figures.get('subtasks')} ranges,"
            f" {figures.get('subtasks_on_ray')} on the cluster, {figures.get('splits')} again in halves,"
            f" {len(self.lines('starts'))} bodies started"
        )
        return row


@pytest.fixture
def rays(lake_case: LakeCase, start_lake_worker: StartWorker, tmp_path: Path) -> Iterator[Rays]:
    folder = tmp_path / "bodies"
    folder.mkdir()
    # Bodies run on nodes that can be killed; the head has no room.
    with ray_cluster(cpus=0, variables={ray_body.FOLDER: str(folder)}) as cluster:
        cluster.add_node(cpus=3)
        made = Rays(LakeCrew(lake_case, start_lake_worker), cluster, folder)
        made.fill()
        yield made


def node_of(rays: Rays, pid: int) -> Node:
    (node,) = [node for node in rays.cluster.nodes if node.process.pid == os.getsid(pid)]
    return node


def test_all_ranges_are_computed_on_the_cluster(rays: Rays) -> None:
    rays.hire()
    row = rays.end_well(rays.crew.request("dt"))
    assert row["figures"]["subtasks_on_ray"] == row["figures"]["subtasks"] == len(rays.lines("starts"))
    assert "not_on_ray" not in row["figures"]
    # A table that does not say where: the worker computes it, until the lake says otherwise.
    case = rays.crew.case
    case.create(
        "CREATE DYNAMIC TABLE plain TARGET_LAG = '1 day' REFRESH_MODE = INCREMENTAL PARALLEL_THRESHOLD = 2"
        " AS SELECT k, min(v) AS m FROM source GROUP BY k"
    )
    # The schedule may have filled it before: then this has nothing to publish.
    rays.crew.refresh("plain", seconds=MINUTES)
    for executor in ("worker", "ray"):
        case.pg("update lake.lake set executor = %s", executor)
        with case.commit_lock():
            case.sql("UPDATE source SET v = v - 1000 WHERE k % 2 = 0")
        figures = rays.end_well(rays.crew.request("plain"), table="plain")["figures"]
        assert (figures.get("subtasks_on_ray", 0) > 0) == (executor == "ray"), figures


@pytest.mark.parametrize("where", ["before", "after"])
def test_the_process_of_a_body_is_killed(rays: Rays, where: str) -> None:
    rays.hire()
    with rays.held(where) as refresh_id:
        os.kill(rays.body(), signal.SIGKILL)
        rays.wait_restarted(f"a body is killed {where} it computes")
    rays.end_well(refresh_id)


def test_the_process_of_a_body_is_stopped(rays: Rays) -> None:
    rays.hire()
    with rays.held("after") as refresh_id:
        os.kill(rays.body(), signal.SIGSTOP)
    row = rays.end_well(refresh_id)
    # The stopped one was given up, and its range was started again.
    assert len(rays.lines("starts")) > row["figures"]["subtasks"] - row["figures"]["splits"]


@pytest.mark.parametrize("where", ["before", "after"])
def test_the_driver_is_killed(rays: Rays, where: str) -> None:
    worker = rays.hire()
    with rays.held(where) as refresh_id:
        # On a busy machine there were two of them for a moment.
        wait_until(lambda: len(drivers_of(worker.pid)) == 1)
        os.kill(drivers_of(worker.pid)[0], signal.SIGKILL)
        rays.wait_restarted(f"the driver is killed {where} a body computes")
    rays.end_well(refresh_id)


def test_the_worker_is_killed(rays: Rays) -> None:
    worker = rays.hire()
    with rays.held("after") as refresh_id:
        rays.crew.kill(worker)
        rays.hire()
    rays.end_well(refresh_id)


def test_the_node_is_killed(rays: Rays) -> None:
    rays.hire()
    with rays.held("after") as refresh_id:
        rays.cluster.add_node(cpus=3)
        node_of(rays, rays.body()).kill()
        rays.wait_restarted("the node is killed")
    row = rays.end_well(refresh_id)
    assert row["figures"]["subtasks_on_ray"] > 0


def test_the_node_is_cut_off_and_comes_back(rays: Rays) -> None:
    """All of its processes are stopped: it acknowledges nothing, as behind a link that is cut. When it continues, its
    bodies continue too, and write files of an attempt that was given up."""
    rays.hire(CATCHMENT_LAKE_ARTIFACT_GRACE_SECONDS="40")
    with rays.held("before") as refresh_id:
        rays.cluster.add_node(cpus=3)
        node = node_of(rays, rays.body())
        node.signal(signal.SIGSTOP)
        rays.wait_restarted("the node is stopped")
    node.signal(signal.SIGCONT)
    row = rays.end_well(refresh_id, clean=300)
    assert row["figures"]["subtasks_on_ray"] > 0


def test_the_head_is_killed(rays: Rays) -> None:
    """There is no cluster any more: the worker computes what is left."""
    rays.hire(CATCHMENT_RAY_CONNECT_SECONDS="20")
    with rays.held("before") as refresh_id:
        rays.cluster.head.kill()
    rays.end_well(refresh_id)


def test_without_a_cluster_the_worker_computes_and_says_why(rays: Rays) -> None:
    for node in rays.cluster.nodes:
        node.kill()
    rays.hire(CATCHMENT_RAY_CONNECT_SECONDS="20")
    row = rays.end_well(rays.crew.request("dt"))
    assert row["figures"]["subtasks_on_ray"] == 0
    assert "the cluster of Ray" in row["figures"]["not_on_ray"]


@pytest.mark.parametrize("where", ["before", "after"])
def test_a_cancelled_refresh_ends_its_bodies_and_the_next_one_is_as_ever(rays: Rays, where: str) -> None:
    rays.hire()
    with rays.held(where) as refresh_id:
        assert rays.crew.case.control.cancel_refreshes(rays.crew.case.find("dt"), "cancelled by the test") == 1
        row = rays.crew.wait(refresh_id, seconds=MINUTES)
        assert row["state"] == "CANCELLED", row
        wait_until(lambda: not any(is_alive(pid) for pid in rays.lines("starts")), seconds=MINUTES)
    assert rays.crew.publications(refresh_id) == 0
    rays.crew.wait_clean(seconds=120)
    rays.end_well(rays.crew.request("dt"))


def test_two_lakes_with_the_same_names_and_ids_share_a_cluster(
    rays: Rays, server: str, lake_template: str, tmp_path: Path
) -> None:
    """Their bodies run in the same processes, one after another."""
    (tmp_path / "logs").mkdir()
    with (
        cloned_lake(server, lake_template, tmp_path / "other") as dsn,
        starting_workers(dsn, tmp_path / "logs") as start,
        closing(LakeCase(dsn, tmp_path / "other")) as case,
    ):
        other = Rays(LakeCrew(case, start), rays.cluster, rays.folder)
        other.fill(first=50_000)
        for one in (rays, other):
            one.hire(**{**WORKER_SETTINGS, "CATCHMENT_MAX_CONCURRENT_TASKS": "3"})
        for number in range(2):
            refreshes = [(one, one.crew.request("dt")) for one in (rays, other)]
            for one, refresh_id in refreshes:
                row = one.end_well(refresh_id)
                assert row["figures"]["subtasks_on_ray"] == row["figures"]["subtasks"] > 0
                with one.crew.case.commit_lock():
                    one.crew.case.sql(f"UPDATE source SET v = v + {number + 1} WHERE k % 3 = 0")
        assert len(set(rays.lines("starts"))) < len(rays.lines("starts"))

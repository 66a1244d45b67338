"""A cluster of Ray on three hosts, and the link of one is cut: a refresh goes on by its own deadlines, where Ray's own
wait does not return. Data and PostgreSQL are reached by the file system, which has no link: what a host that is cut off
still writes must do no harm."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.fixtures.lake import WORKER_SETTINGS
from tests.fixtures.lake_case import LakeCase
from tests.fixtures.ray import Node, needs_ray, ray_cluster
from tests.fixtures.worker import WorkerProcess, wait_until
from tests.hosts import network
from tests.hosts.network import Host, hosts
from tests.lake.tasks import ray_body
from tests.lake.tasks.crew import LakeCrew
from tests.lake.tasks.test_on_ray import MINUTES, Rays, node_of

pytestmark = [
    needs_ray,
    pytest.mark.long,
    pytest.mark.timeout(1500),
    pytest.mark.skipif(network.why_not() is not None, reason=str(network.why_not())),
]


@pytest.fixture
def rays_on_hosts(lake_case: LakeCase, tmp_path: Path) -> Iterator[tuple[Rays, list[tuple[Node, Host]]]]:
    """A worker that holds slots, beside the head: a driver looks for its node among the processes, which hosts share
    here, and takes the head first. Two other hosts compute."""
    folder = tmp_path / "bodies"
    folder.mkdir()
    with ExitStack() as stack:
        head, *computing = stack.enter_context(hosts("head", "one", "two"))
        cluster = stack.enter_context(ray_cluster(cpus=0, variables={ray_body.FOLDER: str(folder)}, host=head))
        places = [(cluster.add_node(cpus=3, host=host), host) for host in computing]

        def launch(*arguments: str, settings: Mapping[str, str]) -> WorkerProcess:
            log = stack.enter_context((tmp_path / "worker.log").open("wb"))
            command = head.command(sys.executable, "-m", "catchment", "worker", "--log-format", "json", *arguments)
            environment = {**os.environ, **WORKER_SETTINGS, "CATCHMENT_DSN": lake_case.dsn, **settings}
            process = subprocess.Popen(command, env=environment, stdout=log, stderr=log)
            stack.enter_context(process)
            stack.callback(process.kill)
            return process  # type: ignore[return-value]

        rays = Rays(LakeCrew(lake_case, launch), cluster, folder)  # type: ignore[arg-type]
        rays.fill()
        yield rays, places


def test_a_refresh_outlives_the_link_of_a_node_that_is_cut_and_healed(
    rays_on_hosts: tuple[Rays, list[tuple[Node, Host]]],
) -> None:
    rays, places = rays_on_hosts
    rays.hire(CATCHMENT_LAKE_ARTIFACT_GRACE_SECONDS="40")
    with rays.held("before") as refresh_id:
        wait_until(lambda: len(rays.lines("starts")) == 3, seconds=MINUTES)
        (host,) = [host for node, host in places if node is node_of(rays, rays.body())]
        began = time.monotonic()
        host.cut()
        wait_until(lambda: len(rays.lines("starts")) > 3, seconds=MINUTES)
        again = time.monotonic() - began
    rays.crew.wait(refresh_id, seconds=MINUTES)
    ended = time.monotonic() - began
    host.heal()
    row = rays.end_well(refresh_id, clean=300)
    figures = row["figures"]
    print(
        f"\na range of the lost node was computed again after {again:.1f} s, published after {ended:.1f} s;"
        f" {figures['subtasks']} ranges, {figures['subtasks_on_ray']} on the cluster, {figures.get('splits')} cut in"
        f" halves, {len(rays.lines('starts'))} bodies started"
    )
    with rays.crew.case.commit_lock():
        rays.crew.case.sql("UPDATE source SET v = v + 1 WHERE k % 3 = 0")
    assert rays.end_well(rays.crew.request("dt"))["figures"]["subtasks_on_ray"] > 0

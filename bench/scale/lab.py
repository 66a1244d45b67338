"""A lake in a bucket, a worker that only holds slots, and a cluster of Ray whose nodes have one CPU each."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Generator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench.lake.lab import Lab
from bench.scale import body
from bench.scale.s3 import BUCKET, Moved, Store, stored
from catchment.lake import Lake
from catchment.lake.tasks.worker import worker_environment
from catchment.store import embedded
from catchment.store.connect import connect
from catchment.store.migrate import migrate
from tests.fixtures.ray import Cluster, ray_cluster, ray_settings

APP = "bench.scale.app:app"


@dataclass
class Body:
    """What one range cost on its node."""

    pid: int
    host: str
    seconds: float
    cpu: float
    sent: int
    answered: int
    peak: int


@dataclass
class Cost:
    """What one refresh cost. ``overhead`` is the time of a task that its body did not run, of each;
    ``worker_cpu`` the CPU time of the worker, its driver and nothing else."""

    seconds: float
    row: dict[str, Any]
    bodies: list[Body]
    overhead: list[float]
    worker_cpu: float
    moved: Moved

    @property
    def cpu(self) -> float:
        return sum(one.cpu for one in self.bodies)


@dataclass
class RayLab(Lab):
    """As the lab of the other benchmarks, with its data in a bucket and its ranges on a cluster."""

    store: Store | None = None
    cluster: Cluster | None = None
    folder: Path = Path()

    def hire_one(self, slots: int, *, buckets: int, memory: str = "700MB", **settings: str) -> None:
        """Replace the worker; a refresh is cut into about ``buckets`` ranges, ``slots`` of which run at a time."""
        self.dismiss()
        assert self.cluster is not None
        environment = {
            **worker_environment(self.dsn, 1, memory="1300MB", threads=2),
            **ray_settings(self.cluster),
            "CATCHMENT_RAY_SILENCE_SECONDS": "60",
            "CATCHMENT_LAKE_EXECUTOR": "ray",
            "CATCHMENT_LAKE_RAY_MEMORY": memory,
            "CATCHMENT_MAX_CONCURRENT_TASKS": str(slots + 1),
            "CATCHMENT_WORKER_THREADS": str(slots + 4),
            "CATCHMENT_PARALLEL_MEMORY_SHARE": "0.0000001",
            "CATCHMENT_PARALLEL_MIN_BUCKETS": str(buckets),
            "CATCHMENT_PARALLEL_MAX_BUCKETS": str(buckets),
            "CATCHMENT_PARALLEL_MAX_WORKERS": str(slots),
            **settings,
        }
        command = [sys.executable, "-m", "catchment", "worker", "--app", APP, "--log-level", "error"]
        queues = ["--queue", "lake", "--queue", "lake_schedule"]
        self.workers = [subprocess.Popen([*command, *queues], env=environment)]
        while not self.rows("select 1 as n from worker.worker where lease_until > now()"):
            time.sleep(0.05)

    def bodies(self) -> list[Body]:
        file = self.folder / "bodies"
        return [Body(**json.loads(line)) for line in file.read_text().splitlines()] if file.exists() else []

    def cost(self, name: str) -> Cost:
        """Refresh a table and say what it cost."""
        assert self.store is not None
        before, moved, cpu = len(self.bodies()), self.store.moved(), self._worker_cpu()
        seconds, row = self.refresh(name)
        cpu, moved = self._worker_cpu() - cpu, self.store.moved() - moved
        took = self.rows(
            "select t.completed_at - t.process_start_at as took, (t.result ->> 'seconds')::float as computed"
            " from worker.tasks as t where t.parent_id = %(id)s and (t.result ->> 'seconds')::float > 0",
            id=row["task_id"],
        )
        overhead = [one["took"].total_seconds() - one["computed"] for one in took]
        self.clean()
        return Cost(seconds, row, self.bodies()[before:], overhead, cpu, moved)

    def _worker_cpu(self) -> float:
        """CPU seconds of the worker and of what it has started, by the system."""
        (worker,) = self.workers
        total, parents = 0.0, {worker.pid}
        for path in sorted(Path("/proc").glob("[0-9]*"), key=lambda one: int(one.name)):
            try:
                words = (path / "stat").read_text().rpartition(")")[2].split()
            except OSError:
                continue
            if int(path.name) in parents or int(words[1]) in parents:
                parents.add(int(path.name))
                total += (int(words[11]) + int(words[12])) / os.sysconf("SC_CLK_TCK")
        return total


@contextmanager
def opened() -> Generator[RayLab]:
    """A server, a bucket with a lake, and a cluster whose head computes nothing. Nothing is left behind."""
    with ExitStack() as stack:
        folder = Path(
            stack.enter_context(
                tempfile.TemporaryDirectory(prefix="catchment-bench-scale-", ignore_cleanup_errors=True)
            )
        )
        folder.chmod(0o755)
        store = stack.enter_context(stored())
        os.environ.update(store.settings)
        variables = {**store.settings, body.FILE: str(folder / "bodies")}
        cluster = stack.enter_context(ray_cluster(cpus=0, variables=variables))
        dsn = embedded.start(folder / "data")
        stack.callback(embedded.stop, folder / "data")
        with connect(dsn) as conn:
            migrate(conn)
        lab = RayLab(Lake(dsn, f"s3://{BUCKET}/lake/"), store=store, cluster=cluster, folder=folder)
        stack.callback(lab.lake.close)
        stack.callback(lab.dismiss)
        yield lab

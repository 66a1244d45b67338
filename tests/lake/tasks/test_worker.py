"""``catchment table worker``: so many processes, which share a machine, are replaced when they die and end together."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import urllib.request
from pathlib import Path

import pytest
from prometheus_client.parser import text_string_to_metric_families

from catchment.errors import RequestRefused
from catchment.lake.settings import LakeSettings
from catchment.lake.tasks.worker import share_of_threads, worker_environment
from tests.fixtures.lake_case import LakeCase
from tests.fixtures.often import often
from tests.fixtures.worker import StartWorker, wait_until
from tests.worker.crew import is_alive


def test_processes_share_memory_and_cores(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CATCHMENT_LAKE_MEMORY_LIMIT", "1000MB")
    monkeypatch.setenv("CATCHMENT_LAKE_THREADS", "5")
    shared = worker_environment("dbname=x", 4)
    assert (shared["CATCHMENT_LAKE_MEMORY_LIMIT"], shared["CATCHMENT_LAKE_THREADS"]) == ("250000000B", "1")
    assert (shared["CATCHMENT_DSN"], shared["CATCHMENT_MAX_CONCURRENT_TASKS"]) == ("dbname=x", "1")
    told = worker_environment("dbname=x", 4, memory="2GB", threads=3)
    assert (told["CATCHMENT_LAKE_MEMORY_LIMIT"], told["CATCHMENT_LAKE_THREADS"]) == ("2GB", "3")
    assert LakeSettings(lake_memory_limit="250000000B").memory_bytes == 250_000_000
    assert [share_of_threads(LakeSettings(lake_threads=8), count) for count in (1, 3, 16)] == [8, 2, 1]


def test_an_invalid_setting_of_ray_is_refused_before_a_process_starts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CATCHMENT_RAY_START_SECONDS", "0")
    with pytest.raises(RequestRefused, match="CATCHMENT_RAY_START_SECONDS in the environment is invalid"):
        worker_environment("dbname=x", 1)


def test_a_worker_of_all_queues_is_one_that_can_run_buckets(
    lake_case: LakeCase, start_lake_worker: StartWorker
) -> None:
    lake_case.pg("insert into worker.queue_registry (queue) values ('mail')")
    start_lake_worker("--app", "catchment.lake.tasks.app:app", settings={"CATCHMENT_MAX_CONCURRENT_TASKS": "10"})
    start_lake_worker()
    wait_until(lambda: live_workers(lake_case) == 2, seconds=60)
    assert (lake_case.control.count_workers(), lake_case.control.free_slots()) == (1, 2)


def children_of(pid: int) -> list[int]:
    return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def live_workers(case: LakeCase) -> int:
    return case.pg("select count(*) from worker.worker where lease_until > worker.now() and lock_lost_at is null")[0][0]


def shown(port: int, name: str, **labels: str) -> dict[str, float]:
    """A metric of each process, as the parent shows it."""
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=30) as answer:
        families = list(text_string_to_metric_families(answer.read().decode()))
    samples = [s for family in families for s in family.samples if s.name == name]
    return {s.labels["process"]: s.value for s in samples if s.labels == {**labels, "process": s.labels["process"]}}


@pytest.mark.long
@pytest.mark.parametrize("how", often(signal.SIGTERM, now_and_then=[signal.SIGKILL]))
def test_dead_processes_are_replaced_and_all_end_with_the_first(lake_case: LakeCase, how: signal.Signals) -> None:
    lake_case.make("source", "k BIGINT", [(1,), (2,)])
    lake_case.create("CREATE DYNAMIC TABLE dt TARGET_LAG = '1 day' AS SELECT k, count(*) AS n FROM source GROUP BY k")
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port = taken.getsockname()[1]
    settings = {
        **os.environ,
        "CATCHMENT_DSN": lake_case.dsn,
        "CATCHMENT_LAKE_MEMORY_LIMIT": "600MB",
        "CATCHMENT_LEASE_SECONDS": "2",
    }
    settings["CATCHMENT_METRICS_PORT"] = str(port)
    parent = subprocess.Popen(
        [sys.executable, "-m", "catchment", "table", "worker", "--processes", "2"],
        env=settings,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        wait_until(lambda: live_workers(lake_case) == 2, seconds=60)
        first, second = children_of(parent.pid)
        os.kill(first, signal.SIGKILL)
        wait_until(lambda: len(set(children_of(parent.pid)) - {first, second}) == 1, seconds=60)
        refresh_id = lake_case.request("dt")
        wait_until(lambda: lake_case.refreshed(refresh_id)["state"] == "SUCCEEDED", seconds=60)
        lake_case.check("dt")
        # One port has all processes, also the one that was replaced.
        labels = {"command": "lake_refresh", "queue": "lake"}
        wait_until(lambda: set(shown(port, "worker_tasks_completed_total", **labels)) == {"0", "1"}, seconds=60)
        wait_until(lambda: sum(shown(port, "worker_tasks_completed_total", **labels).values()) >= 1, seconds=60)
        assert sum(shown(port, "lake_refreshes_total", table="main.dt", outcome="succeeded").values()) >= 1
        assert shown(port, "lake_table_target_lag_seconds", table="main.dt") == {"0": 86400, "1": 86400}
        assert set(shown(port, "lake_table_suspended", table="main.dt", by="failures").values()) == {0}
        assert max(shown(port, "lake_table_lag_seconds", table="main.dt").values()) >= 0
        assert set(shown(port, "lake_table_failures", table="main.dt").values()) == {0}
        crew = children_of(parent.pid)
        parent.send_signal(how)
        assert parent.wait(timeout=60) == (0 if how == signal.SIGTERM else -how)
        wait_until(lambda: not any(is_alive(pid) for pid in crew), seconds=60)
    finally:
        if parent.poll() is None:
            parent.send_signal(signal.SIGTERM)
            parent.wait(timeout=60)

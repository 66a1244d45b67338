"""Refreshes of dynamic tables by workers on three hosts, with PostgreSQL and object storage on two others, while one
worker host is partitioned or killed: each is published once, equals its query, and leaves no file."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.fixtures.worker import wait_until
from tests.hosts import network
from tests.hosts.network import Host, hosts
from tests.hosts.pair import copied_server
from tests.hosts.test_hosts import (
    LEASE,
    PORT,
    Fleet,
    HostServer,
    check_work,
    end_workers,
    load,
    make_crew,
    start_worker,
)

pytestmark = [
    pytest.mark.long,
    pytest.mark.timeout(900),
    pytest.mark.skipif(network.why_not() is not None, reason=str(network.why_not())),
]

APP = "tests.lake.tasks.app:app"
STORE_PORT = 9000
STORE = "from moto.server import main; import sys; main(sys.argv[1:])"
OVER = ("SUCCEEDED", "FAILED", "SKIPPED", "UPSTREAM_FAILED", "CANCELLED")
# Those that have ended their sessions have an address no more.
HELD = """
select distinct r.worker_id
  from worker.running as r
  join worker.tasks as t on t.id = r.id
 where t.command = 'lake_bucket'
"""
ADDRESS = """
select host(a.client_addr)
  from worker.worker as w
  join pg_stat_activity as a on a.pid = w.lock_pid
 where w.worker_id = %s
"""


@dataclass
class Client:
    """A process on a host that has the lake open; see ``tests.hosts.lake_client``."""

    process: subprocess.Popen[str]
    log: Path

    def read(self) -> Any:
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        assert line, self.log.read_text()
        answer = json.loads(line)
        assert "error" not in answer, answer["error"]
        return answer.get("result")

    def ask(self, name: str, *arguments: Any) -> Any:
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps([name, *arguments]) + "\n")
        self.process.stdin.flush()
        return self.read()


@dataclass
class LakeFleet(Fleet):
    """A fleet whose worker hosts refresh tables as well."""

    client: Client | None = None
    orders: Path = Path()

    def ask(self, name: str, *arguments: Any) -> Any:
        assert self.client is not None
        return self.client.ask(name, *arguments)

    def state(self, refresh_id: int) -> str:
        return self.crew.engine.value("select state from lake.refresh where id = %s", refresh_id)


@pytest.fixture
def lake_fleet(prepared_server: Path, tmp_path: Path) -> Iterator[LakeFleet]:
    with ExitStack() as stack:
        database, store, client, *workers = stack.enter_context(hosts("db", "store", "client", "one", "two", "three"))
        made = stack.enter_context(copied_server(prepared_server, database.address, PORT))
        crew = make_crew(HostServer.started(made, database), tmp_path, stack)
        orders = tmp_path / "orders"
        orders.mkdir()
        environment = _environment(database, store, orders)
        fleet = LakeFleet(database, workers, crew, orders=orders)
        stack.callback(end_workers, fleet)
        _start(
            stack, store, tmp_path / "store.log", environment, "-c", STORE, "-H", store.address, "-p", str(STORE_PORT)
        )
        _wait_for_store(store)
        fleet.client = _start_client(stack, client, tmp_path, environment)
        fleet.ask("fill")
        for worker in workers:
            start_worker(fleet, worker, database.address, tmp_path, stack)
            command = ("-m", "catchment", "worker", "--log-format", "json", "--app", APP)
            queues = ("--queue", "lake", "--queue", "lake_schedule")
            log = tmp_path / f"lake-{worker.space}.log"
            fleet.processes[f"lake {worker.space}"] = _start(stack, worker, log, environment, *command, *queues)
        wait_until(lambda: crew.registered() == 2 * len(workers), seconds=180)
        yield fleet


def _start(
    stack: ExitStack, host: Host, log: Path, environment: dict[str, str], *arguments: str
) -> subprocess.Popen[bytes]:
    """Start a Python program on a host; it is killed at the end."""
    file = stack.enter_context(log.open("wb"))
    command = host.command(sys.executable, *arguments)
    process = subprocess.Popen(command, env=environment, stdout=file, stderr=file)
    stack.enter_context(process)
    stack.callback(process.kill)
    return process


def _start_client(stack: ExitStack, host: Host, folder: Path, environment: dict[str, str]) -> Client:
    log = folder / "client.log"
    errors = stack.enter_context(log.open("wb"))
    command = host.command(
        *(sys.executable, "-m", "tests.hosts.lake_client", environment["CATCHMENT_DSN"], str(folder / "unused"))
    )
    process = subprocess.Popen(
        command, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors, text=True
    )
    stack.enter_context(process)
    stack.callback(process.kill)
    client = Client(process, log)
    client.read()
    return client


def _wait_for_store(store: Host) -> None:
    """The test itself does not reach the hosts: one of them has to look."""
    look = f"import socket; socket.create_connection(('{store.address}', {STORE_PORT}), 5).close()"
    command = store.command(sys.executable, "-c", look)
    wait_until(lambda: subprocess.run(command, capture_output=True, check=False).returncode == 0, seconds=120)


def _environment(database: Host, store: Host, orders: Path) -> dict[str, str]:
    return {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(sys.path),
        "CATCHMENT_DSN": f"host={database.address} port={PORT} user=postgres dbname=postgres",
        "CATCHMENT_LEASE_SECONDS": str(LEASE),
        "CATCHMENT_LAKE_ARTIFACT_GRACE_SECONDS": "1",
        "CATCHMENT_LAKE_MEMORY_LIMIT": "400MB",
        "CATCHMENT_LAKE_THREADS": "1",
        "CATCHMENT_MAX_CONCURRENT_TASKS": "1",
        "CATCHMENT_PARALLEL_MIN_BUCKETS": "6",
        "CATCHMENT_PARALLEL_BUCKETS_PER_WORKER": "2",
        "CATCHMENT_TRANSACTION_LIMIT_SECONDS": str(LEASE),
        "CATCHMENT_S3_KEY_ID": "key",
        "CATCHMENT_S3_SECRET": "secret",
        "CATCHMENT_S3_REGION": "us-east-1",
        "CATCHMENT_S3_ENDPOINT": f"{store.address}:{STORE_PORT}",
        "CATCHMENT_S3_URL_STYLE": "path",
        "CATCHMENT_S3_USE_SSL": "false",
        "SUBTASK_ORDERS": str(orders),
    }


@pytest.mark.parametrize("fault", ["partitioned", "killed"])
def test_refreshes_outlive_a_host_that_computes_them(lake_fleet: LakeFleet, fault: str) -> None:
    """Subtasks wait on all three hosts when one goes, while lanes and trees are worked off beside them."""
    fleet, engine = lake_fleet, lake_fleet.crew.engine
    gate = fleet.orders.parent / "open"
    for name in ("one", "two"):
        (fleet.orders / f"{name}.json").write_text(json.dumps({"gate": str(gate)}))
    fleet.ask("change")
    refreshes = fleet.ask("request")
    wait_until(lambda: len(engine.conn.execute(HELD).fetchall()) == len(fleet.workers), seconds=120)
    lost, *_ = (row[0] for row in engine.conn.execute(HELD).fetchall())
    address = engine.value(ADDRESS, lost)
    (host,) = (one for one in fleet.workers if one.address == address)
    tasks = load(fleet)
    began = time.monotonic()
    if fault == "killed":
        fleet.kill(host)
    else:
        host.cut()
    wait_until(lambda: engine.value("select count(*) from worker.running where worker_id = %s", lost) == 0, seconds=120)
    seconds = time.monotonic() - began
    gate.touch()
    wait_until(lambda: all(fleet.state(one) in OVER for one in refreshes), seconds=300)
    ended = time.monotonic() - began
    assert [fleet.state(one) for one in refreshes] == ["SUCCEEDED"] * len(refreshes)
    again = engine.value("select count(*) from worker.tasks where command = 'lake_bucket' and attempt > 1")
    every = engine.value("select count(*) from worker.tasks where command = 'lake_bucket'")
    print(f"\n{fault}: refreshes over after {ended:.1f} s, {again} of {every} subtasks ran again")
    check_work(fleet, tasks, fault, began, seconds)
    if fault == "partitioned":
        # It comes back with a subtask that was given to another, and has to be refused.
        host.heal()
        wait_until(lambda: fleet.crew.registered() == 2 * len(fleet.workers), seconds=120)
    assert [fleet.ask("publications", one) for one in refreshes] == [1] * len(refreshes)
    wait_until(lambda: fleet.ask("check") == {}, seconds=120)

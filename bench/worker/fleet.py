"""Worker processes on a fresh database, and waiting for them."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from psycopg import Connection

from bench.engine.harness import Bench
from bench.worker.probe import Probe

UNFINISHED = (
    "select (select count(*) from worker.ready) + (select count(*) from worker.running)"
    " + (select count(*) from worker.blocked)"
)
TUNED = {"CATCHMENT_MAX_CONCURRENT_TASKS": "2000", "CATCHMENT_CLAIM_BATCH_SIZE": "500"}


@dataclass
class Fleet:
    """A database, a probe, and the workers on it."""

    conn: Connection[Any]
    dsn: str
    probe: Probe
    environment: dict[str, str]
    workers: list[subprocess.Popen[bytes]] = field(default_factory=list[subprocess.Popen[bytes]])
    started: int = 0

    def start(self, count: int = 1, **settings: str) -> None:
        for _ in range(count):
            argv = [
                sys.executable,
                "-m",
                "catchment",
                "worker",
                "--app",
                "bench.worker.app:app",
                "--log-level",
                "error",
            ]
            slot = {"BENCH_SLOT": str(self.started)}
            self.workers.append(subprocess.Popen(argv, env=self.environment | settings | slot))
            self.started += 1

    def start_bare(self) -> None:
        """A process that is no worker, see ``bare``."""
        self.workers.append(subprocess.Popen([sys.executable, "-m", "bench.worker.bare"], env=self.environment))

    def kill_one(self, **settings: str) -> None:
        """kill -9 one of them, and start another."""
        victim = self.workers.pop(random.randrange(len(self.workers)))
        victim.send_signal(signal.SIGKILL)
        victim.wait()
        self.start(**settings)

    def stop(self) -> None:
        for worker in self.workers:
            worker.terminate()
        for worker in self.workers:
            worker.wait()
        self.workers.clear()

    def unfinished(self) -> int:
        return self.value(UNFINISHED)

    def value(self, sql: Any) -> Any:
        ((value,),) = self.conn.execute(sql).fetchall()
        return value

    def wait(self, done: Callable[[], bool], *, limit: float = 600, pause: float = 0.002) -> None:
        until = time.monotonic() + limit
        while not done():
            if time.monotonic() > until:
                raise TimeoutError(f"not done after {limit:g} s; {self.unfinished()} tasks are unfinished")
            time.sleep(pause)

    def drain(self, tasks: int) -> float:
        """Seconds for this many tasks, from the first that ends until the outcomes of all are durable.

        Looks at the probe and at outcomes only: counting the tables that the workers use would be measured too.
        """
        ended = self.probe.ended()
        first_id = self.value("select max(id) from worker.task") - tasks + 1
        self.wait(lambda: self.probe.ended() > ended)
        began, early = time.monotonic(), self.probe.ended() - ended
        self.wait(lambda: self.probe.ended() >= ended + tasks)
        self.wait(lambda: self.value(f"select count(*) from worker.outcome where id >= {first_id}") == tasks)
        return (time.monotonic() - began) * tasks / (tasks - early)


@contextmanager
def fleet(bench: Bench, *, tasks: int, lanes: int = 0) -> Generator[Fleet]:
    with bench.database() as connect, connect() as conn, tempfile.TemporaryDirectory() as scratch:
        path = Path(scratch) / "probe"
        dsn = conn.info.dsn
        environment = os.environ | {
            "BENCH_DSN": dsn,
            "CATCHMENT_DSN": dsn,
            "BENCH_PROBE": str(path),
            "BENCH_TASKS": str(tasks),
            "BENCH_LANES": str(lanes),
        }
        made = Fleet(conn, dsn, Probe(path, tasks, lanes), environment)
        try:
            yield made
        finally:
            made.stop()

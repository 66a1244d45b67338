"""What happens to workers from outside: they are killed, stopped, asked to end, and cut off from the server."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

import psycopg

from tests.fixtures.proxy import Proxy

GRACE = 3.0
# A stop with connections that hang may take this much longer.
MARGIN = 20.0
SETTINGS = {
    "CATCHMENT_LEASE_SECONDS": "3",
    "CATCHMENT_SHUTDOWN_GRACE_SECONDS": str(GRACE),
    "CATCHMENT_STOP_GRACE_SECONDS": "1",
    "CATCHMENT_TRANSACTION_CONNECTIONS": "2",
    "CATCHMENT_WORKER_THREADS": "8",
    "CATCHMENT_WORKER_PROCESSES": "2",
}
APP = "tests.torture.app:app"
PARTS = ("claimer", "completer", "large completer", "listener", "heartbeat", "watcher", "port", "upkeep", "transaction")


@dataclass
class Fleet:
    """Workers under a supervisor that starts another one for each that is gone."""

    proxy: Proxy
    folder: Path
    size: int
    workers: list[subprocess.Popen[bytes]] = field(default_factory=list[subprocess.Popen[bytes]])
    faults: Counter[str] = field(default_factory=Counter[str])
    ended_by_itself: list[str] = field(default_factory=list[str])
    stops: list[float] = field(default_factory=list[float])
    _logs: list[Path] = field(default_factory=list[Path])

    def fill(self) -> None:
        for worker in [w for w in self.workers if w.poll() is not None]:
            self.workers.remove(worker)
            self.ended_by_itself.append(f"worker {worker.pid} ended with {worker.returncode}")
        while len(self.workers) < self.size:
            self._logs.append(self.folder / f"worker-{len(self._logs)}.log")
            with self._logs[-1].open("wb") as log:
                self.workers.append(
                    subprocess.Popen(
                        [sys.executable, "-m", "catchment", "worker", "--log-format", "json", "--app", APP],
                        env={**os.environ, **SETTINGS, "CATCHMENT_DSN": self.proxy.dsn},
                        stderr=log,
                    )
                )

    def events(self, name: str) -> int:
        """How often workers have logged an event."""
        return sum(log.read_text(errors="replace").count(f'"event": "{name}"') for log in self._logs)

    def kill(self, dice: random.Random) -> None:
        worker = self._take(dice)
        worker.kill()
        worker.wait()
        self.faults["kill"] += 1

    def stop(self, dice: random.Random) -> None:
        """SIGTERM; it has to end within its grace."""
        worker = self._take(dice)
        began = time.monotonic()
        worker.terminate()
        try:
            worker.wait(GRACE + MARGIN)
        except subprocess.TimeoutExpired:
            self.ended_by_itself.append(f"worker {worker.pid} did not stop within {GRACE + MARGIN} s")
            worker.kill()
            worker.wait()
        self.stops.append(time.monotonic() - began)
        self.faults["stop"] += 1

    def pause(self, dice: random.Random) -> None:
        """SIGSTOP for about a lease: some of these are declared dead and find out when they continue."""
        worker = dice.choice(self.workers)
        worker.send_signal(signal.SIGSTOP)
        time.sleep(dice.uniform(0.5, 5))
        worker.send_signal(signal.SIGCONT)
        self.faults["pause"] += 1

    def freeze(self, dice: random.Random) -> None:
        """A connection hangs: nothing is forwarded, everything is acknowledged."""
        self.faults["freeze"] += self.proxy.freeze(f"catchment {dice.choice(PARTS)}") > 0

    def cut(self, dice: random.Random, conn: psycopg.Connection) -> None:
        """The server ends some sessions of workers, which alone come by the proxy."""
        pids = [
            row[0]
            for row in conn.execute(
                "select pid from pg_stat_activity where datname = current_database() and client_addr is not null"
            )
        ]
        for pid in dice.sample(pids, min(len(pids), dice.randint(1, 4))):
            conn.execute("select pg_terminate_backend(%s)", [pid])
        self.faults["cut"] += 1

    def end(self) -> None:
        for worker in self.workers:
            worker.kill()
            worker.wait()

    def _take(self, dice: random.Random) -> subprocess.Popen[bytes]:
        """Take a worker that is about to end off the list, so that its end is expected."""
        worker = dice.choice(self.workers)
        self.workers.remove(worker)
        return worker

"""A private server with a lake, its worker processes, and what they took."""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from catchment.lake import Lake
from catchment.lake.tasks.worker import APP, worker_environment
from catchment.store import embedded
from catchment.store.connect import connect
from catchment.store.fetch import fetch_rows
from catchment.store.migrate import migrate

PROCESS_MEMORY = "1300MB"


class RefreshFailed(Exception):
    """A refresh did not succeed."""


@dataclass
class Lab:
    """A lake, and workers that can be stopped and started again."""

    lake: Lake
    workers: list[subprocess.Popen[bytes]] = field(default_factory=list)

    @property
    def dsn(self) -> str:
        return self.lake.dsn

    def hire(self, count: int, *, memory: str = PROCESS_MEMORY, threads: int = 1, **settings: str) -> None:
        """Send the present workers away and start others; waits until they are warm."""
        self.dismiss()
        environment = {**worker_environment(self.dsn, count, memory=memory, threads=threads), **settings}
        command = [sys.executable, "-m", "catchment", "worker", "--app", APP, "--log-level", "error"]
        queues = ["--queue", "lake", "--queue", "lake_schedule"]
        self.workers = [subprocess.Popen([*command, *queues], env=environment) for _ in range(count)]
        while self.rows("select count(*) as n from worker.worker where lease_until > now()")[0]["n"] < count:
            time.sleep(0.05)

    def dismiss(self) -> None:
        for worker in self.workers:
            worker.terminate()
        for worker in self.workers:
            worker.wait()
        self.workers.clear()

    def peaks(self) -> list[int]:
        """The most memory that each worker has had, in bytes."""
        found: list[int] = []
        for worker in self.workers:
            status = Path(f"/proc/{worker.pid}/status").read_text()
            match = re.search(r"VmHWM:\s+(\d+) kB", status)
            found.append(int(match[1]) * 1024 if match else 0)
        return found

    def rows(self, sql: str, **parameters: Any) -> list[dict[str, Any]]:
        with connect(self.dsn, name="bench lake") as conn:
            return fetch_rows(conn, sql, **parameters)

    def refresh(self, name: str) -> tuple[float, dict[str, Any]]:
        """Refresh a table; returns the seconds from the request to its end, and the row of the refresh."""
        began = time.perf_counter()
        (info,) = [item for item in self.lake.refresh(name) if item.name == f"main.{name}"]
        took = time.perf_counter() - began
        if info.state != "SUCCEEDED":
            raise RefreshFailed(f"the refresh of {name} is {info.state}: {info.error}")
        (row,) = self.rows("select to_jsonb(r) as r from lake.refresh as r where id = %(id)s", id=info.id)
        return took, row["r"]

    def clean(self) -> float:
        """Wait until the files of refreshes are swept; returns how long that took."""
        began = time.perf_counter()
        while self.rows("select count(*) as n from lake.artifact")[0]["n"]:
            time.sleep(0.01)
        return time.perf_counter() - began


@contextmanager
def opened() -> Generator[Lab]:
    """A server and a lake that leave nothing behind."""
    with tempfile.TemporaryDirectory(prefix="catchment-bench-lake-", ignore_cleanup_errors=True) as folder:
        Path(folder).chmod(0o755)
        dsn = embedded.start(Path(folder) / "data")
        with connect(dsn) as conn:
            migrate(conn)
        lab = Lab(Lake(dsn, str(Path(folder) / "lake")))
        try:
            yield lab
        finally:
            lab.dismiss()
            lab.lake.close()
            embedded.stop(Path(folder) / "data")


def show(name: str, **values: object) -> None:
    """One line of results."""
    print(f"{name:<28} " + "  ".join(f"{key} {_text(value)}" for key, value in values.items()), flush=True)


def _text(value: object) -> str:
    return f"{value:,.3g}" if isinstance(value, float) else f"{value:,}" if isinstance(value, int) else str(value)

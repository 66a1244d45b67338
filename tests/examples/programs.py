"""The programs of an example, started as its README says: in its folder, by the Python of this environment."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlencode

import httpx
from psycopg.conninfo import conninfo_to_dict

from tests.fixtures.worker import wait_until

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "examples"
_NAMES = {"host": "PGHOST", "port": "PGPORT", "dbname": "PGDATABASE", "user": "PGUSER"}


def variables(dsn: str) -> dict[str, str]:
    """The environment of a program that uses this database, by the variables of libpq and of Catchment."""
    parts = {name: str(value) for name, value in conninfo_to_dict(dsn).items()}
    given = {variable: parts[name] for name, variable in _NAMES.items() if name in parts}
    place = urlencode({name: parts[name] for name in ("host", "port") if name in parts})
    given["DATABASE_URL"] = f"postgresql://{parts['user']}@/{parts['dbname']}?{place}"
    return {**os.environ, **given, "CATCHMENT_DSN": dsn, "PYTHONUNBUFFERED": "1"}


class Example:
    """An example in its folder, on one database. What it starts writes to files in ``logs``."""

    def __init__(self, name: str, dsn: str, logs: Path, more: Mapping[str, str]) -> None:
        self.folder = EXAMPLES / name
        self._logs = logs
        self._environment = {**variables(dsn), **more}
        self._running: list[subprocess.Popen[bytes]] = []

    def run(self, *arguments: str) -> str:
        """Run a program of Python to its end; returns what it printed."""
        command = [sys.executable, *arguments]
        done = subprocess.run(
            command, cwd=self.folder, env=self._environment, capture_output=True, text=True, timeout=200
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout + done.stderr

    def start(self, *arguments: str, until: str) -> Path:
        """Start a program of Python, and wait until it has said this; returns its log."""
        log = self._logs / f"{len(self._running)}.log"
        with log.open("wb") as out:
            process = subprocess.Popen(
                [sys.executable, *arguments], cwd=self.folder, env=self._environment, stdout=out, stderr=out
            )
        self._running.append(process)
        wait_until(lambda: until in log.read_text() or process.poll() is not None, seconds=120)
        assert process.poll() is None, log.read_text()
        return log

    def serve(self, application: str) -> httpx.Client:
        """Serve an ASGI application with uvicorn, on a free port of the loopback address."""
        log = self.start("-m", "uvicorn", application, "--port", "0", until="Uvicorn running on")
        address = re.search(r"running on (http://[\d.]+:\d+)", log.read_text())
        assert address is not None
        return httpx.Client(base_url=address[1], timeout=60)

    def stop(self) -> None:
        """Stop what was started, as an operator does; each program has to end by itself."""
        for process in reversed(self._running):
            process.send_signal(signal.SIGTERM)
        for process in self._running:
            process.wait(timeout=100)
        self._running.clear()

    def end(self) -> None:
        for process in self._running:
            process.kill()
            process.wait()


@contextmanager
def example(name: str, dsn: str, logs: Path, **more: str) -> Iterator[Example]:
    """An example; whatever still runs is killed in the end."""
    made = Example(name, dsn, logs, more)
    try:
        yield made
    finally:
        made.end()

"""Worker processes of one database, the client that gives them work, and what is known of it from outside."""

from __future__ import annotations

import json
import os
import signal
import time
import urllib.request
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from prometheus_client.parser import text_string_to_metric_families

from catchment import App
from catchment.runtime.settings import WorkerSettings
from tests.fixtures.engine import Engine
from tests.fixtures.worker import WorkerProcess, wait_until
from tests.worker import probe
from tests.worker.app import app
from tests.worker.probe import Records

APP = "tests.worker.app:app"
TABLES = """
create schema probe;
create table probe.mark (key text not null, seq integer not null);
create table probe.effect (task_id bigint not null, note text not null);
"""


@dataclass
class Crew:
    """Start workers, give them tasks, look at both."""

    client: App
    engine: Engine
    records: Records
    launch: Callable[..., WorkerProcess]
    logs: Path
    workers: list[WorkerProcess] = field(default_factory=list[WorkerProcess])

    @classmethod
    def on(
        cls, dsn: str, engine: Engine, records: Records, launch: Callable[..., WorkerProcess], logs: Path | None = None
    ) -> Crew:
        """A crew of a fresh database, with the commands of the app registered."""
        client = App(dsn)
        for command in app.commands:
            client.commands.add(command)
        client.sync.register()
        engine.conn.execute(TABLES)
        return cls(client, engine, records, launch, logs or records.folder)

    def hire(self, count: int = 1, *arguments: str, app: str = APP, **settings: object) -> list[WorkerProcess]:
        """Start workers with these settings or other variables, and wait until all are registered."""
        last = self.engine.value("select coalesce(pg_sequence_last_value('worker.worker_worker_id_seq'), 0)")
        variables = {field: WorkerSettings.names(field)[0] for field in WorkerSettings.model_fields}
        environment = {variables.get(name, name.upper()): str(value) for name, value in settings.items()}
        environment[probe.FOLDER] = str(self.records.folder)
        hired = [self.launch("--app", app, *arguments, settings=environment) for _ in range(count)]
        self.workers += hired
        wait_until(lambda: self.registered(since=last) >= count)
        return hired

    def registered(self, *, since: int = 0) -> int:
        """How many workers are known, of those that came after one."""
        return self.engine.value("select count(*) from worker.worker where worker_id > %s", since)

    def worker_id(self) -> int:
        """The id of the only worker."""
        return self.engine.value("select worker_id from worker.worker")

    def kill(self, worker: WorkerProcess) -> None:
        """End a worker at once, and note that none of its handlers ran any longer."""
        worker.send_signal(signal.SIGKILL)
        worker.wait()
        self.records.deaths[worker.pid] = time.monotonic()
        self.workers.remove(worker)

    def stop(self, worker: WorkerProcess) -> int:
        """Ask a worker to end, and wait until it has."""
        worker.send_signal(signal.SIGTERM)
        return worker.wait(timeout=60)

    def enqueue(self, command: Any, **options: Any) -> int:
        """Make a task. The options of ``using`` are told from arguments by their names. A command of another app, whose
        name may be that of one of ours, is given by its name."""
        using = {name: options.pop(name) for name in ("lane", "priority", "at", "delay", "conn") if name in options}
        if isinstance(command, str) and not using:
            return self.engine.enqueue(command, **options)
        if isinstance(command, str):
            return self.client.sync.enqueue(command, options, **using).id
        return command.sync.using(app=self.client, **using).enqueue(**options).id

    def enqueue_many(self, command: Any, payloads: Sequence[dict[str, Any]], *, by_key: bool = True) -> list[int]:
        """Make tasks; those of one key are one lane."""
        lane = (lambda payload: payload["key"]) if by_key else None
        return [
            task.id for task in self.client.sync.enqueue_many(getattr(command, "name", command), payloads, lane=lane)
        ]

    def result(self, task_id: int, timeout: float = 60) -> Any:
        return self.client.sync.task(task_id).result(timeout=timeout)

    def settled(self) -> int:
        return self.engine.value("select count(*) from worker.outcome")

    def wait_settled(self, count: int, *, seconds: float = 100) -> None:
        """Wait until as many tasks have settled."""
        wait_until(lambda: self.settled() >= count, seconds=seconds)

    def states(self) -> dict[str, int]:
        """How many tasks are in each state."""
        return dict(self.engine.conn.execute("select state, count(*) from worker.tasks group by state").fetchall())

    def logged(self, event: str) -> list[dict[str, Any]]:
        """The events of this name that the workers have logged."""
        lines = [line for log in sorted(self.logs.glob("worker-*.log")) for line in log.read_text().splitlines(True)]
        found = [json.loads(line) for line in lines if line.startswith("{") and line.endswith("}\n")]
        return [line for line in found if line["event"] == event]

    def scrape(self, name: str, **labels: str) -> float:
        """A metric of the worker that was hired last with a port for them; the sum of its series with these labels."""
        wait_until(lambda: self.logged("metrics.listening"))
        where = self.logged("metrics.listening")[-1]
        with urllib.request.urlopen(f"http://{where['host']}:{where['port']}/metrics", timeout=20) as answer:
            families = text_string_to_metric_families(answer.read().decode())
            samples = [s for f in families for s in f.samples if s.name == name]
        return sum(s.value for s in samples if labels.items() <= s.labels.items())

    def attempts(self) -> set[int]:
        """How often tasks were started."""
        return {row[0] for row in self.engine.conn.execute("select distinct attempt from worker.tasks")}

    def claim_sizes(self) -> list[int]:
        """How many tasks each claim took: those of one claim have the same start."""
        rows = self.engine.conn.execute("select count(*) from worker.tasks group by process_start_at order by min(id)")
        return [row[0] for row in rows]

    def shares(self) -> list[int]:
        """How many runs each worker had, fewest first."""
        pids = [span.pid for span in self.records.spans()]
        return sorted(pids.count(worker.pid) for worker in self.workers)


def is_alive(pid: int) -> bool:
    """Is there such a process, and is it no zombie?"""
    try:
        os.kill(pid, 0)
        with open(f"/proc/{pid}/stat") as stat:
            return stat.read().rpartition(")")[2].split()[0] != "Z"
    except (ProcessLookupError, FileNotFoundError):
        return False

"""Upkeep of real workers: a failure in it stops nothing else, and its clock is the server's."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.fixtures.engine import Engine
from tests.fixtures.worker import StartWorker, wait_until

# A clock that is an hour late, for a process that has this folder on its path.
LATE_CLOCK = """
import datetime, time

LATE = 3600
_time = time.time


class Late(datetime.datetime):
    @classmethod
    def now(cls, tz=None):
        return cls.fromtimestamp(_time() - LATE, tz)


datetime.datetime = Late
time.time = lambda: _time() - LATE
"""


def _events(folder: Path, *names: str) -> list[dict[str, Any]]:
    """What the workers said, of these kinds."""
    texts = [path.read_text() for path in sorted(folder.glob("worker-*.log"))]
    lines = [json.loads(line) for text in texts for line in text.splitlines() if line.startswith("{")]
    return [line for line in lines if line["event"] in names]


def _tick(engine: Engine, *, rounds: int) -> None:
    """Wait until upkeep has made as many rounds: each fires this schedule."""
    engine.conn.execute(
        "insert into worker.schedule (name, command, payload, every, next_at)"
        " values ('tick', 'act', '{\"note\": \"tick\"}', '1 second', clock_timestamp())"
    )
    wait_until(lambda: engine.notes().count("tick") >= rounds, seconds=60)


@pytest.fixture
def late_worker(db: str, tmp_path: Path) -> Iterator[None]:
    """A worker whose clock is an hour late. It starts from nothing, so that all its modules have that clock."""
    (tmp_path / "sitecustomize.py").write_text(LATE_CLOCK)
    path = os.pathsep.join([str(tmp_path), os.environ.get("PYTHONPATH", "")])
    with (tmp_path / "log").open("wb") as log:
        process = subprocess.Popen(
            [sys.executable, "-m", "catchment", "worker"],
            env={**os.environ, "CATCHMENT_DSN": db, "PYTHONPATH": path},
            stderr=log,
        )
        yield
        process.kill()
        process.wait()


@pytest.mark.usefixtures("late_worker")
def test_worker_whose_clock_is_late_fires_a_slot_once(committed: Engine) -> None:
    committed.conn.execute(
        "insert into worker.schedule (name, command, payload, cron, next_at)"
        " values ('minutely', 'act', '{\"note\": \"slot\"}', '* * * * *', clock_timestamp())"
    )
    _tick(committed, rounds=5)
    slots = committed.conn.execute(
        "select count(*) from worker.tasks where payload ->> 'note' = 'slot' group by date_trunc('minute', created_at)"
    ).fetchall()
    assert slots
    assert {row[0] for row in slots} == {1}
    assert committed.value("select next_at > clock_timestamp() from worker.schedule where name = 'minutely'")


def test_broken_schedule_stops_nothing_and_is_reported_once(
    committed: Engine, start_worker: StartWorker, tmp_path: Path
) -> None:
    committed.conn.execute("alter table worker.schedule disable trigger check_schedule")
    committed.conn.execute(
        "insert into worker.schedule (name, command, cron, timezone, next_at)"
        " values ('broken', 'act', '0 0 30 2 *', 'Europe', now())"
    )
    committed.command("brief", timeout="300 ms")
    start_worker()
    task = committed.enqueue("brief", sleep=60)
    wait_until(lambda: committed.state(task) == "failed")
    _tick(committed, rounds=3)
    (trouble,) = _events(tmp_path, "upkeep.trouble")
    assert (trouble["step"], trouble["item"]) == ("schedule", "broken")
    assert committed.conn.execute("select step, item from worker.trouble").fetchall() == [("schedule", "broken")]


def test_upkeep_goes_on_after_any_error_and_says_so_rarely(
    committed: Engine, start_worker: StartWorker, tmp_path: Path
) -> None:
    start_worker()
    _tick(committed, rounds=1)
    committed.conn.execute("alter function worker.upkeep() rename to upkeep_away")
    wait_until(lambda: _events(tmp_path, "upkeep.failed"))
    before = committed.value("select count(*) from worker.outcome")
    task = committed.enqueue()
    wait_until(lambda: committed.state(task) == "completed")
    committed.conn.execute("alter function worker.upkeep_away() rename to upkeep")
    wait_until(lambda: committed.value("select count(*) from worker.outcome") > before + 2)
    assert len(_events(tmp_path, "upkeep.failed")) <= 2
    wait_until(lambda: _events(tmp_path, "upkeep.recovered"))


@pytest.mark.long
def test_upkeep_survives_a_server_that_only_reads(
    committed: Engine, db: str, start_worker: StartWorker, tmp_path: Path
) -> None:
    start_worker()
    _tick(committed, rounds=1)
    name = committed.conn.info.dbname
    with committed.conn.transaction():
        committed.conn.execute(f"alter database {name} set default_transaction_read_only = on")
    committed.conn.execute(
        "select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'catchment upkeep'"
        " and datname = current_database()"
    )
    wait_until(lambda: any("read-only" in e["message"] for e in _events(tmp_path, "upkeep.disconnected")))
    committed.conn.execute("set default_transaction_read_only = off")
    committed.conn.execute(f"alter database {name} reset default_transaction_read_only")
    committed.conn.execute(
        "select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'catchment upkeep'"
        " and datname = current_database()"
    )
    before = committed.notes().count("tick")
    wait_until(lambda: committed.notes().count("tick") > before, seconds=60)

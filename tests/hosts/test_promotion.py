"""A standby takes over: workers and clients leave a primary that is dead or read-only. Nothing is lost, nothing done
twice."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import psycopg
import pytest

from catchment import App, CatchmentError
from tests.fixtures.engine import Engine
from tests.fixtures.worker import starting_workers, wait_until
from tests.hosts.pair import Server, paired
from tests.worker.app import app, put
from tests.worker.crew import Crew
from tests.worker.probe import Records

pytestmark = [pytest.mark.long, pytest.mark.timeout(600)]

TASKS = 150


@dataclass
class Sender(threading.Thread):
    """Makes tasks one after another, in five lanes, until there are enough; only those count whose making returned."""

    dsn: str
    made: list[int] = field(default_factory=list[int])
    refused: int = 0

    def __post_init__(self) -> None:
        super().__init__(daemon=True)

    def __hash__(self) -> int:
        return id(self)

    def run(self) -> None:
        client = App(self.dsn)
        for command in app.commands:
            client.commands.add(command)
        number = 0
        while len(self.made) < TASKS:
            number += 1
            try:
                request = put.sync.using(app=client, lane=f"lane {number % 5}")
                self.made.append(request.enqueue(note=f"note {number}").id)
            except (psycopg.Error, CatchmentError):
                self.refused += 1
                time.sleep(0.2)
        client.sync.close()


@pytest.fixture
def pair(prepared_server: Path) -> Iterator[tuple[Server, Server]]:
    with paired(prepared_server) as made:
        yield made


@pytest.mark.parametrize("fault", ["killed", "read-only"])
def test_workers_follow_a_standby_that_is_promoted(pair: tuple[Server, Server], tmp_path: Path, fault: str) -> None:
    primary, standby = pair
    both = f"host={primary.host},{standby.host} port={primary.port},{standby.port} user=postgres dbname=postgres"
    folder = tmp_path / "probe"
    folder.mkdir()
    with (
        primary.connect() as old,
        standby.connect() as new,
        starting_workers(both, tmp_path) as start,
    ):
        wait_until(lambda: _is_synchronous(old))
        crew = Crew.on(both, Engine(old), Records(folder), start, tmp_path)
        crew.hire(2, lease_seconds=6)
        sender = Sender(both)
        sender.start()
        wait_until(lambda: crew.settled() >= TASKS // 5, seconds=120)
        began = time.monotonic()
        if fault == "killed":
            primary.kill()
        else:
            old.execute("alter system set default_transaction_read_only = on")
            old.execute("select pg_reload_conf()")
        new.execute("select pg_promote()")
        engine = Engine(new)
        before = engine.value("select count(*) from worker.outcome")
        wait_until(lambda: engine.value("select count(*) from worker.outcome") > before, seconds=120)
        recovered = time.monotonic() - began
        sender.join(timeout=240)
        assert not sender.is_alive()
        done = "select count(*) from worker.outcome where state = 'completed' and id = any (%s)"
        wait_until(lambda: engine.value(done, sender.made) == TASKS, seconds=240)
        effects = "select count(*), count(distinct task_id) from probe.effect where task_id = any (%s)"
        assert new.execute(effects, [sender.made]).fetchone() == (TASKS, TASKS)
        again = engine.value("select count(*) from worker.tasks where attempt > 1")
        engine.check()
        print(
            f"\n{fault}: first completion on the new primary after {recovered:.1f} s; {sender.refused} enqueues"
            f" refused, {again} of {TASKS} tasks ran again, none lost, none twice"
        )
        crew.client.sync.close()


def _is_synchronous(conn: psycopg.Connection[tuple[str]]) -> bool:
    row = conn.execute("select max(sync_state) from pg_stat_replication").fetchone()
    return row is not None and row[0] == "sync"

"""``ctx.transaction()`` while the database cannot be reached, or connections are few: work waits and does not fail."""

from __future__ import annotations

import resource
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import psycopg
import pytest

from catchment import TaskFailed
from tests.fixtures.often import often
from tests.fixtures.worker import wait_until
from tests.worker import writes
from tests.worker.crew import Crew
from tests.worker.probe import peak_overlap

APP = "tests.worker.writes:app"
OWN = "application_name = 'catchment transaction' and datname = current_database()"
BOTH = pytest.mark.parametrize("command", ["write", "write_plainly"], ids=["async", "plain"])


@pytest.fixture
def crew(crew: Crew) -> Crew:
    for command in writes.app.commands:
        crew.client.commands.add(command)
    crew.client.sync.register()
    return crew


def _notes(crew: Crew, task: int) -> list[str]:
    rows = crew.engine.conn.execute("select note from probe.effect where task_id = %s order by note", [task])
    return [row[0] for row in rows]


def _attempts(crew: Crew, task: int) -> list[str]:
    rows = crew.engine.conn.execute("select state from worker.attempt where task_id = %s order by attempt", [task])
    return [row[0] for row in rows]


@contextmanager
def _closed(crew: Crew, server: str) -> Iterator[None]:
    """The database takes no new connections, and those of handlers are cut."""
    name = crew.engine.value("select current_database()")
    with psycopg.connect(server, autocommit=True) as conn:
        conn.execute(f"alter database {name} allow_connections false")
        try:
            crew.engine.value(f"select count(pg_terminate_backend(pid, 5000)) from pg_stat_activity where {OWN}")
            yield
        finally:
            conn.execute(f"alter database {name} allow_connections true")


@pytest.mark.long
@BOTH
def test_a_database_that_cannot_be_reached_is_waited_for(crew: Crew, server: str, command: str) -> None:
    """The time limit of the handlers is a second; they wait for longer."""
    crew.hire()
    crew.hire(app=APP)
    tasks = [crew.enqueue(command, note=f"first {n}") for n in range(8)]
    assert [crew.result(task) for task in tasks] == ["written"] * 8
    with _closed(crew, server):
        tasks = [crew.enqueue(command, note=f"second {n}") for n in range(8)]
        wait_until(lambda: crew.states().get("processing", 0) >= 4)
        with pytest.raises(TimeoutError):
            crew.result(tasks[0], timeout=3)
    assert [crew.result(task) for task in tasks] == ["written"] * 8
    assert [_notes(crew, task) for task in tasks] == [[f"second {n}"] for n in range(8)]
    assert crew.engine.value("select count(*) from worker.attempt") == 0


def test_a_process_without_file_descriptors_waits_for_one(crew: Crew) -> None:
    (worker,) = crew.hire(app=APP)
    crew.result(crew.enqueue("write_at_last", note="warm", seconds=0))
    crew.engine.value(f"select count(pg_terminate_backend(pid, 5000)) from pg_stat_activity where {OWN}")
    before = resource.prlimit(worker.pid, resource.RLIMIT_NOFILE)
    tasks = [crew.enqueue("write_at_last", note=f"{n}", seconds=0.2) for n in range(8)]
    resource.prlimit(worker.pid, resource.RLIMIT_NOFILE, (4, before[1]))  # all below are taken
    wait_until(lambda: len(crew.records.spans()) == 9)
    with pytest.raises(TimeoutError):
        crew.result(tasks[-1], timeout=2)
    resource.prlimit(worker.pid, resource.RLIMIT_NOFILE, before)
    assert [crew.result(task) for task in tasks] == ["written"] * 8
    assert crew.engine.value("select count(*) from worker.attempt where state = 'failed'") == 0


@pytest.mark.parametrize("then", often("swallow", now_and_then=["raise", "wrap"]))
@pytest.mark.parametrize("command", ["lose", "lose_plainly"], ids=["async", "plain"])
def test_an_attempt_that_lost_its_connection_is_interrupted_whatever_it_makes_of_it(
    crew: Crew, command: str, then: str
) -> None:
    crew.hire(app=APP)
    task = crew.enqueue(command, note="lost", then=then)
    assert crew.result(task) == "written"
    assert _notes(crew, task) == ["lost"]
    assert _attempts(crew, task) == ["interrupted"]


def test_a_join_that_lost_its_connection_runs_again(crew: Crew) -> None:
    crew.hire(app=APP)
    task = crew.enqueue("lose_in_join", note="lost")
    assert crew.result(task) == "written"
    assert _notes(crew, task) == ["lost"]


def test_a_task_that_loses_its_connection_each_time_fails_in_the_end(crew: Crew) -> None:
    crew.hire(app=APP)
    crew.engine.conn.execute(
        "create function probe.quit() returns trigger language plpgsql as"
        " 'begin perform pg_terminate_backend(pg_backend_pid()); return null; end'"
    )
    crew.engine.conn.execute("create trigger quit after insert on probe.effect execute function probe.quit()")
    with pytest.raises(TaskFailed, match="interrupted 5 times, most recently: the connection"):
        crew.result(crew.enqueue("write", note="never"))


@BOTH
def test_waiting_for_a_connection_is_not_the_time_of_the_handler(crew: Crew, command: str) -> None:
    """Each takes 0.5 s of a connection, has a time limit of 2 s, and there is one connection."""
    crew.hire(app=APP, transaction_connections=1)
    tasks = [crew.enqueue(command, note=f"{n}", seconds=0.5) for n in range(6)]
    assert [crew.result(task) for task in tasks] == ["written"] * 6
    assert crew.engine.value("select count(*) from worker.attempt") == 0


@pytest.mark.long
def test_more_handlers_than_connections_start_as_connections_allow(crew: Crew) -> None:
    crew.hire(app=APP, metrics_port=0)
    assert crew.result(crew.enqueue("write", note="learned")) == "written"
    crew.enqueue_many("write", [{"note": "many", "seconds": 0.05} for _ in range(400)], by_key=False)
    wait_until(lambda: crew.scrape("worker_transaction_wait_seconds") > 0)
    wait_until(lambda: crew.scrape("worker_backpressure", reason="transactions") == 1)
    crew.wait_settled(401, seconds=60)
    assert crew.states() == {"completed": 401}
    assert crew.attempts() == {1}


def test_commands_that_work_before_their_transaction_start_all_at_once(crew: Crew) -> None:
    """One connection serves them all, because each needs it for a moment only."""
    crew.hire(app=APP, transaction_connections=1)
    crew.result(crew.enqueue("write_at_last", note="learned", seconds=0))
    tasks = [crew.enqueue("write_at_last", note="beside", seconds=2) for _ in range(20)]
    assert [crew.result(task) for task in tasks] == ["written"] * 20
    assert peak_overlap(crew.records.spans("beside")) == 20


def test_savepoints_are_allowed(crew: Crew) -> None:
    crew.hire(app=APP)
    task = crew.enqueue("save_some", note="a")
    assert crew.result(task) == "written"
    assert _notes(crew, task) == ["a", "a kept"]


def test_a_transaction_that_idles_too_long_is_a_failure_of_its_handler(crew: Crew) -> None:
    crew.hire(app=APP, transaction_limit_seconds=0.3)
    with pytest.raises(TaskFailed, match="CATCHMENT_TRANSACTION_LIMIT_SECONDS"):
        crew.result(crew.enqueue("idle", seconds=1.5))


def test_a_cancelled_task_stops_waiting_for_a_connection(crew: Crew, server: str) -> None:
    crew.hire(app=APP)
    crew.result(crew.enqueue("write", note="first"))
    with _closed(crew, server):
        tasks: list[Any] = [crew.enqueue(command, note="wait") for command in ("write", "write_plainly")]
        wait_until(lambda: crew.states().get("processing", 0) == 2)
        for task in tasks:
            crew.client.sync.task(task).cancel()
        wait_until(lambda: [crew.engine.state(task) for task in tasks] == ["cancelled"] * 2)

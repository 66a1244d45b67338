"""Connections lost in every way: the worker makes new ones, and no task is lost."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg
import pytest

from tests.fixtures.engine import Engine
from tests.fixtures.often import often, some
from tests.fixtures.restart import restart
from tests.fixtures.server import stop_server
from tests.fixtures.worker import StartWorker, wait_until
from tests.worker.app import hold, parent, put, put_plain, step, tell
from tests.worker.crew import Crew
from tests.worker.probe import Records, disorder

PARTS = ("claimer", "completer", "listener", "heartbeat", "watcher", "port", "upkeep", "transaction")
TERMINATE = (
    "select pg_terminate_backend(pid) from pg_stat_activity where application_name = %s"
    " and datname = current_database()"
)


def _cut(crew: Crew, part: str) -> int:
    return crew.engine.conn.execute(TERMINATE, [f"catchment {part}"]).rowcount


@contextmanager
def _claimed_unheard(crew: Crew) -> Iterator[int]:
    """A task claimed for the only worker, as if the answer to its claim had been lost."""
    crew.engine.value("select worker.pause_queue('work')")
    task = crew.enqueue(step, key="unheard", lane="a")
    with crew.engine.conn.transaction():
        crew.engine.value("select worker.resume_queue('work')")
        claim = "select id from worker.claim_tasks(%s, array['work'], 1)"
        # Nothing is claimed while the worker itself is just letting the task into its lane.
        wait_until(lambda: crew.engine.value(claim, crew.worker_id()) == task)
    yield task


def test_a_claim_whose_answer_was_lost_is_given_back(crew: Crew) -> None:
    crew.hire(lease_seconds=1.5)
    with _claimed_unheard(crew) as task:
        behind = crew.enqueue(step, key="unheard", seq=1, lane="a")
        crew.result(behind)
    assert crew.engine.task(task)["attempt"] == 1
    assert [span.seq for span in crew.records.spans("unheard")] == [0, 1]


def test_a_claim_whose_answer_may_still_come_is_not_given_back(crew: Crew) -> None:
    """However often the worker is told to compare what it holds."""
    crew.hire(lease_seconds=30)
    with _claimed_unheard(crew) as task:
        for _ in range(20):
            crew.engine.value("select pg_notify('worker_cancels', %s)", str(crew.worker_id()))
            time.sleep(0.02)
        assert crew.engine.state(task) == "processing"


@pytest.mark.parametrize("part", some(PARTS, one_in=4))
def test_an_idle_connection_cut_off_is_made_again(crew: Crew, part: str) -> None:
    (worker,) = crew.hire(lease_seconds=1.5, wake_ups="true")
    first = [crew.enqueue(command, note="before") for command in (put, put_plain)]
    assert [crew.result(task) for task in first] == ["written"] * 2
    wait_until(lambda: crew.engine.value("select count(*) from worker.sleeper") > 0)
    assert _cut(crew, part) > 0
    task = crew.enqueue(parent, key="tree", count=3)
    assert crew.result(task) == 3
    assert [crew.result(crew.enqueue(command, note="after")) for command in (put, put_plain)] == ["written"] * 2
    telling = crew.enqueue(tell, gate="told")
    wait_until(lambda: (crew.engine.task(telling)["progress"] or {}).get("done") == 1)
    held = crew.enqueue(hold, key="held", gate="never")
    wait_until(lambda: len(crew.records.spans("held")) == 1)
    crew.client.sync.task(held).cancel()
    wait_until(lambda: crew.engine.state(held) == "cancelled")
    crew.records.open_gate("told")
    crew.result(telling)
    assert crew.attempts() == {1}
    assert worker.poll() is None


@pytest.mark.long
def test_connections_cut_again_and_again_lose_nothing(crew: Crew) -> None:
    (worker,) = crew.hire(max_concurrent_tasks=20, lease_seconds=5)
    crew.enqueue_many(step, [{"key": f"{n % 25}", "seq": n, "seconds": 0.05} for n in range(500)])
    parts = [part for part in PARTS if part != "transaction"]
    for n in range(35):
        _cut(crew, parts[n % len(parts)])
        time.sleep(0.1)
    crew.wait_settled(500)
    spans = crew.records.spans()
    assert {span.seq for span in spans} == set(range(500))
    assert disorder(spans) == []
    assert crew.states() == {"completed": 500}
    assert worker.poll() is None
    crew.engine.check()


def test_a_worker_outlives_a_claim_that_the_database_refuses(crew: Crew, tmp_path: Path) -> None:
    (worker,) = crew.hire(wake_ups="false")
    assert crew.result(crew.enqueue(step, seq=1)) == 1
    crew.engine.conn.execute("alter function worker.claim_tasks rename to claim_tasks_away")
    task = crew.enqueue(step, seq=2)
    wait_until(lambda: "connection.refused" in _log(tmp_path))
    crew.engine.conn.execute("alter function worker.claim_tasks_away rename to claim_tasks")
    assert crew.result(task) == 2
    assert worker.poll() is None


@pytest.mark.long
def test_an_idle_worker_stops_soon_although_the_server_is_away(
    own_server: tuple[str, Path], start_worker: StartWorker, tmp_path: Path
) -> None:
    dsn, data = own_server

    def launch(*arguments: str, settings: dict[str, str]) -> object:
        return start_worker(*arguments, dsn=dsn, settings=settings)

    with psycopg.connect(dsn, autocommit=True) as conn:
        crew = Crew.on(dsn, Engine(conn), Records(tmp_path), launch)  # type: ignore[arg-type]
        (worker,) = crew.hire()
        assert crew.result(crew.enqueue(step, seq=1)) == 1
        crew.client.sync.close()
    stop_server(data)
    wait_until(lambda: "connection.lost" in _log(tmp_path))
    worker.terminate()
    worker.wait(timeout=60)


def _log(folder: Path) -> str:
    return (folder / "worker-1.log").read_text("utf-8")


@pytest.mark.long
@pytest.mark.parametrize("how", often("immediate", now_and_then=["fast"]))
def test_tasks_go_on_after_the_server_restarts(
    own_server: tuple[str, Path], start_worker: StartWorker, tmp_path: Path, how: str
) -> None:
    dsn, data = own_server
    folder = tmp_path / "probe"
    folder.mkdir()

    def launch(*arguments: str, settings: dict[str, str]) -> object:
        return start_worker(*arguments, dsn=dsn, settings=settings)

    with psycopg.connect(dsn, autocommit=True) as conn:
        crew = Crew.on(dsn, Engine(conn), Records(folder), launch)  # type: ignore[arg-type]
        crew.enqueue_many(step, [{"key": f"{n % 10}", "seq": n, "seconds": 0.05} for n in range(300)])
        (worker,) = crew.hire()
        wait_until(lambda: crew.settled() >= 50)
        crew.client.sync.close()
    restart(data, how)
    with psycopg.connect(dsn, autocommit=True) as conn:
        crew.engine = Engine(conn)
        crew.wait_settled(300)
        assert {span.seq for span in crew.records.spans()} == set(range(300))
        assert disorder(crew.records.spans()) == []
        assert crew.states() == {"completed": 300}
        assert worker.poll() is None
        assert crew.result(crew.enqueue(put, note="after")) == "written"
        crew.engine.check()
        crew.client.sync.close()

"""Connections that hang without closing: each part of a worker finds out and continues with a new one."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Sequence

import pytest

from tests.fixtures.proxy import Proxy, proxied
from tests.fixtures.worker import WorkerProcess, wait_until
from tests.worker.app import hold, nap_in_transaction, parent, put, put_plain, step, tell
from tests.worker.crew import Crew

LEASE = 3.0
# From the moment a connection hangs: its lease may just have begun.
BACK_AT_WORK = LEASE + 10
PARTS = ["claimer", "completer", "heartbeat", "watcher", "port", "upkeep", "transaction"]
if os.environ.get("CATCHMENT_WAKE_UPS") != "false":
    PARTS.append("listener")
TRANSACTION = "catchment transaction"


@pytest.fixture
def proxy(db: str) -> Iterator[Proxy]:
    with proxied(db) as made:
        yield made


def _hire(crew: Crew, proxy: Proxy, *arguments: str, **settings: object) -> WorkerProcess:
    (worker,) = crew.hire(1, *arguments, catchment_dsn=proxy.dsn, lease_seconds=LEASE, **settings)
    return worker


def _add_sql_queue(crew: Crew) -> None:
    crew.engine.conn.execute(
        "create procedure probe.nap(payload jsonb) language sql as"
        " $$ select pg_sleep((payload ->> 'seconds')::float) $$"
    )
    crew.engine.queue("sql")
    crew.engine.command("nap", "sql", handler_procedure="probe.nap")


def _use_every_part(crew: Crew, note: str) -> None:
    """What only works when each part of the worker does."""
    assert crew.result(crew.enqueue(parent, key=note, count=3)) == 3
    assert [crew.result(crew.enqueue(command, note=note)) for command in (put, put_plain)] == ["written"] * 2
    telling = crew.enqueue(tell, gate=note)
    wait_until(lambda: (crew.engine.task(telling)["progress"] or {}).get("done") == 1)
    held = crew.enqueue(hold, key=note, gate="never")
    wait_until(lambda: len(crew.records.spans(note)) > 0)
    crew.client.sync.task(held).cancel()
    wait_until(lambda: crew.engine.state(held) == "cancelled")
    crew.records.open_gate(note)
    crew.result(telling)


def _hang(crew: Crew, proxy: Proxy, parts: Sequence[str], limit: float) -> None:
    worker = _hire(crew, proxy)
    identity = crew.worker_id()
    _use_every_part(crew, "before")
    wait_until(lambda: crew.engine.value("select count(*) from worker.sleeper") > 0)
    names = [f"catchment {part}" for part in parts]
    assert all(proxy.freeze(name) > 0 for name in names)
    began = time.monotonic()
    _use_every_part(crew, "after")
    wait_until(lambda: {line.name for line in proxy.lines if not line.is_frozen} >= set(names) - {TRANSACTION})
    assert time.monotonic() - began < limit
    assert worker.poll() is None
    assert crew.worker_id() == identity
    crew.engine.check()


@pytest.mark.long
def test_a_worker_whose_connections_all_hang_is_back_at_work_soon_after_the_lease(crew: Crew, proxy: Proxy) -> None:
    # One task after another meets the claimer, the completer and the port.
    _hang(crew, proxy, PARTS, 3 * BACK_AT_WORK)


@pytest.mark.long
@pytest.mark.parametrize("part", PARTS)
def test_a_part_whose_connection_hangs_is_back_at_work_soon_after_the_lease(
    crew: Crew, proxy: Proxy, part: str
) -> None:
    _hang(crew, proxy, [part], BACK_AT_WORK)


def test_an_ending_whose_answer_never_comes_counts_once(crew: Crew, proxy: Proxy) -> None:
    crew.engine.conn.execute(
        "create function probe.wait() returns trigger language plpgsql as"
        " $$ begin perform pg_sleep(1); return new; end $$;"
        "create trigger wait before insert on worker.outcome for each row execute function probe.wait()"
    )
    _hire(crew, proxy, metrics_port=0)
    task = crew.enqueue(step, seconds=0)
    recording = "select count(*) from pg_stat_activity where application_name = 'catchment completer'"
    wait_until(lambda: crew.engine.value(f"{recording} and wait_event = 'PgSleep'") == 1)
    assert proxy.freeze("catchment completer") == 1
    wait_until(lambda: crew.scrape("worker_tasks_completed_total") == 1)
    assert crew.scrape("worker_fenced_writes_total") == 0
    assert crew.engine.task(task)["attempt"] == 1
    assert crew.result(crew.enqueue(step, seconds=0)) == 0
    assert crew.logged("connection.refused") == []


def test_a_sql_queue_goes_on_when_its_connection_hangs_in_a_call(crew: Crew, proxy: Proxy) -> None:
    _add_sql_queue(crew)
    worker = _hire(crew, proxy)
    first = crew.engine.enqueue("nap", seconds=1)
    wait_until(lambda: crew.engine.state(first) == "processing")
    assert proxy.freeze("catchment sql/both") == 1  # the answer to the call under way never comes
    began = time.monotonic()
    second = crew.engine.enqueue("nap", seconds=0)
    wait_until(lambda: crew.engine.state(second) == "completed", seconds=60)
    assert time.monotonic() - began < BACK_AT_WORK
    assert (crew.engine.state(first), crew.engine.task(first)["attempt"]) == ("completed", 1)
    assert crew.stop(worker) == 0


@pytest.mark.long
def test_a_long_call_is_not_taken_for_one_that_hangs(crew: Crew, proxy: Proxy) -> None:
    _add_sql_queue(crew)
    _hire(crew, proxy)
    task = crew.engine.enqueue("nap", seconds=12)
    wait_until(lambda: crew.engine.state(task) == "completed", seconds=60)
    assert crew.engine.task(task)["attempt"] == 1


def test_sigterm_ends_a_worker_all_of_whose_connections_hang(crew: Crew, proxy: Proxy) -> None:
    _add_sql_queue(crew)
    worker = _hire(crew, proxy, shutdown_grace_seconds=2)
    running = [crew.enqueue(step, seconds=0.5) for _ in range(3)]
    crew.engine.enqueue("nap", seconds=1)
    wait_until(lambda: crew.states().get("processing", 0) == 4)
    proxy.freeze_all()
    began = time.monotonic()
    worker.terminate()
    worker.wait(timeout=60)
    assert time.monotonic() - began < 2 + 15 + 5
    crew.hire()
    assert [crew.result(task) for task in running] == [0, 0, 0]


@pytest.mark.long
def test_a_handler_whose_time_ends_while_its_connection_hangs_is_interrupted(crew: Crew, proxy: Proxy) -> None:
    """It is not late: it waits for an answer that never comes, and its next attempt completes."""
    _hire(crew, proxy)
    task = crew.enqueue(nap_in_transaction, key="nap", seconds=0.5)
    wait_until(lambda: len(crew.records.spans("nap")) == 1)
    assert proxy.freeze(TRANSACTION) == 1
    crew.records.open_gate("nap")
    assert crew.result(task) == 2
    rows = crew.engine.conn.execute("select state from worker.attempt where task_id = %s", [task]).fetchall()
    assert rows == [("interrupted",)]


@pytest.mark.long
def test_a_handler_whose_query_takes_too_long_fails(crew: Crew, proxy: Proxy) -> None:
    _hire(crew, proxy)
    crew.records.open_gate("slow")
    task = crew.enqueue(nap_in_transaction, key="slow", seconds=60)
    wait_until(lambda: crew.engine.state(task) == "failed")
    assert "timed out" in crew.engine.task(task)["error"]

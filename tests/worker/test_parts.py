"""Parts of a worker: what ends one of them unexpectedly starts it again, and what they report is true."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from datetime import timedelta
from typing import Any

import psycopg
import pytest
from psycopg import AsyncConnection

from catchment.runtime.connection import Link, Overdue
from catchment.runtime.events import Event, Events
from catchment.runtime.reports import Reports
from tests.fixtures.engine import Engine
from tests.fixtures.worker import StartWorker, wait_until
from tests.worker.app import step
from tests.worker.crew import Crew


def _held(db: str, limit: float = 5.0) -> tuple[Link, list[Event]]:
    seen: list[Event] = []
    return Link(db, "part", Events(seen.append), limit=timedelta(seconds=limit)), seen


@pytest.mark.parametrize(
    ("error", "event"),
    [
        (RuntimeError("a defect"), "part.failed"),
        (psycopg.errors.InsufficientPrivilege("no right"), "connection.refused"),
        (psycopg.OperationalError("cut"), "connection.lost"),
    ],
)
def test_a_part_that_ends_unexpectedly_is_started_again(db: str, error: Exception, event: str) -> None:
    link, seen = _held(db)
    turns: list[int] = []

    async def serve(conn: AsyncConnection[Any]) -> None:
        turns.append(conn.pgconn.backend_pid)
        if len(turns) < 3:
            raise error

    asyncio.run(link.hold(serve, asyncio.Event()))
    assert len(set(turns)) == 3
    assert [e.name for e in seen] == [event]


def test_a_failure_that_lasts_is_logged_less_and_less_often(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 0.0
    monkeypatch.setattr("catchment.runtime.reports.monotonic", lambda: now)
    reports = Reports()
    logged: list[str] = []
    # Eight times a second for ten minutes, as a heartbeat tries to reconnect.
    for _ in range(4800):
        now += 0.125
        logged += filter(None, [reports.due("refused", "no server")])
    assert logged[:3] == ["no server", "no server (41 times in 5 s)", "no server (121 times in 15 s)"]
    assert len(logged) <= 15
    assert reports.due("cut", "another one") == "another one"
    reports.over()
    assert reports.due("refused", "no server") == "no server"


def test_a_part_whose_call_had_ended_when_it_was_cut_ends_too(db: str) -> None:
    """It continues as if nothing had happened, and waits for news that nobody has any more."""
    link, _ = _held(db)

    async def serve(conn: AsyncConnection[Any]) -> None:
        with suppress(psycopg.Error):
            await conn.execute("select pg_sleep(3600)")
        await asyncio.Event().wait()

    async def run() -> None:
        stopping = asyncio.Event()
        runner = asyncio.create_task(link.hold(serve, stopping))
        while not link.is_calling:  # noqa: ASYNC110 - a state of the driver, of which there is no event
            await asyncio.sleep(0.01)
        stopping.set()
        link.close(runner)
        await asyncio.wait_for(asyncio.wait([runner]), 30)

    asyncio.run(run())


def test_a_call_past_its_limit_ends_and_so_does_its_session(db: str, committed: Engine) -> None:
    link, seen = _held(db, limit=0.3)
    pids: list[int] = []

    async def serve(conn: AsyncConnection[Any]) -> None:
        pids.append(conn.pgconn.backend_pid)
        if len(pids) == 1:
            with link.call():
                await conn.execute("select pg_sleep(3600)")

    asyncio.run(link.hold(serve, asyncio.Event()))
    assert [e.name for e in seen] == ["connection.lost"]
    assert "no answer within 0.3 s" in seen[0].text
    gone = "select not exists (select from pg_stat_activity where pid = %s)"
    wait_until(lambda: committed.value(gone, pids[0]))


def test_a_cancelled_call_is_cancelled_even_when_its_query_fails(db: str, committed: Engine) -> None:
    """psycopg sends a cancel request then, and raises what the query answers."""
    link, _ = _held(db)
    sleeps = "select exists (select from pg_stat_activity where pid = any (%s) and wait_event = 'PgSleep')"
    pids: list[int] = []

    async def serve(conn: AsyncConnection[Any]) -> None:
        pids.append(conn.pgconn.backend_pid)
        with link.call():
            await conn.execute(
                "do $$ begin perform pg_sleep(60); exception when query_canceled then raise 'another error'; end $$"
            )

    async def run() -> None:
        part = asyncio.create_task(link.hold(serve, asyncio.Event()))
        await asyncio.to_thread(wait_until, lambda: committed.value(sleeps, pids))
        part.cancel()
        with pytest.raises(asyncio.CancelledError):
            await part

    asyncio.run(run())


def test_an_overdue_call_says_so(db: str) -> None:
    link, _ = _held(db, limit=0.2)

    async def serve(conn: AsyncConnection[Any]) -> None:
        with pytest.raises(Overdue), link.call():
            await conn.execute("select pg_sleep(3600)")

    asyncio.run(link.hold(serve, asyncio.Event()))


def test_a_worker_that_was_removed_registers_again_and_goes_on(crew: Crew) -> None:
    (worker,) = crew.hire(lease_seconds=1.5)
    first = crew.worker_id()
    crew.engine.conn.execute("delete from worker.worker")
    wait_until(lambda: crew.registered(since=first) == 1)
    assert crew.result(crew.enqueue(step, seq=4)) == 4
    assert worker.poll() is None


def test_a_worker_of_sql_handlers_reports_how_many_more_it_could_run(
    committed: Engine, start_worker: StartWorker
) -> None:
    committed.conn.execute("update worker.queue_registry set mode = 'concurrent', concurrency = 3 where queue = 'work'")
    start_worker("--queue", "work", settings={"CATCHMENT_LEASE_SECONDS": "1.5"})
    reported = "select (available_capacity, max_capacity)::text from worker.worker"
    wait_until(lambda: committed.value(reported) == "(3,3)")
    committed.enqueue(sleep=3600)
    committed.enqueue(sleep=3600)
    wait_until(lambda: committed.value(reported) == "(1,3)")

"""The database goes away and comes back while a worker runs."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import psycopg
import pytest

from tests.fixtures.engine import HANDLERS, Engine
from tests.fixtures.often import some
from tests.fixtures.restart import restart
from tests.fixtures.worker import StartWorker, wait_until


@pytest.mark.parametrize("how", some(["immediate", "fast"], one_in=2))
def test_worker_goes_on_after_the_server_restarts(
    own_server: tuple[str, Path], start_worker: StartWorker, how: str
) -> None:
    dsn, data = own_server
    with psycopg.connect(dsn, autocommit=True) as conn:
        conn.execute(HANDLERS)
        engine = Engine(conn)
        engine.queue(concurrency=3)
        engine.command()
        parent = engine.enqueue(spawn=[{"note": f"child {n}", "sleep": 0.1} for n in range(30)])
        worker = start_worker(dsn=dsn)
        wait_until(lambda: engine.value("select count(*) from worker.outcome") >= 5)
    restart(data, how)
    with psycopg.connect(dsn, autocommit=True) as conn:
        engine = Engine(conn)
        wait_until(lambda: engine.state(parent) == "completed", seconds=30)
        assert worker.poll() is None
        assert sorted(engine.notes()) == sorted(f"child {n}" for n in range(30))
        after = engine.enqueue(note="after")
        wait_until(lambda: engine.state(after) == "completed")
        engine.check()


@pytest.mark.long
def test_each_time_of_a_schedule_has_one_run_through_a_crash_of_the_server(
    own_server: tuple[str, Path], start_worker: StartWorker
) -> None:
    dsn, data = own_server
    with psycopg.connect(dsn, autocommit=True) as conn:
        conn.execute(HANDLERS)
        engine = Engine(conn)
        engine.queue()
        engine.command()
        conn.execute(
            "insert into worker.schedule (name, command, every, missed, due_key)"
            " values ('often', 'act', '1 second', 'all', 'at')"
        )
        start_worker(dsn=dsn)
        wait_until(lambda: engine.value("select count(*) from worker.tasks where command = 'act'") >= 3)
    restart(data, "immediate")
    with psycopg.connect(dsn, autocommit=True) as conn:
        engine = Engine(conn)
        before = engine.value("select clock_timestamp()")
        wait_until(lambda: engine.value("select next_at > %s from worker.schedule where name = 'often'", before))
        rows = conn.execute(
            "select (payload ->> 'at')::timestamptz from worker.tasks where command = 'act' order by id"
        )
        times = [time for (time,) in rows]
        assert times == [times[0] + timedelta(seconds=n) for n in range(len(times))]
        assert times[-1] > before - timedelta(seconds=1)

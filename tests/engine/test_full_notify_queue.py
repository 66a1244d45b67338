"""One session that listens and never reads fills the server's queue for notifications: work continues by polling."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import psycopg
import pytest
from psycopg import Connection

from catchment.store.task import diagnose
from tests.fixtures.engine import HANDLERS, Engine
from tests.fixtures.restart import restart
from tests.fixtures.worker import starting_workers, wait_until

PAGES = 64
"""The smallest queue there is: 512 KiB."""


@pytest.fixture
def small(own_server: tuple[str, Path]) -> Iterator[tuple[str, Engine]]:
    """A server of the test's own whose queue for notifications is small."""
    dsn, data = own_server
    with psycopg.connect(dsn, autocommit=True) as conn:
        conn.execute(f"alter system set max_notify_queue_pages = {PAGES}")
    restart(data, "fast")
    with psycopg.connect(dsn, autocommit=True) as conn:
        conn.execute(HANDLERS)
        engine = Engine(conn)
        engine.queue()
        engine.command()
        yield dsn, engine


def _fill(conn: Connection[Any]) -> None:
    """Send until the server takes no more."""
    with suppress(psycopg.errors.ProgramLimitExceeded):
        for n in range(PAGES * 2):
            conn.execute("select pg_notify('elsewhere', %s)", [f"{n}-{'x' * 7000}"])
        pytest.fail("the queue is not full")


def _usage(engine: Engine) -> float:
    return engine.value("select pg_notification_queue_usage()")


def test_tasks_are_made_and_found_while_the_notify_queue_is_full(small: tuple[str, Engine], tmp_path: Path) -> None:
    dsn, engine = small
    with starting_workers(dsn, tmp_path) as start_worker, psycopg.connect(dsn) as deaf:
        start_worker("--queue", "work")
        wait_until(lambda: engine.value("select count(*) from worker.sleeper") > 0)
        deaf.execute("listen elsewhere")
        deaf.commit()
        deaf.execute("select 1")  # in a transaction it reads no notifications, and keeps them for itself
        _fill(engine.conn)
        wait_until(lambda: engine.value("select count(*) from worker.sleeper") > 0)
        task = engine.enqueue(note="heard")
        wait_until(lambda: engine.state(task) == "completed")
        late = engine.enqueue(sleep=60)
        wait_until(lambda: engine.state(late) == "processing")
        engine.value("select worker.cancel(%s)", late)
        wait_until(lambda: engine.state(late) == "cancelled")
        engine.queue("made meanwhile")

        (finding,) = [f for f in diagnose(engine.conn) if f["subject"] == "notifications"]
        assert "held up by a session of user" in finding["finding"]
        assert f"pg_terminate_backend({deaf.info.backend_pid})" in finding["remedy"]
        doctor = subprocess.run(
            [sys.executable, "-m", "catchment", "doctor"],
            capture_output=True,
            text=True,
            timeout=60,
            env=os.environ | {"CATCHMENT_DSN": dsn},
        )
        assert "queue for notifications is" in doctor.stdout
        assert doctor.stderr == ""

        deaf.rollback()
        deaf.execute("unlisten *")
        deaf.commit()
        wait_until(lambda: _usage(engine) < 0.1)
        assert not [f for f in diagnose(engine.conn) if f["subject"] == "notifications"]
        engine.check()

"""Sessions set what parsing depends on, whatever the role and the database prescribe."""

from __future__ import annotations

import json
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import psycopg
import pytest
from psycopg import sql
from psycopg.conninfo import conninfo_to_dict, make_conninfo

import catchment
from catchment.store import task as task_store
from catchment.store.find import TaskFilters, find_tasks
from catchment.store.result import read_task
from tests.fixtures.engine import HANDLERS, Engine
from tests.fixtures.lake_case import LakeCase
from tests.fixtures.often import often
from tests.fixtures.server import Connect
from tests.fixtures.worker import StartWorker, wait_until
from tests.worker.app import end_badly, mark, step
from tests.worker.crew import Crew
from tests.worker.probe import Records

SETTINGS = {
    "DateStyle": "German, DMY",
    "IntervalStyle": "iso_8601",
    "TimeZone": "Asia/Kathmandu",
    "extra_float_digits": "-15",
    "bytea_output": "escape",
    "lc_messages": "POSIX",
}
TEXT = "Zoë 東京 €"


@pytest.fixture(params=["LATIN1", "SQL_ASCII"])
def hostile(request: pytest.FixtureRequest, db: str) -> Iterator[str]:
    """A user of the test's database whose sessions begin with the oddest settings there are."""
    yield from _hostile(db, request.param)


def _hostile(dsn: str, encoding: str) -> Iterator[str]:
    name = "hostile_user"
    database = str(conninfo_to_dict(dsn)["dbname"])
    with psycopg.connect(dsn, autocommit=True) as conn:
        conn.execute(sql.SQL("create role {} login superuser").format(sql.Identifier(name)))
        for kind, owner in (("role", name), ("database", database)):
            for setting, value in {**SETTINGS, "client_encoding": encoding}.items():
                conn.execute(
                    sql.SQL("alter {} {} set {} = {}").format(
                        sql.SQL(kind), sql.Identifier(owner), sql.SQL(setting), sql.Literal(value)
                    )
                )
        try:
            yield make_conninfo(dsn, user=name)
        finally:
            conn.execute(
                sql.SQL("reassign owned by {0} to current_user; drop owned by {0}").format(sql.Identifier(name))
            )
            conn.execute(sql.SQL("drop role {}").format(sql.Identifier(name)))


def _prepared(conn: psycopg.Connection[Any]) -> Engine:
    conn.execute(HANDLERS)
    engine = Engine(conn)
    engine.queue()
    engine.command(timeout=timedelta(seconds=90.5))
    return engine


def test_a_connection_reads_what_was_written_also_after_a_reset(hostile: str) -> None:
    with catchment.connect(hostile) as conn:
        for _ in range(2):
            row = conn.execute(
                "select '2026-02-01 03:04:05.678901+00'::timestamptz, '1 day 02:03:04.5'::interval, pi(),"
                " '\\x00ff'::bytea, %s::text, date '2026-02-01', array['2026-02-01 00:00:00+00'::timestamptz]",
                [TEXT],
            ).fetchone()
            assert row == (
                datetime(2026, 2, 1, 3, 4, 5, 678901, tzinfo=UTC),
                timedelta(days=1, hours=2, minutes=3, seconds=4.5),
                3.141592653589793,
                b"\x00\xff",
                TEXT,
                datetime(2026, 2, 1, tzinfo=UTC).date(),
                [datetime(2026, 2, 1, tzinfo=UTC)],
            )
            conn.execute("reset all")


@pytest.mark.parametrize("prepares", ["true", "false"])
def test_reads_of_the_engine_are_right(hostile: str, prepares: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CATCHMENT_PREPARE", prepares)
    with catchment.connect(hostile) as conn:
        engine = _prepared(conn)
        task = task_store.enqueue(
            conn, "act", json.dumps({"note": TEXT}), scheduled_at=datetime(2030, 5, 4, 3, 2, 1, tzinfo=UTC)
        )
        shown = task_store.show_task(conn, task)
        assert shown["scheduled_at"] == datetime(2030, 5, 4, 3, 2, 1, tzinfo=UTC)
        assert shown["payload"] == {"note": TEXT}
        assert find_tasks(conn, TaskFilters(), limit=5)[0]["id"] == task
        assert task_store.task_tree(conn, task, limit=5)
        assert task_store.list_queues(conn)
        assert task_store.list_commands(conn)
        task_store.diagnose(conn)
        engine.check()


def test_a_task_is_read_on_a_connection_of_the_caller(hostile: str) -> None:
    with psycopg.connect(hostile, autocommit=True, client_encoding="utf8") as conn:
        task = _prepared(conn).enqueue(note=TEXT)
        assert abs(read_task(conn, task).created_at - datetime.now(UTC)) < timedelta(minutes=5)
        assert task_store.show_task(conn, task)["payload"] == {"note": TEXT}


@pytest.mark.parametrize("prepares", often("true", now_and_then=["false"]))
def test_a_worker_runs_limits_and_repeats_tasks(
    hostile: str, prepares: str, connect: Connect, start_worker: StartWorker, tmp_path: Path
) -> None:
    def launch(*arguments: str, settings: dict[str, str]) -> Any:
        return start_worker(*arguments, dsn=hostile, settings=settings)

    folder = tmp_path / "probe"
    folder.mkdir()
    engine = Engine(connect(user="hostile_user", client_encoding="utf8"))
    crew = Crew.on(hostile, engine, Records(folder), launch, tmp_path)
    engine.conn.execute(
        """create procedure probe.today(payload jsonb, inout info jsonb) language plpgsql as $$
           begin info := jsonb_build_object('zone', current_setting('TimeZone'), 'note', payload ->> 'note'); end; $$"""
    )
    engine.queue("sql")
    engine.command("today", "sql", handler_procedure="probe.today")
    engine.conn.execute(
        "insert into worker.schedule (name, command, payload, every) values ('often', 'today', '{}', '1 second')"
    )
    pooled = {"catchment_prepare": prepares}
    crew.hire(1, **pooled)
    done = crew.enqueue(step, key=TEXT, seq=7)
    slow = crew.enqueue(end_badly, how="hang")
    marked = crew.enqueue(mark, key=TEXT, seq=0)
    told = engine.value("select worker.enqueue('today', %s)", json.dumps({"note": TEXT}))
    assert crew.client.sync.task(done).result(timeout=60) == 7
    assert crew.client.sync.task(marked).result(timeout=60) is True
    wait_until(lambda: engine.state(told) == "completed")
    assert engine.task(told)["info"] == {"zone": "Asia/Kathmandu", "note": TEXT}
    wait_until(lambda: engine.state(slow) == "failed")
    assert engine.task(slow)["error_detail"]["kind"] == "TimeoutError"
    wait_until(lambda: engine.value("select count(*) from worker.tasks where command = 'today'") >= 3)
    command = [sys.executable, "-m", "catchment", "task", "list", "--json", "--dsn", hostile]
    listed = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    assert any(row["id"] == done for row in listed) or len(listed) >= 20
    assert crew.stop(crew.workers[0]) == 0
    engine.check()
    crew.client.sync.close()


@pytest.fixture
def pooler(db: str) -> Iterator[str]:
    """The database behind something that refuses start-up options, as PgBouncer does."""
    where = Path(str(conninfo_to_dict(db)["host"])) / ".s.PGSQL.5432"
    folder = Path(tempfile.mkdtemp(prefix="pooler-"))
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(str(folder / ".s.PGSQL.5432"))
    listener.listen()
    opened = [listener]

    def forward(source: socket.socket, target: socket.socket) -> None:
        with suppress(OSError):
            while data := source.recv(65536):
                target.sendall(data)
        with suppress(OSError):
            target.shutdown(socket.SHUT_WR)

    def serve() -> None:
        with suppress(OSError):
            while True:
                client, _ = listener.accept()
                opened.append(client)
                first = client.recv(65536)
                if b"\0options\0" in first:
                    fields = b"SFATAL\0C08P01\0Munsupported startup parameter: options\0\0"
                    client.sendall(b"E" + (len(fields) + 4).to_bytes(4, "big") + fields)
                    client.shutdown(socket.SHUT_RDWR)
                    continue
                server = socket.socket(socket.AF_UNIX)
                opened.append(server)
                server.connect(str(where))
                server.sendall(first)
                for pair in ((client, server), (server, client)):
                    threads.append(threading.Thread(target=forward, args=pair))
                    threads[-1].start()

    threads = [threading.Thread(target=serve)]
    threads[0].start()
    yield make_conninfo(db, host=str(folder))
    for line in opened:
        with suppress(OSError):
            line.shutdown(socket.SHUT_RDWR)
    for thread in threads:
        thread.join()
    for line in opened:
        line.close()
    shutil.rmtree(folder)


def test_a_pooler_that_refuses_start_up_options_gets_none(pooler: str) -> None:
    with catchment.connect(pooler) as conn:
        engine = _prepared(conn)
        task = engine.enqueue(note=TEXT)
        assert task_store.show_task(conn, task)["payload"] == {"note": TEXT}
    with catchment.connect(pooler) as conn:
        assert conn.execute("select 1").fetchone() == (1,)


@pytest.mark.long
def test_a_lake_is_refreshed(lake_db: str, tmp_path: Path) -> None:
    for dsn in _hostile(lake_db, "LATIN1"):
        case = LakeCase(dsn, tmp_path / "lake")
        case.make("orders", "order_id BIGINT, made TIMESTAMPTZ, amount DOUBLE, name VARCHAR")
        case.sql("INSERT INTO orders VALUES (1, '2026-02-01 03:04:05+00', 0.1, 'Zoë 東京 €')")
        case.create(
            "CREATE DYNAMIC TABLE spending TARGET_LAG = '1 minute' AS"
            " SELECT name, max(made) AS made, sum(amount) AS amount FROM orders GROUP BY name"
        )
        assert case.refresh("spending")["state"] == "SUCCEEDED"
        case.sql("INSERT INTO orders VALUES (2, '2026-02-02 03:04:05+00', 0.2, 'Zoë 東京 €')")
        assert case.refresh("spending")["state"] == "SUCCEEDED"
        ((name, _, amount),) = case.rows("spending")
        assert (name, round(amount, 9)) == (TEXT, 0.3)
        case.check("spending")
        case.close()

"""Events: a snapshot first, then what happens; clients that do not read are dropped; the end is prompt."""

from __future__ import annotations

import os
import re
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from datetime import timedelta
from typing import Any

import httpx
import psycopg
import pytest
from starlette.exceptions import HTTPException

from catchment.dashboard import User, database
from catchment.dashboard.auth.check import Access
from catchment.dashboard.events import hub, stream
from catchment.dashboard.events.hub import MOST_WAITING, Client
from catchment.store import answer, connect
from tests.fixtures.dashboard import OPERATOR, DashboardSite, StartDashboard, serving
from tests.fixtures.engine import Engine
from tests.fixtures.proxy import proxied
from tests.fixtures.worker import wait_until

LIMIT = 60
PASSWORD = "the password of ada"  # noqa: S105


@contextmanager
def following(site: DashboardSite) -> Iterator[Iterator[tuple[str, str]]]:
    """The events of a site, as kind and data."""
    with site.client.stream("GET", f"{site.address}/events", timeout=LIMIT) as answer:
        assert answer.headers["content-type"] == "text/event-stream; charset=utf-8"

        def events() -> Iterator[tuple[str, str]]:
            kind = ""
            for line in answer.iter_lines():
                if line.startswith("event: "):
                    kind = line[7:]
                elif line.startswith("data: "):
                    yield kind, line[6:]

        yield events()


def wait_for(events: Iterator[tuple[str, str]], kind: str) -> str:
    return next(data for name, data in events if name == kind)


def listeners(conn: psycopg.Connection[Any]) -> int:
    ((count,),) = conn.execute(
        "select count(*) from pg_stat_activity where application_name = 'catchment dashboard events'"
        " and datname = current_database()"
    ).fetchall()
    return count


def test_a_snapshot_comes_first_then_what_happens(dashboard: StartDashboard, committed: Engine) -> None:
    site = dashboard()
    with following(site) as events, following(site) as others:
        assert next(events)[0] == next(others)[0] == "hello"
        task_id = committed.enqueue(fail="no")
        wait_for(events, "change")
        committed.drain()
        wait_for(events, "change")
        # An action of one browser is news for the others.
        site.post(f"/tasks/{task_id}/retry", token=site.token(), confirmed="yes")
        wait_for(events, "change")
        # However many browsers, one connection listens.
        assert listeners(committed.conn) == 1
        committed.conn.execute(
            "select pg_terminate_backend(pid) from pg_stat_activity"
            " where application_name = 'catchment dashboard events' and datname = current_database()"
        )
        assert '"since"' in wait_for(events, "lost")
        wait_for(events, "found")
        wait_for(others, "found")


def test_a_client_that_does_not_read_is_dropped() -> None:
    client = Client()
    for _ in range(MOST_WAITING):
        client.put("x")
    assert not client.is_dropped
    client.put("x")
    assert client.is_dropped


def test_a_connection_that_takes_nothing_is_given_up(
    dashboard: StartDashboard, committed: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stream, "SEND_SECONDS", 0.2)
    # Each event is larger than what the buffers between server and client hold.
    monkeypatch.setattr(stream, "message", lambda kind, **_: f"event: {kind}\ndata: {'x' * 4_000_000}\n\n")
    monkeypatch.setattr(stream, "BEAT_SECONDS", 0.01)
    site = dashboard()
    port = int(site.address.rpartition(":")[2])
    with socket.create_connection(("127.0.0.1", port)) as line:
        line.sendall(b"GET /events HTTP/1.1\r\nHost: localhost\r\n\r\n")
        line.recv(100)
        deadline = time.monotonic() + LIMIT
        while "catchment_dashboard_clients 0.0" not in site.get("/metrics").text:
            assert time.monotonic() < deadline
    committed.enqueue()


def test_a_stream_ends_with_its_session(dashboard: StartDashboard, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stream, "BEAT_SECONDS", 0.2)
    site = dashboard(Access(passwords={"operator": PASSWORD}))
    site.post("/login", token=site.token("/login"), name="ada", password=PASSWORD)
    with following(site) as events:
        assert next(events)[0] == "hello"
        token = site.token()
        site.post("/logout", token=token)
        assert {kind for kind, _ in events} <= {"beat", "change"}
    assert site.get("/events").status_code == 401


def test_a_stream_ends_when_the_host_refuses_its_user(
    dashboard: StartDashboard, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """Whichever way it refuses; nothing is logged as a defect, and asked again it says why."""
    monkeypatch.setattr(stream, "BEAT_SECONDS", 0.2)
    refuses: list[bool] = []

    def who(_: object) -> User:
        if refuses:
            raise HTTPException(403, "the office is closed")
        return OPERATOR

    site = dashboard(Access(authenticate=who))
    with following(site) as events:
        assert next(events)[0] == "hello"
        refuses.append(True)
        assert {kind for kind, _ in events} <= {"beat", "change"}
    again = site.get("/events")
    assert (again.status_code, again.json()["error"]["message"]) == (403, "the office is closed")
    assert [record for record in caplog.records if record.levelname == "ERROR"] == []


@pytest.mark.long
def test_a_database_that_gives_no_answer_is_said_and_nothing_piles_up(
    db: str, committed: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its connections stay open and carry nothing. Pages say so, requests end, and it continues when that does."""
    monkeypatch.setattr(hub, "LIMIT", timedelta(seconds=3))
    options = connect._options
    with (
        proxied(db, keepalive=0.1) as proxy,
        serving(proxy.dsn, Access(local=OPERATOR)) as address,
        ExitStack() as stack,
    ):
        clients = [stack.enter_context(httpx.Client(timeout=LIMIT)) for _ in range(5)]
        pages = [stack.enter_context(following(DashboardSite(address, client))) for client in clients]
        for events in pages:
            assert next(events)[0] == "hello"
        paths = ["/", "/tasks", "/workers", "/health", "/api/now"]
        with ThreadPoolExecutor(20) as pool:

            def ask(path: str) -> int:
                return httpx.get(address + path, timeout=LIMIT).status_code

            assert set(pool.map(ask, paths * 4)) == {200}
            threads = threading.active_count()
            monkeypatch.setattr(answer, "LOOK_SECONDS", 1.0)
            monkeypatch.setattr(database, "PATIENCE_SECONDS", 1.0)
            monkeypatch.setattr(connect, "_options", lambda *given: options(*given[:3], 2))
            proxy.freeze_all(new=True)
            for events in pages:
                assert wait_for(events, "lost")
            for _ in range(2):
                assert set(pool.map(ask, paths * 4)) == {503}
            # Four for requests, one that listens, one for health; those that were given up are closed.
            wait_until(lambda: len(proxy.lines) <= 6)
            assert threading.active_count() <= threads + 2
            monkeypatch.undo()
            proxy.freezes_new = False
            for events in pages:
                assert wait_for(events, "found")
            wait_until(lambda: set(pool.map(ask, paths * 4)) == {200})


def test_the_command_prints_its_address_and_ends_at_once(db: str, committed: Engine) -> None:
    environment = {**os.environ, "CATCHMENT_DSN": db}
    command = [sys.executable, "-m", "catchment", "dashboard", "--port", "0"]
    refused = subprocess.run(
        [*command, "--host", "0.0.0.0"],  # noqa: S104
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert refused.returncode == 1
    assert "there is no authentication" in " ".join(refused.stderr.split())
    with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        address = re.search(r"http://[\d.:]+", process.stdout.readline())
        assert address is not None
        with httpx.Client(timeout=LIMIT) as client:
            site = DashboardSite(address[0], client)
            assert site.get("/readyz").status_code == 200
            with following(site) as events:
                assert next(events)[0] == "hello"
                process.send_signal(signal.SIGINT)
                # A browser that follows does not hold it up.
                for _ in events:
                    pass
        assert process.wait(LIMIT) in (130, -signal.SIGINT)
    assert listeners(committed.conn) == 0


def test_a_page_is_notified_when_the_schema_no_longer_fits(
    dashboard: StartDashboard, committed: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hub, "EVERY_SECONDS", 0.0)
    site = dashboard()
    with following(site) as events:
        assert '"outdated": null' in next(events)[1]
        committed.conn.execute("update worker.version set compatible_from = compatible_from + 900")
        assert "works with migration 901 and newer" in wait_for(events, "schema")
        assert "works with migration" in str(site.json("/api/health")["findings"])
        committed.conn.execute("update worker.version set compatible_from = compatible_from - 900")
        assert "null" in wait_for(events, "schema")

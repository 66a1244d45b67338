"""Events: a snapshot first, then what happens; clients that do not read are dropped; the end is prompt."""

from __future__ import annotations

import os
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import httpx
import psycopg
import pytest

from catchment.dashboard.auth.check import Access
from catchment.dashboard.events import stream
from catchment.dashboard.events.hub import MOST_WAITING, Client
from tests.fixtures.dashboard import DashboardSite, StartDashboard
from tests.fixtures.engine import Engine

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

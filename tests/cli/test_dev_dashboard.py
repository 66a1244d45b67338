"""The dashboard of ``catchment dev``: a free port, through reloads, and gone with it."""

from __future__ import annotations

import re
import signal
import socket
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import httpx
import pytest

from catchment.cli.beside import MISSING
from catchment.cli.dev.dashboard import DevDashboard
from tests.cli.test_dev import BOOK, Dev
from tests.fixtures.engine import Engine
from tests.fixtures.often import often
from tests.fixtures.server import Connect
from tests.fixtures.worker import wait_until
from tests.worker.crew import is_alive

# One that is up to date with the tests of others at the same time takes a port that is free.
WHERE = r"the dashboard is at (http://127\.0\.0\.1:\d+)\n"


@pytest.fixture
def started(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[ExitStack]:
    monkeypatch.chdir(tmp_path)
    with ExitStack() as stack:
        yield stack


@pytest.mark.parametrize("end", often(signal.SIGINT, now_and_then=[signal.SIGKILL]))
def test_the_dashboard_has_an_address_and_ends_with_dev(
    tmp_path: Path, db: str, connect: Connect, started: ExitStack, end: signal.Signals
) -> None:
    engine = Engine(connect())
    (tmp_path / "shop.py").write_text(BOOK)
    taken = started.enter_context(socket.create_server(("127.0.0.1", 0)))
    port = taken.getsockname()[1]
    dev = Dev(tmp_path, db, ("--dashboard-port", str(port), "shop:app"), started, dashboard=True)
    dev.wait_for("serves shop:app")
    dev.wait_for(WHERE)
    address = re.findall(WHERE, dev.said)[0]
    assert not address.endswith(f":{port}")
    task = engine.enqueue("page", n=1)
    wait_until(lambda: httpx.get(f"{address}/api/tasks/{task}").json()["state"] == "completed")
    if end is signal.SIGINT:
        dev.write("shop.py", BOOK + "\n")
        dev.wait_for("serves shop:app", count=2)
        assert httpx.get(f"{address}/healthz").text == "ok\n"
    pids = dev.children()
    assert len(pids) == 2
    dev.process.send_signal(end)
    dev.process.wait(60)
    wait_until(lambda: not any(is_alive(pid) for pid in pids))
    assert "Traceback" not in dev.said
    assert "has ended" not in dev.said


def test_without_the_extra_one_line_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "starlette", None)
    said: list[str] = []
    dashboard = DevDashboard(None, said.append)
    dashboard.show(None)
    dashboard.show("host=/elsewhere")
    assert said == [MISSING] == ["to see it in a browser: pip install 'catchment[dashboard]'"]

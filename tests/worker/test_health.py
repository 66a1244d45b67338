"""/healthz and /readyz of a worker process."""

from __future__ import annotations

import asyncio
import json
import socket
import urllib.error
import urllib.request
from datetime import timedelta
from typing import Any

import pytest

from catchment.runtime.events import Event, Events
from catchment.runtime.health import Health, HealthServer
from tests.fixtures.proxy import proxied
from tests.fixtures.worker import wait_until
from tests.worker.app import block
from tests.worker.crew import Crew


def _has_ipv6() -> bool:
    try:
        with socket.create_server(("::1", 0), family=socket.AF_INET6):
            return True
    except OSError:
        return False


def _ask(crew: Crew, path: str) -> tuple[int, dict[str, Any]]:
    where = crew.logged("health.listening")[-1]
    assert where["host"] == "127.0.0.1"
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{where['port']}{path}", timeout=20) as answer:
            return answer.status, json.loads(answer.read())
    except urllib.error.HTTPError as error:
        return error.code, json.loads(error.read())


def test_a_worker_is_ready_while_it_takes_tasks_and_alive_while_its_loop_turns(crew: Crew, db: str) -> None:
    with proxied(db) as proxy:
        crew.hire(1, catchment_dsn=proxy.dsn, health_port=0, stall_seconds=1, lease_seconds=9)
        wait_until(lambda: _ask(crew, "/readyz") == (200, {"ready": True, "problems": []}))
        status, said = _ask(crew, "/healthz?verbose")
        assert (status, said["alive"]) == (200, True)
        assert _ask(crew, "/else")[0] == 404
        ask = "select worker.ask_worker(worker_id, %s) from worker.worker"
        crew.engine.conn.execute(ask, ["pause"])
        wait_until(
            lambda: _ask(crew, "/readyz") == (503, {"ready": False, "problems": ["it was paused by an operator"]})
        )
        crew.engine.conn.execute(ask, ["resume"])
        wait_until(lambda: _ask(crew, "/readyz")[0] == 200)
        blocking = crew.enqueue(block, seconds=600, gate="go")
        wait_until(lambda: _ask(crew, "/healthz")[0] == 503)
        crew.records.open_gate("go")
        wait_until(lambda: _ask(crew, "/healthz")[0] == 200)
        crew.result(blocking)
        wait_until(lambda: _ask(crew, "/readyz")[0] == 200)
        proxy.freeze_all(new=True)
        wait_until(lambda: _ask(crew, "/readyz")[0] == 503)
        assert "the database does not answer" in _ask(crew, "/readyz")[1]["problems"][0]
        assert _ask(crew, "/healthz")[0] == 200


@pytest.mark.skipif(not _has_ipv6(), reason="this machine has no IPv6")
def test_probes_may_come_by_ipv6() -> None:
    loop = asyncio.new_event_loop()
    heard: list[Event] = []
    health = Health(loop, stall_limit=timedelta(minutes=1), problems=list)
    server = HealthServer(health, Events(heard.append), host="::1", port=0)
    server.start()
    try:
        with urllib.request.urlopen(f"http://[::1]:{heard[0].fields['port']}/readyz", timeout=60) as answer:
            assert json.loads(answer.read())["ready"]
    finally:
        server.stop()
        loop.close()


def test_a_port_that_is_taken_is_refused(crew: Crew) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        worker = crew.launch(settings={"CATCHMENT_HEALTH_PORT": str(port)})
        assert worker.wait(timeout=60) == 1
    assert "health cannot be served at 127.0.0.1" in (crew.logs / "worker-1.log").read_text()

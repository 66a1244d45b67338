"""/healthz and /readyz of a worker process."""

from __future__ import annotations

import json
import socket
import urllib.error
import urllib.request
from typing import Any

from tests.fixtures.proxy import proxied
from tests.fixtures.worker import wait_until
from tests.worker.app import block
from tests.worker.crew import Crew


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
        blocking = crew.enqueue(block, seconds=3)
        wait_until(lambda: _ask(crew, "/healthz")[0] == 503)
        wait_until(lambda: _ask(crew, "/healthz")[0] == 200)
        crew.result(blocking)
        wait_until(lambda: _ask(crew, "/readyz")[0] == 200)
        proxy.freeze_all(new=True)
        wait_until(lambda: _ask(crew, "/readyz")[0] == 503)
        assert "the database does not answer" in _ask(crew, "/readyz")[1]["problems"][0]
        assert _ask(crew, "/healthz")[0] == 200


def test_a_port_that_is_taken_is_refused(crew: Crew) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        worker = crew.launch(settings={"CATCHMENT_HEALTH_PORT": str(port)})
        assert worker.wait(timeout=60) == 1
    assert "health cannot be served at 127.0.0.1" in (crew.logs / "worker-1.log").read_text()

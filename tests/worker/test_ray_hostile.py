"""A cluster of Ray that is configured wrong, lacks the application, is restarted, or is shared: reasons are named, and
tasks run as soon as they can."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import Any

import pytest

from catchment import TaskFailed
from catchment.runtime.ray.link import RayLink, call_of
from catchment.runtime.ray.settings import RaySettings
from catchment.runtime.ray.waiting import BodyRefused, Heard, RayUnavailable, Waiting
from tests.fixtures.ray import Cluster, drivers_of, needs_ray, ray_cluster, ray_settings
from tests.fixtures.worker import wait_until
from tests.worker import probe
from tests.worker.crew import Crew, is_alive
from tests.worker.ray_app import app, linger, place

pytestmark = [needs_ray, pytest.mark.long, pytest.mark.timeout(900)]
APP = "tests.worker.ray_app:app"
MINUTES = 200
WRONG = "Give the worker the RAY_AUTH_MODE and the RAY_AUTH_TOKEN of the head"
ZEROS = "0" * 64


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    folder = tmp_path_factory.mktemp("probe")
    with ray_cluster(cpus=2, variables={probe.FOLDER: str(folder)}) as made:
        yield made


def _run(monkeypatch: pytest.MonkeyPatch, cluster: Cluster, **settings: str) -> Heard:
    """Send a call over a connection with these settings, and wait as a worker does."""
    for name, value in {**ray_settings(cluster), **settings}.items():
        monkeypatch.setenv(name, value)
    link, inbox = RayLink(RaySettings.read()), SimpleQueue[Heard]()
    waiting = Waiting(link.settings, {})
    sent = link.start("a test", call_of("{}", function="builtins:print"), {}, inbox.put)
    try:
        while True:
            try:
                said = inbox.get(timeout=max(waiting.seconds, 0.01))
            except Empty:
                waiting.check()
                continue
            if (answer := waiting.hear(said)) is not None:
                return answer
    finally:
        sent.end()
        link.close()


@pytest.mark.parametrize(
    ("settings", "reason"),
    [
        ({"RAY_AUTH_TOKEN": ZEROS}, WRONG),
        ({"RAY_AUTH_TOKEN": "", "HOME": "/nonexistent"}, WRONG),
        ({"RAY_AUTH_MODE": "disabled"}, WRONG),
        ({"RAY_AUTH_MODE": "nonsense"}, WRONG),
        ({"RAY_ADDRESS": "nonsense"}, "Invalid address format: nonsense"),
        ({"RAY_ADDRESS": "127.0.0.1:1", "CATCHMENT_RAY_CONNECT_SECONDS": "5"}, "did not answer within 5 s"),
        ({"CATCHMENT_RAY_RUNTIME_ENV": '{"pip": 5}'}, "runtime_env['pip'] must be of type"),
        ({"CATCHMENT_RAY_RUNTIME_ENV": '{"working_dir": "/nonexistent"}'}, "/nonexistent must be an existing"),
        ({"CATCHMENT_RAY_RUNTIME_ENV": '{"env_vars": {"A": 1}}'}, "must be of type Dict[str, str]"),
        (
            {"CATCHMENT_RAY_RUNTIME_ENV": '{"py_executable": "/none"}', "CATCHMENT_RAY_START_SECONDS": "5"},
            "cannot start",
        ),
    ],
)
def test_a_cluster_that_cannot_be_used_is_named_with_the_reason(
    monkeypatch: pytest.MonkeyPatch, cluster: Cluster, settings: dict[str, str], reason: str
) -> None:
    with pytest.raises(RayUnavailable) as caught:
        _run(monkeypatch, cluster, **settings)
    assert reason in str(caught.value)
    assert settings.get("RAY_ADDRESS", cluster.address) in str(caught.value)


def test_an_environment_that_no_node_can_make_is_refused_with_its_cause(
    monkeypatch: pytest.MonkeyPatch, cluster: Cluster
) -> None:
    with pytest.raises(BodyRefused, match=r"(?s)Failed to set up runtime environment.*Could not find Conda executable"):
        _run(monkeypatch, cluster, CATCHMENT_RAY_RUNTIME_ENV='{"conda": "nowhere"}')


def test_a_worker_with_another_token_logs_why_its_task_is_postponed(crew: Crew, cluster: Cluster) -> None:
    _register(crew)
    crew.hire(app=APP, **_settings(cluster, ray_auth_token=ZEROS))
    task = crew.enqueue(place, text="")
    log = crew.logs / "worker-1.log"
    wait_until(lambda: '"task.put_off"' in log.read_text(), seconds=MINUTES)
    (line, *_) = [json.loads(text) for text in log.read_text().splitlines() if '"task.put_off"' in text]
    assert line["task_id"] == task
    assert WRONG in line["reason"]
    assert crew.engine.value("select attempt from worker.tasks where id = %s", task) == 0
    crew.hire(app=APP, **_settings(cluster))
    assert _result(crew, task)["text"] == ""


def test_a_node_without_the_application_says_so(crew: Crew, cluster: Cluster, db: str, tmp_path: Path) -> None:
    """The worker has imported it; when the node imports it, it is gone."""
    module = tmp_path / "shop_that_is_gone.py"
    module.write_text(
        "from catchment import App\n\napp = App(queue='gone')\n\n\n"
        "@app.command(executor='ray')\ndef sell() -> int:\n    return 1\n"
    )
    environment = {
        **os.environ,
        **ray_settings(cluster),
        "CATCHMENT_DSN": db,
        "PYTHONPATH": str(tmp_path),
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    command = [sys.executable, "-m", "catchment", "worker", "--app", "shop_that_is_gone:app"]
    with subprocess.Popen(command, env=environment, cwd=tmp_path) as worker:
        try:
            wait_until(lambda: crew.registered() > 0)
            module.unlink()
            task = crew.engine.value("select worker.enqueue('sell', '{}')")
            with pytest.raises(TaskFailed) as caught:
                _result(crew, task)
        finally:
            worker.kill()
    error = caught.value.error
    assert (error["kind"], error["message"]) == ("ModuleNotFoundError", "No module named 'shop_that_is_gone'")
    assert "cannot import shop_that_is_gone:sell. Install the same version of the application there" in error["hint"]


def test_a_cluster_that_was_restarted_between_two_tasks_is_used_again(crew: Crew, tmp_path: Path) -> None:
    _register(crew)
    with ray_cluster(cpus=1, variables={probe.FOLDER: str(tmp_path)}) as own:
        (worker,) = crew.hire(app=APP, **_settings(own))
        first = _result(crew, crew.enqueue(place, text="first"))
        (driver,) = drivers_of(worker.pid)
        own.head.kill()
        own.nodes.clear()
        own.start_head(cpus=1)
        again = _result(crew, crew.enqueue(place, text="again"))
        assert (first["text"], again["text"]) == ("first", "again")
        assert driver not in drivers_of(worker.pid)


def test_a_cluster_that_vanishes_interrupts_its_tasks_which_wait_for_the_next(crew: Crew, tmp_path: Path) -> None:
    _register(crew)
    crew.records.folder = tmp_path
    with ray_cluster(cpus=1, variables={probe.FOLDER: str(tmp_path)}) as own:
        crew.hire(app=APP, **_settings(own))
        task = crew.enqueue(linger, key="vanished")
        wait_until(lambda: len(crew.records.spans("vanished")) == 1, seconds=MINUTES)
        own.head.kill()
        own.nodes.clear()
        wait_until(lambda: "interrupted" in _attempts(crew, task), seconds=MINUTES)
        own.start_head(cpus=1)
        wait_until(lambda: len(crew.records.spans("vanished")) == 2, seconds=MINUTES)
        crew.records.open_gate("vanished")
        assert _result(crew, task)
        assert _attempts(crew, task)[0] == "interrupted"


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_worker_that_is_asked_to_stop_ends_with_its_driver_and_its_bodies(
    crew: Crew, cluster: Cluster, number: signal.Signals
) -> None:
    """As Ctrl-C: the driver and the bodies have no say in it."""
    _register(crew)
    crew.records.folder = Path(cluster.environment[probe.FOLDER])
    key = f"told {number.name}"
    (worker,) = crew.hire(app=APP, **_settings(cluster, catchment_shutdown_grace_seconds=1))
    task = crew.enqueue(linger, key=key)
    wait_until(lambda: len(crew.records.spans(key)) == 1, seconds=MINUTES)
    (body,), drivers = {one.pid for one in crew.records.spans(key)}, drivers_of(worker.pid)
    worker.send_signal(number)
    wait_until(lambda: not is_alive(worker.pid), seconds=MINUTES)
    wait_until(lambda: not any(is_alive(pid) for pid in [body, *drivers]), seconds=MINUTES)
    assert crew.engine.value("select state from worker.tasks where id = %s", task) == "pending"
    crew.workers.remove(worker)
    crew.hire(app=APP, **_settings(cluster))
    wait_until(lambda: len(crew.records.spans(key)) == 2, seconds=MINUTES)
    crew.records.open_gate(key)
    assert _result(crew, task) != body


def _register(crew: Crew) -> None:
    for command in app.commands:
        crew.client.commands.add(command)
    crew.client.sync.register()


def _settings(cluster: Cluster, **more: object) -> dict[str, Any]:
    return {**{name.lower(): value for name, value in ray_settings(cluster).items()}, **more}


def _result(crew: Crew, task: int) -> Any:
    return crew.client.sync.task(task).result(timeout=MINUTES)


def _attempts(crew: Crew, task: int) -> list[str]:
    rows = crew.engine.conn.execute("select state from worker.attempt where task_id = %s order by attempt", [task])
    return [row[0] for row in rows]

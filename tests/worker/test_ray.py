"""Handlers with ``executor="ray"``: the task is the worker's, the body runs on a cluster."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest

from catchment import App, TaskCancelled, TaskFailed
from tests.fixtures.engine import Engine
from tests.fixtures.lake_case import LakeCase
from tests.fixtures.ray import Cluster, drivers_of, needs_ray, ray_cluster, ray_settings
from tests.fixtures.server import cloned
from tests.fixtures.worker import StartWorker, starting_workers, wait_until
from tests.lake.fuzz.on_ray import SETTINGS as SPREAD
from tests.lake.fuzz.on_ray import OnRay
from tests.lake.tasks.crew import LakeCrew
from tests.worker import probe
from tests.worker.crew import Crew, is_alive
from tests.worker.probe import Records
from tests.worker.ray_app import app, break_down, echo, heavy, linger, misbehave, on_a_gpu, overstay, place, speak

pytestmark = [needs_ray, pytest.mark.timeout(900)]
APP = "tests.worker.ray_app:app"
MINUTES = 300


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    folder = tmp_path_factory.mktemp("probe")
    with ray_cluster(cpus=3, variables={probe.FOLDER: str(folder)}) as made:
        yield made


@pytest.fixture(scope="module")
def rays(cluster: Cluster, server: str, template: str) -> Iterator[Crew]:
    """One worker with the app of these tests, connected to the cluster."""
    folder = Path(cluster.environment[probe.FOLDER])
    with (
        cloned(server, template) as dsn,
        psycopg.connect(dsn, autocommit=True) as conn,
        starting_workers(dsn, folder) as start,
    ):
        crew = _crew(dsn, Engine(conn), folder, start)
        crew.hire(app=APP, **_settings(cluster))
        yield crew
        crew.client.sync.close()


def _crew(dsn: str, engine: Engine, folder: Path, start: Any) -> Crew:
    client = App(dsn)
    for command in app.commands:
        client.commands.add(command)
    client.sync.register()
    return Crew(client, engine, Records(folder), start, folder)


def _settings(cluster: Cluster, **more: object) -> dict[str, object]:
    return {**{name.lower(): value for name, value in ray_settings(cluster).items()}, **more}


def _failure(crew: Crew, command: Any, **payload: Any) -> TaskFailed:
    with pytest.raises(TaskFailed) as caught:
        crew.client.sync.task(crew.enqueue(command, **payload)).result(timeout=MINUTES)
    return caught.value


def _result(crew: Crew, task: int) -> Any:
    return crew.client.sync.task(task).result(timeout=MINUTES)


def _attempts(crew: Crew, task: int) -> list[str]:
    rows = crew.engine.conn.execute("select state from worker.attempt where task_id = %s order by attempt", [task])
    return [row[0] for row in rows]


def test_a_body_runs_on_the_cluster_with_its_resources(rays: Crew) -> None:
    answer = _result(rays, rays.enqueue(place, text="æ"))
    assert answer["text"] == "æ"
    assert answer["pid"] not in (os.getpid(), rays.workers[0].pid)
    assert answer["parent"] != rays.workers[0].pid
    resources = _result(rays, rays.enqueue(heavy))
    assert "CPU 2" in resources
    assert any(text.startswith("memory ") for text in resources)


def test_what_a_body_raises_and_how_its_process_ends_is_stored(rays: Crew) -> None:
    failure = _failure(rays, break_down, how="raise")
    assert (failure.kind, failure.message) == ("LookupError", "not on the cluster")
    assert "ray_app.py" in failure.error["where"]
    failure = _failure(rays, break_down, how="exit")
    assert failure.kind == "ray"
    assert "the process of the body has ended" in failure.message


def test_what_a_body_prints_and_logs_is_an_event_of_its_worker(rays: Crew) -> None:
    task = rays.enqueue(speak, text="aloud {")
    pid = _result(rays, task)

    def spoken(event: str, text: str) -> list[dict[str, Any]]:
        return [line for line in rays.logged(event) if text in line["message"]]

    wait_until(lambda: spoken("ray.output", "aloud {") and spoken("log", "logged aloud {"), seconds=MINUTES)
    (printed,) = spoken("ray.output", "aloud {")
    assert (printed["output"], printed["pid"], printed["source"]) == ("aloud {", pid, "speak")
    (logged,) = spoken("log", "logged aloud {")
    expected = {"level": "warning", "logger": "shop.mail", "task_id": task, "command": "speak", "length": 7}
    assert {name: logged[name] for name in expected} == expected
    for log in rays.logs.glob("worker-*.log"):
        *lines, _ = log.read_text().split("\n")
        assert [line for line in lines if not line.startswith("{")] == []


@pytest.mark.long
def test_a_body_ends_with_its_time_limit_and_with_its_cancellation(rays: Crew) -> None:
    assert _failure(rays, overstay, key="late").kind == "TimeoutError"
    task = rays.enqueue(linger, key="cancelled")
    wait_until(lambda: len(rays.records.spans("cancelled")) == 1, seconds=MINUTES)
    rays.client.sync.task(task).cancel()
    with pytest.raises(TaskCancelled):
        _result(rays, task)
    for key in ("late", "cancelled"):
        wait_until(lambda key=key: not is_alive(rays.records.spans(key)[0].pid))


@pytest.mark.long
def test_a_body_that_falls_silent_is_given_up_and_runs_again(rays: Crew) -> None:
    task = rays.enqueue(linger, key="silent")
    wait_until(lambda: len(rays.records.spans("silent")) == 1, seconds=MINUTES)
    first = rays.records.spans("silent")[0].pid
    os.kill(first, signal.SIGSTOP)  # as behind a link that is cut: Ray's own wait does not return
    wait_until(lambda: len(rays.records.spans("silent")) == 2, seconds=MINUTES)
    rays.records.open_gate("silent")
    assert _result(rays, task) != first
    assert _attempts(rays, task)[0] == "interrupted"
    wait_until(lambda: not is_alive(first))


@pytest.mark.long
def test_the_ranges_of_a_refresh_are_computed_on_the_cluster(
    lake_case: LakeCase, start_lake_worker: StartWorker, cluster: Cluster
) -> None:
    lake_case.make("source", "k BIGINT, v BIGINT")
    lake_case.sql("INSERT INTO source SELECT i % 1000, i FROM range(4000) AS r(i)")
    lake_case.create(
        "CREATE DYNAMIC TABLE dt TARGET_LAG = '1 day' REFRESH_MODE = INCREMENTAL PARALLEL_THRESHOLD = 2 EXECUTOR = RAY"
        " AS SELECT k, max(v) AS m, count(*) AS n FROM source GROUP BY k"
    )
    lake_case.refresh("dt")
    lake_case.sql("UPDATE source SET v = v + 1000000 WHERE k % 2 = 0")
    # Its task was carried out here and would be claimed by the worker.
    lake_case.pg("select worker.cancel(id, 'done here') from worker.tasks where command = 'lake_refresh'")
    crew = LakeCrew(lake_case, start_lake_worker)
    few = {"CATCHMENT_PARALLEL_MIN_BUCKETS": "2", "CATCHMENT_PARALLEL_BUCKETS_PER_WORKER": "1"}
    slots = {"CATCHMENT_MAX_CONCURRENT_TASKS": "2", "CATCHMENT_LAKE_RAY_MEMORY": "300MB"}
    crew.hire(1, settings={**ray_settings(cluster), **few, **slots})
    figures = crew.refresh("dt", seconds=MINUTES)["figures"]
    assert (figures.get("subtasks"), figures.get("subtasks_on_ray")) == (2, 2), figures
    lake_case.check("dt")
    crew.wait_clean(seconds=MINUTES)


def test_random_tables_equal_their_definitions(
    lake_case: LakeCase, start_lake_worker: StartWorker, cluster: Cluster
) -> None:
    """The long form, with more tables and with bodies that are killed, is ``tests/lake/tasks/test_fuzz_on_ray.py``."""
    crew = LakeCrew(lake_case, start_lake_worker)
    run = OnRay(lake_case, 7, definitions=2, crew=crew)
    crew.hire(settings={**ray_settings(cluster), **SPREAD})
    run.play(2)
    assert run.on_ray > 0
    crew.wait_clean(seconds=MINUTES)


def test_a_setting_that_cannot_be_read_ends_the_worker_and_not_its_tasks(crew: Crew) -> None:
    worker = crew.launch("--app", APP, settings={"CATCHMENT_RAY_RUNTIME_ENV": "{"})
    assert worker.wait(timeout=120) == 1
    assert "CATCHMENT_RAY_RUNTIME_ENV in the environment is invalid" in (crew.logs / "worker-1.log").read_text()


@pytest.mark.long
def test_a_killed_driver_interrupts_its_tasks_which_run_again(rays: Crew) -> None:
    task = rays.enqueue(linger, key="driver")
    wait_until(lambda: len(rays.records.spans("driver")) == 1, seconds=MINUTES)
    first = rays.records.spans("driver")[0].pid
    (driver,) = drivers_of(rays.workers[0].pid)
    os.kill(driver, signal.SIGKILL)
    wait_until(lambda: len(rays.records.spans("driver")) == 2, seconds=MINUTES)
    wait_until(lambda: not is_alive(first))
    rays.records.open_gate("driver")
    assert _result(rays, task) != first
    assert _attempts(rays, task)[0] == "interrupted"


@pytest.mark.long
def test_a_stopped_driver_is_replaced(rays: Crew) -> None:
    _result(rays, rays.enqueue(place, text=""))
    (driver,) = drivers_of(rays.workers[0].pid)
    os.kill(driver, signal.SIGSTOP)
    task = rays.enqueue(place, text="again")
    assert _result(rays, task)["text"] == "again"
    assert driver not in drivers_of(rays.workers[0].pid)


@pytest.mark.long
def test_a_task_that_the_cluster_has_no_room_for_is_put_off(crew: Crew, cluster: Cluster) -> None:
    for command in app.commands:
        crew.client.commands.add(command)
    crew.client.sync.register()
    crew.hire(app=APP, **_settings(cluster, catchment_ray_start_seconds=2))
    task = crew.enqueue(on_a_gpu)
    log = crew.logs / "worker-1.log"
    wait_until(
        lambda: "did not start it within 2 s: it has no free resources for num_gpus=1" in log.read_text(),
        seconds=MINUTES,
    )
    wait_until(lambda: crew.engine.value("select state from worker.tasks where id = %s", task) == "pending")


@pytest.mark.long
def test_a_dead_worker_takes_its_bodies_with_it(crew: Crew, cluster: Cluster) -> None:
    for command in app.commands:
        crew.client.commands.add(command)
    crew.client.sync.register()
    crew.records.folder = Path(cluster.environment[probe.FOLDER])
    (worker,) = crew.hire(app=APP, **_settings(cluster))
    task = crew.enqueue(linger, key="orphan")
    wait_until(lambda: len(crew.records.spans("orphan")) == 1, seconds=MINUTES)
    first = crew.records.spans("orphan")[0].pid
    crew.kill(worker)
    wait_until(lambda: not is_alive(first))
    crew.hire(app=APP, **_settings(cluster))
    wait_until(lambda: len(crew.records.spans("orphan")) == 2, seconds=MINUTES)
    crew.records.open_gate("orphan")
    assert _result(crew, task) != first


@pytest.mark.long
@pytest.mark.parametrize("how", ["object", "bytes", "half a pair", "nan", "huge", "deep"])
def test_a_result_that_cannot_be_stored_fails_its_task_alone(rays: Crew, how: str) -> None:
    failure = _failure(rays, misbehave, how=how)
    assert failure.kind not in ("ray", "interrupted"), failure
    assert _attempts(rays, failure.task_id) == ["failed"]


@pytest.mark.long
@pytest.mark.parametrize("how", ["unruly", "surrogate", "exit", "interrupt"])
def test_an_error_that_cannot_be_sent_is_described(rays: Crew, how: str) -> None:
    failure = _failure(rays, misbehave, how=how)
    expected = {"unruly": "Unruly", "surrogate": "ValueError", "exit": "SystemExit", "interrupt": "KeyboardInterrupt"}
    assert failure.kind == expected[how]


@pytest.mark.long
def test_texts_of_every_script_and_of_megabytes_come_back_as_they_are(rays: Crew) -> None:
    for text in ('æøå \U0001f300 \u2028 " \\ \r\n', "ж" * 2**19, "x" * 900_000):
        assert _result(rays, rays.enqueue(echo, text=text)) == text


@pytest.mark.long
def test_two_workers_share_a_cluster_and_one_loses_its_driver(crew: Crew, cluster: Cluster) -> None:
    _register(crew)
    crew.records.folder = Path(cluster.environment[probe.FOLDER])
    crew.hire(2, app=APP, **_settings(cluster, catchment_max_concurrent_tasks=1))
    tasks = [crew.enqueue(linger, key=f"shared {n}") for n in range(2)]
    for n in range(2):
        wait_until(lambda n=n: len(crew.records.spans(f"shared {n}")) == 1, seconds=MINUTES)
    (driver,) = drivers_of(crew.workers[0].pid)
    os.kill(driver, signal.SIGKILL)
    wait_until(lambda: sum(len(crew.records.spans(f"shared {n}")) for n in range(2)) == 3, seconds=MINUTES)
    for n in range(2):
        crew.records.open_gate(f"shared {n}")
    assert all(_result(crew, task) for task in tasks)
    assert sorted(len(_attempts(crew, task)) for task in tasks) == [0, 1]


def _register(crew: Crew) -> None:
    for command in app.commands:
        crew.client.commands.add(command)
    crew.client.sync.register()

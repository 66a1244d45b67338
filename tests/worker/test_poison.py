"""Whatever a handler raises, returns or reports is an outcome of its attempt alone. Its worker continues."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import psycopg
import pytest

from catchment import TaskFailed
from tests.fixtures.engine import Engine
from tests.fixtures.often import often, some
from tests.fixtures.server import cloned
from tests.fixtures.worker import starting_workers, wait_until
from tests.worker import poison
from tests.worker.crew import Crew
from tests.worker.poison import RAISES, VALUES, nap
from tests.worker.probe import Records

APP = "tests.worker.poison:app"


@pytest.fixture(scope="module")
def victim(server: str, template: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Crew]:
    """One worker for all poison of this module: none of it may end it."""
    folder = tmp_path_factory.mktemp("probe")
    with (
        cloned(server, template) as dsn,
        psycopg.connect(dsn, autocommit=True) as conn,
        starting_workers(dsn, folder) as start,
    ):
        crew = Crew.on(dsn, Engine(conn), Records(folder), start)
        _teach(crew)
        (worker,) = crew.hire(app=APP, worker_processes=1)
        yield crew
        assert worker.poll() is None
        began = time.monotonic()
        assert crew.stop(worker) == 0
        assert time.monotonic() - began < 15
        crew.client.sync.close()


def _teach(crew: Crew) -> None:
    for command in poison.app.commands:
        crew.client.commands.add(command)
    crew.client.sync.register()


def _fails_alone(crew: Crew, command: Any, **payload: Any) -> dict[str, Any]:
    """The task fails with an error that can be read, and one beside it does not notice."""
    beside = crew.enqueue(nap, seconds=0.05)
    with pytest.raises(TaskFailed) as caught:
        crew.result(crew.enqueue(command, **payload))
    assert crew.result(beside) == "rested"
    assert crew.engine.task(beside)["attempt"] == 1
    assert crew.workers[0].poll() is None
    error = caught.value.error
    assert error["kind"]
    assert error["message"] is not None
    return error


@pytest.mark.parametrize("how", some(list(RAISES), one_in=2))
@pytest.mark.parametrize(
    "command", often("raise_it", "raise_in_process", now_and_then=["raise_plainly", "raise_in_join"])
)
def test_whatever_a_handler_raises_fails_its_task_alone(victim: Crew, command: str, how: str) -> None:
    error = _fails_alone(victim, command, how=how)
    if how not in ("mute", "mute_base", "surrogate", "nul", "huge_message", "cyclic", "deep_group", "no_hint"):
        said = error["message"] + error["kind"]
        assert any(text in said for text in ("on purpose", "cancelled itself", "StopIteration")), error
    assert len(error["message"].encode()) <= 2_000


@pytest.mark.parametrize("what", some(list(VALUES), one_in=2))
@pytest.mark.parametrize(
    "command", often("give", "inform", now_and_then=["give_plainly", "give_in_process", "inform_late"])
)
def test_whatever_a_handler_returns_or_records_fails_its_task_alone(victim: Crew, command: str, what: str) -> None:
    error = _fails_alone(victim, command, what=what)
    assert error["kind"] == ("InfoRefused" if command.startswith("inform") else "ResultRefused"), "nobody gave up"
    assert error["retryable"] is False
    if what == "large":
        assert "16,777,216" in error["message"]
        assert "CATCHMENT_MAX_RESULT_BYTES" in error["message"]
    else:
        assert "JSON" in error["message"], error


@pytest.mark.parametrize("what", VALUES)
def test_progress_that_cannot_be_stored_is_refused_and_the_task_goes_on(victim: Crew, what: str) -> None:
    before = len(victim.logged("progress.refused"))
    assert victim.result(victim.enqueue("report", what=what)) == "done"
    wait_until(lambda: len(victim.logged("progress.refused")) > before)
    assert victim.result(victim.enqueue(nap)) == "rested"


@pytest.mark.parametrize("how", ["exit_task", "interrupt_task", "base_task", "exit_callback"])
def test_what_a_handler_starts_on_the_event_loop_cannot_end_it(victim: Crew, how: str) -> None:
    beside = victim.enqueue(nap, seconds=0.2)
    assert victim.result(victim.enqueue("stray", how=how)) == how
    assert victim.result(beside) == "rested"
    assert victim.engine.task(beside)["attempt"] == 1


@pytest.mark.parametrize(
    "how",
    [
        *("stop_loop", "cancel_all", "cancel_all_in_task", "close_generators", "close_executor"),
        *("change_executor", "change_tasks"),
    ],
)
def test_the_event_loop_and_its_tasks_are_kept_from_handlers(victim: Crew, how: str) -> None:
    beside = victim.enqueue(nap, seconds=0.3)
    assert "belong to the worker" in _fails_alone(victim, "stray", how=how)["message"]
    assert victim.result(beside) == "rested"
    assert victim.engine.task(beside)["attempt"] == 1


@pytest.mark.long
def test_a_thread_that_cancels_everything_interrupts_its_task_and_fails_it_in_the_end(crew: Crew) -> None:
    _teach(crew)
    (worker,) = crew.hire(app=APP)
    task = crew.enqueue("stray", how="cancel_all_in_thread")
    with pytest.raises(TaskFailed, match="interrupted 5 times"):
        crew.result(task, timeout=60)
    assert crew.result(crew.enqueue(nap)) == "rested"
    assert worker.poll() is None
    assert crew.stop(worker) == 0


def test_a_handler_that_cancels_its_own_runner_harms_no_other(victim: Crew) -> None:
    victim.engine.value("select worker.pause_queue('poison')")
    tasks = [victim.enqueue("stray", how="cancel_runner")] + [victim.enqueue(nap) for _ in range(20)]
    victim.engine.value("select worker.resume_queue('poison')")
    assert [victim.result(task) for task in tasks] == ["cancel_runner"] + ["rested"] * 20


@pytest.mark.parametrize("how", some(["write", "forge", "close", "hang_up", "flood"], one_in=2))
def test_a_handler_that_uses_the_connection_of_its_process_fails_alone(victim: Crew, how: str) -> None:
    assert _fails_alone(victim, "disturb", how=how)["kind"] == "process"
    assert victim.result(victim.enqueue("disturb", how="nothing")) == "nothing"


def test_poison_of_every_kind_at_once_harms_no_other_task(victim: Crew) -> None:
    kinds = [("raise_it", {"how": how}) for how in RAISES] + [("give", {"what": what}) for what in VALUES]
    (pid,) = {worker.pid for worker in victim.workers}
    bad = [victim.enqueue(command, **payload) for command, payload in kinds * 3]
    naps = [victim.enqueue(nap, seconds=0.2) for _ in range(300)]
    assert {victim.result(task, timeout=60) for task in naps} == {"rested"}
    assert victim.engine.value("select max(attempt) from worker.tasks where command = 'nap'") == 1
    wait_until(
        lambda: (
            victim.engine.value("select count(*) from worker.tasks where id = any(%s) and state = 'failed'", bad)
            == len(bad)
        )
    )
    assert victim.workers[0].pid == pid
    assert victim.workers[0].poll() is None
    assert victim.logged("worker.started")[1:] == []

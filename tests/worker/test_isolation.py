"""What handlers do to things that they share affects no other handler and does not end the worker."""

from __future__ import annotations

import signal
import time

import pytest

from catchment import TaskFailed
from tests.fixtures.worker import wait_until
from tests.worker import unruly
from tests.worker.crew import Crew
from tests.worker.unruly import (
    break_logs,
    cancel_later,
    fail,
    fail_later,
    hog,
    rest,
    sign,
    sign_oddly,
    terminate_child,
    write_badly,
    write_plainly,
)

APP = "tests.worker.unruly:app"


@pytest.fixture
def crew(crew: Crew) -> Crew:
    for command in unruly.app.commands:
        crew.client.commands.add(command)
    crew.client.sync.register()
    return crew


def test_a_logging_handler_that_raises_fails_no_task_and_ends_no_worker(crew: Crew) -> None:
    (worker,) = crew.hire(app=APP)
    crew.result(crew.enqueue(break_logs))
    with pytest.raises(TaskFailed, match="on purpose"):
        crew.result(crew.enqueue(fail))
    crew.result(crew.enqueue(fail_later))
    assert crew.result(crew.enqueue(rest)) == "rested"
    assert crew.stop(worker) == 0
    said = "".join(log.read_text() for log in crew.logs.glob("worker-*.log"))
    assert said.count("events are lost") == 1
    crew.engine.check()


def test_a_process_forked_by_a_handler_ends_at_the_signal_of_its_parent(crew: Crew) -> None:
    (worker,) = crew.hire(app=APP)
    assert crew.result(crew.enqueue(terminate_child)) == -signal.SIGTERM
    assert crew.result(crew.enqueue(rest)) == "rested"
    assert crew.stop(worker) == 0
    assert not crew.logged("worker.killed")


@pytest.mark.parametrize("most", [1, 1000])
def test_no_handler_sees_the_context_variables_of_another(crew: Crew, most: int) -> None:
    crew.engine.value("select worker.pause_queue('unruly')")
    tasks = [crew.enqueue(sign, name=f"{n}", seconds=(None, 0.0, 0.01)[n % 3]) for n in range(30)]
    tasks += [crew.enqueue(sign_oddly) for _ in range(3)]
    crew.engine.value("select worker.resume_queue('unruly')")
    crew.hire(app=APP, max_concurrent_tasks=most)
    assert {crew.result(task) for task in tasks} == {"nobody"}


@pytest.mark.parametrize("wait", [None, 0.0])
def test_a_handler_that_cancels_its_task_too_late_cancels_no_other(crew: Crew, wait: float | None) -> None:
    """They are claimed together, and run one after the other."""
    crew.engine.value("select worker.pause_queue('unruly')")
    for _ in range(5):
        crew.enqueue(cancel_later, seconds=0.3, wait=wait)
    tasks = [crew.enqueue(rest, seconds=1.0) for _ in range(5)]
    crew.engine.value("select worker.resume_queue('unruly')")
    crew.hire(app=APP)
    assert {crew.result(task) for task in tasks} == {"rested"}
    assert crew.states() == {"completed": 10}


@pytest.mark.long
def test_handlers_that_keep_all_threads_of_asyncio_hold_up_no_other_and_no_stop(crew: Crew) -> None:
    (worker,) = crew.hire(app=APP, shutdown_grace_seconds=0.5, metrics_port=0)
    hogs = [crew.enqueue(hog, seconds=3600) for _ in range(40)]
    wait_until(lambda: len(crew.records.spans("hog")) == len(hogs))
    assert crew.result(crew.enqueue(write_plainly, note="beside")) == "written"
    with pytest.raises(TaskFailed, match="no_such_column"):
        crew.result(crew.enqueue(write_badly))
    began = time.monotonic()
    assert crew.stop(worker) == 0
    assert time.monotonic() - began < 12  # the last resort comes after 15.5 s
    assert {crew.engine.state(task) for task in hogs} == {"pending"}
    assert crew.registered() == 0
    assert crew.logged("worker.stopped")

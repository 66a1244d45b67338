"""Handlers that take the signals of their worker, or leave threads behind: it ends all the same, and in time."""

from __future__ import annotations

import pytest

from tests.fixtures.often import some
from tests.fixtures.worker import wait_until
from tests.worker.crew import Crew

APP = "tests.worker.rude:app"


@pytest.mark.parametrize("how", some(["ignore", "function", "loop"], one_in=3))
def test_a_worker_whose_signal_a_handler_took_says_so_and_stops_at_sigterm(crew: Crew, how: str) -> None:
    (worker,) = crew.hire(app=APP)
    crew.result(crew.enqueue("take_signal", how=how))
    wait_until(lambda: crew.logged("worker.signal_taken"))
    assert crew.stop(worker) == 0
    assert [event["signal"] for event in crew.logged("worker.signal_taken")] == ["SIGTERM"]
    assert crew.registered() == 0


def test_a_worker_whose_signal_the_app_took_at_import_stops_at_sigterm(crew: Crew) -> None:
    (worker,) = crew.hire(app=APP, rude_import="yes")
    wait_until(lambda: crew.logged("worker.started"))
    assert crew.stop(worker) == 0
    assert crew.logged("worker.signal_taken") == []


def test_a_plain_handler_in_an_endless_loop_does_not_keep_the_process(crew: Crew) -> None:
    (worker,) = crew.hire(app=APP, shutdown_grace_seconds=0.3)
    task = crew.enqueue("spin_forever")
    wait_until(lambda: crew.records.spans("spin_forever"))
    assert crew.stop(worker) == 0
    assert crew.engine.state(task) == "pending"


@pytest.mark.parametrize("command", ["leave_thread", "leave_pool"])
def test_threads_that_handlers_leave_do_not_keep_the_process(crew: Crew, command: str) -> None:
    (worker,) = crew.hire(app=APP)
    crew.result(crew.enqueue(command))
    assert crew.stop(worker) == 0
    (event,) = crew.logged("worker.threads_left")
    assert "left over" in event["threads"]


def test_idle_threads_of_the_app_end_with_the_process(crew: Crew) -> None:
    (worker,) = crew.hire(app=APP)
    assert crew.result(crew.enqueue("leave_idle_pool")) == 7
    assert crew.stop(worker) == 0
    assert crew.logged("worker.threads_left") == []

"""Handlers of every kind that snooze: the slot is free meanwhile, and nothing of the attempt is left."""

from __future__ import annotations

import signal
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from catchment import TaskFailed
from tests.fixtures.often import often
from tests.fixtures.worker import wait_until
from tests.worker.app import (
    poll,
    poll_in_process,
    poll_plainly,
    snooze_badly,
    step,
    wait_until_time,
    wait_until_time_plainly,
)
from tests.worker.crew import Crew


def _snoozes(crew: Crew, task: int) -> int:
    return crew.engine.value("select snoozes from worker.tasks where id = %s", task)


def _open(crew: Crew, gate: str) -> None:
    (crew.records.folder / f"{gate}.gate").touch()


def _assert_snoozed(crew: Crew, task: int) -> None:
    row = crew.engine.task(task)
    assert row["attempt"] == row["snoozes"] + 1
    assert crew.engine.value("select count(*) from worker.attempt where task_id = %s", task) == 0


@pytest.mark.parametrize(
    "how", often("call", "swallow", "transaction", "raise", now_and_then=["group", "after transaction"])
)
def test_a_handler_snoozes_until_it_finds_what_it_waits_for(staffed: Crew, how: str) -> None:
    task = staffed.enqueue(poll, key=how, how=how)
    wait_until(lambda: _snoozes(staffed, task) >= 2)
    assert staffed.engine.children(task) == []
    assert staffed.engine.value("select count(*) from probe.effect where note = %s", how) == 0
    _open(staffed, how)
    assert staffed.result(task) == _snoozes(staffed, task) + 1
    _assert_snoozed(staffed, task)
    assert len(staffed.engine.children(task)) == 1
    assert staffed.engine.value("select count(*) from probe.effect where note = %s", how) == 1


@pytest.mark.parametrize("command", [poll_plainly, poll_in_process])
def test_plain_functions_and_processes_snooze_too(staffed: Crew, command: Any) -> None:
    task = staffed.enqueue(command, key=command.name)
    wait_until(lambda: _snoozes(staffed, task) >= 2)
    _open(staffed, command.name)
    staffed.result(task)
    _assert_snoozed(staffed, task)


@pytest.mark.parametrize("command", [wait_until_time, wait_until_time_plainly])
def test_a_handler_sleeps_until_a_time_and_goes_on_from_its_beginning(staffed: Crew, command: Any) -> None:
    now = datetime.now(UTC)
    assert staffed.result(staffed.enqueue(command, when=now - timedelta(days=1))) == 1
    task = staffed.enqueue(command, when=now + timedelta(seconds=1))
    assert staffed.result(task) >= 2
    row = staffed.engine.task(task)
    assert datetime.fromisoformat(row["process_start_at"]) >= now + timedelta(seconds=1)


def test_an_invalid_delay_fails_the_attempt(staffed: Crew) -> None:
    with pytest.raises(TaskFailed, match=r"delay is .*, expected zero or more"):
        staffed.result(staffed.enqueue(snooze_badly, seconds=-1.0))


def test_a_snoozing_task_needs_no_slot_and_survives_its_worker(crew: Crew) -> None:
    (worker,) = crew.hire(max_concurrent_tasks=1)
    task = crew.enqueue(wait_until_time, when=datetime.now(UTC) + timedelta(seconds=5))
    wait_until(lambda: _snoozes(crew, task) == 1)
    assert crew.result(crew.enqueue(step, seq=7)) == 7
    assert [line["state"] for line in crew.logged("task.processed") if line["task_id"] == task] == ["snoozed"]
    worker.send_signal(signal.SIGKILL)
    worker.wait()
    crew.hire()
    assert crew.result(task) >= 2
    _assert_snoozed(crew, task)

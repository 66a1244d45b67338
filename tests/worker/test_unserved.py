"""Tasks that a worker cannot run: it ends beside them when it is idle, and everybody who asks hears why."""

from __future__ import annotations

import pytest

from catchment.store import task as task_store
from tests.fixtures.worker import wait_until
from tests.worker import probe, wrapped
from tests.worker.app import step
from tests.worker.crew import APP, Crew

WRAPPED = "tests.worker.wrapped:app"


@pytest.fixture
def crew_of_two(crew: Crew) -> Crew:
    """The commands of both apps are registered, on one queue."""
    for command in wrapped.app.commands:
        crew.client.commands.add(command)
    crew.client.sync.register()
    return crew


def left(crew: Crew) -> dict[str, str]:
    """What workers said that they left: the reason for each command."""
    return {line["command"]: line["reason"] for line in crew.logged("worker.left_work")}


def run_until_idle(crew: Crew, *arguments: str) -> int:
    """Run a worker that stops when it is idle; returns its exit code."""
    return crew.launch(*arguments, "--stop-when-idle", settings={probe.FOLDER: str(crew.records.folder)}).wait(60)


def findings(crew: Crew) -> dict[str, dict[str, str]]:
    return {line["subject"]: line for line in task_store.diagnose(crew.engine.conn)}


@pytest.mark.parametrize("arguments", [["--app", APP], []], ids=["another app", "no app"])
def test_an_idle_worker_ends_beside_tasks_of_commands_that_it_does_not_have(
    crew_of_two: Crew, arguments: list[str]
) -> None:
    crew = crew_of_two
    ids = [crew.enqueue(wrapped.greet, name="a"), crew.enqueue(wrapped.greet_all, names=["b"])]
    done = crew.enqueue(step, key="a") if arguments else None
    assert run_until_idle(crew, *arguments) == 0
    assert [crew.engine.state(task) for task in ids] == ["pending", "pending"]
    assert left(crew) == {"greet": "no_handler", "greet_all": "no_handler"}
    said = next(line["message"] for line in crew.logged("worker.left_work") if line["command"] == "greet")
    assert said.startswith("1 task of greet on queue work left: this worker does not have the command greet")
    assert said.endswith("catchment worker --app tests.worker.wrapped")
    if done is not None:
        assert crew.engine.state(done) == "completed"


def test_an_idle_worker_ends_beside_a_paused_queue_a_serial_queue_and_a_scope_that_wait(crew_of_two: Crew) -> None:
    crew = crew_of_two
    engine = crew.engine
    engine.conn.execute("create procedure probe.note(payload jsonb) language sql as $$ select $$")
    for queue in ("paused", "serial"):
        engine.queue(queue)
        engine.command(f"note_{queue}", queue, handler_procedure="probe.note")
    engine.value("select worker.pause_queue('paused')")
    engine.command("first", "serial", handler_kind="python")
    waiting = [engine.enqueue("note_paused"), engine.enqueue("first"), engine.enqueue("note_serial")]
    # A parent that waits for a child whose command is not here.
    engine.conn.execute(
        "create procedure probe.fan(payload jsonb) language sql as $$ select worker.spawn_child('greet', payload) $$"
    )
    engine.queue("sql")
    engine.command("fan", "sql", handler_procedure="probe.fan")
    parent = engine.enqueue("fan", name="a")
    assert run_until_idle(crew, "--queue", "paused", "--queue", "serial", "--queue", "sql") == 0
    assert engine.state(parent) == "waiting"
    assert [engine.state(task) for task in waiting] == ["pending"] * 3
    assert left(crew) == {"note_paused": "paused", "first": "no_handler", "note_serial": "behind", "fan": "behind"}


def test_a_worker_waits_for_retries_in_an_open_scope(crew: Crew) -> None:
    engine = crew.engine
    engine.conn.execute(
        "create procedure probe.fan(payload jsonb) language sql as $$ select worker.spawn_child('flaky', payload) $$"
    )
    engine.queue("sql")
    engine.command("fan", "sql", handler_procedure="probe.fan")
    engine.conn.execute("update worker.command_registry set retry_delay = '2 seconds' where command = 'flaky'")
    parent = engine.enqueue("fan", failures=1)
    assert run_until_idle(crew, "--app", APP) == 0
    assert crew.engine.state(parent) == "completed"


def test_one_worker_serves_several_apps_each_with_its_own_middlewares(crew_of_two: Crew) -> None:
    crew = crew_of_two
    crew.hire(1, "--app", WRAPPED)
    greeting, number = crew.enqueue(wrapped.greet, name="a"), crew.enqueue(step, seq=3)
    assert crew.result(greeting) == "<a>"
    assert crew.result(number) == 3


def test_a_command_that_no_live_worker_has_is_named_once_in_the_log_and_by_doctor(crew_of_two: Crew) -> None:
    crew = crew_of_two
    crew.enqueue(wrapped.greet, name="a")
    crew.enqueue(wrapped.greet, name="b")
    expected = "2 tasks wait on queue work, and no live worker has the command"
    assert findings(crew)["command greet"]["finding"] == expected
    assert "catchment worker --app tests.worker.wrapped" in findings(crew)["command greet"]["remedy"]
    crew.launch("--queue", "work")
    wait_until(lambda: crew.logged("command.unserved"))
    (said,) = crew.logged("command.unserved")
    assert "2 tasks of greet on queue work wait: no worker has the command greet" in said["message"]
    # A worker of the queue with another app: it claims the tasks, gives them back, and doctor still knows.
    crew.hire()
    wait_until(lambda: crew.logged("command.unknown"))
    assert crew.logged("command.unknown")[0]["message"].endswith("catchment worker --app tests.worker.wrapped")
    wait_until(lambda: findings(crew).get("command greet", {}).get("finding") == expected)
    crew.hire(app=WRAPPED)
    crew.wait_settled(2)
    assert "command greet" not in findings(crew)

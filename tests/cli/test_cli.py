"""The command line as a person or a script uses it: enqueue, refusals, exit codes. Other files have one verb each."""

from __future__ import annotations

from pathlib import Path

import pytest
import typer

from catchment.cli.app import load_apps
from tests.fixtures.cli import Run, read_json
from tests.fixtures.engine import Engine
from tests.fixtures.often import some_rows


def test_enqueue_prints_the_id_of_the_task(committed: Engine, cli: Run) -> None:
    done = cli("enqueue", "act", '{"note": "hello"}', "--priority", "7")
    task = int(done.stdout)
    assert f"Task {task} waits: no live worker serves queue work.\n  catchment worker --queue work  # " in done.stderr
    assert committed.task(task)["payload"] == {"note": "hello"}
    assert committed.task(task)["priority"] == 7
    later = read_json(cli("enqueue", "act", "--at", "2100-01-01", "--json"))["id"]
    assert committed.task(later)["waits_for"] == "scheduled"


def test_enqueue_checks_the_payload_by_an_app(committed: Engine, cli: Run) -> None:
    """The command is registered if it is missing, as by the first enqueue in Python."""
    checked = ("--app", "tests.worker.wrapped:app")
    for payload, says in (('{"nme": "a"}', "nme is not a parameter"), ('{"name": 1}', "name: Input should be a valid")):
        assert says in cli("enqueue", "greet", payload, *checked, code=1).stderr
    assert "Did you mean greet?" in cli("enqueue", "gret", *checked, code=1).stderr
    assert committed.value("select count(*) from worker.tasks") == 0
    task = int(cli("enqueue", "greet", '{"name": "a"}', *checked).stdout)
    assert committed.task(task)["payload"] == {"name": "a"}
    assert committed.task(task)["handler_kind"] == "python"


@pytest.mark.parametrize(
    ("arguments", "says"),
    some_rows(
        [
            (["enqueue", "nonsense"], "unknown command 'nonsense'"),
            (["enqueue", "task_claenup"], "Did you mean task_cleanup?"),
            (["enqueue", "act", "{broken"], "the payload is not JSON"),
            (["enqueue", "act", "[1]"], "expected an object"),
            (["enqueue", "act", '{"x": "\\u0000"}'], "unsupported Unicode escape sequence"),
            (["task", "show", "999999"], "there is no task 999999"),
            (["task", "tree", "999999"], "there is no task 999999"),
            (["task", "why", "999999"], "there is no task 999999"),
            (["task", "retry", "999999"], "there is no task 999999"),
            (["task", "cancel", "999999"], "there is no task 999999"),
            (["queue", "pause", "nonsense"], "unknown queue 'nonsense'"),
            (["worker", "--queue", "nonsense"], "unknown queue 'nonsense'"),
        ],
        one_in=3,
    ),
)
def test_refused_requests_say_what_is_wrong(committed: Engine, cli: Run, arguments: list[str], says: str) -> None:
    done = cli(*arguments, code=1)
    assert says in done.stderr.replace("\n", " ")


def test_wrong_usage_has_its_own_exit_code(committed: Engine, cli: Run) -> None:
    cli("task", "show", "seventeen", code=2)
    cli("task", "list", "--state", "asleep", code=2)
    cli("worker", "--concurrency", "work=none", code=2)


def test_no_server_has_its_own_exit_code(cli: Run) -> None:
    done = cli("task", "list", dsn="host=/nowhere dbname=x", code=3)
    assert "no connection to PostgreSQL" in done.stderr


def test_database_without_schema_is_distinguished(server: str, cli: Run) -> None:
    done = cli("task", "list", dsn=server, code=1)
    assert "Catchment is not installed in this database (database" in done.stderr
    assert "catchment migrate" in done.stderr


def test_migrate_is_idempotent(cli: Run) -> None:
    assert "up to date already" in cli("migrate").stdout


def test_an_app_is_looked_for_though_the_folder_is_gone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    with pytest.raises(typer.BadParameter, match="there is no module nowhere in this folder, which is gone"):
        load_apps(["nowhere:app"])


def test_command_list_shows_the_registry(committed: Engine, cli: Run) -> None:
    rows = read_json(cli("command", "list", "--json"))
    assert {"act", "task_cleanup"} <= {row["command"] for row in rows}
    assert "probe.act" in cli("command", "list").stdout


def test_help_names_every_command(cli: Run) -> None:
    text = cli("--help").stdout
    for name in ("migrate", "worker", "enqueue", "task", "queue", "command", "doctor", "demo"):
        assert name in text


@pytest.mark.long
def test_bench_prints_figures_and_drops_its_database(committed: Engine, cli: Run) -> None:
    figures = {row["measured"]: row["value"] for row in read_json(cli("bench", "--tasks", "300", "--json"))}
    assert len(figures) == 5
    assert all(value > 0 for value in figures.values())
    assert committed.value("select count(*) from pg_database where datname like 'catchment\\_bench\\_%%'") == 0


def test_worker_names_an_app_that_is_not_there(cli: Run) -> None:
    assert "is not MODULE:APP" in cli("worker", "--app", "nothing", code=2).stderr
    assert "there is no module nowhere" in cli("worker", "--app", "nowhere:app", code=2).stderr
    assert "expected a catchment.App" in cli("worker", "--app", "json:dumps", code=2).stderr


def test_worker_refuses_a_setting_that_cannot_be_read(cli: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CATCHMENT_MAX_CONCURRENT_TASKS", "many")
    assert "CATCHMENT_MAX_CONCURRENT_TASKS in the environment is invalid" in cli("worker", code=1).stderr

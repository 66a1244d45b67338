"""The command line as a person or a script uses it."""

from __future__ import annotations

import json
import os
import re
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import typer
from psycopg.types.json import Jsonb

from catchment.cli.app import load_apps
from tests.fixtures import spare
from tests.fixtures.engine import Engine
from tests.fixtures.worker import StartWorker, wait_until
from tests.sql.support import Hand

Run = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def cli(db: str) -> Run:
    """Runs ``catchment`` against the test's database."""

    def run(
        *arguments: str, code: int = 0, dsn: str | None = db, columns: int = 200
    ) -> subprocess.CompletedProcess[str]:
        environment = {k: v for k, v in os.environ.items() if k != "CATCHMENT_DSN"}
        if dsn is not None:
            environment["CATCHMENT_DSN"] = dsn
        done = spare.run(*arguments, environment=environment | {"COLUMNS": str(columns)}, timeout=60)
        assert done.returncode == code, done.stderr
        assert "Traceback" not in done.stderr
        return done

    return run


def _json(done: subprocess.CompletedProcess[str]) -> Any:
    return json.loads(done.stdout)


def test_enqueue_prints_the_id_of_the_task(committed: Engine, cli: Run) -> None:
    task = int(cli("enqueue", "act", '{"note": "hello"}', "--priority", "7").stdout)
    assert committed.task(task)["payload"] == {"note": "hello"}
    assert committed.task(task)["priority"] == 7
    later = _json(cli("enqueue", "act", "--at", "2100-01-01", "--json"))["id"]
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
    [
        (["enqueue", "nonsense"], "unknown command 'nonsense'"),
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


def test_database_without_schema_is_told_apart(server: str, cli: Run) -> None:
    done = cli("task", "list", dsn=server, code=1)
    assert "Catchment is not installed in this database (database" in done.stderr
    assert "catchment migrate" in done.stderr


def test_migrate_is_idempotent(cli: Run) -> None:
    assert "up to date already" in cli("migrate").stdout


def test_task_list_filters_and_never_carries_payloads(committed: Engine, cli: Run) -> None:
    good = committed.enqueue(note="secret")
    bad = committed.enqueue(fail="broken")
    committed.drain()
    rows = _json(cli("task", "list", "--json", "--state", "failed"))
    assert [row["id"] for row in rows] == [bad]
    assert rows[0]["error"] == "broken"
    table = cli("task", "list").stdout
    assert str(good) in table
    assert "secret" not in cli("task", "list", "--json").stdout


def test_task_show_has_every_attempt(committed: Engine, cli: Run) -> None:
    committed.command("flaky", max_attempts=2, retry_delay="0")
    task = committed.enqueue("flaky", fail="broken")
    committed.drain()
    shown = _json(cli("task", "show", str(task), "--json"))
    assert [a["attempt"] for a in shown["attempts"]] == [1, 2]
    assert "broken" in cli("task", "show", str(task)).stdout
    committed.value("select worker.retry(%s)", task)
    committed.conn.execute("update worker.task set payload = '{}' where id = %s", [task])
    committed.drain()
    said = cli("task", "show", str(task)).stdout
    assert "3 so far, 2 failed; max_attempts is 2, counted again after a retry" in said
    assert re.search(r"1: failed .*\n *2: failed .*\n *3: completed ", said)
    assert isinstance(_json(cli("task", "show", str(task), "--json"))["completion_duration_ms"], float)


def test_task_show_names_the_cause_and_the_task_to_retry(committed: Engine, cli: Run) -> None:
    committed.conn.execute("update worker.queue_registry set max_depth = 2 where queue = 'work'")
    root = committed.enqueue(
        spawn=[{"spawn": [{"fail": "the printer is [red]on fire[/]\nor not", "note": "x" * 5000}]}]
    )
    committed.drain()
    (child,) = committed.children(root)
    (leaf,) = committed.children(child)
    shown = cli("task", "show", str(root)).stdout
    first, *rest = shown.splitlines()
    assert first.startswith(f"act {root}  failed  ")
    assert "children: 1 of 1 children failed: act: the printer is [red]on fire[/]" in rest[0]
    assert shown.index(f"catchment task show {leaf}") < shown.index("payload")
    assert f"catchment task retry {root}  # run it again" in shown
    shown = cli("task", "show", str(leaf)).stdout
    assert f"catchment task retry {root}  # run what has failed in its tree again" in shown
    assert f"child of task {child}, 2 levels below its root {root}" in shown
    assert "x" * 1000 in "".join(shown.split())
    assert "x" * 3000 not in "".join(shown.split())
    assert _json(cli("task", "show", str(leaf), "--json"))["retry_id"] == root
    refused = cli("task", "retry", str(leaf), code=1).stderr.replace("\n", " ")
    assert f"Retry task {root}: it runs what failed in its tree again" in refused
    assert cli("task", "retry", str(root)).stdout.split()[-1] == "waiting"


def test_task_show_names_the_lane_that_is_halted_and_what_to_do(committed: Engine, cli: Run) -> None:
    committed.queue("orders", mode="concurrent")
    committed.command("deliver", "orders")
    bad = committed.enqueue("deliver", lane="bob", fail="no such street")
    behind = committed.enqueue("deliver", lane="bob")
    committed.drain("orders")
    shown = ""
    for task in (bad, behind):
        shown = cli("task", "show", str(task)).stdout
        assert f"catchment task retry {bad}" in shown
        assert "catchment lane skip orders bob  # " in shown
    assert f"deliver {behind}  pending  it waits: lane bob of queue orders is halted since" in shown
    done = cli("task", "cancel", str(bad))
    assert f"Nothing was done to task {bad}: it has failed already." in done.stderr
    (halted,) = _json(cli("lane", "list", "--state", "halted", "--json"))
    assert (halted["queue"], halted["lane"], halted["head_id"]) == ("orders", "bob", bad)
    assert "bob" in cli("lane", "list").stdout
    assert "catchment lane skip orders bob" in cli("doctor", "--json").stdout
    skipped = cli("lane", "skip", "orders", "bob", "--json")
    assert _json(skipped) == {"queue": "orders", "lane": "bob", "skipped_id": bad}
    refused = cli("lane", "skip", "orders", "bob", code=1).stderr
    assert "lane 'bob' of queue 'orders' is not halted" in refused
    assert "catchment lane list" in refused
    committed.drain("orders")
    assert "lane skip" not in cli("task", "show", str(bad)).stdout
    assert "halted" not in cli("task", "show", str(behind)).stdout


def test_task_show_says_that_no_worker_has_the_command(committed: Engine, cli: Run) -> None:
    committed.command("elsewhere", handler_kind="python")
    shown = cli("task", "show", str(committed.enqueue("elsewhere"))).stdout
    assert "pending  it waits: no live worker serves queue work" in shown
    assert "catchment worker --app MODULE:APP  # start one in production" in shown


def test_task_show_says_so_of_a_task_that_was_put_off_too(committed: Engine, cli: Run) -> None:
    """A worker whose app has lost a command puts its tasks off: a next attempt changes nothing."""
    committed.command("elsewhere", handler_kind="python")
    task = committed.enqueue("elsewhere")
    claim = Hand.hired(committed.conn).claim_one()
    committed.value(
        "select worker.settle(array[%s::bigint], array[%s::bigint], array['released'], array[%s::jsonb])",
        claim.id,
        claim.fence,
        Jsonb({"retry_after": 60}),
    )
    committed.conn.execute("delete from worker.worker")
    assert committed.task(task)["waits_for"] == "retry"
    assert "also  No live worker serves queue work." in cli("task", "show", str(task)).stdout


def test_task_show_says_who_gave_a_task_back(committed: Engine, cli: Run) -> None:
    committed.command("elsewhere", handler_kind="python")
    task = committed.enqueue("elsewhere")
    claim = Hand.hired(committed.conn).claim_one()
    why = Jsonb({"kind": "released", "message": "worker 7 (here) stopped"})
    committed.value(
        "select worker.settle(array[%s::bigint], array[%s::bigint], array['released'], array[%s::jsonb])",
        claim.id,
        claim.fence,
        why,
    )
    shown = cli("task", "show", str(task)).stdout
    assert "0 so far, 1 more given back" in shown
    assert "s ago: worker 7 (here) stopped" in shown


def test_task_show_tells_a_snooze(committed: Engine, cli: Run) -> None:
    committed.conn.execute(
        "create procedure probe.wait(payload jsonb) language plpgsql as"
        " $$ begin perform worker.snooze('90 minutes', 'no file yet'); end; $$"
    )
    committed.command("wait", handler_procedure="probe.wait")
    task = committed.enqueue("wait")
    committed.drain()
    shown = cli("task", "show", str(task)).stdout
    assert "pending  it waits: its handler has snoozed 1 time, now until" in shown
    assert "no file yet" in shown
    assert _json(cli("task", "show", str(task), "--json"))["snoozed"]["times"] == 1


def test_task_tree_shows_parents_and_children(committed: Engine, cli: Run) -> None:
    parent = committed.enqueue(spawn=[{}, {"fail": "broken"}])
    committed.drain()
    tree = _json(cli("task", "tree", str(parent), "--json"))
    assert [row["depth"] for row in tree["tasks"]] == [0, 1, 1]
    assert tree["left_off"] == 0
    picture = cli("task", "tree", str(tree["tasks"][1]["id"])).stdout
    assert f"act {parent} failed" in picture
    assert "├── " in picture
    assert "more" not in picture


def test_a_large_tree_is_shown_by_its_counts_and_its_first_tasks(committed: Engine, cli: Run) -> None:
    parent = committed.enqueue(spawn=[{"fail": "first line\nsecond"} if n == 150 else {} for n in range(200)])
    committed.drain()
    failed = committed.value("select id from worker.tasks where parent_id = %s and state = 'failed'", parent)
    lines = cli("task", "tree", str(parent), columns=80).stdout.splitlines()
    assert len(lines) < 70
    assert lines[1].startswith(f"├── act {failed} failed")
    assert lines[1].endswith("first line second")
    assert "└── … 151 more" in lines
    assert [line.split() for line in lines[-4:-1]] == [
        *(["command", "state", "tasks"], ["act", "completed", "199"], ["act", "failed", "2"])
    ]
    few = _json(cli("task", "tree", str(parent), "--state", "failed", "--json"))
    assert [row["id"] for row in few["tasks"]] == [parent, failed]
    assert few["left_off"] == 199
    assert sum(count["tasks"] for count in few["counts"]) == 201
    # A task that was asked for is there, whatever its state.
    last = committed.children(parent)[-1]
    assert f"act {last} completed" in cli("task", "tree", str(last), "--state", "failed").stdout


def test_task_retry_and_cancel(committed: Engine, cli: Run) -> None:
    task = committed.enqueue(fail="broken")
    committed.drain()
    assert _json(cli("task", "retry", str(task), "--json")) == [{"id": task, "state": "pending"}]
    assert _json(cli("task", "cancel", str(task), "--json")) == [{"id": task, "state": "cancelled"}]
    assert committed.task(task)["error"] == "cancelled on request"
    completed = committed.enqueue()
    committed.drain()
    done = cli("task", "retry", str(completed), code=1)
    assert f"task {completed} is completed" in done.stderr


def test_each_of_several_tasks_is_accounted_for(committed: Engine, cli: Run) -> None:
    first, last = committed.enqueue(), committed.enqueue()
    said = cli("task", "cancel", str(first), "999998", str(last), "999999", code=1)
    assert [line.split() for line in said.stdout.splitlines()[1:]] == [
        [str(first), "cancelled"],
        [str(last), "cancelled"],
    ]
    for verb, state in (("retry", "pending"), ("cancel", "cancelled")):
        said = cli("task", verb, "999998", str(first), "999999", "--json", code=1)
        assert "there is no task 999998" in said.stderr
        assert "there is no task 999999" in said.stderr
        rows = _json(said)
        assert rows[0] == {"id": first, "state": state}
        assert [(row["id"], row["state"]) for row in rows[1:]] == [(999998, None), (999999, None)]
        assert "there is no task 999998" in rows[1]["error"]


def test_an_app_is_looked_for_though_the_folder_is_gone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    with pytest.raises(typer.BadParameter, match="there is no module nowhere in this folder, which is gone"):
        load_apps(["nowhere:app"])


def test_paused_queue_stays_paused_through_a_restart(committed: Engine, cli: Run, start_worker: StartWorker) -> None:
    cli("queue", "pause", "work")
    task = committed.enqueue()
    worker = start_worker()
    wait_until(lambda: committed.value("select count(*) from worker.sleeper") > 0)
    worker.terminate()
    worker.wait()
    start_worker()
    wait_until(lambda: committed.value("select count(*) from worker.sleeper") > 0)
    assert committed.state(task) == "pending"
    rows = _json(cli("queue", "list", "--json"))
    assert next(row for row in rows if row["queue"] == "work")["is_paused"]
    cli("queue", "resume", "work")
    wait_until(lambda: committed.state(task) == "completed")


def test_queue_list_counts_workers_that_have_a_command_of_the_queue(
    committed: Engine, cli: Run, start_worker: StartWorker
) -> None:
    committed.queue("python")
    committed.command("paint", "python", handler_kind="python", handler_procedure="studio:paint")

    start_worker()
    wait_until(lambda: committed.value("select count(*) from worker.worker") == 1)
    workers = {row["queue"]: row["workers"] for row in _json(cli("queue", "list", "--json"))}
    assert (workers["work"], workers["python"]) == (1, 0)
    concurrency = {row["queue"]: row["concurrency"] for row in _json(cli("queue", "list", "--json"))}
    assert (concurrency["work"], concurrency["python"]) == (1, None)  # it bounds SQL handlers alone


def test_task_list_fits_a_terminal_and_a_pipe_gets_all(committed: Engine, cli: Run) -> None:
    long = "a_command_with_a_name_that_is_as_long_as_it_gets"
    committed.command(long)
    lane = "customer-4711/order-2026-11-17/000000123"
    task = committed.enqueue(long, lane=lane, fail="the printer\nis on fire and " + "so on " * 50)
    committed.drain()
    for columns, least in ((80, 6), (120, 8), (200, 10)):
        title, line = cli("task", "list", columns=columns).stdout.splitlines()
        assert len(title) <= columns
        assert len(line) <= columns
        assert line.split()[:2] == [str(task), "failed"]
        assert line.endswith("…")
        assert "the printer" in line
        assert len(title.split()) >= least
    environment = {k: v for k, v in os.environ.items() if k not in ("CATCHMENT_DSN", "COLUMNS")}
    piped = spare.run("task", "list", environment=environment | {"CATCHMENT_DSN": committed.conn.info.dsn}, timeout=60)
    (line,) = piped.stdout.splitlines()[1:]
    assert (long in line, lane in line, line.endswith("so on")) == (True, True, True)


def test_command_list_shows_the_registry(committed: Engine, cli: Run) -> None:
    rows = _json(cli("command", "list", "--json"))
    assert {"act", "task_cleanup"} <= {row["command"] for row in rows}
    assert "probe.act" in cli("command", "list").stdout


def test_doctor_finds_nothing_in_a_healthy_database(committed: Engine, cli: Run) -> None:
    assert _json(cli("doctor", "--json")) == []
    assert "All is well" in cli("doctor").stdout


def test_doctor_names_what_is_wrong_and_what_to_do(committed: Engine, cli: Run) -> None:
    committed.queue("lanes", mode="concurrent")
    committed.command("lane_act", "lanes")
    committed.command("broken", handler_procedure="probe.gone")
    head = committed.enqueue("lane_act", lane="k", fail="broken")
    committed.drain("lanes")
    committed.enqueue()
    findings = _json(cli("doctor", "--json", code=1))
    by_subject = {f["subject"]: f for f in findings}
    assert by_subject["command broken"]["level"] == "error"
    assert f"catchment task retry {head}" in by_subject["lane k of queue lanes"]["remedy"]
    assert "no worker serves it" in by_subject["queue work"]["finding"]


def test_doctor_reports_a_broken_rule(committed: Engine, cli: Run) -> None:
    parent = committed.enqueue(spawn=[{}])
    committed.process()
    committed.conn.execute("update worker.scope set failed_children = 1 where id = %s", [parent])
    assert f"task {parent}: counters" in cli("doctor", code=1).stdout


def test_help_names_every_command(cli: Run) -> None:
    text = cli("--help").stdout
    for name in ("migrate", "worker", "enqueue", "task", "queue", "command", "doctor", "demo"):
        assert name in text


def test_bench_prints_figures_and_drops_its_database(committed: Engine, cli: Run) -> None:
    figures = {row["measured"]: row["value"] for row in _json(cli("bench", "--tasks", "300", "--json"))}
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


def test_doctor_names_a_command_that_workers_do_not_know(committed: Engine, cli: Run) -> None:
    task = committed.enqueue()
    committed.value("select worker.record_warning(%s, 'worker', 'a worker of its queue has no command act')", task)
    findings = _json(cli("doctor", "--json"))
    assert "a worker of queue work does not know it and gives its tasks back" in [f["finding"] for f in findings]


def test_times_that_were_written_by_hand_stop_no_reader(committed: Engine, cli: Run) -> None:
    tasks = [committed.enqueue() for _ in range(4)]
    committed.process(p_batch_size=2)
    committed.conn.execute(
        "update worker.task set scheduled_at = 'infinity', created_at = '20000-01-01 12:00+00' where id <> %s",
        [tasks[3]],
    )
    committed.conn.execute(
        "update worker.outcome set started_at = '-infinity', completed_at = '0044-03-15 00:00+00 BC'"
    )
    committed.conn.execute("update worker.ready set since = '-infinity'")
    shown = _json(cli("task", "show", str(tasks[0]), "--json"))
    assert shown["scheduled_at"] == "infinity"
    assert shown["created_at"] == "20000-01-01 12:00:00+00:00"
    assert shown["process_start_at"] == "-infinity"
    assert shown["completed_at"] == "0044-03-15 00:00:00+00:00 BC"
    assert shown["process_duration_ms"] is None
    assert len(_json(cli("task", "list", "--json"))) == 4
    for arguments in (["task", "list"], ["task", "show", str(tasks[2])], ["task", "tree", str(tasks[0])]):
        cli(*arguments)
    cli("queue", "list")
    cli("doctor")
    committed.conn.execute("update worker.ready set since = '20000-01-01'")
    cli("queue", "list")

"""``catchment task list``, ``tree``, ``retry`` and ``cancel``."""

from __future__ import annotations

import os

import pytest

from catchment.model.state import TaskState
from catchment.store import find
from catchment.store.find import TaskFilters
from tests.fixtures import spare
from tests.fixtures.cli import Run, read_json
from tests.fixtures.engine import Engine


def test_task_list_filters_and_never_carries_payloads(committed: Engine, cli: Run) -> None:
    good = committed.enqueue(note="secret")
    bad = committed.enqueue(fail="broken")
    committed.drain()
    rows = read_json(cli("task", "list", "--json", "--state", "failed"))
    assert [row["id"] for row in rows] == [bad]
    assert rows[0]["error"] == "broken"
    table = cli("task", "list").stdout
    assert str(good) in table
    assert "secret" not in cli("task", "list", "--json").stdout


def test_a_filter_by_a_name_that_nothing_has_is_refused(committed: Engine, cli: Run) -> None:
    said = cli("task", "list", "--queue", "wrok", code=1).stderr
    assert "unknown queue 'wrok'" in said
    assert "Did you mean work?" in said
    said = cli("task", "cancel", "--command", "nothing-like-it", "--yes", code=1).stderr
    assert "unknown command 'nothing-like-it'" in said
    assert "No tasks." in cli("task", "list", "--queue", "work", "--command", "act").stdout


def test_task_tree_shows_parents_and_children(committed: Engine, cli: Run) -> None:
    parent = committed.enqueue(spawn=[{}, {"fail": "broken"}])
    committed.drain()
    tree = read_json(cli("task", "tree", str(parent), "--json"))
    assert [row["depth"] for row in tree["tasks"]] == [0, 1, 1]
    assert tree["omitted"] == 0
    picture = cli("task", "tree", str(tree["tasks"][1]["id"])).stdout
    assert f"act {parent} failed" in picture
    assert "├── " in picture
    assert "more" not in picture


@pytest.mark.long
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
    few = read_json(cli("task", "tree", str(parent), "--state", "failed", "--json"))
    assert [row["id"] for row in few["tasks"]] == [parent, failed]
    assert few["omitted"] == 199
    assert sum(count["tasks"] for count in few["counts"]) == 201
    # A task that was asked for is there, whatever its state.
    last = committed.children(parent)[-1]
    assert f"act {last} completed" in cli("task", "tree", str(last), "--state", "failed").stdout


def test_task_retry_and_cancel(committed: Engine, cli: Run) -> None:
    task = committed.enqueue(fail="broken")
    committed.drain()
    assert read_json(cli("task", "retry", str(task), "--json")) == [{"id": task, "state": "pending", "error": None}]
    assert read_json(cli("task", "cancel", str(task), "--json")) == [{"id": task, "state": "cancelled", "error": None}]
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
        rows = read_json(said)
        assert rows[0] == {"id": first, "state": state, "error": None}
        assert [(row["id"], row["state"]) for row in rows[1:]] == [(999998, None), (999999, None)]
        assert "there is no task 999998" in rows[1]["error"]


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


def test_task_list_has_the_filters_of_the_dashboard(committed: Engine, cli: Run) -> None:
    committed.queue("orders", mode="concurrent")
    committed.command("deliver", "orders")
    first, second = (committed.enqueue("deliver", lane=lane, fail="No such street") for lane in ("ada", "bob"))
    parent = committed.enqueue(spawn=[{}])
    committed.drain("orders")
    committed.drain()
    committed.conn.execute("update worker.task set created_at = created_at - interval '3 h' where id = %s", [first])

    def listed(*filters: str) -> list[int]:
        return [row["id"] for row in read_json(cli("task", "list", "--json", *filters))]

    assert listed("--lane", "bob") == [second]
    assert listed("--lane", "bob", "--queue", "work") == []
    assert listed("--queue", "orders") == [second, first]
    assert listed("--error", "such STREET", "--state", "failed") == [second, first]
    assert listed("--since", "2h", "--command", "deliver") == [second]
    assert listed("--since", "99999999d", "--top") == [parent, second, first]
    assert listed("--limit", "1", "--top") == [parent]
    committed.enqueue("deliver")
    waiting = committed.enqueue()
    cancelled = committed.enqueue()
    committed.value("select worker.cancel(%s)", cancelled)
    both = listed("--state", "failed", "--state", "cancelled", "--top")
    assert both == [cancelled, *listed("--state", "failed", "--top")]
    assert listed("--state", "pending", "--state", "failed", "--limit", "1") == [waiting]
    for verb in ("cancel", "retry"):
        refused = cli("task", verb, "--state", "failed", "--state", "cancelled", code=2)
        assert "give one state" in refused.stderr


def test_a_list_looks_on_until_it_has_enough(committed: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(find, "LOOKED", 3)
    monkeypatch.setattr(find, "LOOKED_BY_END", 3)
    committed.command("rare")
    rare = [committed.enqueue("rare" if number % 5 == 0 else "act", fail="no") for number in range(20)][::5]
    committed.drain()
    for state in (None, TaskState.FAILED):
        filters = TaskFilters(state=state, command="rare")
        for limit in (1, 2, 4, 50):
            rows = find.find_tasks(committed.conn, filters, limit=limit)
            assert [row["id"] for row in rows] == rare[::-1][:limit]


def test_times_are_local_and_name_their_zone(committed: Engine, cli: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    task = committed.enqueue()
    at = "'2030-01-31 12:00:00+00'"
    committed.conn.execute(f"update worker.task set created_at = {at}, scheduled_at = {at} where id = %s", [task])  # type: ignore[arg-type]
    committed.conn.execute(f"update worker.ready set since = {at} where id = %s", [task])  # type: ignore[arg-type]
    monkeypatch.setenv("TZ", "America/New_York")
    assert "2030-01-31 07:00:00 EST" in cli("task", "show", str(task)).stdout
    said = cli("task", "why", str(task)).stdout
    assert "2030-01-31 07:00:00 EST" in said
    assert "UTC" not in said
    assert read_json(cli("task", "list", "--json"))[0]["created_at"] == "2030-01-31T12:00:00+00:00"
    piped = {k: v for k, v in os.environ.items() if k != "COLUMNS"} | {"CATCHMENT_DSN": committed.conn.info.dsn}
    assert "2030-01-31 07:00:00 EST" in spare.run("task", "list", environment=piped, timeout=60).stdout


def test_a_retry_of_a_task_that_has_not_settled_points_to_why(committed: Engine, cli: Run) -> None:
    task = committed.enqueue()
    assert f"catchment task why {task}" in cli("task", "retry", str(task), code=1).stderr.replace("\n", " ")

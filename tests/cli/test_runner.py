"""Which worker runs a task: its id, its host and its pid, wherever running tasks are shown."""

from __future__ import annotations

import re

from catchment import App
from tests.fixtures.cli import Run, read_json
from tests.fixtures.engine import Engine
from tests.sql.support import Hand

REGISTER = "select worker_id from worker.register_worker('web-1', p_has_lock => false, p_pid => 4711)"


def test_a_running_task_is_shown_with_its_worker(committed: Engine, cli: Run, db: str) -> None:
    committed.queue("python", mode="concurrent")
    committed.command("send", "python", handler_kind="python")
    worker = committed.value(REGISTER)
    task, waits = committed.enqueue("send"), committed.enqueue("send")
    assert Hand(committed, worker).claim_one("python").id == task
    here = {"worker_id": worker, "host": "web-1", "pid": 4711}
    rows = {row["id"]: row for row in read_json(cli("task", "list", "--json"))}
    tree = read_json(cli("task", "tree", str(task), "--json"))["tasks"]
    (running,) = read_json(cli("top", "--json"))["running"]
    for row in (rows[task], *tree, running, read_json(cli("task", "show", str(task), "--json"))):
        assert {name: row[name] for name in here} == here
    assert {name: rows[waits][name] for name in here} == dict.fromkeys(here)
    app = App(db)
    info = app.sync.task(task).info()
    app.sync.close()
    assert {name: getattr(info, name) for name in here} == here
    said = f"{worker} (web-1, pid 4711)"
    assert f"send {task} processing worker {said}" in cli("task", "tree", str(task)).stdout
    assert re.search(f"worker +{re.escape(said)}", cli("task", "show", str(task)).stdout)
    assert said in cli("task", "list").stdout
    assert re.search(rf"send {task} .*{re.escape(said)}", cli("top", "--once").stdout)
    committed.conn.execute("delete from worker.worker where worker_id = %s", [worker])
    assert f"worker {worker}, which is gone" in cli("task", "tree", str(task)).stdout


def test_a_session_that_runs_a_handler_by_itself_is_shown_by_its_pid(committed: Engine, cli: Run) -> None:
    task = committed.enqueue()
    with committed.conn.transaction():
        committed.conn.execute("select worker.begin_session('work', null)")
        committed.conn.execute("select worker.begin_tasks('work', 1, null)")
    pid = committed.conn.info.backend_pid
    assert re.search(rf"worker +session {pid}", cli("task", "show", str(task)).stdout)

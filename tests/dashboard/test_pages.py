"""What screens show: the same data as JSON and as a page, bounded, and hostile text as text."""

from __future__ import annotations

import re
from typing import Any

import pytest
from psycopg import Connection
from psycopg.types.json import Jsonb

from catchment.dashboard.database import Reader
from catchment.dashboard.errors import not_of_the_request, problem_of
from catchment.dashboard.pages import tasks as tasks_page
from catchment.model.state import TaskState
from catchment.store import find
from tests.fixtures.dashboard import StartDashboard
from tests.fixtures.engine import Engine
from tests.fixtures.often import some_rows

HOSTILE = "<script>alert(1)</script>\"'><img src=x onerror=alert(2)>"


def test_now_says_what_is_where_and_what_needs_attention(dashboard: StartDashboard, committed: Engine) -> None:
    site = dashboard()
    committed.enqueue(fail=HOSTILE)
    committed.drain()
    assert "<title>Idle, 1 failed in the last 15 minutes · Catchment</title>" in site.get("/").text
    committed.queue("mail", mode="concurrent")
    committed.command("send", "mail", handler_kind="python")
    committed.enqueue("send")
    committed.conn.execute("select worker.pause_queue('work')")
    now = site.json("/api/now")
    queues = {queue["queue"]: queue for queue in now["queues"]}
    assert (queues["work"]["failed"], queues["mail"]["ready"], queues["mail"]["workers"]) == (1, 1, 0)
    assert queues["work"]["paused_at"] is not None
    assert (now["failed"], now["ready"], now["running"]) == (1, 1, 0)
    assert [(item["subject"], item["level"]) for item in now["attention"]] == [
        ("command send", "error"),
        ("queue work", "warning"),
    ]
    assert now["failures"][0]["error"] == HOSTILE
    page = site.get("/").text
    assert "<script>alert" not in page
    assert "<img" not in page
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in page
    assert "<title>2 things need attention · Catchment</title>" in page


def test_now_shows_the_queues_with_most_to_do(dashboard: StartDashboard, committed: Engine) -> None:
    committed.conn.execute(
        "insert into worker.queue_registry (queue) select format('idle_%s', n) from generate_series(1, 300) as n"
    )
    committed.conn.execute("select worker.pause_queue('idle_99')")
    committed.enqueue()
    site = dashboard()
    page = site.get("/").text
    assert page.count('data-key="queue-') == 200
    assert 'data-key="queue-work"' in page
    assert 'data-key="queue-idle_99"' in page
    assert len(site.json("/api/now")["queues"]) == 303
    assert "And 103 more" in page


def test_a_command_to_copy_has_each_name_as_one_word(dashboard: StartDashboard, committed: Engine) -> None:
    site, name = dashboard(), "a; touch x"
    committed.queue(name)
    committed.command("send", name)
    committed.enqueue("send")
    assert [item["remedy"] for item in site.json("/api/now")["attention"]] == [f"catchment worker --queue '{name}'"]
    committed.conn.execute("select worker.pause_queue(%s)", [name])
    assert [item["remedy"] for item in site.json("/api/now")["attention"]] == [f"catchment queue resume '{name}'"]


def test_tasks_are_filtered_by_the_address(dashboard: StartDashboard, committed: Engine) -> None:
    site = dashboard()
    committed.command("other")
    failed = committed.enqueue(fail="the disk is full")
    parent = committed.enqueue(spawn=[{"note": "child"}])
    committed.drain()
    # A lane named by the user; and one that waits for its time.
    committed.queue("mail", mode="concurrent")
    committed.command("send", "mail")
    laned = committed.enqueue("send", lane="customer 17")
    later = committed.value(
        "insert into worker.tasks (command, scheduled_at) values ('other', now() + interval '1 hour') returning id"
    )
    (child,) = committed.children(parent)

    def ids(**filters: Any) -> list[int]:
        return [task["id"] for task in site.json("/api/tasks", **filters)["tasks"]]

    assert ids() == sorted([failed, parent, child, laned, later], reverse=True)
    assert ids(state="failed") == [failed]
    assert ids(state="completed") == [child, parent]
    assert ids(state="pending") == [later, laned]
    assert ids(command="other") == [later]
    assert ids(queue="mail") == ids(lane="customer 17") == [laned]
    assert ids(error="DISK IS") == [failed]
    assert ids(top="true", state="completed") == [parent]
    assert ids(made_after="2100-01-01T00:00") == ids(made_before="2000-01-01T00:00Z") == []
    page = site.get("/tasks", params={"queue": "mail", "lane": "", "command": ""}).text
    assert re.findall(r'data-id="(\d+)"', page) == [str(laned)]
    assert 'name="queue" list="queues" value="mail"' in page
    assert "Looked at 5 tasks." in page


@pytest.mark.parametrize(
    ("parameters", "said"),
    some_rows(
        [
            ({"state": "done"}, "state is 'done'"),
            ({"made_after": "soon"}, "made_after is 'soon'"),
            ({"before": "x"}, "before is 'x', which is no place in this list"),
            ({"before": "5", "state": "failed"}, "before is '5', which is no place in this list"),
            ({"limit": "5"}, "limit is no parameter of this address"),
        ],
        one_in=2,
    ),
)
def test_a_wrong_parameter_is_named(dashboard: StartDashboard, parameters: dict[str, str], said: str) -> None:
    site = dashboard()
    answer = site.get("/api/tasks", params=parameters)
    status = 404 if "before" in parameters else 400
    assert answer.status_code == status
    assert answer.json()["error"]["message"].startswith(said)
    assert site.get("/tasks", params=parameters).status_code == status


def test_pages_of_a_list_neither_repeat_nor_skip(
    dashboard: StartDashboard, committed: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also while new tasks come, and where a filter looks at a few tasks at a time."""
    monkeypatch.setattr(tasks_page, "PAGE", 3)
    monkeypatch.setattr(find, "LOOKED", 4)
    monkeypatch.setattr(find, "LOOKED_BY_END", 4)
    committed.command("rare")
    made = [committed.enqueue("rare" if number in (2, 9) else "act", fail="no") for number in range(11)]
    committed.drain()
    site = dashboard()
    for filters in ({}, {"state": "failed"}, {"command": "rare"}, {"command": "rare", "state": "failed"}):
        seen: list[int] = []
        place: str | None = None
        for _ in range(12):
            answer = site.json("/api/tasks", **filters, **({"before": place} if place else {}))
            seen += [task["id"] for task in answer["tasks"]]
            place = answer["next"]
            if place is None:
                break
            if not filters:
                committed.enqueue()
        wanted = [made[2], made[9]] if "command" in filters else made
        assert sorted(seen) == wanted
        assert len(seen) == len(set(seen))


def test_lists_are_read_by_index(tx: Connection[Any]) -> None:
    """Whatever the state: a page reads as many rows of the large tables as it looks at, by an index."""
    tx.execute("insert into worker.queue_registry (queue) values ('many')")
    tx.execute("insert into worker.command_registry (command, queue, handler_procedure) values ('m', 'many', 'p')")
    tx.execute(
        "insert into worker.task (command, queue_id, kind, payload, priority, place, max_attempts, created_at)"
        " select 'm', queue_id, 's', '{}', 100, n, 1, now() from worker.queue_registry, generate_series(1, 20000) as n"
        " where queue = 'many'"
    )
    tx.execute(
        "insert into worker.outcome (id, state, attempt, completed_at, error)"
        " select t.id, case t.id % 100 when 0 then 'failed' else 'completed' end, 1, now() - interval '1 s' * t.id,"
        " case t.id % 100 when 0 then '{\"message\": \"no\"}'::jsonb end from worker.task as t where command = 'm'"
        " and t.id % 2 = 0"
    )
    tx.execute(
        "insert into worker.ready (queue_id, kind, tier, band, rank, place, id, since)"
        " select t.queue_id, t.kind, 1, 100, 1, t.place, t.id, now() from worker.task as t where t.id % 2 = 1"
    )
    tx.execute("analyze worker.task, worker.outcome, worker.scope, worker.ready, worker.blocked, worker.running")
    (first,) = tx.execute(
        "select f.id from worker.find_tasks('failed', p_page => 1) as f where f.id is not null"
    ).fetchone() or (0,)
    before = "p_before_id => 10000000"
    # Warm, so that what is read is not the catalog.
    for state in (None, *TaskState):
        name = "null" if state is None else f"'{state}'"
        place = f"{before}, p_before_at => now()" if state in (TaskState.FAILED, TaskState.CANCELLED) else before
        call = f"worker.find_tasks({name}, p_command => 'm', {place}, p_looked => 100)"
        tx.execute(f"select * from {call}")
        plan = tx.execute(f"explain (analyze, buffers, format json) select * from {call}").fetchone()
        assert plan is not None
        read = plan[0][0]["Plan"]
        # 100 tasks by an index, and each of them again by its id; a whole table is thousands of pages.
        assert read["Shared Hit Blocks"] + read["Shared Read Blocks"] < 1500, state
    assert first > 0
    (small,) = tx.execute(
        "select count(*) from pg_class where relname in ('task', 'outcome') and relpages > 50 and relnamespace ="
        " 'worker'::regnamespace"
    ).fetchone() or (0,)
    assert small == 2, "the tables are too small for this test"


def test_no_list_has_a_payload(dashboard: StartDashboard, committed: Engine) -> None:
    site = dashboard()
    task_id = committed.enqueue(note="a secret of the payload", fail="no")
    committed.drain()
    for path in ("/", "/tasks", f"/tasks/{task_id}", "/api/now", "/api/tasks", f"/api/tasks/{task_id}"):
        assert "a secret of the payload" not in site.get(path).text


def test_a_time_or_a_number_that_python_cannot_hold_is_shown(dashboard: StartDashboard, committed: Engine) -> None:
    site = dashboard()
    task_id = committed.enqueue()
    committed.conn.execute("update worker.task set created_at = 'infinity' where id = %s", [task_id])
    assert site.json("/api/tasks")["tasks"][0]["created_at"] == "infinity"
    assert "infinity" in site.get("/tasks").text
    assert "infinity" in site.get(f"/tasks/{task_id}").text


def test_what_is_not_there_is_said(dashboard: StartDashboard) -> None:
    site = dashboard()
    assert site.get("/tasks/999").status_code == 404
    assert site.get("/api/tasks/999").json()["error"]["message"] == "there is no task 999"
    for path in ("/nowhere", "/tasks/x", f"/tasks/{10**30}", "/api/nowhere"):
        assert site.get(path).status_code in (400, 404), path
    page = site.get("/tasks").text
    assert "There are no tasks yet" in page


def test_the_document_describes_every_path(dashboard: StartDashboard, committed: Engine) -> None:
    site = dashboard()
    task_id = committed.value("select worker.start_bulk('cancel')")  # a task that every screen can show
    document = site.json("/api/openapi.json")
    assert document["openapi"] == "3.1.0"
    assert {"/api/now", "/api/tasks", "/api/tasks/{id}", "/api/tasks/{id}/retry"} <= set(document["paths"])
    names = document["components"]["schemas"]
    for path, operations in document["paths"].items():
        for method, operation in operations.items():
            refs = re.findall(r"#/components/schemas/(\w+)", str(operation))
            assert set(refs) <= set(names), path
            # Tables have ids of their own: tests of them compare.
            if method == "get" and not path.startswith("/api/tables/"):
                answer = site.json(path.replace("{id}", str(task_id)))
                schema = names[operation["responses"]["200"]["content"]["application/json"]["schema"]["$ref"][21:]]
                assert set(answer) == set(schema["properties"])


def test_machines_ask_for_health_and_figures(dashboard: StartDashboard, committed: Engine) -> None:
    site = dashboard()
    committed.enqueue()
    assert site.get("/healthz").text == "ok\n"
    assert site.get("/readyz").status_code == 200
    assert 'catchment_queue_tasks{place="ready",queue="work"} 1.0' in site.get("/metrics").text


def test_figures_are_bounded(engine: Engine) -> None:
    """A figure that reached its limit is that limit, and counts of queues do not mix."""
    engine.queue("many", mode="concurrent")
    engine.command("m", "many")
    payloads = [Jsonb({})] * 30
    engine.conn.execute("select worker.enqueue_many('m', %s)", [payloads])
    engine.enqueue()
    rows = engine.conn.execute("select queue, ready from worker.queue_figures(now(), 10) order by queue").fetchall()
    assert rows == [("bulk_changes", 0), ("maintenance", 0), ("many", 10), ("work", 1)]
    assert Reader.most == 10_000


def test_an_answer_that_is_not_as_declared_is_no_mistake_of_the_request() -> None:
    with pytest.raises(TypeError) as caught, not_of_the_request():
        tasks_page.TasksAnswer.model_validate({})
    assert problem_of(caught.value).status == 500

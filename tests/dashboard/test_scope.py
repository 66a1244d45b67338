"""The page of a scope: exact figures, failed children first, bounded however many there are, retried and cancelled."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from psycopg import Connection

from catchment.dashboard.estimate import Progress, estimate
from catchment.dashboard.pages import children as children_page
from catchment.dashboard.pages import groups as groups_page
from catchment.dashboard.pages import scope as scope_page
from catchment.dashboard.pages.children import Child, Part, parts_of
from catchment.dashboard.pages.groups import groups_of
from catchment.model.state import TaskState
from tests.fixtures.dashboard import DashboardSite, StartDashboard
from tests.fixtures.engine import Engine

NOW = datetime(2026, 1, 1, 12, tzinfo=UTC)


def scope_of(engine: Engine, *children: dict[str, Any], **options: Any) -> int:
    """A task that has spawned these and waits for them."""
    task_id = engine.enqueue(spawn=list(children), **options)
    engine.process()
    assert engine.state(task_id) == "waiting"
    return task_id


def listed(site: DashboardSite, task_id: int, **filters: Any) -> list[int]:
    """The ids of all pages."""
    seen: list[int] = []
    while True:
        answer = site.json(f"/api/scopes/{task_id}", **filters)
        seen += [child["id"] for child in answer["children"]]
        if answer["next"] is None:
            return seen
        filters = {**filters, "after": answer["next"]}


def test_a_scope_has_its_figures_and_failed_children_first(dashboard: StartDashboard, committed: Engine) -> None:
    site = dashboard()
    task_id = scope_of(committed, {"note": "a"}, {"fail": "the disk is full"}, {"note": "c"}, {"fail": "no"})
    first, second, third, fourth = committed.children(task_id)
    answer = site.json(f"/api/scopes/{task_id}")
    assert (answer["done"], answer["total"], answer["counts"]["pending"], answer["state"]) == (0, 4, 4, "waiting")
    assert answer["estimated_end"] is None
    assert answer["estimate_basis"] == "Unknown: none of its children is running."
    committed.process(p_mode="child", p_batch_size=3)
    answer = site.json(f"/api/scopes/{task_id}")
    assert (answer["done"], answer["total"], answer["retry_id"], answer["retried"]) == (3, 4, task_id, 1)
    assert [answer["counts"][state] for state in ("failed", "pending", "completed")] == [1, 1, 2]
    assert [child["id"] for child in answer["children"]] == [second, fourth, first, third]
    assert answer["children"][0]["error"] == "the disk is full"
    assert [part["kind"] for part in answer["children"][0]["parts"]] == ["wait", "run"]
    assert answer["estimated_end"] is not None
    assert answer["estimate_basis"].startswith("At the rate of the last ")
    page = site.get(f"/scopes/{task_id}").text
    assert f"<title>act {task_id} · 3 of 4 · Catchment</title>" in page
    assert 'class="bar bar-run tone-failed"' in page
    assert re.findall(r'data-id="(\d+)"', page) == [str(one) for one in (second, fourth, first, third)]
    committed.drain()
    answer = site.json(f"/api/scopes/{task_id}")
    assert (answer["state"], answer["done"], answer["estimate_basis"]) == ("failed", 4, None)
    assert listed(site, task_id, state="failed") == [second, fourth]
    assert site.json("/api/scopes")["scopes"] == []
    (row,) = site.json("/api/scopes", all=True)["scopes"]
    assert (row["id"], row["total"], row["open"], row["failed"], row["state"]) == (task_id, 4, 0, 2, "failed")
    assert f"/scopes/{task_id}?state=failed" in site.get("/scopes?all=true").text


def test_failed_children_are_retried_while_their_scope_is_open(dashboard: StartDashboard, committed: Engine) -> None:
    site = dashboard()
    task_id = scope_of(committed, {"fail": "one"}, {"fail": "two"}, {"note": "waits"})
    failed = committed.children(task_id)[:2]
    committed.process(p_mode="child", p_batch_size=2)
    path, token = f"/scopes/{task_id}/retry", site.token(f"/scopes/{task_id}")
    asked = site.ask(path, count="2")
    assert "Retry 2 children of task" in asked.text
    done = site.post(path, token=token, count="2", confirmed="yes")
    assert done.status_code == 303
    assert done.headers["location"] == f"/scopes/{task_id}"
    assert "2 children run again." in site.get(f"/scopes/{task_id}").text
    assert [committed.state(one) for one in failed] == ["pending", "pending"]
    committed.check()
    answer = site.json(f"/api/scopes/{task_id}")
    assert (answer["counts"]["failed"], answer["counts"]["pending"]) == (0, 3)
    committed.process(p_mode="child", p_batch_size=1)
    assert [part["attempt"] for part in site.json(f"/api/scopes/{task_id}")["children"][0]["parts"]] == [1, 1, 2, 2]
    audited = committed.conn.execute("select action, subject, result, request ->> 'count' from worker.audit").fetchall()
    assert audited == [("scope.retry", f"task {task_id}", "done", "2")]
    nothing = site.post(f"/scopes/{scope_of(committed, {})}/retry", token=token, confirmed="yes")
    assert nothing.status_code == 409
    assert "has failed" in nothing.text


def test_many_failed_children_are_retried_by_a_task(
    dashboard: StartDashboard, committed: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(scope_page, "AT_ONCE", 3)
    site = dashboard()
    other = scope_of(committed, {"fail": "other"}, {})
    committed.process(p_mode="child", p_batch_size=1)
    committed.queue("wide", mode="concurrent")
    committed.command("fan", "wide")
    task_id = committed.enqueue("fan", spawn=[*[{"command": "fan", "fail": "x"}] * 5, {"command": "fan"}])
    committed.process("wide")
    committed.process("wide", p_mode="child", p_batch_size=5)
    done = site.post(f"/scopes/{task_id}/retry", token=site.token(f"/scopes/{task_id}"), count="5", confirmed="yes")
    path = done.headers["location"]
    assert re.fullmatch(r"/bulk/\d+", path)
    committed.drain("bulk_changes")
    answer = site.json(f"/api{path}")
    assert (answer["done"], answer["expected"], answer["state"]) == (5, 5, "completed")
    assert f'href="/scopes/{task_id}"' in site.get(path).text
    assert site.json(f"/api/scopes/{task_id}")["counts"]["pending"] == 6
    assert site.json(f"/api/scopes/{other}")["counts"]["failed"] == 1
    committed.check()


def test_a_settled_scope_is_retried_with_what_was_cancelled(dashboard: StartDashboard, committed: Engine) -> None:
    site = dashboard()
    task_id = scope_of(committed, {"note": "a"}, {"fail": "x"}, {"note": "b"})
    committed.process(p_mode="child", p_batch_size=2)
    token = site.token(f"/scopes/{task_id}")
    page = site.get(f"/scopes/{task_id}").text
    assert f"Cancel task {task_id} and 1 open child" in page
    site.post(f"/scopes/{task_id}/cancel", token=token, open="1", confirmed="yes")
    committed.drain()
    answer = site.json(f"/api/scopes/{task_id}")
    assert (answer["state"], answer["counts"]["cancelled"], answer["counts"]["failed"]) == ("cancelled", 1, 1)
    assert answer["retried"] == 2
    assert "It is being cancelled" not in site.get(f"/scopes/{task_id}").text
    # A child of a settled parent runs again through it, so the list offers to retry the parent alone.
    assert site.get("/tasks").text.count(">Retry</button>") == 1
    site.post(f"/scopes/{task_id}/retry", token=token, count="2", confirmed="yes")
    answer = site.json(f"/api/scopes/{task_id}")
    assert (answer["state"], answer["done"], answer["total"]) == ("waiting", 1, 3)
    committed.check()


@pytest.mark.long
def test_many_children_are_counted_by_command_and_state(
    dashboard: StartDashboard, committed: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Exact, or from a sample that adds up; and every child is on one page of its list."""
    monkeypatch.setattr(scope_page, "MANY", 50)
    monkeypatch.setattr(children_page, "PAGE", 10)
    site = dashboard()
    committed.command("other")
    spawn: list[dict[str, Any]] = [{"note": "x"}] * 60 + [{"command": "other"}] * 48 + [{"fail": "no"}] * 12
    task_id = scope_of(committed, *spawn)
    committed.process(p_mode="child", p_batch_size=116)
    for is_sampled in (False, True):
        monkeypatch.setattr(groups_page, "COUNTED", 20 if is_sampled else 2_000)
        monkeypatch.setattr(scope_page, "COUNTED", 20 if is_sampled else 2_000)
        answer = site.json(f"/api/scopes/{task_id}")
        assert (answer["done"], answer["total"], answer["is_sampled"]) == (116, 120, is_sampled)
        groups = {group["command"]: group for group in answer["groups"]}
        assert set(groups) == {"act", "other"}
        for state, number in answer["counts"].items():
            assert sum(group["counts"].get(state, 0) for group in answer["groups"]) == number
        assert groups["act"]["counts"]["failed"] == 8
        assert sum(groups["act"]["ends"]) == pytest.approx(60 + 8)
        assert len(answer["children"]) == 10
    page = site.get(f"/scopes/{task_id}").text
    assert page.count('<tr data-key="child-') == 10
    assert f"/scopes/{task_id}?command=act&amp;state=failed" in page
    monkeypatch.setattr(children_page, "LOOKED", 14)
    monkeypatch.setattr(children_page, "LARGE", 14)
    everything = listed(site, task_id)
    assert sorted(everything) == committed.children(task_id)
    assert [committed.state(one) for one in everything[:8]] == ["failed"] * 8
    assert len(listed(site, task_id, command="other")) == 48
    assert len(listed(site, task_id, state="pending")) == 4
    answer = site.json(f"/api/scopes/{task_id}", state="completed", command="other")
    assert (answer["children"], answer["looked_at"]) == ([], 14)
    assert "Look further" in site.get(f"/scopes/{task_id}?state=completed&command=other").text


def test_what_a_sample_shows_is_scaled_to_what_there_is() -> None:
    def row(command: str, state: str, tasks: int, place: int | None = None) -> dict[str, Any]:
        return {"command": command, "state": state, "bin": place, "tasks": tasks, "median": 1.0, "slow": 2.0}

    rows = [
        row("a", "completed", 30),
        row("a", "completed", 30, 0),
        row("b", "completed", 10),
        row("b", "completed", 10, 61),
        row("b", "failed", 3),
    ]
    counts = dict.fromkeys(TaskState, 0) | {TaskState.COMPLETED: 4000, TaskState.FAILED: 3}
    first, second = groups_of(rows, counts)
    assert (first.counts, first.estimated, first.ends[0]) == ({"completed": 3000}, ["completed"], 3000)
    assert (second.counts, second.estimated) == ({"completed": 1000, "failed": 3}, ["completed"])
    assert (second.ends[-1], second.median_seconds, second.slow_seconds) == (1000, 1.0, 2.0)


def test_a_child_that_is_a_scope_leads_to_its_own_page(dashboard: StartDashboard, committed: Engine) -> None:
    site = dashboard()
    committed.queue("deep", mode="concurrent", max_depth=None)
    committed.command("tree", "deep")
    task_id = committed.enqueue(
        "tree", spawn=[{"command": "tree", "spawn": [{"command": "tree"}]}, {"command": "tree"}]
    )
    committed.process("deep")
    committed.process("deep", p_mode="child", p_batch_size=2)
    inner, plain = committed.children(task_id)
    answer = site.json(f"/api/scopes/{task_id}")
    assert [(child["id"], child["is_scope"], child["state"]) for child in answer["children"]] == [
        (inner, True, "waiting"),
        (plain, False, "completed"),
    ]
    assert [part["kind"] for part in answer["children"][0]["parts"]] == ["wait", "run", "children"]
    assert answer["counts"]["waiting"] == 1
    assert f'href="/scopes/{inner}"' in site.get(f"/scopes/{task_id}").text
    assert site.json(f"/api/scopes/{inner}")["parent_id"] == task_id
    assert [scope["id"] for scope in site.json("/api/scopes")["scopes"]] == [task_id]
    assert [scope["id"] for scope in site.json("/api/scopes", nested=True)["scopes"]] == [inner, task_id]
    assert "has spawned no children" in site.get(f"/scopes/{plain}").text
    assert site.get("/scopes/999999").status_code == 404


def test_a_wrong_place_is_named(dashboard: StartDashboard, committed: Engine) -> None:
    site, task_id = dashboard(), committed.enqueue()
    for after in ("x", "failed", "failed~x", "failed~-1", "done~5", f"failed~{10**30}", "failed~\u0663"):
        answer = site.get(f"/api/scopes/{task_id}", params={"after": after})
        assert answer.status_code == 404
        assert "which is no place in this list" in answer.json()["error"]["message"]
    other = site.get(f"/api/scopes/{task_id}", params={"after": "failed~5", "state": "pending"})
    assert other.status_code == 404


@pytest.mark.parametrize("is_analyzed", [False, True])
def test_a_page_of_a_large_scope_reads_a_few_pages_of_its_tables(tx: Connection[Any], is_analyzed: bool) -> None:
    """By indexes, whatever the planner knows of the tables."""
    tx.execute("insert into worker.queue_registry (queue, mode) values ('many', 'concurrent')")
    tx.execute("insert into worker.command_registry (command, queue, handler_procedure) values ('m', 'many', 'p')")
    ((scope_id,),) = tx.execute(MAKE_SCOPE, {"total": 20_000}).fetchall()
    if is_analyzed:
        tx.execute("analyze worker.task, worker.outcome, worker.scope, worker.ready, worker.blocked, worker.running")
    calls = {
        f"worker.scope_figures({scope_id})": 4000,
        f"worker.scope_groups({scope_id}, now() - interval '1 h', now(), p_most => 1000, p_points => 20)": 9000,
        "worker.find_scopes()": 200,
    }
    for state in TaskState:
        options = f"p_is_backward => {state == 'pending'}, p_looked => 1000"
        calls[f"worker.find_children({scope_id}, '{state}', {options})"] = 5000
    ((pages,),) = tx.execute("select pg_relation_size('worker.task') / 8192").fetchall()
    assert pages > 200
    for call, most in calls.items():
        tx.execute(f"select * from {call}")
        ((plan,),) = tx.execute(f"explain (analyze, buffers, format json) select * from {call}").fetchall()
        assert plan[0]["Plan"]["Shared Hit Blocks"] + plan[0]["Plan"]["Shared Read Blocks"] < most, call


MAKE_SCOPE = """
with parent as (
  insert into worker.task (command, queue_id, kind, payload, priority, place, max_attempts, created_at)
  select 'm', q.queue_id, 's', '{}', 100, 1, 1, now() from worker.queue_registry as q where q.queue = 'many'
  returning id, queue_id
), scope as (
  insert into worker.scope (id, open_children, total_children, failed_children, child_mode, on_child_failure, command,
                            queue_id, kind, band, place, depth, attempt, has_after, has_merged, started_at, stopped_at)
  select p.id, %(total)s / 2, %(total)s, %(total)s / 200, 'concurrent', 'wait', 'm', p.queue_id, 's', 100, 1, 0, 1,
         false, false, now() - interval '1 h', now() - interval '1 h'
    from parent as p
), child as (
  insert into worker.task (command, queue_id, kind, payload, priority, parent_id, root_id, depth, place, max_attempts,
                           created_at)
  select 'm', p.queue_id, 's', '{}', 100, p.id, p.id, 1, n, 1, now()
    from parent as p, generate_series(1, %(total)s) as n
  returning id, place, parent_id, queue_id
), settled as (
  insert into worker.outcome (id, state, attempt, started_at, stopped_at, completed_at, error, parent_id)
  select c.id, case when c.place %% 100 = 0 then 'failed' else 'completed' end, 1, now(), now(),
         now() - interval '1 s' * (%(total)s - c.place),
         case when c.place %% 100 = 0 then '{"message": "no"}'::jsonb end,
         case when c.place %% 100 = 0 then c.parent_id end
    from child as c
   where c.place <= %(total)s / 2
), ready as (
  insert into worker.ready (queue_id, kind, tier, band, rank, place, id, since)
  select c.queue_id, 's', 0, 100, 1, c.place, c.id, now() from child as c where c.place > %(total)s / 2
)
select p.id from parent as p
"""


def progress(**changes: Any) -> Progress:
    known: dict[str, Any] = {
        "now": NOW,
        "since": NOW - timedelta(minutes=10),
        "total": 100,
        "open": 50,
        "active": 4,
        "ended": 30,
        "seconds": 60.0,
    }
    return Progress(**{**known, **changes})


def test_an_end_is_estimated_by_the_last_minutes_or_said_to_be_unknown() -> None:
    assert estimate(progress()).ends_at == NOW + timedelta(seconds=100)
    assert estimate(progress()).basis == "At the rate of the last 1 min: a child in 2 s."
    average = estimate(progress(ended=2))
    assert average.ends_at == NOW + timedelta(minutes=10)
    assert average.basis == "At the rate of 10 min since it began to wait: a child in 12 s."
    for changes, said in (
        ({"active": 0, "ended": 0}, "Unknown: none of its children is running."),
        ({"open": 98, "ended": 0}, "Unknown: fewer than 3 of its children have ended."),
        ({"since": None, "ended": 0}, "Unknown: fewer than 3"),
        ({"is_joining": True, "open": 0}, "Its children have settled; its join is next."),
        ({"open": 0}, "Its children have settled; it settles"),
        ({"is_cancelling": True}, "It is being cancelled"),
        ({"ended": 0, "since": NOW - timedelta(days=20_000), "total": 10**9, "open": 10**9 - 3}, "In more than ten"),
    ):
        unknown = estimate(progress(**changes))
        assert unknown.ends_at is None
        assert unknown.basis.startswith(said)


def test_a_bar_has_what_waited_and_each_attempt() -> None:
    def at(seconds: float) -> datetime:
        return NOW + timedelta(seconds=seconds)

    failed = {"attempt": 1, "state": "failed", "started": at(2).timestamp(), "ended": at(5).timestamp()}
    row: dict[str, Any] = {
        "state": "processing",
        "attempt": 2,
        "created_at": at(0),
        "process_start_at": at(9),
        "process_stop_at": None,
        "completed_at": None,
        "is_scope": False,
        "attempts": [failed],
    }
    parts = parts_of(row, at(20))
    assert [(part.kind, part.state, part.attempt, part.started_at, part.ended_at) for part in parts] == [
        ("wait", "pending", 1, at(0), at(2)),
        ("run", "failed", 1, at(2), at(5)),
        ("wait", "pending", 2, at(5), at(9)),
        ("run", "processing", 2, at(9), at(20)),
    ]
    # Times that Python cannot hold are not drawn.
    row |= {"created_at": "infinity", "process_start_at": "-infinity", "attempts": None}
    assert parts_of(row, at(20)) == []


def test_a_child_took_the_time_of_its_last_attempt() -> None:
    start = datetime(2030, 1, 1, tzinfo=UTC)
    second = timedelta(seconds=1)
    parts = [
        Part(kind="run", state="failed", attempt=1, started_at=start, ended_at=start + second),
        Part(kind="run", state="completed", attempt=2, started_at=start + 10 * second, ended_at=start + 11 * second),
    ]
    child = Child(
        id=1,
        command="part",
        state="completed",
        attempt=2,
        max_attempts=1,
        waits_for=None,
        due_at=None,
        process_start_at=start + 10 * second,
        completed_at=start + 11 * second,
        is_scope=False,
        done_children=None,
        total_children=None,
        error=None,
        parts=parts,
    )
    assert child.took == 1

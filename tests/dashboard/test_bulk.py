"""Bulks in the dashboard: the count before, the task that does it, who may, and the audit table."""

from __future__ import annotations

import re

from catchment.dashboard.auth.check import Access
from tests.fixtures.dashboard import StartDashboard
from tests.fixtures.engine import Engine

TOKEN = "a token of a viewer, for this test"  # noqa: S105


def test_a_bulk_is_counted_confirmed_done_by_a_task_and_audited(dashboard: StartDashboard, committed: Engine) -> None:
    site = dashboard()
    failed = [committed.enqueue(fail=f"no {n}") for n in range(3)]
    committed.drain()
    page = site.get("/tasks", params={"state": "failed", "error": "no"}).text
    (link,) = re.findall(r'href="(/bulk\?[^"]+)">Retry all that match', page)
    asked = site.get(link.replace("&amp;", "&")).text
    assert "<h1>Retry 3 tasks?</h1>" in asked
    assert "No worker is alive" in asked
    answer = site.post("/bulk/retry", token=site.token(), confirmed="yes", state="failed", error="no")
    assert answer.status_code == 303
    (task_id,) = re.fullmatch(r"/bulk/(\d+)", answer.headers["location"]).groups()  # type: ignore[union-attr]
    assert "catchment worker" in site.get(f"/bulk/{task_id}").text
    committed.drain("bulk_changes")
    committed.conn.execute("call worker.run_after_calls(false)")
    bulk = site.json(f"/api/bulk/{task_id}")
    assert (bulk["state"], bulk["expected"], bulk["done"], bulk["actor"]) == ("completed", 3, 3, "ada")
    assert [committed.state(task) for task in failed] == ["pending"] * 3
    audit = committed.conn.execute("select actor, action, subject, result from worker.audit order by id").fetchall()
    assert audit == [
        ("ada", "tasks.retry", "tasks: state failed, error no", "done"),
        ("ada", "tasks.retry.end", f"task {task_id}", "done"),
    ]
    # A form without confirmation asks.
    asked = site.ask("/bulk/cancel", queue="work").text
    assert "All unsettled tasks that match stop: queue work." in asked
    assert site.get("/bulk/1").status_code == 404


def test_selected_tasks_are_a_separate_bulk(dashboard: StartDashboard, committed: Engine) -> None:
    site = dashboard()
    failed = [committed.enqueue(fail="no") for _ in range(3)]
    committed.drain()
    chosen = f"{failed[0]},{failed[2]}"
    asked = site.get("/bulk", params={"verb": "retry", "ids": chosen}).text
    assert "<h1>Retry 2 tasks?</h1>" in asked
    assert f'name="ids" value="{chosen}"' in asked
    answer = site.post("/bulk/retry", token=site.token(), confirmed="yes", ids=chosen)
    assert answer.status_code == 303, answer.text
    assert site.json(f"/api{answer.headers['location']}")["filter"] == {"ids": [failed[0], failed[2]]}
    assert f"selected</span> {failed[0]}, {failed[2]}" in site.get(answer.headers["location"]).text
    committed.drain("bulk_changes")
    assert [committed.state(task) for task in failed] == ["pending", "failed", "pending"]
    assert committed.value("select subject from worker.audit order by id limit 1") == (
        f"tasks: tasks {failed[0]}, {failed[2]}"
    )
    for wrong in ("x", "1,", "1 2", "-1", "0", "1e3", str(2**63), ",".join(["1"] * 201)):
        assert site.get("/bulk", params={"verb": "retry", "ids": wrong}).status_code == 400, wrong


def test_ids_in_json_are_integers_however_they_are_written(dashboard: StartDashboard, committed: Engine) -> None:
    site = dashboard(Access(tokens={"operator": TOKEN}))
    site.client.headers.update({"Authorization": f"Bearer {TOKEN}", "Content-Type": "application/json"})
    failed = committed.enqueue(fail="no")
    committed.drain()
    made = site.client.post(f"{site.address}/api/bulk/retry", content=f'{{"ids": [{failed}.0, {failed}.00e0]}}')
    assert made.status_code == 200, made.text
    assert site.json(f"/api{made.json()['path']}")["filter"] == {"ids": [failed, failed]}
    for wrong in ("1.5", "true", '"1"', "1e999", "0.0", "9223372036854775808.0", "null"):
        refused = site.client.post(f"{site.address}/api/bulk/retry", content=f'{{"ids": [{wrong}]}}')
        assert refused.status_code == 400, wrong


def test_an_address_of_an_action_allows_its_own_method(dashboard: StartDashboard) -> None:
    """Not those of the page of a bulk, whose address has an id in this place."""
    site = dashboard()
    refused = site.client.options(f"{site.address}/api/bulk/cancel")
    assert (refused.status_code, refused.headers["allow"]) == (405, "POST")
    assert site.client.get(f"{site.address}/api/bulk/cancel").status_code == 405
    assert site.client.options(f"{site.address}/api/bulk/1").headers["allow"] == "GET, HEAD"


def test_a_bulk_changes_what_was_counted_when_it_was_asked_for(dashboard: StartDashboard, committed: Engine) -> None:
    """Not what was made, or failed, between the question and the answer."""
    site = dashboard()
    committed.queue("other")
    committed.command("wait", "other")
    pending, failed = committed.enqueue("wait"), committed.enqueue(fail="no")
    committed.drain()
    moments: dict[str, str] = {}
    for verb in ("cancel", "retry"):
        asked = site.get("/bulk", params={"verb": verb, "queue": "other" if verb == "cancel" else "work"}).text
        assert f"<h1>{verb.title()} 1 task?</h1>" in asked
        (moments[verb],) = re.findall(r'name="seen_at" value="([^"]+)"', asked)
    later = [committed.enqueue("wait"), committed.enqueue(fail="no")]
    committed.drain()
    for verb, queue in (("cancel", "other"), ("retry", "work")):
        answer = site.post(f"/bulk/{verb}", token=site.token(), confirmed="yes", queue=queue, seen_at=moments[verb])
        assert answer.status_code == 303, answer.text
        assert site.json(f"/api{answer.headers['location']}")["expected"] == 1
    committed.drain("bulk_changes")
    assert [committed.state(task) for task in (pending, failed, *later)] == [
        "cancelled",
        "pending",
        "pending",
        "failed",
    ]


def test_a_bulk_is_for_operators_and_what_cannot_match_is_refused(dashboard: StartDashboard, committed: Engine) -> None:
    viewer = dashboard(Access(tokens={"viewer": TOKEN}))
    viewer.client.headers["Authorization"] = f"Bearer {TOKEN}"
    task_id = committed.enqueue(fail="no")
    committed.drain()
    assert viewer.json("/api/bulk", verb="retry")["tasks"] == 1
    assert "Retry all" not in viewer.get("/tasks").text
    refused = viewer.client.post(f"{viewer.address}/api/bulk/retry", json={})
    assert refused.status_code == 403
    assert committed.state(task_id) == "failed"
    assert viewer.json("/api/bulk", verb="retry", state="completed")["tasks"] == 0
    assert viewer.json("/api/bulk", verb="cancel", state="failed")["tasks"] == 0

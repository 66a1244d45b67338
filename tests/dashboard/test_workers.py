"""What *Workers* shows, and what can be asked of one."""

from __future__ import annotations

from tests.fixtures.dashboard import VIEWER, StartDashboard
from tests.fixtures.engine import Engine

REGISTER = (
    "select worker_id from worker.register_worker('host-a', array['work'], 10, '1 hour', false, array['mail'],"
    " array['send', 'digest'], 4711, '0.1.0')"
)


def test_workers_are_shown_with_what_they_run(dashboard: StartDashboard, committed: Engine) -> None:
    site = dashboard()
    assert site.json("/api/workers")["start_command"] == "catchment worker"
    committed.queue("mail", mode="concurrent")
    committed.command("send", "mail", handler_kind="python", handler_procedure="shop.mail:send")
    assert 'data-copy="catchment worker --app shop.mail"' in site.get("/workers").text
    worker_id = committed.value(REGISTER)
    committed.value("select worker.heartbeat(%s, '1 hour', 10, 0.5::real, 0.3::real)", worker_id)
    tasks = [committed.enqueue("send") for _ in range(7)]
    committed.value("select count(*) from worker.claim_tasks(%s, array['mail'], 10)", worker_id)
    silent = committed.value("select worker_id from worker.register_worker('host-b', p_has_lock => false)")
    committed.conn.execute("update worker.worker set lease_until = now() where worker_id = %s", [silent])

    answer = site.json("/api/workers")
    gone, worker = answer["workers"]
    assert (gone["worker_id"], gone["state"]) == (silent, "silent")
    assert (worker["state"], worker["running"], worker["capacity"], worker["version"]) == ("live", 7, 10, "0.1.0")
    assert (worker["memory_usage"], round(worker["loop_lag"], 3)) == (0.5, 0.3)
    assert [task["id"] for task in worker["tasks"]] == tasks[:5]
    assert worker["more_tasks"] == 2
    assert (answer["running"], answer["capacity"]) == (7, 10)
    page = site.get("/workers").text
    assert "<title>1 live, 1 silent workers · Catchment</title>" in page
    assert "and 2 more" in page


def test_a_worker_is_asked_by_name_and_the_audit_knows(dashboard: StartDashboard, committed: Engine) -> None:
    site = dashboard()
    worker_id = committed.value(REGISTER)
    done = site.post(f"/workers/{worker_id}/drain", token=site.token("/workers"), confirmed="yes")
    assert done.status_code == 303
    (worker,) = site.json("/api/workers")["workers"]
    assert (worker["state"], worker["requested_by"]) == ("draining", "ada")
    assert committed.value("select action || ' ' || subject || ' ' || result from worker.audit") == (
        f"worker.drain worker {worker_id} done"
    )
    refused = site.post("/workers/999/pause", token=site.token("/workers"), confirmed="yes")
    assert (refused.status_code, "no worker 999" in refused.text) == (404, True)
    viewer = dashboard(user=VIEWER)
    assert "Drain" not in viewer.get("/workers").text

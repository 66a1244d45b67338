"""What *Schedules* shows, and what can be done with one."""

from __future__ import annotations

import pytest

from catchment.dashboard.pages import schedules as schedules_page
from tests.fixtures.dashboard import StartDashboard
from tests.fixtures.engine import Engine


def test_schedules_are_shown_in_words_with_their_runs(
    dashboard: StartDashboard, committed: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    site = dashboard()
    committed.conn.execute(
        "insert into worker.schedule (name, command, payload, cron, timezone) values"
        " ('nightly', 'act', '{\"fail\": \"no room\"}', '0 2 * * *', 'Europe/Oslo')"
    )
    token = site.token("/schedules")
    run = site.post("/schedules/run", token=token, confirmed="yes", name="nightly")
    assert run.status_code == 303
    committed.drain()
    nightly, cleanup = site.json("/api/schedules")["schedules"]
    assert (nightly["fires"], nightly["cron"]) == ("every day at 02:00 Europe/Oslo", "0 2 * * *")
    assert [task["state"] for task in nightly["recent"]] == ["failed"]
    assert nightly["error"] == "no room"
    assert (nightly["missed"], nightly["overlap"], nightly["is_declared"]) == ("one", "allow", False)
    committed.conn.execute("update worker.schedule set is_declared = true, overlap = 'skip' where name = 'nightly'")
    page = site.get("/schedules").text
    assert "overlap: skip" in page
    assert "not in code" in page
    assert (cleanup["name"], cleanup["fires"], cleanup["recent"]) == ("task_cleanup", "every day", [])
    site.post("/schedules/pause", token=token, confirmed="yes", name="nightly")
    assert not site.json("/api/schedules")["schedules"][0]["enabled"]
    site.post("/schedules/resume", token=token, confirmed="yes", name="nightly")
    assert site.json("/api/schedules")["schedules"][0]["enabled"]
    refused = site.post("/schedules/pause", token=token, confirmed="yes", name="weekly")
    assert refused.status_code == 409
    audit = committed.conn.execute("select action, subject, result from worker.audit order by id").fetchall()
    assert audit == [
        ("schedule.run", "schedule nightly", "done"),
        ("schedule.pause", "schedule nightly", "done"),
        ("schedule.resume", "schedule nightly", "done"),
        ("schedule.pause", "schedule weekly", "refused"),
    ]
    monkeypatch.setattr(schedules_page, "PAGE", 1)
    first = site.json("/api/schedules")
    assert (len(first["schedules"]), first["next"]) == (1, "nightly")
    rest = site.json("/api/schedules", after=first["next"])
    assert ([row["name"] for row in rest["schedules"]], rest["next"]) == (["task_cleanup"], None)

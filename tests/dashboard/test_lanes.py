"""What *Lanes* shows: halted, longest, oldest lanes and limits, at a cost that does not grow with the backlog."""

from __future__ import annotations

from typing import Any

import pytest
from psycopg import Connection
from psycopg.types.json import Jsonb

from tests.fixtures.dashboard import StartDashboard
from tests.fixtures.engine import Engine

REGISTER = "select worker_id from worker.register_worker('host', array['mail'], 10, '1 hour', false, array['mail'])"


def _halt(engine: Engine) -> int:
    """Queue mail with a halted lane a, two tasks behind it; a lane b with three tasks, and an older lane c with one."""
    engine.queue("mail", mode="concurrent")
    engine.command("send", "mail")
    bad = engine.enqueue("send", lane="a", fail="the address is wrong")
    for lane in ("a", "a"):
        engine.enqueue("send", lane=lane)
    engine.drain("mail")
    engine.command("post", "mail", handler_kind="python")
    for lane in ("c", "b", "b", "b"):
        engine.enqueue("post", lane=lane)
    return bad


def test_lanes_are_shown_and_a_halted_one_is_skipped(dashboard: StartDashboard, committed: Engine) -> None:
    site = dashboard()
    bad = _halt(committed)
    answer = site.json("/api/lanes")
    (halted,) = answer["halted"]
    assert (halted["lane"], halted["head_id"], halted["behind"], halted["error"]) == (
        "a",
        bad,
        2,
        "the address is wrong",
    )
    assert [(lane["lane"], lane["state"], lane["behind"]) for lane in answer["lanes"]] == [
        ("b", "ready", 2),
        ("c", "ready", 0),
    ]
    assert [lane["lane"] for lane in site.json("/api/lanes", order="oldest")["lanes"]] == ["c", "b"]
    worker_id = committed.value(REGISTER)
    committed.value("select count(*) from worker.claim_tasks(%s, array['mail'], 10)", worker_id)
    answer = site.json("/api/lanes")
    assert [(lane["lane"], lane["state"], lane["behind"]) for lane in answer["lanes"]] == [
        ("b", "running", 2),
        ("c", "running", 0),
    ]
    assert not answer["is_sampled"]
    assert "<title>1 halted lane · Catchment</title>" in site.get("/lanes").text

    token = site.token("/lanes")
    # Names keep their case: A and a are two lanes.
    asked = site.ask("/lanes/skip", queue="Mail", lane="A", id="999").text
    assert "Lane A of queue Mail continues" in asked
    stale = site.post("/lanes/skip", token=token, confirmed="yes", queue="mail", lane="a", id="999")
    assert (stale.status_code, f"is halted by task {bad}" in stale.text) == (409, True)
    assert site.json("/api/lanes")["halted"] != []
    done = site.post("/lanes/skip", token=token, confirmed="yes", queue="mail", lane="a", id=str(bad))
    assert done.status_code == 303
    assert site.json("/api/lanes")["halted"] == []
    results = committed.conn.execute("select action, result from worker.audit order by id").fetchall()
    assert results == [("lane.skip", "refused"), ("lane.skip", "done")]


def test_limits_are_shown_with_their_holders(dashboard: StartDashboard, committed: Engine) -> None:
    site = dashboard()
    committed.queue("mail", mode="concurrent", max_running=5, rate=100)
    committed.command("call", "mail", handler_kind="python", limit_key=["customer"], max_running=1)
    first, *_ = [committed.enqueue("call", customer=7) for _ in range(3)]
    worker_id = committed.value(REGISTER)
    committed.value("select count(*) from worker.claim_tasks(%s, array['mail'], 10)", worker_id)
    answer = site.json("/api/lanes")
    (gate,) = answer["gates"]
    assert (gate["command"], gate["limit_key"], gate["max_running"], gate["held"], gate["waiting"]) == (
        *("call", ["customer"], 1, 1, 2),
    )
    assert [(task["id"], task["state"]) for task in gate["holders"]] == [(first, "processing")]
    (limit,) = answer["queue_limits"]
    assert (limit["queue"], limit["running"], limit["max_running"], limit["rate"]) == ("mail", 1, 5, 100)
    page = site.get("/lanes").text
    assert "5 at a time, 100 per second" in page
    assert "No lane has work" in page


@pytest.mark.long
def test_lanes_of_a_large_backlog_are_found_by_looking_at_a_part(tx: Connection[Any]) -> None:
    """Whatever the order, and the backlog: 5,000 tasks in one lane of 10,000, with 20 pages looked at."""
    engine = Engine(tx)
    engine.queue("mail", mode="concurrent")
    engine.command("post", "mail", handler_kind="python")
    engine.command("call", "mail", handler_kind="python", limit_key=["customer"], max_running=1)
    payloads = [Jsonb({})] * 10_000
    lanes = ["long" if n % 2 else f"lane {n}" for n in range(10_000)]
    tx.execute("select worker.enqueue_many('post', %s, p_lanes => %s)", [payloads, lanes])
    tx.execute("select worker.enqueue_many('call', %s)", [[Jsonb({"customer": 1})] * 5_000])
    tx.execute("analyze worker.blocked, worker.task, worker.arrival, worker.lane, worker.gate")
    for call, pages in (
        # A count of the long lane alone would be 5,000.
        ("worker.lane_figures('longest', 20, 20)", 4000),
        ("worker.lane_figures('oldest', 20, 20)", 7000),
        ("worker.lane_figures('halted', 20, 20)", 100),
        ("worker.gate_figures(20, 20)", 4000),
    ):
        tx.execute(f"select * from {call}")
        plan = tx.execute(f"explain (analyze, buffers, format json) select * from {call}").fetchone()
        assert plan is not None
        read = plan[0][0]["Plan"]
        assert read["Shared Hit Blocks"] + read["Shared Read Blocks"] < pages, call
    longest = tx.execute("select lane, about, is_sampled from worker.lane_figures('longest', 20, 20)").fetchall()
    assert (longest[0][0], longest[0][2]) == ("long", True)
    assert 2_500 < longest[0][1] < 10_000
    oldest = tx.execute("select lane from worker.lane_figures('oldest', 20, 20)").fetchall()
    assert [lane for (lane,) in oldest[:3]] == ["lane 0", "long", "lane 2"]
    ((waiting, about),) = tx.execute("select waiting, about from worker.gate_figures(20, 20)").fetchall()
    assert (waiting, 1_250 < about < 12_500) == (1000, True)

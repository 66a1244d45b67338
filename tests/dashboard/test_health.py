"""What *Health* shows: the findings of ``catchment doctor``, at a cost that does not grow with the tasks."""

from __future__ import annotations

from typing import Any

import psycopg
import pytest
from psycopg import Connection
from psycopg.types.json import Jsonb

from catchment import doctor
from catchment.doctor import diagnose
from catchment.model.remedy import ways_of
from catchment.model.terminal import shell_command
from catchment.sql import ENGINE
from tests.fixtures.dashboard import StartDashboard
from tests.fixtures.engine import Engine


def test_health_has_what_doctor_finds_and_the_figures_of_the_server(
    dashboard: StartDashboard, committed: Engine, db: str
) -> None:
    site = dashboard()
    committed.queue("mail", mode="concurrent")
    committed.command("send", "mail")
    bad = committed.enqueue("send", lane="a", fail="no")
    committed.enqueue("send", lane="a")
    committed.drain("mail")
    committed.conn.execute("select worker.pause_queue('work')")
    with psycopg.connect(db) as other:
        other.execute("set transaction isolation level repeatable read")
        other.execute("select 1 from worker.task")
        answer = site.json("/api/health")
    # A machine that is busy may delay a notification.
    findings = [f for f in answer["findings"] if f["subject"] != "notifications"]
    # Ages differ.
    told, expected = (
        {(f["level"], f["subject"], f["finding"].partition(" (")[0]) for f in some}
        for some in (findings, diagnose(committed.conn))
    )
    assert told <= expected
    halted, paused = findings
    assert halted["commands"] == [f"catchment task retry {bad}", "catchment lane skip mail a"]
    assert (paused["level"], paused["commands"]) == ("info", ["catchment queue resume work"])
    assert answer["notify_seconds"] > 0
    assert answer["are_rules_checked"]
    assert answer["oldest_snapshot_at"] is not None
    assert "worker.task" in [table["name"] for table in answer["tables"]]
    assert [migration["number"] for migration in answer["migrations"]] == list(range(1, len(answer["migrations"]) + 1))
    assert "Largest tables" in site.get("/health").text


def test_a_hostile_name_is_one_word_of_a_command(committed: Engine, dashboard: StartDashboard) -> None:
    lane = "a'; touch x  # \n, or go on: catchment y"
    committed.queue("mail", mode="concurrent")
    committed.command("send", "mail")
    bad = committed.enqueue("send", lane=lane, fail="no")
    behind = committed.enqueue("send", lane=lane)
    committed.drain("mail")
    site = dashboard()
    skip = shell_command("catchment lane skip", "mail", lane)
    (finding,) = (f for f in site.json("/api/health")["findings"] if f["subject"].startswith("lane "))
    assert (finding["commands"], finding["advice"]) == ([f"catchment task retry {bad}", skip], "")
    why = site.json(f"/api/tasks/{behind}")["why"]["conditions"][0]
    assert [one["command"] for one in why["remedies"]] == finding["commands"]


@pytest.mark.parametrize("name", ["work", "a b", "a  # b", "it's  # so", '"  # ', "\n  # ", "# a", "$'  # "])
def test_a_remedy_is_split_whatever_is_in_a_name(name: str) -> None:
    command = shell_command("catchment queue resume", name)
    assert ways_of(command) == [(command, "")]
    assert ways_of(f"# Look.\n{command}  # let it  # go on\n") == [("", "Look."), (command, "let it  # go on")]
    assert ways_of(None) == []


@pytest.mark.long
def test_rules_are_checked_in_a_large_database_only_if_that_is_asked_for(
    committed: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    committed.enqueue(spawn=[{}])
    committed.process()
    committed.conn.execute("update worker.scope set total_children = 7")
    assert [finding["level"] for finding in diagnose(committed.conn)][:1] == ["error"]
    monkeypatch.setattr(doctor, "SMALL_BYTES", 0)
    engine = [finding for finding in diagnose(committed.conn) if finding["level"] == "error"]
    assert engine == []
    assert diagnose(committed.conn)[-1]["remedy"] == "catchment doctor --deep"
    assert [finding["level"] for finding in diagnose(committed.conn, deep=True)][:1] == ["error"]


@pytest.mark.long
def test_the_cost_of_a_diagnosis_does_not_grow_with_the_backlog(tx: Connection[Any]) -> None:
    """Ready, in lanes and at limits, with halted lanes and warnings."""
    engine = Engine(tx)
    engine.queue("mail", mode="concurrent")
    engine.command("post", "mail", handler_kind="python")
    engine.command("call", "mail", handler_kind="python", limit_key=["customer"], max_running=1)

    def pages() -> int:
        tx.execute("analyze worker.blocked, worker.task, worker.ready, worker.lane, worker.arrival, worker.warning")
        query = ENGINE.query("doctor")
        tx.execute(query)
        plan = tx.execute("explain (analyze, buffers, format json) " + query).fetchone()
        assert plan is not None
        return plan[0][0]["Plan"]["Shared Hit Blocks"] + plan[0][0]["Plan"]["Shared Read Blocks"]

    def add(count: int) -> None:
        payloads = [Jsonb({"customer": 1})] * count
        lanes = [f"lane {n % 400}" for n in range(count)]
        tx.execute("select worker.enqueue_many('post', %s)", [payloads])
        tx.execute("select worker.enqueue_many('post', %s, p_lanes => %s)", [payloads, lanes])
        tx.execute("select worker.enqueue_many('call', %s)", [payloads])
        tx.execute(
            "insert into worker.warning (task_id, at, source, message) select n, clock_timestamp(), 'after', 'no'"
            " from generate_series(1, %s) as n",
            [count],
        )

    add(500)
    few = pages()
    add(4500)
    many = pages()
    # Ten times as many tasks, and each is several pages of each index.
    assert many < 1.5 * few + 400, (few, many)

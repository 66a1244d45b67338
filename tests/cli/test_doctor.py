"""``catchment doctor``."""

from __future__ import annotations

import re

import pytest

from tests.fixtures.cli import Run, read_json
from tests.fixtures.engine import Engine


def test_doctor_finds_nothing_in_a_healthy_database(committed: Engine, cli: Run) -> None:
    assert read_json(cli("doctor", "--json")) == []
    assert "All is well" in cli("doctor").stdout


def test_doctor_names_what_is_wrong_and_what_to_do(committed: Engine, cli: Run) -> None:
    committed.queue("lanes", mode="concurrent")
    committed.command("lane_act", "lanes")
    committed.command("broken", handler_procedure="probe.gone")
    head = committed.enqueue("lane_act", lane="k", fail="broken")
    committed.drain("lanes")
    committed.enqueue()
    findings = read_json(cli("doctor", "--json", code=1))
    by_subject = {f["subject"]: f for f in findings}
    assert by_subject["command broken"]["level"] == "error"
    assert f"catchment task retry {head}" in by_subject["lane k of queue lanes"]["remedy"]
    assert "no worker serves it" in by_subject["queue work"]["finding"]


def test_doctor_reports_a_broken_rule(committed: Engine, cli: Run) -> None:
    parent = committed.enqueue(spawn=[{}])
    committed.process()
    committed.conn.execute("update worker.scope set failed_children = 1 where id = %s", [parent])
    assert f"task {parent}: counters" in cli("doctor", code=1).stdout


def test_doctor_names_a_command_that_workers_do_not_know(committed: Engine, cli: Run) -> None:
    task = committed.enqueue()
    committed.value("select worker.record_warning(%s, 'worker', 'a worker of its queue has no command act')", task)
    findings = read_json(cli("doctor", "--json"))
    assert "a worker of queue work does not know it and gives its tasks back" in [f["finding"] for f in findings]


def test_doctor_shows_times_of_the_users_zone(committed: Engine, cli: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TZ", "Asia/Tokyo")
    cli("queue", "pause", "work", "--for", "3600")
    said = cli("doctor").stdout
    assert re.search(r"queue work: paused until \d{4}-\d\d-\d\d \d\d:\d\d:\d\d JST \(in ", said), said

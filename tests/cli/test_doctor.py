"""``catchment doctor``."""

from __future__ import annotations

import os
import re
import shlex
import subprocess

import pytest

from catchment.model.remedy import ways_of
from tests.fixtures import spare
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
    assert "gives its tasks back" in cli("doctor", "--strict", code=1).stdout, "a warning"


def test_doctor_shows_times_of_the_users_zone(committed: Engine, cli: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TZ", "Asia/Tokyo")
    cli("queue", "pause", "work", "--for", "3600")
    said = cli("doctor").stdout
    assert re.search(r"queue work: paused until \d{4}-\d\d-\d\d \d\d:\d\d:\d\d JST \(in ", said), said


NAMES = ['it\'s "a" name', "-x y"]


def _remedies(cli: Run) -> dict[str, list[str]]:
    """What can be typed, by what it is about."""
    findings = read_json(cli("doctor", "--json"))
    return {
        f"{f['level']} {f['subject']}": [way.command for way in ways_of(f["remedy"]) if way.command] for f in findings
    }


def test_each_remedy_can_be_pasted_and_ends_its_finding(committed: Engine, cli: Run, db: str) -> None:
    """Each command goes through a shell, as it was printed; then the finding is gone."""
    subjects: list[str] = []
    for name in NAMES:
        committed.queue(name, mode="concurrent")
        committed.command(f"do {name}", name)
        for lane in ("retried", "skipped"):
            committed.enqueue(f"do {name}", lane=f"{name} {lane}", fail="no")
        committed.drain(name)
        committed.conn.execute("select worker.pause_queue(%s)", [name])
        committed.conn.execute(
            "insert into worker.schedule (name, command, every, enabled) values (%s, 'act', '1 day', false)", [name]
        )
        subjects += [f"warning lane {name} {lane} of queue {name}" for lane in ("retried", "skipped")]
        subjects += [f"info queue {name}", f"info schedule {name}"]
    worker = committed.value(
        "select worker_id from worker.register_worker('w', p_has_lock => false, p_lease => '1 day')"
    )
    committed.conn.execute("select worker.ask_worker(%s, 'pause')", [worker])
    subjects.append(f"info worker {worker}")
    remedies = _remedies(cli)
    assert {*subjects} <= remedies.keys()
    for subject in subjects:
        retry_or_skip = subject.startswith("warning lane ") and "skipped" in subject
        command = remedies[subject][1 if retry_or_skip else 0]
        done = subprocess.run(
            ["bash", "-c", command],
            env=os.environ | {"CATCHMENT_DSN": db, "PATH": f"{spare.spare().programs()}:{os.environ['PATH']}"},
            capture_output=True,
            text=True,
            timeout=120,
        )
        assert done.returncode == 0, (command, done.stderr)
    assert not {*subjects} & _remedies(cli).keys()


def test_sql_of_a_remedy_goes_through_psql(committed: Engine, cli: Run) -> None:
    """Its statement is one word of the command, whatever names are in it."""
    committed.conn.execute("insert into worker.warning (task_id, source, message, at) values (1, 'after', 'no', now())")
    (command,) = _remedies(cli)["warning hooks"]
    assert shlex.split(command) == ["catchment", "psql", "-c", "select * from worker.warning order by at desc"]


def test_remedies_for_another_database_say_so(committed: Engine, cli: Run, db: str) -> None:
    cli("queue", "pause", "work")
    assert "catchment queue resume work" in cli("doctor").stdout
    said = "CATCHMENT_DSN: set it to this one before you paste"
    assert said in cli("doctor", "--dsn", db, dsn=None).stderr
    # A remedy may begin with advice.
    cli("queue", "resume", "work")
    assert said not in cli("doctor", "--dsn", db, dsn=None).stderr
    committed.conn.execute("select worker.note_trouble('age', 'work', '55P03', 'locked')")
    assert said in cli("doctor", "--dsn", db, dsn=None, code=1).stderr

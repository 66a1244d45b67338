"""Sentry and structlog in a worker: the real libraries, with a transport and a processor that write to files."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.fixtures.engine import Engine
from tests.fixtures.server import Connect
from tests.fixtures.worker import StartWorker, wait_until

APP = "tests.contrib.reported_app:app"
SQL_HANDLER = """
insert into worker.queue_registry (queue) values ('sums');
create procedure public.break_off(payload jsonb) language plpgsql as
  $$ begin raise exception 'no such account' using errcode = 'P0002'; end $$;
insert into worker.command_registry (command, queue, handler_procedure) values ('sum_up', 'sums', 'public.break_off');
"""

Lines = Callable[[str], list[dict[str, Any]]]


@pytest.fixture
def engine(connect: Connect) -> Engine:
    return Engine(connect())


@pytest.fixture
def lines(engine: Engine, start_worker: StartWorker, tmp_path: Path) -> Lines:
    """Starts a worker; reads what its libraries wrote."""
    engine.conn.execute(SQL_HANDLER)
    start_worker("--app", APP, settings={"REPORTED_FOLDER": str(tmp_path), "CATCHMENT_WORKER_PROCESSES": "1"})
    wait_until(lambda: engine.value("select count(*) from worker.worker where lease_until > worker.now()"))

    def read(name: str) -> list[dict[str, Any]]:
        file = tmp_path / f"{name}.jsonl"
        return [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []

    return read


def test_each_failed_task_is_one_event_with_its_command_task_and_attempt(engine: Engine, lines: Lines) -> None:
    failing = {
        engine.enqueue("stumble", text="no such shelf"): ("stumble", "LookupError", "no such shelf"),
        engine.enqueue("stumble", text=17): ("stumble", "ArgumentsInvalid", None),
        engine.enqueue("hang"): ("hang", "TimeoutError", None),
        engine.enqueue("break_down"): ("break_down", "ValueError", "in a process"),
        engine.enqueue("sum_up"): ("sum_up", "SQL", "no such account"),
    }
    quiet = [engine.enqueue("recover"), engine.enqueue("nap")]
    wait_until(lambda: engine.value("select count(*) from worker.outcome") == len(failing) + len(quiet))
    wait_until(lambda: len([line for line in lines("sentry") if line["item"] == "event"]) >= len(failing))
    events = {int(line["tags"]["task_id"]): line for line in lines("sentry") if line["item"] == "event"}
    assert len(lines("sentry")) == len(events)
    assert set(events) == set(failing)
    for task_id, (command, kind, message) in failing.items():
        event = events[task_id]
        error = event["exception"]["values"][-1]
        assert (event["tags"]["command"], error["type"], event["level"]) == (command, kind, "error")
        assert message in (None, error["value"])
    seen = next(event for event in events.values() if event["exception"]["values"][-1]["value"] == "no such shelf")
    assert (seen["tags"]["attempt"], seen["tags"]["queue"], seen["transaction"]) == (2, "reported", "stumble")
    assert seen["exception"]["values"][-1]["stacktrace"]["frames"][-1]["function"] == "stumble"
    frames = seen["exception"]["values"][-1]["stacktrace"]["frames"]
    assert [frame["module"] for frame in frames if "no such shelf" in str(frame.get("vars"))] == [
        "tests.contrib.reported_app"
    ], "payloads are in the handler's own frames alone, where Sentry's scrubber finds them by their names"

    # structlog, in a coroutine and in a thread.
    said = [line for line in lines("structlog") if line["event"] == "tries"]
    stumbled = next(task_id for task_id, what in failing.items() if what[1] == "LookupError")
    assert [(line["task_id"], line["attempt"], line["attempt_seen"]) for line in said] == [
        (stumbled, 1, 1),
        (stumbled, 2, 2),
    ]
    assert {(line["command"], line["queue"]) for line in said} == {("stumble", "reported")}
    in_thread = [line for line in lines("structlog") if line["event"] == "tries in a thread"]
    assert [(line["task_id"], line["command"], line["attempt"]) for line in in_thread] == [
        (quiet[0], "recover", 1),
        (quiet[0], "recover", 2),
    ]

    # A process too.
    (broken,) = [line for line in lines("structlog") if line["event"] == "breaks down"]
    assert (broken["command"], broken["queue"], broken["attempt"]) == ("break_down", "reported", 1)
    assert events[broken["task_id"]]["tags"]["command"] == "break_down"


@pytest.mark.long
def test_runs_of_schedules_check_in(engine: Engine, lines: Lines) -> None:
    engine.conn.execute(
        "insert into worker.schedule (name, command, payload, cron, timezone, next_at) values"
        " ('Tidy up', 'tidy', '{}', '0 6 * * *', 'Europe/Oslo', now()),"
        " ('break', 'tidy', '{\"works\": false}', '*/5 * * * *', 'UTC', now())"
    )
    by_hand = engine.enqueue("tidy")
    wait_until(lambda: len([line for line in lines("sentry") if line["item"] == "check_in"]) >= 4)
    wait_until(lambda: any(line["item"] == "event" for line in lines("sentry")))
    found = [line for line in lines("sentry") if line["item"] == "check_in"]
    by_monitor = {slug: [line for line in found if line["monitor_slug"] == slug] for slug in ("tidy-up", "break")}
    assert [line["status"] for line in by_monitor["tidy-up"]] == ["in_progress", "ok"]
    assert [line["status"] for line in by_monitor["break"]] == ["in_progress", "error"]
    assert by_monitor["tidy-up"][0]["monitor_config"] == {
        "schedule": {"type": "crontab", "value": "0 6 * * *"},
        "timezone": "Europe/Oslo",
    }
    for monitor in by_monitor.values():
        assert len({line["check_in_id"] for line in monitor}) == 1
        assert monitor[-1]["duration"] >= 0
    assert engine.task(by_hand)["state"] == "completed"
    assert len(found) == 4

"""What ``lake.explain`` says in each situation, that it is true, to whom it is said, and by which ways."""

from __future__ import annotations

import json
import os
import shlex
from collections.abc import Iterator
from datetime import datetime
from typing import Any

import psycopg
import pytest
from psycopg import Connection
from psycopg.types.json import Jsonb

from catchment.errors import TableNotFound
from catchment.lake import Lake
from tests.fixtures import spare
from tests.fixtures.lake import cloned_lake
from tests.fixtures.lake_case import LakeCase
from tests.fixtures.often import some
from tests.lake.why.page import PAGE, TABLE, row_of
from tests.lake.why.situations import SITUATIONS, Condition, Situation, Stage, fill, stopped

# The table cannot keep its lag, but gets newer; the cause of a failure is not in the database.
GETS_NEWER = {"too_slow", "failed", "upstream_failed"}


def _name(situation: Situation) -> str:
    return situation.build.__name__


@pytest.fixture(scope="module")
def filled(server: str, lake_template: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[LakeCase]:
    folder = tmp_path_factory.mktemp("why")
    with cloned_lake(server, lake_template, folder) as dsn:
        case = LakeCase(stopped(dsn), folder)
        fill(case)
        yield case
        case.close()


@pytest.fixture(scope="module")
def session(filled: LakeCase) -> Iterator[Connection[Any]]:
    """One for all tests: another would compile and plan every function again."""
    with psycopg.connect(filled.dsn) as conn:
        yield conn
        conn.rollback()


@pytest.fixture
def stage(session: Connection[Any]) -> Iterator[Stage]:
    yield Stage(session)
    session.rollback()


@pytest.mark.parametrize("situation", SITUATIONS, ids=_name)
def test_each_situation_is_explained_as_the_page_says(situation: Situation, stage: Stage) -> None:
    answer = stage.explain(situation.build(stage))
    assert tuple(condition["kind"] for condition in answer) == situation.kinds, answer
    table = TABLE.search(PAGE.read_text(encoding="utf-8"))
    assert table is not None
    assert row_of(situation, answer) in table[0], "write the page again: python -m tests.lake.why.page"


@pytest.mark.parametrize("situation", some(SITUATIONS, one_in=3), ids=_name)
def test_a_table_gets_newer_exactly_when_nothing_holds_it_back(situation: Situation, stage: Stage) -> None:
    """Nothing happens by itself while something is named; without what is named, the schedule and the worker do."""
    name = situation.build(stage)
    before, story = stage.data_at(name), list[Any]()
    for _ in range(20):
        answer = stage.explain(name)
        story.append([(condition["kind"], condition["words"]) for condition in answer])
        blocking = [c for c in answer if c["is_blocking"] and c["kind"] not in GETS_NEWER]
        if not blocking:
            _wait(stage, answer)
            stage.go_on()
        elif stage.worker_id is not None:
            stage.go_on()
            assert stage.data_at(name) == before, story
        if stage.data_at(name) != before:
            return
        for condition in blocking:
            _remove(stage, condition)
    raise AssertionError(f"{name} does not get newer: {story}")


def _wait(stage: Stage, answer: list[Condition]) -> None:
    """Until the time that the answer names, or until what runs is over."""
    for condition in answer:
        if condition["kind"] == "next" and condition["evidence"]:
            until = datetime.fromisoformat(condition["evidence"]["next_at"])
            now = stage.value("select worker.now()")
            stage.later(f"{max(0, (until - now).total_seconds()) + 60} seconds")
    _finish(stage)


def _finish(stage: Stage) -> None:
    """End what the worker is at: subtasks first, then the refreshes."""
    bucket = "select id from worker.running where id in (select id from worker.task where command = 'lake_bucket')"
    while stage.conn.execute(bucket).fetchall():
        for task_id in list(stage.held):
            stage.value("select worker.complete_task(%s, %s)", task_id, stage.held.pop(task_id))
        stage.claim()
    for task_id in list(stage.held):
        stage.succeed(task_id)


def _remove(stage: Stage, condition: Condition) -> None:
    """Do away with what the condition names."""
    evidence = condition["evidence"]
    match condition["kind"]:
        case "suspended" | "upstream_suspended":
            stage.value("select lake.resume(%s)", evidence["table"]["id"])
        case "no_worker":
            if stage.worker_id is None:
                stage.hire()
        case "paused":
            stage.value("select worker.resume_queue(%s)", evidence["queue"])
        case "no_schedule":
            stage.value(shlex.split(condition["remedy"])[-1])  # of catchment psql -c
        case "not_requested":
            name = condition["remedy"].removeprefix("catchment table refresh main.")
            stage.request(name)
        case "slots" | "upstream" | "round":
            _finish(stage)
        case kind:
            raise AssertionError(f"nothing removes {kind}: {condition}")


def test_the_page_has_no_situation_that_is_gone() -> None:
    table = TABLE.search(PAGE.read_text(encoding="utf-8"))
    assert table is not None
    titles = [line.split(" | ")[0].strip("| ") for line in table[0].strip().splitlines()[2:]]
    assert [title for title in titles if title] == [situation.title for situation in SITUATIONS]


def test_a_session_that_holds_the_commit_lock_is_named(stage: Stage, filled: LakeCase) -> None:
    stage.later("2 minutes")
    stage.tick()
    refresh_id, task_id = stage.begin("daily")
    publication = {"action": "full", "inserted": 0, "deleted": 0, "rows_after": 1, "reads": []}
    stage.value("select lake.prepare_publish(%s, %s, %s)", refresh_id, stage.held[task_id], Jsonb(publication))
    with psycopg.connect(filled.dsn) as other:
        other.execute("select pg_advisory_xact_lock(lake.commit_key())")
        (locked,) = [one for one in stage.explain("daily") if one["kind"] == "commit_lock"]
        assert locked["remedy"] == f"catchment psql -c 'select pg_terminate_backend({other.info.backend_pid})'"
        other.rollback()
    assert [one["kind"] for one in stage.explain("daily")] == ["late", "running"]


def test_a_failed_run_of_the_schedule_is_named(stage: Stage) -> None:
    stage.later("2 minutes")
    failed = stage.value("select worker.enqueue('lake_tick')")
    stage.conn.execute("update worker.schedule set last_task_id = %s where name = 'lake_tick'", [failed])
    stage.conn.execute("update worker.command_registry set handler_procedure = 'lake.gone' where command = 'lake_tick'")
    stage.conn.execute("call worker.process_tasks(p_queue => 'lake_schedule')")
    answer = stage.explain("visits")
    assert ("tick_failed", True) in [(one["kind"], one["is_blocking"]) for one in answer], answer


def test_readers_and_workers_may_ask_in_a_transaction_that_only_reads(stage: Stage) -> None:
    stage.later("2 minutes")
    for role, may in (("catchment_read", True), ("catchment_worker", True), ("catchment_enqueue", False)):
        with stage.conn.transaction(force_rollback=True):
            stage.conn.execute(f"set local role {role}")
            if may:
                assert _asked(stage.conn, 1)[0]["kind"] in ("late", "fresh")
                continue
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                _asked(stage.conn, 1)
    stage.conn.rollback()
    stage.conn.execute("set transaction read only")
    assert _asked(stage.conn, 1)
    assert _asked(stage.conn, 10**6) == []


def _asked(conn: Connection[Any], dt_id: int) -> list[Condition]:
    rows = conn.execute("select kind, is_blocking from lake.explain(%s)", [dt_id]).fetchall()
    return [{"kind": kind, "is_blocking": is_blocking} for kind, is_blocking in rows]


def test_python_and_the_command_line_say_the_same(filled: LakeCase) -> None:
    environment = dict(os.environ) | {"CATCHMENT_DSN": filled.dsn}
    with Lake(filled.dsn, settings=filled.settings) as lake:
        lake.suspend("visits")
        asked = lake.why("visits")
        with pytest.raises(TableNotFound, match="there is no dynamic table main"):
            lake.why("nothing")
        stated = json.loads(spare.run("table", "why", "visits", "--json", environment=environment, timeout=60).stdout)
        shown = spare.run("table", "why", "visits", environment=environment, timeout=60).stdout.splitlines()
        lake.resume("visits")
    assert (asked.is_late, [one.kind for one in asked.blocking]) == (False, ["suspended"])
    assert str(asked).startswith("main.visits is fresh, and does not get newer. Its data is from ")
    assert (stated["name"], stated["is_late"]) == ("main.visits", False)
    assert [(one["kind"], one["remedy"]) for one in stated["conditions"]] == [
        (one.kind, one.remedy) for one in asked.conditions
    ]
    assert shown[0] == "main.visits is fresh, and does not get newer."
    assert "      catchment table resume main.visits" in shown

"""What ``worker.explain`` says in each situation, to whom, and that nothing of a payload is in it."""

from __future__ import annotations

import asyncio
import json
import os
from typing import Any

import pytest
from psycopg import Connection

from catchment import App, TaskNotFound, Why
from catchment.store import why as why_store
from tests.fixtures import spare
from tests.fixtures.engine import Engine
from tests.sql.support import check_open_tasks, refused
from tests.sql.test_roles import acting
from tests.why.page import PAGE, TABLE, answer_of, row_of
from tests.why.situations import SITUATIONS, Situation


@pytest.mark.parametrize("situation", SITUATIONS, ids=lambda situation: situation.build.__name__)
def test_each_situation_is_explained_as_the_page_says(situation: Situation, engine: Engine) -> None:
    answer = answer_of(situation, engine)
    engine.check()
    check_open_tasks(engine)
    assert tuple(condition["kind"] for condition in answer) == situation.kinds
    assert "secret" not in json.dumps(answer, default=str)
    found = TABLE.search(PAGE.read_text(encoding="utf-8"))
    assert found is not None
    assert row_of(situation, answer) in found[0], "write the page again: python -m tests.why.page"


def test_the_page_has_no_situation_that_is_gone() -> None:
    found = TABLE.search(PAGE.read_text(encoding="utf-8"))
    assert found is not None
    titles = [line.split(" | ")[0].strip("| ") for line in found[0].strip().splitlines()[2:]]
    assert [title for title in titles if title] == [situation.title for situation in SITUATIONS]


def test_readers_and_workers_may_ask_and_others_may_not(engine: Engine) -> None:
    task = engine.enqueue()
    ask = f"select kind from worker.explain({task})"
    for role in ("catchment_read", "catchment_worker"):
        with acting(engine, role):
            assert engine.value(ask) == "no_worker"
    with acting(engine, "catchment_enqueue"), refused(engine, "42501"):
        engine.value(ask)


def test_it_can_be_asked_in_a_transaction_that_only_reads(engine: Engine) -> None:
    task = engine.enqueue(lane="a")
    engine.conn.execute("set transaction read only")
    assert engine.value("select array_agg(kind) from worker.explain(%s)", task) == ["no_worker"]


def test_an_id_that_does_not_exist_is_answered_clearly(engine: Engine, db: str, connect: Any) -> None:
    with refused(engine, "CM009") as caught:
        engine.value("select worker.explain(-1)")
    assert caught.value.diag.message_primary == "there is no task -1"
    assert "deleted some days after" in (caught.value.diag.message_hint or "")
    conn: Connection[Any] = connect()
    with pytest.raises(TaskNotFound, match="there is no task -1"):
        why_store.explain(conn, -1)


def test_sql_python_and_the_command_line_say_the_same(committed: Engine, db: str) -> None:
    app = App(db, queue="work")
    first, second = committed.enqueue(lane="a"), committed.enqueue(lane="a")

    async def ask() -> Why:
        try:
            return await app.task(second).why()
        finally:
            await app.close()

    asked = asyncio.run(ask())
    assert app.sync.task(second).why().conditions == asked.conditions
    assert [condition.kind for condition in asked.blocking] == ["lane", "no_worker"]
    assert str(asked).startswith(f"Task {second} waits. In lane a of queue work, task {first} (act) is before it")
    environment = dict(os.environ) | {"CATCHMENT_DSN": db}
    done = spare.run("task", "why", str(second), "--json", environment=environment, timeout=60)
    told = json.loads(done.stdout)
    assert told["task_id"] == second
    stated = [(one["kind"], one["is_blocking"], one["remedy"]) for one in told["conditions"]]
    assert stated == [(one.kind, one.is_blocking, one.remedy) for one in asked.conditions]
    shown = spare.run("task", "why", str(second), environment=environment, timeout=60).stdout
    assert shown.splitlines()[0] == f"Task {second} waits."
    assert f"      catchment task why {first}" in shown.splitlines()
    app.sync.close()

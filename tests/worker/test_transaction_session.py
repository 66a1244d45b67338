"""``ctx.transaction(sqlalchemy=True)``: sessions whose writes commit with the task, and which cannot commit alone."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import psycopg
import pytest
from psycopg import Connection
from psycopg.types.json import Jsonb

from catchment import TaskFailed
from catchment.store import registry
from catchment.store.foreign.of_psycopg import PsycopgSender
from catchment.testing import drain
from tests.fixtures.engine import Engine
from tests.fixtures.server import cloned
from tests.fixtures.worker import starting_workers
from tests.worker import orm
from tests.worker.crew import Crew

KINDS = pytest.mark.parametrize("kind", ["", "_plainly"], ids=["async", "plain"])


@pytest.fixture(scope="module")
def crew(server: str, template: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Crew]:
    """One worker for all."""
    folder = tmp_path_factory.mktemp("probe")
    with (
        cloned(server, template) as dsn,
        psycopg.connect(dsn, autocommit=True) as conn,
        starting_workers(dsn, folder) as start,
    ):
        made = Crew.on(dsn, Engine(conn), orm.probe.Records(folder), start, folder)
        conn.execute("create table probe.order (note text primary key, task_id bigint)")
        conn.execute("insert into probe.order values ('there', 0)")
        for command in orm.app.commands:
            made.client.commands.add(command)
        made.client.sync.register()
        made.hire(app="tests.worker.orm:app")
        yield made
        made.client.sync.close()


def _notes(crew: Crew) -> list[str]:
    return [row[0] for row in crew.engine.conn.execute("select note from probe.order where task_id <> 0 order by note")]


@KINDS
def test_what_a_session_wrote_is_committed_with_the_task(crew: Crew, kind: str) -> None:
    crew.engine.conn.execute("delete from probe.order where task_id <> 0")
    for note in "abcdef":  # more than there are connections
        assert crew.result(crew.enqueue(f"write{kind}", note=note)) == f"['{note} 1'] {note} 2"
    assert _notes(crew) == [f"{note} {number}" for note in "abcdef" for number in (1, 2)]
    assert crew.engine.value("select count(*) from worker.tasks where command = 'follow'") in (6, 12)
    crew.engine.conn.execute("delete from probe.order where task_id <> 0")


@KINDS
def test_what_was_written_in_a_savepoint_that_is_still_open_is_committed(crew: Crew, kind: str) -> None:
    crew.result(crew.enqueue(f"leave_open{kind}"))
    assert _notes(crew) == ["inner", "late", "outer"]
    crew.engine.conn.execute("delete from probe.order where task_id <> 0")


@KINDS
@pytest.mark.parametrize("is_swallowed", [False, True], ids=["raised", "swallowed"])
def test_a_session_cannot_end_the_transaction(crew: Crew, kind: str, is_swallowed: bool) -> None:
    tasks = {route: crew.enqueue(f"end_it{kind}", route=route, is_swallowed=is_swallowed) for route in orm.ROUTES}
    for route, task in tasks.items():
        with pytest.raises(TaskFailed) as caught:
            crew.result(task)
        expected = "IntegrityError" if route == "flush" and not is_swallowed else "TransactionEndRefused"
        assert expected in caught.value.kind, (route, caught.value.message)
    assert _notes(crew) == []


@KINDS
def test_the_engine_of_a_session_opens_no_other_connection(crew: Crew, kind: str) -> None:
    with pytest.raises(TaskFailed, match=r"RequestRefused: .*has one connection"):
        crew.result(crew.enqueue(f"open_another{kind}"))


def test_what_cannot_be_written_at_the_end_of_the_block_fails_the_task(crew: Crew) -> None:
    with pytest.raises(TaskFailed, match="IntegrityError"):
        crew.result(crew.enqueue("fail_late"))


@KINDS
def test_sessions_can_be_tried_in_the_transaction_of_a_test(tx: Connection[Any], kind: str) -> None:
    tx.execute("create schema probe; create table probe.order (note text primary key, task_id bigint)")
    registry.register_commands(PsycopgSender(tx), *_definitions(), overwrite=True)
    for command, payload in (("write", {"note": "a"}), ("end_it", {"route": "commit", "is_swallowed": True})):
        tx.execute("select worker.enqueue(%s, %s)", [f"{command}{kind}", Jsonb(payload)])
    assert drain(orm.app, tx) == {"completed": 2, "failed": 1}
    assert tx.execute("select note from probe.order order by note").fetchall() == [("a 1",), ("a 2",)]


def _definitions() -> tuple[Any, Any]:
    return orm.app.commands.queue_definitions(), orm.app.commands.definitions()


@pytest.mark.parametrize(("module", "is_async"), [("sqlalchemy", True), ("greenlet", True), ("sqlalchemy", False)])
def test_without_sqlalchemy_the_error_says_what_to_install(module: str, is_async: bool) -> None:
    program = f"""
import sys

sys.modules[{module!r}] = None
from catchment import Context, ExtraMissing

try:
    Context.local(is_async={is_async}).transaction(sqlalchemy=True)
except ExtraMissing as error:
    assert {module!r} in str(error), error
    assert "pip install 'catchment[sqlalchemy]'" in error.hint, error.hint
else:
    raise SystemExit("not refused")
"""
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=120, check=False)
    assert ran.returncode == 0, ran.stderr

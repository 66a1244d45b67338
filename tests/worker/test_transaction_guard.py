"""The transaction of ``ctx.transaction()`` is ended by the worker: a handler that tries fails and writes nothing."""

from __future__ import annotations

from collections.abc import Iterator

import psycopg
import pytest

from catchment import TaskFailed
from tests.fixtures.engine import Engine
from tests.fixtures.server import cloned
from tests.fixtures.worker import starting_workers
from tests.worker import enders
from tests.worker.crew import Crew

ROUTES = [
    *(("method", route) for route in enders.METHODS),
    *(("statement", route) for route in enders.STATEMENTS),
    *(("unseen", route) for route in enders.UNSEEN),
]


@pytest.fixture(scope="module")
def crew(server: str, template: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Crew]:
    """One worker for all."""
    folder = tmp_path_factory.mktemp("probe")
    with (
        cloned(server, template) as dsn,
        psycopg.connect(dsn, autocommit=True) as conn,
        starting_workers(dsn, folder) as start,
    ):
        made = Crew.on(dsn, Engine(conn), enders.probe.Records(folder), start, folder)
        for command in enders.app.commands:
            made.client.commands.add(command)
        made.client.sync.register()
        made.hire(app="tests.worker.enders:app")
        yield made
        made.client.sync.close()


def _notes(crew: Crew) -> list[str]:
    return [row[0] for row in crew.engine.conn.execute("select note from probe.effect order by note")]


@pytest.mark.parametrize("command", ["end_it", "end_it_plainly"], ids=["async", "plain"])
@pytest.mark.parametrize("is_swallowed", [False, True], ids=["raised", "swallowed"])
def test_a_handler_that_ends_its_transaction_fails_and_writes_nothing(
    crew: Crew, command: str, is_swallowed: bool
) -> None:
    tasks = {route: crew.enqueue(command, how=route[0], route=route[1], is_swallowed=is_swallowed) for route in ROUTES}
    for route, task in tasks.items():
        with pytest.raises(TaskFailed, match="TransactionEndRefused") as caught:
            crew.result(task)
        assert "ctx.transaction()" in caught.value.message, route
    assert _notes(crew) == []


def test_a_commit_past_psycopg_writes_nothing_either(crew: Crew) -> None:
    task = crew.enqueue("end_it_in_libpq")
    with pytest.raises(TaskFailed):
        crew.result(task)
    assert "written" not in _notes(crew)


def test_a_commit_that_nothing_refused_is_found_and_said(crew: Crew) -> None:
    for then in ("return", "begin", "use", "raise"):
        task = crew.enqueue("commit_past_the_guard", then=then)
        with pytest.raises(TaskFailed, match=r"TransactionEndRefused: .*what it had written stays"):
            crew.result(task)
    assert [note for note in _notes(crew) if note in ("kept", "lost")] == ["kept"] * 4


def test_what_happened_to_other_attempts_is_nothing_to_the_next(crew: Crew) -> None:
    for number in range(8):
        assert crew.result(crew.enqueue("behave", note=f"{number}")) == "behaved"
    assert [note for note in _notes(crew) if note.isdigit()] == [str(number) for number in range(8)]
    assert "undone" not in _notes(crew)

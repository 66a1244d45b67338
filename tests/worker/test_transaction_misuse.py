"""``ctx.transaction()`` in handlers that keep, share or leave it: none reaches what another task does."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import psycopg
import pytest

from catchment import TaskFailed
from tests.fixtures.engine import Engine
from tests.fixtures.often import often
from tests.fixtures.server import cloned
from tests.fixtures.worker import starting_workers, wait_until
from tests.worker import misuse
from tests.worker.crew import Crew

APP = "tests.worker.misuse:app"
PLACES = 2
KINDS = pytest.mark.parametrize("kind", often("", now_and_then=["_plainly"]), ids=["async", "plain"])
FULL = """
create table probe.fault (state text not null);
create function probe.fail() returns trigger language plpgsql as $$
declare
  v_state text;
begin
  for v_state in select state from probe.fault loop
    raise exception 'the server is in trouble' using errcode = v_state;
  end loop;
  return new;
end;
$$;
create trigger fail before insert on probe.effect for each row execute function probe.fail();
"""


@pytest.fixture
def crew(crew: Crew) -> Crew:
    """One worker with few places."""
    for command in misuse.app.commands:
        crew.client.commands.add(command)
    crew.client.sync.register()
    crew.hire(app=APP, transaction_connections=PLACES, shutdown_grace_seconds=5)
    return crew


def _notes(crew: Crew) -> list[str]:
    return [row[0] for row in crew.engine.conn.execute("select note from probe.effect order by note")]


def _ended(crew: Crew, count: int = 1) -> list[str | None]:
    """What became of what handlers had left running."""
    wait_until(lambda: len(crew.records.lines("ended")) == count)
    return [line["error"] for line in crew.records.lines("ended")]


def _is_put_off(crew: Crew, task: int) -> bool:
    """It waits for a moment, and neither an attempt nor a failure nor an interruption was counted."""
    query = "select attempt, failures, interruptions from worker.blocked where id = %s and reason = 'retry'"
    found = crew.engine.conn.execute(query, [task]).fetchall()
    assert found in ([], [(0, 0, 0)])
    assert crew.engine.state(task) not in ("failed", "completed")
    return bool(found)


def _assert_places_are_free(crew: Crew) -> None:
    """As many transactions as there are places can be open at once, of either kind."""
    for kind in ("good", "good_plainly"):
        tasks = [crew.enqueue(kind, note=kind, gate="all in") for _ in range(PLACES)]
        wait_until(lambda kind=kind: len(crew.records.spans(kind)) == PLACES)
        crew.records.open_gate("all in")
        assert [crew.result(task) for task in tasks] == ["written"] * PLACES


def test_what_is_left_of_a_failed_block_writes_nothing(crew: Crew) -> None:
    with pytest.raises(TaskFailed, match="this attempt fails"):
        crew.result(crew.enqueue("gather"))
    crew.records.open_gate("late")
    assert _ended(crew) == ["RequestRefused"]
    assert _notes(crew) == []


@KINDS
def test_a_handler_that_returns_while_its_block_is_open_fails_and_nothing_is_committed(crew: Crew, kind: str) -> None:
    with pytest.raises(TaskFailed, match="block was open"):
        crew.result(crew.enqueue(f"half{kind}"))
    crew.records.open_gate("late")
    assert _ended(crew) == ["RequestRefused"]
    assert _notes(crew) == []
    _assert_places_are_free(crew)


@KINDS
@pytest.mark.parametrize("through", ["connection", "cursor"])
def test_a_kept_connection_reaches_no_transaction_of_another_task(crew: Crew, kind: str, through: str) -> None:
    tasks = [crew.enqueue(f"keep{kind}", through=through) for _ in range(PLACES)]
    for task in tasks:
        crew.result(task)
    innocent = [crew.enqueue("good", gate="innocent") for _ in range(PLACES)]
    wait_until(lambda: len(crew.records.spans("good")) == PLACES)
    crew.records.open_gate("late")
    assert _ended(crew, PLACES) == ["RequestRefused"] * PLACES
    crew.records.open_gate("innocent")
    assert [crew.result(task) for task in innocent] == ["written"] * PLACES
    assert _notes(crew) == ["good"] * PLACES + ["kept"] * PLACES


@KINDS
@pytest.mark.parametrize("other", ["", "_plainly"], ids=["async", "plain"])
def test_nothing_of_a_session_or_its_object_is_left_to_the_next_task(crew: Crew, kind: str, other: str) -> None:
    clean = crew.result(crew.enqueue(f"look{other}"))
    for _ in range(PLACES):
        crew.result(crew.enqueue(f"disturb{kind}"))
    assert [crew.result(crew.enqueue(f"look{other}")) for _ in range(PLACES)] == [clean] * PLACES
    assert clean == [1, None, '"$user", public', "read committed", 0, 0, 0, 0]


@KINDS
@pytest.mark.parametrize("how", ["asked before", "asked late"])
def test_a_transaction_after_the_handler_is_refused_and_takes_no_place(crew: Crew, kind: str, how: str) -> None:
    tasks = [crew.enqueue(f"begin_late{kind}", how=how) for _ in range(2 * PLACES)]
    for task in tasks:
        crew.result(task)
    crew.records.open_gate("late")
    assert _ended(crew, 2 * PLACES) == ["CancelRequested"] * 2 * PLACES
    assert _notes(crew) == []
    _assert_places_are_free(crew)


@KINDS
def test_a_stream_left_open_fails_its_task_and_gives_its_place_back(crew: Crew, kind: str) -> None:
    for task in [crew.enqueue(f"stream{kind}") for _ in range(2 * PLACES)]:
        with pytest.raises(TaskFailed, match="connection was in use"):
            crew.result(task)
    _assert_places_are_free(crew)


@KINDS
def test_a_stream_left_early_gives_its_place_back(crew: Crew, kind: str) -> None:
    """psycopg cancels the statement of a stream that is left, which aborts the transaction."""
    for task in [crew.enqueue(f"stream{kind}", is_kept=False) for _ in range(2 * PLACES)]:
        with pytest.raises(TaskFailed, match=r"transaction is aborted|returned while its connection was in use"):
            crew.result(task)
    _assert_places_are_free(crew)


@KINDS
def test_a_worker_with_open_streams_stops_within_its_grace(crew: Crew, kind: str) -> None:
    for _ in range(PLACES):
        crew.enqueue(f"stream{kind}")
    wait_until(lambda: crew.states().get("processing", 0) == PLACES)
    began = time.monotonic()
    crew.stop(crew.workers[0])
    assert time.monotonic() - began < 5 + 10


@KINDS
def test_cancelled_tasks_that_wait_for_a_place_give_it_back(crew: Crew, kind: str) -> None:
    holding = [crew.enqueue("good", note="hold", gate="hold") for _ in range(PLACES)]
    wait_until(lambda: len(crew.records.spans("hold")) == PLACES)
    waiting: list[Any] = [crew.enqueue(f"good{kind}", note="never") for _ in range(PLACES)]
    waiting.append(crew.enqueue("good", note="never"))
    wait_until(lambda: crew.states().get("processing", 0) == PLACES + len(waiting))
    for task in waiting:
        crew.client.sync.task(task).cancel()
    wait_until(lambda: crew.engine.state(waiting[-1]) == "cancelled")  # then the worker knows of the others
    crew.records.open_gate("hold")
    assert [crew.result(task) for task in holding] == ["written"] * PLACES
    wait_until(lambda: {crew.engine.state(task) for task in waiting} == {"cancelled"})
    _assert_places_are_free(crew)


@KINDS
@pytest.mark.parametrize("state", ["53100", "25006", "57P03"])
@pytest.mark.parametrize("then", ["wrap", "own", "swallow"])
def test_a_server_in_trouble_puts_a_task_off_and_counts_nothing(
    staffed_misuse: Crew, kind: str, state: str, then: str
) -> None:
    crew = staffed_misuse
    crew.engine.conn.execute("insert into probe.fault values (%s)", [state])
    task = crew.enqueue(f"write_or{kind}", then=then)
    wait_until(lambda: _is_put_off(crew, task))
    assert crew.engine.value("select count(*) from worker.attempt where task_id = %s", task) == 0
    crew.engine.conn.execute("delete from probe.fault")
    crew.client.sync.task(task).cancel()


def test_a_task_that_was_put_off_completes_when_the_server_is_well(staffed_misuse: Crew) -> None:
    crew = staffed_misuse
    crew.engine.conn.execute("insert into probe.fault values ('53100')")
    task = crew.enqueue("write_or", then="own")
    wait_until(lambda: _is_put_off(crew, task))
    crew.engine.conn.execute("delete from probe.fault")
    assert crew.result(task) == "written"
    assert crew.engine.value("select count(*) from worker.attempt where task_id = %s", task) == 0


def test_a_task_that_is_put_off_is_logged_with_the_reason(staffed_misuse: Crew) -> None:
    crew = staffed_misuse
    crew.engine.conn.execute("insert into probe.fault values ('53100')")
    task = crew.enqueue("write_or", then="swallow")
    wait_until(lambda: [e for e in crew.logged("task.put_off") if e["task_id"] == task])
    crew.engine.conn.execute("delete from probe.fault")
    crew.client.sync.task(task).cancel()
    event = next(e for e in crew.logged("task.put_off") if e["task_id"] == task)
    assert (event["level"], event["command"]) == ("warning", "write_or")
    assert "in trouble" in event["reason"]


@KINDS
@pytest.mark.parametrize(
    ("then", "says"),
    [
        ("write", "in a read-only transaction"),
        ("swallow", "transaction is aborted"),
        ("read", "made its transaction read-only"),
    ],
)
def test_a_handler_that_makes_its_own_transaction_read_only_fails(
    staffed_misuse: Crew, kind: str, then: str, says: str
) -> None:
    with pytest.raises(TaskFailed, match=says):
        staffed_misuse.result(staffed_misuse.enqueue(f"read_only{kind}", then=then))


def test_a_session_that_is_read_only_by_default_puts_tasks_off_until_another_can_be_had(crew: Crew) -> None:
    parts = "select count(distinct application_name) from pg_stat_activity where datname = current_database()"
    parts += " and application_name in ('catchment claimer', 'catchment completer')"
    wait_until(lambda: crew.engine.value(parts) == 2)
    change = "alter database {} {} default_transaction_read_only"
    name = crew.engine.value("select quote_ident(current_database())")
    crew.engine.conn.execute(change.format(name, "set") + " = on")
    task = crew.enqueue("good")
    wait_until(lambda: _is_put_off(crew, task))
    crew.engine.conn.execute(change.format(name, "reset"))
    assert crew.result(task) == "written"


@KINDS
def test_an_error_of_the_statement_itself_stays_a_failure(staffed_misuse: Crew, kind: str) -> None:
    crew = staffed_misuse
    crew.engine.conn.execute("insert into probe.fault values ('23514')")
    with pytest.raises(TaskFailed, match="in trouble"):
        crew.result(crew.enqueue(f"write_or{kind}", then="own"))
    crew.engine.conn.execute("delete from probe.fault")


@pytest.mark.parametrize("verb", ["complete_task", "release_task"])
def test_a_handler_that_settles_its_own_task_in_its_transaction_fails(staffed_misuse: Crew, verb: str) -> None:
    with pytest.raises(TaskFailed, match="ClaimLost"):
        staffed_misuse.result(staffed_misuse.enqueue("settle_itself", verb=verb))


def test_a_handler_that_swallows_its_timeout_and_returns_fails_and_writes_nothing(staffed_misuse: Crew) -> None:
    with pytest.raises(TaskFailed, match="TimeoutError"):
        staffed_misuse.result(staffed_misuse.enqueue("outlive"))
    assert "late" not in _notes(staffed_misuse)


def test_a_limit_that_is_set_for_each_statement_is_a_failure(staffed_misuse: Crew) -> None:
    crew = staffed_misuse
    crew.engine.conn.execute("insert into probe.fault values ('53400')")
    with pytest.raises(TaskFailed, match="in trouble"):
        crew.result(crew.enqueue("write_or", then="own"))
    crew.engine.conn.execute("delete from probe.fault")


@KINDS
def test_a_notice_handler_that_exits_does_not_end_the_process(staffed_misuse: Crew, kind: str) -> None:
    crew = staffed_misuse
    assert crew.result(crew.enqueue(f"notice{kind}")) == "noticed"
    assert crew.engine.value("select max(attempt) from worker.tasks where command = %s", f"notice{kind}") == 1


@pytest.fixture(scope="module")
def staffed_misuse(server: str, template: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Crew]:
    """One worker for all tests of a server in trouble."""
    folder = tmp_path_factory.mktemp("probe")
    with (
        cloned(server, template) as dsn,
        psycopg.connect(dsn, autocommit=True) as conn,
        starting_workers(dsn, folder) as start,
    ):
        made = Crew.on(dsn, Engine(conn), misuse.probe.Records(folder), start, folder)
        conn.execute(FULL)
        for command in misuse.app.commands:
            made.client.commands.add(command)
        made.client.sync.register()
        made.hire(app=APP)
        yield made
        made.client.sync.close()

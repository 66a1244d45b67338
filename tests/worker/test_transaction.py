"""``ctx.transaction()``: the handler's writes and its task's end commit together, or not at all."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from catchment import TaskFailed
from tests.fixtures.worker import wait_until
from tests.worker.app import begin_too_late, put, put_plain, put_too_late, step
from tests.worker.crew import Crew

OWN = "application_name = 'catchment transaction' and datname = current_database()"
# The handler has written: before that, a session that is lost while the worker begins is replaced without a word.
IN_TRANSACTION = f"state = 'idle in transaction' and query like 'insert into probe.%%' and {OWN}"
SLOW_COMMIT = """
create function probe.wait() returns trigger language plpgsql as $$
begin
  perform pg_sleep(60) where not exists (select from worker.attempt);
  return null;
end;
$$;
create constraint trigger wait after insert on probe.effect deferrable initially deferred
  for each row execute function probe.wait();
"""
BOTH = pytest.mark.parametrize("command", [put, put_plain], ids=["async", "plain"])


def _notes(crew: Crew, task: int) -> list[str]:
    return [row[0] for row in crew.engine.conn.execute("select note from probe.effect where task_id = %s", [task])]


def _interruptions(crew: Crew, task: int) -> int:
    return crew.engine.value("select count(*) from worker.attempt where task_id = %s and state = 'interrupted'", task)


@BOTH
def test_effect_and_completion_commit_in_one_transaction(staffed: Crew, command: Any) -> None:
    task = staffed.enqueue(command, note="one")
    assert staffed.result(task) == "written"
    writers = staffed.engine.conn.execute(
        "select xmin::text from probe.effect where task_id = %s"
        " union select xmin::text from worker.outcome where id = %s",
        [task, task],
    ).fetchall()
    assert _notes(staffed, task) == ["one"]
    assert len(writers) == 1


@BOTH
def test_a_handler_that_raises_after_the_block_leaves_nothing(staffed: Crew, command: Any) -> None:
    task = staffed.enqueue(command, note="raised", then="raise")
    with pytest.raises(TaskFailed, match="after the block"):
        staffed.result(task)
    assert _notes(staffed, task) == []


@BOTH
def test_an_error_in_the_block_undoes_it_even_if_the_handler_goes_on(staffed: Crew, command: Any) -> None:
    task = staffed.enqueue(command, note="caught", then="catch")
    assert staffed.result(task) == "caught"
    assert _notes(staffed, task) == []


def test_children_commit_with_the_transaction(staffed: Crew) -> None:
    task = staffed.enqueue(put, note="parent", then="spawn")
    staffed.result(task)
    assert _notes(staffed, task) == ["parent"]
    assert len(staffed.engine.children(task)) == 1


def test_more_transactions_than_connections_all_commit(staffed: Crew) -> None:
    tasks = [staffed.enqueue(command, note="many") for _ in range(15) for command in (put, put_plain)]
    assert [staffed.result(task) for task in tasks] == ["written"] * 30
    assert [_notes(staffed, task) for task in tasks] == [["many"]] * 30


@BOTH
def test_a_worker_killed_between_block_and_return_leaves_nothing_and_the_task_runs_again(
    crew: Crew, command: Any
) -> None:
    task = crew.enqueue(command, note="kill", then="wait")
    (victim,) = crew.hire()
    wait_until(lambda: len(crew.records.spans("kill")) == 1)
    wait_until(lambda: crew.engine.value(f"select count(*) from pg_stat_activity where {IN_TRANSACTION}"))
    crew.kill(victim)
    assert _notes(crew, task) == []
    crew.records.open_gate("gate")
    crew.hire()
    assert crew.result(task) == "written"
    assert _notes(crew, task) == ["kill"]
    assert crew.engine.task(task)["attempt"] == 2


@BOTH
def test_an_attempt_that_lost_its_claim_cannot_commit(crew: Crew, command: Any) -> None:
    """The claim is taken away while the handler is in its transaction, and the worker cannot know it yet."""
    task = crew.enqueue(command, note="lost", then="wait")
    (worker,) = crew.hire()
    wait_until(lambda: len(crew.records.spans("lost")) == 1)
    fence = crew.engine.task(task)["fence"]
    crew.engine.value("select worker.settle(array[%s::bigint], array[%s::bigint], array['interrupted'])", task, fence)
    crew.records.open_gate("gate")
    assert crew.result(task) == "written"
    assert crew.engine.task(task)["attempt"] == 2
    assert _notes(crew, task) == ["lost"]
    assert worker.poll() is None
    assert crew.result(crew.enqueue(step, seq=1)) == 1


@BOTH
def test_a_transaction_cut_off_leaves_nothing_and_the_task_runs_again(crew: Crew, command: Any) -> None:
    """The connection breaks before the commit: the attempt is interrupted, and the next one gets a new connection."""
    task = crew.enqueue(command, note="cut", then="wait")
    crew.hire()
    wait_until(lambda: crew.engine.value(f"select count(*) from pg_stat_activity where {IN_TRANSACTION}"))
    crew.engine.value(f"select pg_terminate_backend(pid, 5000) from pg_stat_activity where {OWN}")
    crew.records.open_gate("gate")
    assert crew.result(task) == "written"
    assert _notes(crew, task) == ["cut"]
    assert _interruptions(crew, task) == 1
    assert [crew.result(crew.enqueue(command, note="next")) for _ in range(6)] == ["written"] * 6


@contextmanager
def _waiting_for_a_standby(crew: Crew) -> Iterator[None]:
    """Commits that ask for it wait for a standby that never comes: they are durable here, and get no answer."""
    name = crew.engine.value("select current_database()")
    crew.engine.conn.execute(f"alter database {name} set synchronous_commit = local")
    crew.engine.conn.execute("set synchronous_commit = local")
    crew.client.sync.close()
    crew.engine.conn.execute("alter system set synchronous_standby_names = 'nobody'")
    crew.engine.conn.execute("select pg_reload_conf()")
    try:
        yield
    finally:
        crew.engine.conn.execute("alter system reset synchronous_standby_names")
        crew.engine.conn.execute("select pg_reload_conf()")


def _cut_while(crew: Crew, condition: str) -> None:
    """Cut the handler's connection as soon as its backend waits for something."""
    ending = f"select pg_terminate_backend(pid) from pg_stat_activity where {condition} and {OWN}"
    wait_until(lambda: crew.engine.conn.execute(ending).rowcount == 1)


def test_a_commit_that_happened_without_an_answer_counts(crew: Crew) -> None:
    with _waiting_for_a_standby(crew):
        crew.hire()
        task = crew.enqueue(put, note="doubt", then="await_standby")
        _cut_while(crew, "wait_event = 'SyncRep'")
        assert crew.result(task) == "written"
    assert _notes(crew, task) == ["doubt"]
    assert crew.engine.task(task)["attempt"] == 1
    assert len(crew.records.spans("doubt")) == 1
    assert crew.engine.value("select count(*) from worker.attempt") == 0


def test_a_commit_that_did_not_happen_interrupts_the_attempt(crew: Crew) -> None:
    crew.engine.conn.execute(SLOW_COMMIT)
    crew.hire()
    task = crew.enqueue(put, note="doubt")
    _cut_while(crew, "wait_event = 'PgSleep'")
    wait_until(lambda: _interruptions(crew, task) == 1)
    assert _notes(crew, task) == []
    assert crew.result(task) == "written"
    assert _notes(crew, task) == ["doubt"]


def test_an_attempt_past_its_time_limit_can_write_no_more(crew: Crew) -> None:
    task = crew.enqueue(put_too_late, note="late")
    (worker,) = crew.hire()
    assert crew.result(task) == "late"
    crew.records.open_gate("late")
    wait_until(lambda: all(span.end < float("inf") for span in crew.records.spans("late")))
    assert [crew.result(crew.enqueue(put_plain, note="next")) for _ in range(6)] == ["written"] * 6
    assert _notes(crew, task) == ["late 2"]
    assert worker.poll() is None


def test_an_attempt_past_its_time_limit_cannot_begin_a_transaction(crew: Crew) -> None:
    task = crew.enqueue(begin_too_late, note="late")
    crew.hire()
    assert crew.result(task) == "late"
    wait_until(lambda: all(span.end < float("inf") for span in crew.records.spans("late")))
    assert [crew.result(crew.enqueue(put_plain, note="next")) for _ in range(6)] == ["written"] * 6
    assert _notes(crew, task) == ["late 2"]


def test_a_stopped_worker_in_its_transaction_commits_nothing_when_it_comes_back(crew: Crew) -> None:
    (paused,) = crew.hire(lease_seconds=1.5)
    task = crew.enqueue(put, note="paused", then="wait")
    wait_until(lambda: len(crew.records.spans("paused")) == 1)
    paused.send_signal(signal.SIGSTOP)
    crew.hire(lease_seconds=1.5)
    wait_until(lambda: len(crew.records.spans("paused")) == 2)
    crew.records.open_gate("gate")
    crew.result(task)
    paused.send_signal(signal.SIGCONT)
    wait_until(lambda: crew.records.spans("paused")[0].end < float("inf"))
    wait_until(lambda: crew.registered() == 2)
    assert _notes(crew, task) == ["paused"]
    assert crew.engine.task(task)["attempt"] == 2

"""process_tasks and drain: what one call runs, and when it commits."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import psycopg
import pytest
from psycopg import Connection

from tests.fixtures.engine import Engine
from tests.sql.support import message, python_work, start_work, wait_until

Connect = Callable[..., Connection]
CALL = "call worker.process_tasks(p_queue => 'work')"


def test_call_runs_top_level_tasks_until_one_opens_a_scope(engine: Engine) -> None:
    engine.enqueue(note="1")
    engine.enqueue(note="2", spawn=[{"note": "child"}])
    engine.enqueue(note="3")
    engine.process()
    assert engine.notes() == ["1", "2"]
    engine.process()
    assert engine.notes() == ["1", "2", "child", "3"]


def test_call_finishes_open_scopes_before_it_opens_another(engine: Engine) -> None:
    for n in (1, 2):
        engine.enqueue(note=f"parent {n}", spawn=[{"note": f"child {n}"}])
    engine.process()
    engine.process()
    assert engine.notes() == ["parent 1", "child 1", "parent 2"]
    engine.process()
    assert engine.notes()[-1] == "child 2"
    assert set(engine.states().values()) == {"completed"}
    engine.check()


def test_top_mode_runs_the_top_level_alone(engine: Engine) -> None:
    engine.enqueue(note="1")
    parent = engine.enqueue(note="2", spawn=[{"note": "child"}])
    engine.enqueue(note="3")
    engine.process(p_mode="top")
    assert engine.notes() == ["1", "2"]
    assert engine.process(p_mode="top") == []
    assert engine.state(parent) == "waiting"
    engine.check()


def test_child_mode_runs_children_alone(engine: Engine) -> None:
    engine.enqueue(note="parent", spawn=[{"note": "child", "sibling": [{"note": "sibling"}]}])
    engine.enqueue(note="next")
    assert engine.process(p_mode="child") == []
    engine.process(p_mode="top")
    engine.process(p_mode="child")
    assert engine.notes() == ["parent", "child", "sibling"]
    engine.check()


def test_batch_size_limits_the_number_of_tasks(engine: Engine) -> None:
    for n in range(5):
        engine.enqueue(note=str(n))
    assert len(engine.process(p_batch_size=2)) == 2
    assert len(engine.process(p_batch_size=10)) == 3
    assert engine.process(p_batch_size=0) == []


def test_runtime_limit_stops_between_tasks(engine: Engine) -> None:
    for _ in range(3):
        engine.enqueue(sleep=0.5)
    assert len(engine.process(p_max_runtime_ms=400)) == 1
    assert engine.process(p_max_runtime_ms=0) == []
    assert len(engine.process(p_max_runtime_ms=60_000)) == 2


def test_drain_runs_until_nothing_is_runnable(engine: Engine) -> None:
    engine.enqueue(note="1", spawn=[{"note": "2"}, {"note": "3"}], enqueue=[{"note": "4", "spawn": [{"note": "5"}]}])
    engine.value("select worker.enqueue('act', p_scheduled_at => worker.now() + interval '1 hour')")
    engine.drain()
    assert engine.notes() == ["1", "2", "3", "4", "5"]
    assert sorted(engine.states().values()) == ["completed"] * 5 + ["pending"]
    engine.check()


def test_drain_finds_what_is_in_front_of_a_remembered_position(engine: Engine) -> None:
    engine.queue("free", mode="concurrent")
    engine.command("carry", "free")
    engine.enqueue("carry", note="1")
    engine.conn.execute(
        """
        select set_config('worker.position_' || p.name, to_jsonb(p)::text, false)
          from worker.ready as r
         cross join lateral (select r.queue_id || 's' || r.tier as name, r.tier, r.band, r.rank, r.place,
                                    r.id + 1 as id, clock_timestamp() as looked_at, '1 hour' as cost,
                                    now() as published_at) as p
        """
    )
    engine.process("free")
    assert engine.notes() == []  # otherwise this test shows nothing
    engine.drain("free")
    assert engine.notes() == ["1"]


def test_call_without_a_queue_serves_all(engine: Engine) -> None:
    engine.queue("other")
    engine.command("elsewhere", "other")
    engine.enqueue(note="a", spawn=[{"note": "b"}])
    engine.enqueue("elsewhere", note="c", spawn=[{"command": "elsewhere", "note": "d"}])
    engine.drain(None)
    assert sorted(engine.notes()) == ["a", "b", "c", "d"]
    engine.check()


def test_call_on_an_empty_queue_does_nothing(engine: Engine) -> None:
    assert engine.process() == []


def test_call_tells_what_it_ran(engine: Engine) -> None:
    good, bad = engine.enqueue(), engine.enqueue(fail="no")
    ran = engine.process()
    assert [(t["id"], t["command"], t["state"], t["error"]) for t in ran] == [
        (good, "act", "completed", None),
        (bad, "act", "failed", "no"),
    ]
    assert all(t["duration_ms"] > 0 for t in ran)
    assert engine.process() == []


def test_python_task_at_the_head_of_a_serial_queue_stops_the_call_with_a_notice(engine: Engine) -> None:
    engine.command("other_kind", handler_kind="python")
    notices: list[str] = []
    engine.conn.add_notice_handler(lambda diag: notices.append(diag.message_primary or ""))
    engine.enqueue(note="before")
    task = engine.enqueue("other_kind")
    engine.enqueue(note="behind")
    engine.process()
    assert engine.notes() == ["before"]
    assert any(f"task {task} is next on its queue and has a Python handler" in n for n in notices)
    assert engine.state(task) == "pending"
    engine.check()


def test_sql_task_at_the_head_of_a_serial_queue_is_not_overtaken_by_python(engine: Engine) -> None:
    hand = python_work(engine, "serial")
    engine.command("in_sql")
    engine.enqueue("in_sql", note="first")
    task = engine.enqueue()
    assert hand.claim() == []
    engine.process()
    assert engine.notes() == ["first"]
    assert hand.claim_one().id == task


def test_python_tasks_of_a_concurrent_queue_are_left_alone(engine: Engine) -> None:
    hand = python_work(engine)
    engine.command("in_sql")
    task = engine.enqueue()
    engine.enqueue("in_sql", note="ran")
    engine.process()
    assert engine.notes() == ["ran"]
    assert hand.claim_one().id == task


def _track_transactions(engine: Engine) -> None:
    engine.conn.execute("alter table probe.effect add column xid xid8 default pg_current_xact_id()")


def _transactions(engine: Engine) -> int:
    return engine.value("select count(distinct xid) from probe.effect")


CALLERS: dict[str, Callable[[Connection[Any]], Any]] = {
    "plain": lambda conn: conn.execute(CALL),
    "with parameters": lambda conn: conn.execute("call worker.process_tasks(p_queue => %s)", ["work"]),
    "prepared": lambda conn: conn.execute("call worker.process_tasks(p_queue => %s)", ["work"], prepare=True),
    "binary": lambda conn: conn.execute("call worker.process_tasks(p_queue => %s)", ["work"], binary=True),
    "drain": lambda conn: conn.execute("call worker.drain('work')"),
    "in a DO block": lambda conn: conn.execute(f"do $$ begin {CALL}; end $$"),
}


@pytest.mark.parametrize("caller", CALLERS)
def test_call_in_autocommit_mode_commits_each_task(committed: Engine, caller: str) -> None:
    _track_transactions(committed)
    for n in range(3):
        committed.enqueue(note=str(n))
    CALLERS[caller](committed.conn)
    assert committed.notes() == ["0", "1", "2"]
    assert _transactions(committed) == 3
    committed.check()


def test_call_repeated_as_a_prepared_statement_still_commits_each_task(committed: Engine) -> None:
    _track_transactions(committed)
    for n in range(8):
        committed.enqueue(note=str(n))
        if n % 2:
            CALLERS["prepared"](committed.conn)
    assert _transactions(committed) == 8


def test_tasks_done_before_a_crash_stay_done(committed: Engine, connect: Connect) -> None:
    committed.conn.execute(
        """create procedure probe.crash(payload jsonb) language plpgsql as $$
           begin perform pg_terminate_backend(pg_backend_pid()); end; $$"""
    )
    committed.command("crash", handler_procedure="probe.crash")
    done, doomed, behind = committed.enqueue(note="done"), committed.enqueue("crash"), committed.enqueue(note="behind")
    with pytest.raises(psycopg.OperationalError):
        connect().execute(CALL)
    assert committed.notes() == ["done"]
    assert committed.states() == {done: "completed", doomed: "processing", behind: "pending"}
    while committed.value("select worker.reset_abandoned_processing_tasks()") == 0:
        pass
    assert committed.state(doomed) == "interrupted"
    committed.check()


def _one_string(conn: Connection[Any]) -> None:
    conn.execute(f"begin; {CALL}; rollback")


def _three_statements(conn: Connection[Any]) -> None:
    for statement in ("begin", CALL, "rollback"):
        conn.execute(statement)


def _transaction_block(conn: Connection[Any]) -> None:
    with conn.transaction(force_rollback=True):
        conn.execute(CALL)


def _savepoint(conn: Connection[Any]) -> None:
    with conn.transaction(), conn.transaction(force_rollback=True):
        conn.execute("call worker.process_tasks(p_queue => %s)", ["work"], prepare=True)


def _drained(conn: Connection[Any]) -> None:
    conn.execute("begin; call worker.drain('work'); rollback")


@pytest.mark.parametrize("roll_back", [_one_string, _three_statements, _transaction_block, _savepoint, _drained])
def test_call_inside_a_transaction_never_commits(
    committed: Engine, roll_back: Callable[[Connection[Any]], None]
) -> None:
    tasks = [committed.enqueue(note="undone", spawn=[{}]), committed.enqueue(note="undone")]
    before = committed.conn.execute("select * from worker.tasks order by id").fetchall()
    roll_back(committed.conn)
    assert committed.notes() == []
    assert list(committed.states()) == tasks
    assert committed.conn.execute("select * from worker.tasks order by id").fetchall() == before
    committed.check()
    committed.drain()
    assert set(committed.states().values()) == {"completed"}
    committed.check()


def test_call_with_autocommit_off_never_commits(committed: Engine, connect: Connect) -> None:
    task = committed.enqueue(note="undone")
    conn = connect(autocommit=False)
    assert [t["id"] for t in Engine(conn).process()] == [task]
    assert Engine(conn).state(task) == "completed"
    assert committed.state(task) == "pending"
    conn.rollback()
    assert committed.state(task) == "pending"
    assert committed.notes() == []
    Engine(conn).process()
    conn.commit()
    assert committed.notes() == ["undone"]
    committed.check()


def test_two_calls_in_one_string_are_one_transaction(committed: Engine) -> None:
    _track_transactions(committed)
    committed.enqueue(note="1", spawn=[{"note": "2"}])
    committed.conn.execute(f"{CALL}; {CALL}")
    assert committed.notes() == ["1", "2"]
    assert _transactions(committed) == 1
    committed.check()


def test_call_inside_a_function_never_commits(committed: Engine) -> None:
    _track_transactions(committed)
    committed.conn.execute(f"create function probe.run() returns void language plpgsql as $$ begin {CALL}; end; $$")
    for n in range(2):
        committed.enqueue(note=str(n))
    with committed.conn.transaction(force_rollback=True):
        committed.conn.execute("select probe.run()")
    assert committed.notes() == []
    committed.conn.execute("select probe.run()")
    assert committed.notes() == ["0", "1"]
    assert _transactions(committed) == 1
    committed.check()


def test_claim_of_a_call_that_was_broken_off_is_given_back_by_the_next_call_of_the_session(committed: Engine) -> None:
    task = committed.enqueue(note="ran")
    committed.conn.execute("select worker.begin_session('work', null)")
    committed.conn.execute("select worker.begin_tasks('work', 1, null)")
    assert committed.state(task) == "processing"
    committed.process()
    assert committed.notes() == ["ran"]
    assert committed.task(task)["attempt"] == 2
    committed.check()


def test_session_that_gave_up_its_locks_proves_its_life_again_at_the_next_call(
    committed: Engine, connect: Connect
) -> None:
    committed.process()
    committed.conn.execute("select pg_advisory_unlock_all()")
    committed.enqueue()
    committed.conn.execute("select worker.begin_session('work', null)")
    committed.conn.execute("select worker.begin_tasks('work', 1, null)")
    assert Engine(connect()).value("select worker.reset_abandoned_processing_tasks()") == 0


def test_handler_that_gives_up_all_advisory_locks_is_not_taken_for_dead(committed: Engine, connect: Connect) -> None:
    committed.conn.execute(
        """create procedure probe.unlock(payload jsonb) language plpgsql as $$
           begin
             perform pg_advisory_unlock_all();
             insert into probe.effect (note) values ('unlocked');
             perform pg_advisory_xact_lock((payload ->> 'key')::bigint);
           end; $$"""
    )
    committed.command("unlock", handler_procedure="probe.unlock")
    keys = [20260103, 20260104]
    holder, runner, watcher = connect(), connect(), Engine(connect())
    for key in keys:
        holder.execute("select pg_advisory_lock(%s)", [key])
    tasks = [committed.enqueue("unlock", key=key) for key in keys]
    thread = start_work(runner)
    for task, key in zip(tasks, keys, strict=True):
        waits = "select exists (select from pg_locks where pid = %s and not granted and objid = %s)"
        wait_until(watcher, waits, runner.info.backend_pid, key)
        assert watcher.value("select worker.reset_abandoned_processing_tasks()") == 0
        assert watcher.state(task) == "processing"
        holder.execute("select pg_advisory_unlock(%s)", [key])
    thread.join()
    assert [committed.task(task)["attempt"] for task in tasks] == [1, 1]
    committed.check()


def test_queue_is_served_by_name(engine: Engine) -> None:
    engine.queue("Ünusual name; --")
    engine.command("elsewhere", "Ünusual name; --")
    engine.enqueue("elsewhere", note="ran")
    engine.process("Ünusual name; --")
    assert engine.notes() == ["ran"]


def test_errors_of_a_call_say_what_was_wrong(committed: Engine) -> None:
    with pytest.raises(psycopg.Error) as error:
        committed.process("nowhere")
    assert message(error) == "unknown queue 'nowhere'"
    committed.enqueue(note="ran")
    committed.process()
    assert committed.notes() == ["ran"]

"""What a session sets about itself decides nothing: no setting gives a right, and a false one changes nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg
import pytest
from psycopg import Connection, sql

from tests.fixtures.engine import HANDLERS, Engine
from tests.fixtures.restart import restart
from tests.sql.support import python_work, start_work, wait_until

INSERT = "insert into worker.tasks (command, parent_id) values ('act', %s) returning id"


@pytest.fixture
def enqueuer(connect: Callable[..., Connection]) -> Iterator[Engine]:
    """A login that may make tasks and nothing else."""
    with logged_in(connect, "catchment_enqueue") as engine:
        yield engine


@contextmanager
def logged_in(connect: Callable[..., Connection], role: str) -> Iterator[Engine]:
    conn = connect()
    name = f"only_{role}_{conn.info.backend_pid}"
    conn.execute(sql.SQL("create role {} login in role {}").format(sql.Identifier(name), sql.Identifier(role)))
    try:
        with psycopg.connect(conn.info.dsn, user=name, autocommit=True) as own:
            yield Engine(own)
    finally:
        conn.execute(sql.SQL("drop role {}").format(sql.Identifier(name)))


def _set(engine: Engine, name: str, value: object) -> None:
    engine.value("select set_config(%s, %s, false)", name, str(value))


def _handler(engine: Engine, command: str, body: str) -> None:
    engine.conn.execute(
        sql.SQL("create procedure probe.{}(payload jsonb) language plpgsql as $$ begin {} end; $$").format(
            sql.Identifier(command),
            sql.SQL(body),  # type: ignore[arg-type]
        )
    )
    engine.command(command, handler_procedure=f"probe.{command}")


def _open_scope(engine: Engine) -> int:
    parent = engine.enqueue(spawn=[{"note": "early"}])
    engine.process()
    assert engine.state(parent) == "waiting"
    return parent


def _goes_on(engine: Engine) -> None:
    """Everything settles, and upkeep has nothing to complain about."""
    engine.drain()
    engine.value("select worker.upkeep()")
    engine.value("select worker.interrupt_orphans()")
    assert set(engine.states().values()) <= {"completed", "failed", "cancelled"}
    engine.check()


def test_forged_late_children_are_not_counted(committed: Engine, enqueuer: Engine) -> None:
    parent = _open_scope(committed)
    with enqueuer.conn.transaction():
        _set(enqueuer, "worker.late", f'{{"{parent}": 1000}}')
        enqueuer.value(INSERT, parent)
    assert committed.task(parent)["progress"]["total"] == 2
    committed.check()
    _goes_on(committed)
    assert committed.state(parent) == "completed"


def test_late_children_are_counted_though_the_note_is_cleared(committed: Engine, enqueuer: Engine) -> None:
    parent = _open_scope(committed)
    with enqueuer.conn.transaction():
        enqueuer.value(INSERT, parent)
        _set(enqueuer, "worker.late", "")
    assert committed.task(parent)["progress"]["total"] == 2
    _goes_on(committed)


def test_late_children_are_counted_at_once_where_constraints_are_immediate(committed: Engine) -> None:
    parent = committed.enqueue(child_mode="serial", spawn=[{"note": "a"}])
    committed.process()
    with committed.conn.transaction():
        committed.conn.execute("set constraints all immediate")
        for _ in range(2):
            committed.value(INSERT, parent)
        assert committed.task(parent)["progress"]["total"] == 3
        with committed.conn.transaction(force_rollback=True):
            committed.value(INSERT, parent)
        assert committed.task(parent)["progress"]["total"] == 3
    committed.check()
    _goes_on(committed)


def test_late_child_keeps_an_idle_serial_scope_going_where_constraints_are_immediate(engine: Engine) -> None:
    """The only child that is left is scheduled far away: the late one has its turn at once."""
    hand = python_work(engine)
    parent = engine.enqueue()
    hand.complete(
        hand.claim_one(),
        p_spawns=[{"command": "act", "scheduled_at": "2099-01-01T00:00:00Z"}],
        p_child_mode="serial",
    )
    engine.conn.execute("set constraints all immediate")
    late = engine.value(INSERT, parent)
    assert hand.claim_one().id == late
    engine.check()


def test_late_children_of_a_prepared_transaction_are_counted(own_server: tuple[str, Path]) -> None:
    dsn, data = own_server
    with psycopg.connect(dsn, autocommit=True) as conn:
        conn.execute("alter system set max_prepared_transactions = 2")
    restart(data, "fast")
    with psycopg.connect(dsn, autocommit=True) as conn:
        conn.execute(HANDLERS)
        engine = Engine(conn)
        engine.queue()
        engine.command()
        parent = _open_scope(engine)
        conn.execute("begin")
        engine.value(INSERT, parent)
        conn.execute("prepare transaction 'late'")
        conn.execute("commit prepared 'late'")
        assert engine.task(parent)["progress"]["total"] == 2
        _goes_on(engine)


def test_task_that_runs_elsewhere_gets_no_children_by_a_guessed_fence(committed: Engine, enqueuer: Engine) -> None:
    hand = python_work(committed)
    parent = committed.enqueue()
    claim = hand.claim_one()
    for fence in range(claim.fence - 2, claim.fence + 3):
        _set(enqueuer, "worker.task_id", parent)
        _set(enqueuer, "worker.task_fence", fence)
        with pytest.raises(psycopg.Error, match="only its own handler") as error:
            enqueuer.value(INSERT, parent)
        assert error.value.sqlstate == "CM005"
    hand.complete(claim)
    assert committed.children(parent) == []
    _goes_on(committed)


def test_session_of_a_worker_gets_no_offspring_into_a_handler_of_another(
    committed: Engine, connect: Callable[..., Connection]
) -> None:
    key = 20260101
    _handler(committed, "linger", f"perform pg_advisory_xact_lock({key});")
    task = committed.enqueue("linger")
    committed.conn.execute("select pg_advisory_lock(%s)", [key])
    runner = connect()
    thread = start_work(runner)
    wait_until(committed, "select exists (select from worker.tasks where id = %s and state = 'processing')", task)
    fence = committed.value("select fence from worker.running where id = %s", task)
    backend = committed.value("select backend_key from worker.running where id = %s", task)
    with logged_in(connect, "catchment_worker") as forger:
        forger.process("maintenance")  # draws a key of its own
        for name, value in (
            ("task_id", task),
            ("task_fence", fence),
            ("backend_key", backend),
            ("busy", f"{task}/{fence}"),
        ):
            _set(forger, f"worker.{name}", value)
        try:
            for statement in ("select worker.spawn_child('act')", "select worker.follow_up('act')"):
                with pytest.raises(psycopg.Error, match=r"own handler|no handler is running"):
                    forger.conn.execute(statement)  # type: ignore[arg-type]
            forger.process("maintenance")
            assert committed.state(task) == "processing", "the attempt of another session was given back"
        finally:
            committed.conn.execute("select pg_advisory_unlock(%s)", [key])
            thread.join()
    assert committed.state(task) == "completed"
    _goes_on(committed)


@pytest.mark.parametrize("forged", ["", '{"1": {}}', "nonsense"])
def test_handler_that_overwrites_what_it_made_still_waits_for_its_children(committed: Engine, forged: str) -> None:
    _handler(
        committed,
        "forge",
        f"""call worker.spawn('act', p_child_mode => 'serial'); call worker.spawn('act');
            perform worker.follow_up('act');
            perform set_config('worker.offspring', '{forged}', true), set_config('worker.late', '', true);""",
    )
    task = committed.enqueue("forge")
    committed.process()
    assert committed.state(task) == "waiting"
    assert committed.task(task)["child_mode"] == "serial"
    committed.check()
    committed.drain()
    assert set(committed.states().values()) == {"completed"}
    assert len(committed.states()) == 4
    committed.check()


def test_handler_that_resets_all_settings_loses_nothing(committed: Engine) -> None:
    _handler(
        committed,
        "forget",
        "perform worker.follow_up('act'); call worker.spawn('act'); execute 'reset all';"
        " perform worker.spawn_child('act', p_parent_id => id) from worker.tasks"
        "   where command = 'forget' and state = 'processing';"
        " execute 'reset all';",
    )
    tasks = [committed.enqueue("forget") for _ in range(2)]
    _goes_on(committed)
    assert [committed.state(task) for task in tasks] == ["completed", "completed"]
    assert [len(committed.children(task)) for task in tasks] == [2, 2]


def test_sibling_spawned_with_a_cleared_note_keeps_its_scope_open(committed: Engine) -> None:
    _handler(
        committed,
        "sibling",
        "call worker.spawn('act', p_parent_id => worker.current_parent_id()); execute 'reset all';",
    )
    parent = committed.enqueue(spawn=[{"command": "sibling"}])
    _goes_on(committed)
    assert committed.state(parent) == "completed"
    assert len(committed.children(parent)) == 2


def test_handler_cannot_run_tasks_though_it_says_it_is_none(committed: Engine) -> None:
    _handler(
        committed,
        "nested",
        "execute 'reset all'; perform set_config('worker.task_id', '', true);"
        " call worker.process_tasks(p_queue => 'work');",
    )
    task = committed.enqueue("nested")
    committed.enqueue()
    committed.process()
    assert committed.state(task) == "failed"
    assert "cannot run other tasks" in committed.task(task)["error"]
    _goes_on(committed)


def test_session_that_says_it_is_in_a_handler_runs_tasks(committed: Engine) -> None:
    _set(committed, "worker.task_id", 1)
    committed.enqueue()
    _goes_on(committed)


def test_attempt_of_a_broken_call_is_given_back_though_the_session_forgot_it(committed: Engine) -> None:
    task = committed.enqueue()
    committed.conn.execute("select worker.begin_session('work', null)")
    committed.conn.execute("select worker.begin_tasks('work', 1, null)")
    committed.conn.execute("reset all")
    committed.process()
    assert committed.state(task) == "completed"
    assert committed.task(task)["attempt"] == 2
    committed.check()


def test_clock_is_not_moved_by_a_login_that_only_enqueues(committed: Engine, enqueuer: Engine) -> None:
    _set(enqueuer, "worker.now", "2001-01-01")
    task = enqueuer.value("select worker.enqueue('act', p_scheduled_at => '2002-01-01')")
    assert enqueuer.value("select worker.now() > now() - interval '1 minute'")
    assert committed.value("select created_at > now() - interval '1 minute' from worker.tasks where id = %s", task)
    _goes_on(committed)


def test_clock_is_moved_by_a_login_that_runs_tasks(committed: Engine, connect: Callable[..., Connection]) -> None:
    with logged_in(connect, "catchment_worker") as engine:
        _set(engine, "worker.now", "2001-01-01 00:00:00+00")
        assert engine.value("select worker.now() = '2001-01-01 00:00:00+00'")
    committed.check()


@pytest.mark.parametrize(
    "value",
    [
        "nonsense",
        "{}",
        "(1,2)",
        '{"name": "1s1", "tier": 9, "band": 9, "rank": 9, "place": 9, "id": 9, "looked_at": "2999-01-01",'
        ' "cost": "1 year"}',
    ],
)
def test_forged_positions_hide_no_task(committed: Engine, value: str) -> None:
    parent = _open_scope(committed)
    for queue in committed.conn.execute("select queue_id from worker.queue_registry").fetchall():
        for name in ("s0", "s1", "p"):
            _set(committed, f"worker.position_{queue[0]}{name}", value)
    _set(committed, "worker.scope_at", f"{parent}/{value}")
    committed.enqueue()
    _goes_on(committed)


def test_children_made_in_slices_keep_their_scope_whatever_ends_the_task(engine: Engine) -> None:
    hand = python_work(engine)
    engine.queue("other", mode="concurrent")
    engine.command("other", "other", handler_kind="python")
    tasks = [engine.enqueue("other") for _ in range(2)]
    for way in ('complete_task(%s, %s, p_follow_ups => \'[{"command": "act"}]\')', "complete_task(%s, %s)"):
        claim = hand.claim_one("other")
        spawn = 'select worker.spawn_children(%s, %s, \'[{"command": "act", "payload": {}}]\', \'serial\')'
        engine.conn.execute(spawn, [claim.id, claim.fence])
        engine.conn.execute(spawn, [claim.id, claim.fence])
        fast = "select worker.complete_tasks(array[%s::bigint], array[%s::bigint])"
        assert engine.value(fast, claim.id, claim.fence) == []
        assert engine.value(f"select worker.{way}", claim.id, claim.fence) == "waiting"
    assert [engine.task(task)["child_mode"] for task in tasks] == ["serial", "serial"]
    engine.check()

"""Roles: what each may do and may not, and that no function can be led astray by a search path."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from tests.fixtures.engine import Engine
from tests.sql.support import refused

# They commit, so they have no SET clause; they call everything by its full name and run as their caller.
COMMITTING = {"process_tasks", "drain", "run_tasks", "run_handler", "run_hook", "run_after_calls", "run_before"} | {
    "forget_settings",
    "run_batch",
    "run_batched",
    "call_handler",
}
ROLES = ("catchment_enqueue", "catchment_worker", "catchment_read")
DENIED = "42501"


@contextmanager
def acting(engine: Engine, role: str) -> Iterator[None]:
    """Be this role, and it alone, as after a login."""
    user = f"user_of_{role}"
    engine.conn.execute(f"create role {user} login in role {role}")
    engine.conn.execute(f"set local session authorization {user}")
    yield
    engine.conn.execute("reset session authorization")


def _denied(engine: Engine, *statements: str) -> None:
    for statement in statements:
        with refused(engine, DENIED):
            engine.conn.execute(statement)


def test_enqueue_makes_tasks_in_every_way(engine: Engine) -> None:
    with acting(engine, "catchment_enqueue"):
        engine.value("select worker.enqueue('act')")
        engine.value("select worker.enqueue('act', p_lane => 'a', p_scheduled_at => worker.now() + interval '1 hour')")
        engine.value("select worker.enqueue_many('act', array['{}', '{}']::jsonb[])")
        engine.value("insert into worker.tasks (command, payload, priority) values ('act', '{}', 5) returning id")
        with engine.conn.cursor().copy("copy worker.tasks (command, payload) from stdin") as copy:
            copy.write_row(("act", "{}"))
        assert engine.value("select count(id) from worker.tasks where command = 'act' and state = 'pending'") == 6
    engine.check()


def test_enqueue_may_spawn_into_an_open_scope(engine: Engine) -> None:
    parent = engine.enqueue(spawn=[{}])
    engine.process()
    with acting(engine, "catchment_enqueue"):
        engine.value("insert into worker.tasks (command, parent_id) values ('act', %s) returning id", parent)
        engine.conn.execute("set constraints all immediate")
    engine.check()


def test_enqueue_may_do_nothing_else(engine: Engine) -> None:
    task = engine.enqueue(secret="s")  # noqa: S106
    with acting(engine, "catchment_enqueue"):
        _denied(
            engine,
            "select payload from worker.tasks",
            "update worker.tasks set priority = 1",
            "update worker.tasks set state = 'cancelled'",
            "delete from worker.tasks",
            "insert into worker.tasks (command, state) values ('act', 'completed')",
            f"select worker.cancel({task})",
            f"select worker.retry({task})",
            "select worker.claim_tasks(1, '{work}', 1)",
            "select worker.pause_queue('work')",
            "call worker.process_tasks(p_queue => 'work')",
            "select worker.insert_task('act', '{}', 1, null, null)",
            "select worker.settle('{1}', '{1}', '{completed}')",
            "select * from worker.command_registry",
            "insert into worker.task (command) values ('act')",
            "select * from worker.ready",
        )


def test_read_looks_at_everything(engine: Engine) -> None:
    task = engine.enqueue(lane="a", note="x", fail="no")
    engine.process()
    with acting(engine, "catchment_read"):
        assert engine.task(task)["payload"] == {"note": "x", "fail": "no"}
        for relation in (
            "lanes",
            "queues",
            "queue_registry",
            "command_registry",
            "schedule",
            "attempt",
            "warning",
            "worker",
        ):
            engine.conn.execute(f"select * from worker.{relation}")
        engine.check()
        assert not engine.value("select worker.has_pending_children(%s)", task)
        assert not engine.value("select worker.has_failed_siblings(%s)", task)


def test_read_changes_nothing(engine: Engine) -> None:
    task = engine.enqueue()
    with acting(engine, "catchment_read"):
        _denied(
            engine,
            "insert into worker.tasks (command) values ('act')",
            "update worker.tasks set priority = 1",
            "delete from worker.tasks",
            "select worker.enqueue('act')",
            f"select worker.cancel({task})",
            f"select worker.retry({task})",
            "call worker.process_tasks(p_queue => 'work')",
            "select worker.pause_queue('work')",
            "select worker.claim_tasks(1, '{work}', 1)",
            "update worker.queue_registry set paused_at = now()",
            "delete from worker.attempt",
        )


def test_worker_runs_every_kind_of_task(engine: Engine) -> None:
    engine.conn.execute(
        """create procedure probe.join(payload jsonb) language sql as
             $$ insert into probe.effect (note) values ('joined') $$;
           create procedure probe.hook(payload jsonb) language sql as
             $$ insert into probe.effect (note) values ('hook') $$"""
    )
    engine.command("whole", join_procedure="probe.join", before_procedure="probe.hook", after_procedure="probe.hook")
    engine.command("by_hand", "work", handler_kind="python")
    with acting(engine, "catchment_worker"):
        engine.enqueue(
            "whole", spawn=[{"note": "child", "sibling": [{"note": "sibling"}]}], follow_up=[{"note": "after"}]
        )
        engine.drain()
        assert engine.notes() == ["hook", "child", "sibling", "joined", "hook", "after"]
        worker = engine.value("select worker_id from worker.register_worker('w')")
        task = engine.enqueue("by_hand")
        fence = engine.value("select fence from worker.claim_tasks(%s, '{work}', 1)", worker)
        assert engine.value("select worker.complete_task(%s, %s)", task, fence) == "completed"
        engine.check()


def test_worker_operates_tasks_and_queues(engine: Engine) -> None:
    with acting(engine, "catchment_worker"):
        task = engine.enqueue(fail="no")
        engine.process()
        engine.value("select worker.retry(%s)", task)
        engine.value("select worker.cancel(%s)", task)
        engine.value("select worker.pause_queue('work')")
        engine.value("select worker.resume_queue('work')")
        engine.value("select worker.upkeep()")
        engine.value("select worker.age_ready()")
        engine.value("select worker.chores()")
        engine.value("select worker.fire_schedule(name) from worker.due_schedules()")
        engine.process("maintenance")
        engine.check()


def test_worker_does_not_reach_the_stored_tables(engine: Engine) -> None:
    task = engine.enqueue()
    with acting(engine, "catchment_worker"):
        _denied(
            engine,
            "insert into worker.task (command) values ('act')",
            "update worker.task set payload = '{}'",
            "delete from worker.ready",
            "update worker.scope set state = 'completed'",
            f"insert into worker.outcome (id, state, attempt, completed_at) values ({task}, 'completed', 1, now())",
            "update worker.queue_registry set mode = 'concurrent'",
            "insert into worker.command_registry (command, queue, handler_procedure) values ('x', 'work', 'x')",
            "select worker.insert_task('act', '{}', 1, null, null)",
            "select worker.write_outcomes(null)",
            "select worker.delete_settled(now(), now(), 1)",
            "drop table worker.task",
        )


def test_stranger_reaches_nothing(engine: Engine) -> None:
    engine.conn.execute("create role stranger login")
    engine.conn.execute("set local session authorization stranger")
    _denied(
        engine,
        "select * from worker.tasks",
        "select worker.enqueue('act')",
        "call worker.process_tasks(p_queue => 'work')",
        "select worker.now()",
    )
    engine.conn.execute("reset session authorization")


def test_handlers_run_with_the_rights_of_the_worker_role(engine: Engine) -> None:
    engine.conn.execute(
        """create table probe.private (n int);
           create procedure probe.trespass(payload jsonb) language sql as $$ insert into probe.private values (1) $$;
           create procedure probe.who(payload jsonb) language plpgsql as $$
           begin insert into probe.effect (note) values (current_user); end; $$"""
    )
    engine.command("trespass", handler_procedure="probe.trespass")
    engine.command("who", handler_procedure="probe.who")
    with acting(engine, "catchment_worker"):
        trespass, _ = engine.enqueue("trespass"), engine.enqueue("who")
        engine.process()
        assert engine.task(trespass)["error_detail"]["kind"] == DENIED
    assert engine.notes() == ["user_of_catchment_worker"]


def test_functions_cannot_be_led_astray_by_a_search_path(engine: Engine) -> None:
    rows = engine.conn.execute(
        """select p.proname, p.prosecdef,
                  exists (select from unnest(p.proconfig) as c where c = 'search_path=pg_catalog, pg_temp') as is_fixed,
                  p.prosqlbody is not null as is_parsed
             from pg_proc as p where p.pronamespace = 'worker'::regnamespace"""
    ).fetchall()
    loose = {name for name, _, is_fixed, is_parsed in rows if not (is_fixed or is_parsed)}
    assert loose == COMMITTING
    assert [name for name, definer, is_fixed, _ in rows if definer and not is_fixed] == []


def test_committing_procedures_run_as_their_caller(engine: Engine) -> None:
    rows = engine.conn.execute(
        "select proname, prosecdef, proconfig from pg_proc"
        " where pronamespace = 'worker'::regnamespace and proname = any (%s)",
        [sorted(COMMITTING)],
    ).fetchall()
    assert {name for name, *_ in rows} == COMMITTING
    assert [row for row in rows if row[1] or row[2]] == []


def test_hostile_search_path_changes_nothing(engine: Engine) -> None:
    trap = "language plpgsql as $$ begin raise exception 'led astray'; end $$"
    engine.conn.execute(
        "create schema hostile; create table hostile.task (id int); create table hostile.ready (id int)"
    )
    for function in (
        "now() returns timestamptz",
        "clock_timestamp() returns timestamptz",
        "random() returns float8",
        "round(numeric, integer) returns numeric",
        "octet_length(text) returns integer",
        "set_config(text, text, boolean) returns text",
        "current_setting(text, boolean) returns text",
        "pg_sleep(float8) returns void",
        "jsonb_typeof(jsonb) returns text",
        "hashtextextended(text, bigint) returns bigint",
        "pg_backend_pid() returns integer",
    ):
        engine.conn.execute(f"create function hostile.{function} {trap}")
    engine.command("sturdy", max_attempts=2)
    engine.conn.execute("set local search_path = hostile, pg_catalog")
    task = engine.enqueue(spawn=[{"note": "child"}], follow_up=[{"note": "after"}])
    engine.enqueue("sturdy", fail="no")
    engine.process(p_max_runtime_ms=60_000)
    engine.drain()
    assert engine.state(task) == "completed"
    assert engine.value("select count(*) from probe.effect where note is not null") == 2
    engine.check()


def test_everything_belongs_to_the_owner_role(engine: Engine) -> None:
    strangers = engine.conn.execute(
        """select relname from pg_class
            where relnamespace = 'worker'::regnamespace and relowner <> 'catchment_owner'::regrole
           union all
           select proname from pg_proc
            where pronamespace = 'worker'::regnamespace and proowner <> 'catchment_owner'::regrole"""
    ).fetchall()
    assert strangers == []


@pytest.mark.parametrize("role", [*ROLES, "catchment_owner"])
def test_roles_cannot_log_in_by_themselves(engine: Engine, role: str) -> None:
    assert engine.conn.execute("select rolcanlogin, rolsuper from pg_roles where rolname = %s", [role]).fetchone() == (
        False,
        False,
    )

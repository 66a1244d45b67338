"""What a handler sets in the session of a worker ends with the handler; other sessions are not changed."""

from __future__ import annotations

import pytest

from tests.fixtures.engine import Engine

SHOWN = ("statement_timeout", "search_path", "work_mem", "default_transaction_read_only", "my.own", "DateStyle")
LEAK = """
create procedure probe.leak(payload jsonb) language plpgsql as $$
begin
  set statement_timeout = '77s';
  set search_path = probe, public;
  perform set_config('work_mem', '77MB', false), set_config('my.own', 'leaked', false);
  set session characteristics as transaction read only;
  set datestyle = 'German';
  if payload ? 'fail' then
    raise exception 'it fails';
  end if;
end; $$;
create procedure probe.look(payload jsonb) language plpgsql as $$
begin
  insert into probe.effect (note)
  select string_agg(coalesce(current_setting(n, true), ''), '|' order by o)
    from unnest(%s::text[]) with ordinality as u (n, o);
end; $$;
create procedure probe.become(payload jsonb) language plpgsql as $$
begin
  insert into probe.effect (note) values ('became');
  if payload ? 'login' then
    set session authorization other_user;
  else
    set role other_user;
  end if;
end; $$;
create procedure probe.who(payload jsonb) language plpgsql as $$
begin
  insert into probe.effect (note) values (session_user || '/' || current_user);
end; $$;
"""


@pytest.fixture
def worker(committed: Engine) -> Engine:
    """A session of a worker, and handlers that set things and look at them."""
    committed.conn.execute(LEAK.replace("%s", "'{" + ",".join(SHOWN) + "}'"))  # type: ignore[arg-type]
    for name in ("leak", "look", "become", "who"):
        committed.command(name, handler_procedure=f"probe.{name}")
    committed.conn.execute(
        "select set_config('worker.worker_id', worker_id::text, false) from worker.register_worker('w')"
    )
    return committed


def _look(engine: Engine) -> list[str]:
    """What the handlers that look saw since the last call."""
    notes = engine.notes()
    engine.conn.execute("truncate probe.effect")
    return notes


@pytest.mark.parametrize("payload", [{}, {"fail": True}])
def test_settings_of_a_handler_do_not_reach_the_next_of_its_batch_nor_of_the_next_call(
    worker: Engine, payload: dict[str, bool]
) -> None:
    worker.enqueue("look")
    worker.process()
    (clean,) = _look(worker)
    worker.enqueue("leak", **payload)
    worker.enqueue("look")
    worker.process(p_batch_size=2)
    worker.enqueue("look")
    worker.process()
    assert _look(worker) == [clean, clean]
    assert worker.value("select current_setting('worker.worker_id')") != ""
    worker.check()


def test_settings_of_hooks_do_not_reach_the_next_task(worker: Engine) -> None:
    worker.command(
        "hooked", handler_procedure="probe.note", before_procedure="probe.leak", after_procedure="probe.leak"
    )
    worker.enqueue("look")
    worker.process()
    (clean,) = _look(worker)
    worker.conn.execute(
        "create or replace procedure probe.leak(payload jsonb) language plpgsql as"
        " $$ begin perform set_config('my.own', 'leaked', false); end; $$"
    )
    worker.enqueue("hooked")
    worker.enqueue("look")
    worker.drain()
    assert _look(worker) == [clean]


@pytest.mark.parametrize("payload", [{}, {"login": True}])
@pytest.mark.parametrize("is_worker", [True, False])
def test_handler_that_becomes_another_user_does_so_for_itself_alone(
    worker: Engine, payload: dict[str, bool], is_worker: bool
) -> None:
    worker.conn.execute("create role other_user")
    try:
        if not is_worker:
            worker.conn.execute("reset worker.worker_id")
        task = worker.enqueue("become", **payload)
        worker.enqueue("who")
        worker.process()
        assert worker.state(task) == "completed", worker.task(task)["error"]
        assert _look(worker) == ["became", "postgres/postgres"]
        assert worker.value("select session_user || '/' || current_user") == "postgres/postgres"
    finally:
        worker.conn.execute("drop role other_user")


@pytest.mark.parametrize("payload", [{}, {"login": True}])
@pytest.mark.parametrize("is_worker", [True, False])
def test_hook_that_becomes_another_user_does_so_for_itself_alone(
    worker: Engine, payload: dict[str, bool], is_worker: bool
) -> None:
    worker.conn.execute("create role other_user")
    worker.command(
        "hooked", handler_procedure="probe.who", before_procedure="probe.become", after_procedure="probe.become"
    )
    try:
        if not is_worker:
            worker.conn.execute("reset worker.worker_id")
        task = worker.enqueue("hooked", **payload)
        worker.drain()
        assert worker.state(task) == "completed", worker.task(task)["error"]
        assert _look(worker) == ["became", "postgres/postgres", "became"]
        assert worker.value("select count(*) from worker.warning") == 0
        assert worker.value("select session_user || '/' || current_user") == "postgres/postgres"
    finally:
        worker.conn.execute("drop role other_user")


def test_settings_of_a_before_hook_do_not_reach_its_task(worker: Engine) -> None:
    worker.command("hooked", handler_procedure="probe.look", before_procedure="probe.leak")
    worker.enqueue("look")
    worker.process()
    (clean,) = _look(worker)
    task = worker.enqueue("hooked")
    worker.process()
    assert worker.state(task) == "completed", worker.task(task)["error"]
    assert _look(worker) == [clean]


def test_session_of_a_caller_keeps_what_handlers_and_itself_set(worker: Engine) -> None:
    worker.conn.execute("reset worker.worker_id")
    worker.conn.execute("set my.own = 'mine'")
    worker.enqueue("look")
    worker.process()
    assert _look(worker)[0].split("|")[4] == "mine"
    assert worker.value("select current_setting('my.own')") == "mine"


def test_commit_of_a_handler_is_as_durable_as_it_says(worker: Engine) -> None:
    worker.conn.execute(
        """create procedure probe.hasty(payload jsonb) language plpgsql as $$
           begin
             set local synchronous_commit = off;
             insert into probe.effect (note) values ('ran');
           end; $$;
           create function probe.seen() returns trigger language plpgsql as $$
           begin
             perform set_config('my.seen', current_setting('synchronous_commit'), false);
             return null;
           end; $$;
           create constraint trigger seen after insert on probe.effect
             deferrable initially deferred for each row execute function probe.seen()"""
    )
    worker.command("hasty", handler_procedure="probe.hasty")
    worker.enqueue("hasty")
    worker.process()
    assert _look(worker) == ["ran"]
    assert worker.value("select current_setting('synchronous_commit')") == "on"

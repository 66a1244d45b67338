"""Tasks of brief commands share a transaction, and none of them can tell.

Whether tasks really meet in a batch depends on how fast the machine is. So each test states what holds in any case, and
``one_batch`` claims several tasks at once, whatever the session knows about their command.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from psycopg import Connection

from tests.fixtures.engine import Engine
from tests.fixtures.server import Connect
from tests.fixtures.worker import wait_until
from tests.sql.support import SIGNAL

HANDLERS = """
create table probe.shared (task_id bigint, xact xid8, note text);
create table probe.hot (id integer primary key, n integer not null default 0);
insert into probe.hot values (1), (2);
create procedure probe.brief(payload jsonb) language plpgsql as $$
begin
  if payload ? 'gate' then
    perform pg_advisory_xact_lock((payload ->> 'gate')::bigint);
  end if;
  insert into probe.shared values (worker.current_task_id(), pg_current_xact_id(), payload ->> 'note');
  if payload ? 'hot' then
    begin
      update probe.hot set n = n + 1 where id = (payload ->> 'hot')::integer;
    exception
      when others then
        insert into probe.shared values (worker.current_task_id(), pg_current_xact_id(), 'swallowed ' || sqlerrm);
    end;
  end if;
  if payload ? 'spawn' then
    call worker.spawn('brief', '{"note": "child"}');
  end if;
  if payload ? 'reads' then
    set transaction read only;
  end if;
  if payload ? 'fail' then
    raise exception 'it fails';
  end if;
  if payload ? 'snooze' then
    perform worker.snooze('1 hour');
  end if;
end; $$;
create procedure probe.leaky(payload jsonb) language plpgsql as $$
begin
  insert into probe.shared values (worker.current_task_id(), pg_current_xact_id(),
                                   current_setting('my.own', true) || '/' || current_setting('lock_timeout') || '/'
                                   || current_setting('synchronous_commit'));
  perform set_config('my.own', 'leaked', true), set_config('synchronous_commit', 'off', true);
end; $$;
create procedure probe.scratch(payload jsonb) language plpgsql as $$
begin
  create temporary table if not exists scratch (n integer) on commit delete rows;
  insert into scratch values (1);
  insert into probe.shared
  select worker.current_task_id(), pg_current_xact_id(), (select count(*) from scratch)::text;
end; $$;
"""
# What run_tasks does, for tasks of a command that the session takes for brief.
BATCH = """
do $do$
declare
  v_pace  jsonb := '{"brief": [0, 4], "leaky": [0, 4], "scratch": [0, 4], "act": [0, 4]}';
  v_done  jsonb := '[]';
  v_count integer := 0;
  v_limit integer := %(size)s;
  v_alone integer := 0;
  v_opens boolean := false;
  v_hooks boolean;
  v_runs  worker.sql_run[];
begin
  perform worker.begin_session('many', null);
  v_runs := array(select b from worker.begin_tasks('many', 1, null, false, v_limit) as b);
  commit;
  call worker.run_batch(v_runs, worker.session_hints('many'), null, v_pace, v_done, v_count, v_limit, v_alone, v_opens,
                        v_hooks);
end; $do$
"""

WAITS = "select exists (select from pg_locks where locktype = 'advisory' and not granted)"


@pytest.fixture
def worker(committed: Engine) -> Engine:
    """A session of a worker, and a concurrent queue with brief commands."""
    committed.conn.execute(HANDLERS)
    committed.queue("many", mode="concurrent")
    for name in ("brief", "leaky", "scratch"):
        committed.command(name, "many", handler_procedure=f"probe.{name}")
    _become_worker(committed.conn)
    return committed


def _become_worker(conn: Connection[Any]) -> None:
    conn.execute("select set_config('worker.worker_id', worker_id::text, false) from worker.register_worker('w')")


def one_batch(conn: Connection[Any], size: int) -> None:
    conn.execute(BATCH % {"size": size})  # type: ignore[arg-type]


@contextmanager
def in_thread(conn: Connection[Any], size: int) -> Iterator[threading.Thread]:
    """A batch that runs beside the test."""
    thread = threading.Thread(target=one_batch, args=(conn, size))
    thread.start()
    try:
        yield thread
    finally:
        thread.join()


def _transactions(engine: Engine) -> int:
    return engine.value("select count(distinct xact) from probe.shared")


def _effects(engine: Engine) -> list[tuple[int, int]]:
    """Tasks that had an effect, and how often."""
    return engine.conn.execute("select task_id, count(*) from probe.shared group by 1 order by 1").fetchall()


def test_brief_tasks_share_a_transaction_and_each_has_its_effect(worker: Engine) -> None:
    for n in range(60):
        worker.enqueue("brief", note=f"{n}")
    processed = worker.process("many")
    assert [p["state"] for p in processed] == ["completed"] * 60
    assert len(_effects(worker)) == 60
    for _ in range(100):  # a machine under load may find no handler brief
        if _transactions(worker) < worker.value("select count(*) from probe.shared"):
            break
        for _n in range(20):
            worker.enqueue("brief")
        worker.process("many")
    else:
        pytest.fail("no two tasks have shared a transaction")
    worker.check()


def test_failed_one_fails_alone(worker: Engine) -> None:
    tasks = [worker.enqueue("brief", **({"fail": True} if n % 3 == 1 else {})) for n in range(9)]
    one_batch(worker.conn, 9)
    worker.drain("many")
    assert [worker.state(t) for t in tasks] == ["completed", "failed", "completed"] * 3
    assert _effects(worker) == [(t, 1) for n, t in enumerate(tasks) if n % 3 != 1]
    assert {worker.task(t)["attempt"] for t in tasks} == {1}
    assert worker.value("select count(*) from worker.attempt") == 3
    worker.check()


def test_one_that_makes_its_transaction_read_only_fails_as_it_does_alone(worker: Engine) -> None:
    before, reads, after = worker.enqueue("brief"), worker.enqueue("brief", reads=True), worker.enqueue("brief")
    one_batch(worker.conn, 3)
    worker.drain("many")
    assert [worker.state(t) for t in (before, reads, after)] == ["completed", "failed", "completed"]
    assert worker.value("select error ->> 'kind' from worker.outcome where id = %s", reads) == "25006"
    assert _effects(worker) == [(before, 1), (after, 1)]
    worker.check()


def test_one_that_snoozes_leaves_its_neighbours_alone(worker: Engine) -> None:
    before, snoozes, after = worker.enqueue("brief"), worker.enqueue("brief", snooze=True), worker.enqueue("brief")
    one_batch(worker.conn, 3)
    worker.drain("many")
    assert [worker.state(t) for t in (before, snoozes, after)] == ["completed", "pending", "completed"]
    assert _effects(worker) == [(before, 1), (after, 1)]
    worker.check()


def test_what_a_handler_sets_for_its_transaction_ends_with_the_handler(worker: Engine) -> None:
    usual = worker.value("select current_setting('synchronous_commit')")
    for _ in range(3):
        worker.enqueue("leaky")
    one_batch(worker.conn, 3)
    worker.drain("many")
    notes = [r[0] for r in worker.conn.execute("select note from probe.shared")]
    # In a batch, all but the first wait for locks only so long.
    assert {(n.split("/")[0], n.split("/")[2]) for n in notes if n} <= {("", usual)}
    assert len(notes) == 3
    assert worker.value("select current_setting('lock_timeout')") == "0"


def test_rows_of_a_temporary_table_are_not_seen_by_the_next_handler(worker: Engine) -> None:
    for _ in range(4):
        worker.enqueue("scratch")
    one_batch(worker.conn, 4)
    worker.drain("many")
    assert [r[0] for r in worker.conn.execute("select note from probe.shared")] == ["1"] * 4


@pytest.mark.parametrize("why", ["command", "constraint", "isolation", "no worker"])
def test_where_it_could_be_seen_each_task_has_its_own_transaction(worker: Engine, connect: Connect, why: str) -> None:
    match why:
        case "command":
            worker.conn.execute("update worker.command_registry set is_batched = false")
        case "constraint":
            worker.conn.execute("alter table probe.hot add unique (n, id) deferrable")
        case "isolation":
            worker = Engine(connect(options="-c default_transaction_isolation=repeatable\\ read"))
            _become_worker(worker.conn)
        case _:
            worker.conn.execute("reset worker.worker_id")
    for _ in range(30):
        worker.enqueue("brief")
    worker.drain("many")
    assert _transactions(worker) == 30
    worker.check()


def test_error_that_a_batch_has_caused_is_never_the_outcome(worker: Engine, connect: Connect) -> None:
    """A handler in a batch waits for a lock only so long; one that catches the error of that is undone."""
    holder = connect()
    holder.execute("begin")
    holder.execute("update probe.hot set n = n where id = 1")
    first, second = worker.enqueue("brief"), worker.enqueue("brief", hot=1)
    one_batch(worker.conn, 2)
    other = Engine(connect())
    assert other.state(first) == "completed"  # its commit did not wait for the lock
    assert other.task(second)["attempt"] == 0
    holder.execute("commit")
    worker.drain("many")
    assert _effects(worker) == [(first, 1), (second, 1)]
    assert worker.value("select n from probe.hot where id = 1") == 1
    worker.check()


def test_lost_claim_undoes_the_batch_and_each_runs_alone(worker: Engine, connect: Connect) -> None:
    other = Engine(connect())
    other.conn.execute("select pg_advisory_lock(42)")
    tasks = [worker.enqueue("brief", gate=42), worker.enqueue("brief"), worker.enqueue("brief")]
    with in_thread(worker.conn, 3):
        wait_until(lambda: other.value("select count(*) = 3 from worker.running"))
        wait_until(lambda: other.value(WAITS))
        fence = other.value("select fence from worker.running where id = %s", tasks[0])
        other.conn.execute(
            "select worker.settle(array[%s::bigint], array[%s::bigint], array['interrupted'])", [tasks[0], fence]
        )
        other.conn.execute("select pg_advisory_unlock(42)")
    worker.drain("many")
    assert [worker.state(t) for t in tasks] == ["completed"] * 3
    assert _effects(worker) == [(t, 1) for t in tasks]
    assert [worker.task(t)["attempt"] for t in tasks] == [2, 1, 1]
    worker.check()


def test_cancel_of_a_task_in_a_batch_spares_the_one_that_runs(worker: Engine, connect: Connect) -> None:
    other = Engine(connect())
    other.conn.execute("select pg_advisory_lock(42)")
    runs, waits = worker.enqueue("brief", gate=42), worker.enqueue("brief")
    with in_thread(worker.conn, 2):
        wait_until(lambda: other.value("select count(*) = 2 from worker.running"))
        wait_until(lambda: other.value(WAITS))
        assert other.value("select worker.cancel(%s)", waits) == "cancelling"
        other.conn.execute(SIGNAL)
    other.conn.execute("select pg_advisory_unlock(42)")
    worker.drain("many")
    assert (worker.state(runs), worker.state(waits)) == ("completed", "cancelled")
    assert _effects(worker) == [(runs, 1)]
    assert worker.task(runs)["attempt"] == 1
    worker.check()


def test_killed_batch_is_interrupted_once_and_then_runs_one_by_one(worker: Engine, connect: Connect) -> None:
    other = Engine(connect())
    other.conn.execute("select pg_advisory_lock(42)")
    tasks = [worker.enqueue("brief", gate=42), worker.enqueue("brief"), worker.enqueue("brief")]
    victim = connect()
    _become_worker(victim)
    pid = victim.info.backend_pid

    def broken() -> None:
        with pytest.raises(Exception, match=r"terminat|closed"):
            one_batch(victim, 3)

    thread = threading.Thread(target=broken)
    thread.start()
    wait_until(lambda: other.value("select count(*) = 3 from worker.running"))
    other.conn.execute("select pg_terminate_backend(%s, 60000)", [pid])
    thread.join()
    other.conn.execute("select pg_advisory_unlock(42)")
    assert other.value("select worker.reset_abandoned_processing_tasks()") == 3
    assert [worker.state(t) for t in tasks] == ["interrupted"] * 3
    one_batch(worker.conn, 3)  # claims them, and gives them back: they have been tried
    assert {worker.task(t)["attempt"] for t in tasks} == {1}
    worker.drain("many")
    assert [worker.state(t) for t in tasks] == ["completed"] * 3
    assert _transactions(worker) == 3
    assert {worker.task(t)["attempt"] for t in tasks} == {2}
    worker.check()


def test_call_that_was_broken_off_gives_back_all_that_it_claimed(worker: Engine) -> None:
    tasks = [worker.enqueue("brief") for _ in range(3)]
    worker.conn.execute("select worker.begin_session('many', null)")
    worker.conn.execute("select worker.begin_tasks('many', 1, null, false, 3)")
    assert worker.value("select count(*) from worker.running") == 3
    worker.drain("many")
    assert {worker.task(t)["attempt"] for t in tasks} == {2}
    assert _effects(worker) == [(t, 1) for t in tasks]


def test_call_without_mode_ends_with_the_first_task_that_opens_a_scope(worker: Engine) -> None:
    worker.conn.execute("""select set_config('worker.pace', '{"brief": [0, 4]}', false)""")
    tasks = [worker.enqueue("brief", **({"spawn": True} if n == 5 else {})) for n in range(12)]
    worker.process("many")
    states = [worker.state(t) for t in tasks]
    assert states == ["completed"] * 5 + ["waiting"] + ["pending"] * 6
    worker.drain("many")
    assert {worker.state(t) for t in tasks} == {"completed"}
    worker.check()


@pytest.mark.parametrize("text", ["", "nonsense", "[1]", '{"brief": [-1, 0]}', '{"brief": ["x"]}', '{"brief": 1e999}'])
def test_whatever_a_session_says_about_the_pace_tasks_run(worker: Engine, text: str) -> None:
    worker.value("select set_config('worker.pace', %s, false)", text)
    tasks = [worker.enqueue("brief") for _ in range(3)]
    worker.process("many")
    assert {worker.state(t) for t in tasks} == {"completed"}


def test_limits_are_not_used_up_by_tasks_that_wait_in_a_batch(worker: Engine) -> None:
    worker.conn.execute("update worker.queue_registry set max_running = 3 where queue = 'many'")
    for _ in range(3):
        worker.enqueue("brief")
    worker.conn.execute("select worker.begin_session('many', null)")
    worker.conn.execute("select worker.begin_tasks('many', 1, null, false, 3)")
    assert worker.value("select count(*) from worker.running") == 1

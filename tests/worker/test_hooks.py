"""Hooks of Python commands: before each attempt with its claim, after the task has settled, without delaying others."""

from __future__ import annotations

import signal
from collections.abc import Iterator

import psycopg
import pytest
from psycopg.conninfo import make_conninfo

from tests.fixtures.often import some
from tests.fixtures.worker import wait_until
from tests.worker import probe
from tests.worker.app import hold, step
from tests.worker.crew import Crew

# payload.key chooses what a hook does: "raise" and "hang" with the hook's name, else it only notes that it ran.
HOOKS = """
create table probe.hook (
  name text, payload jsonb, who text default current_user, xid xid8 default pg_current_xact_id(),
  at timestamptz default clock_timestamp());
create procedure probe.act(hook text, payload jsonb) language plpgsql as $$
begin
  insert into probe.hook (name, payload) values (hook, payload);
  case payload ->> 'key'
    when 'raise ' || hook then raise exception 'bad hook';
    when 'hang ' || hook then perform pg_sleep(600);
    when 'wait ' || hook then perform pg_advisory_xact_lock(7);
    else null;
  end case;
end $$;
create procedure probe.before(payload jsonb) language sql as $$ call probe.act('before', payload) $$;
create procedure probe.after(payload jsonb) language sql as $$ call probe.act('after', payload) $$;
grant usage on schema probe to public;
grant insert, select on probe.hook to public;
update worker.command_registry set before_procedure = 'probe.before', after_procedure = 'probe.after';
"""


@pytest.fixture
def hooked(crew: Crew) -> Crew:
    """Every command of the app has both hooks, set in SQL; no worker runs yet."""
    crew.engine.conn.execute(HOOKS)
    return crew


def _hooks(crew: Crew, task: int | None = None) -> list[str]:
    sql = "select name from probe.hook where (payload ->> 'seq')::bigint = %s::bigint or %s::bigint is null order by at"
    return [row[0] for row in crew.engine.conn.execute(sql, [task, task])]


def _warnings(crew: Crew) -> list[tuple[str, str]]:
    return crew.engine.conn.execute("select source, message from worker.warning order by at").fetchall()


def _is_done(crew: Crew) -> bool:
    """Everything has settled, and no after hook is due."""
    return crew.engine.value(
        "select not exists (select from worker.tasks where state not in ('completed', 'failed', 'cancelled'))"
        " and not worker.has_after_calls()"
    )


def test_hooks_run_around_a_python_task_and_survive_registration(hooked: Crew) -> None:
    hooked.hire()
    hooked.enqueue(step, key="a", seq=1)
    wait_until(lambda: _is_done(hooked))
    assert _hooks(hooked) == ["before", "after"]
    assert _warnings(hooked) == []
    xids = hooked.engine.conn.execute("select distinct xid from probe.hook").fetchall()
    assert len(xids) == 2
    # The worker has registered its commands meanwhile: what SQL says about hooks stays.
    registered = "select distinct before_procedure, after_procedure from worker.command_registry where queue = 'work'"
    assert hooked.engine.conn.execute(registered).fetchall() == [("probe.before", "probe.after")]


@pytest.mark.parametrize("is_known", some([True, False], one_in=2))
def test_the_before_hook_commits_with_the_claim(hooked: Crew, is_known: bool) -> None:
    """Also one that was added while the worker ran."""
    hook = "update worker.command_registry set before_procedure = %s"
    if not is_known:
        hooked.engine.conn.execute(hook, [None])
    hooked.hire()
    hooked.result(hooked.enqueue(step, key="a", seq=1))
    if not is_known:
        hooked.engine.conn.execute(hook, ["probe.before"])
    task = hooked.enqueue(hold, seq=2)
    wait_until(lambda: _hooks(hooked, 2))
    claimed_in = hooked.engine.value("select xmin::text from worker.running where id = %s", task)
    hook_in = "select (xid::text::bigint %% (1::bigint << 32))::text from probe.hook where payload ->> 'seq' = '2'"
    assert hooked.engine.value(hook_in) == claimed_in
    assert hooked.engine.task(task)["attempt"] == 1
    hooked.records.open_gate("gate")
    wait_until(lambda: _is_done(hooked))


def test_before_runs_at_each_attempt_and_after_once(hooked: Crew) -> None:
    hooked.hire()
    hooked.client.sync.enqueue("flaky", {"failures": 2})
    wait_until(lambda: _is_done(hooked))
    assert _hooks(hooked) == ["before", "before", "before", "after"]


@pytest.mark.long
def test_each_task_of_a_lane_has_its_hooks(hooked: Crew) -> None:
    hooked.hire()
    for seq in range(6):
        hooked.enqueue(step, key="a", seq=seq, lane="a")
    wait_until(lambda: _is_done(hooked))
    for seq in range(6):
        assert sorted(_hooks(hooked, seq)) == ["after", "before"]
    hooked.engine.check()


def test_a_deduplicated_task_has_its_hooks(hooked: Crew) -> None:
    hooked.engine.conn.execute("update worker.command_registry set dedup = '{}' where command = 'step'")
    with hooked.engine.conn.transaction():
        hooked.engine.conn.execute("insert into worker.tasks (command) values ('step'), ('step')")
    # Registering would take the dedup back that the app does not declare, so the task is claimed by hand.
    worker_id = hooked.engine.value("select worker_id from worker.register_worker('hand', p_has_lock => false)")
    claims = hooked.engine.conn.execute(
        "select before_procedure from worker.claim_tasks(%s, '{work}', 10)", [worker_id]
    ).fetchall()
    assert claims == [("probe.before",)]


SETS = """
create table probe.seen (hook text, settings text);
create procedure probe.note_and_set(hook text) language plpgsql as $$
begin
  insert into probe.seen select hook, string_agg(coalesce(current_setting(n, true), ''), '|' order by n)
    from unnest('{{search_path,work_mem,my.own,DateStyle,TimeZone,lock_timeout}}'::text[]) as n;
  set search_path = probe, public;
  set datestyle = 'German';
  set timezone = 'Asia/Tokyo';
  set lock_timeout = '77s';
  perform set_config('work_mem', '77MB', false), set_config('my.own', 'leaked', false);
  set session characteristics as transaction read only;
  set transaction read only;
end $$;
create procedure probe.before_setting(payload jsonb) language sql as $$ call probe.note_and_set('before') $$;
create procedure probe.after_setting(payload jsonb) language sql as $$ call probe.note_and_set('after') $$;
update worker.command_registry set {hook}_procedure = 'probe.{hook}_setting';
"""


@pytest.mark.parametrize("hook", some(["before", "after"], one_in=2))
def test_what_a_hook_sets_ends_with_it(crew: Crew, hook: str) -> None:
    """Neither the hook of the next task sees it, in the same claim or a later one, nor do claims."""
    crew.engine.conn.execute(SETS.format(hook=hook))
    crew.engine.value("select worker.pause_queue('work')")
    crew.enqueue_many(step, [{"key": "a", "seq": n} for n in range(5)], by_key=False)
    crew.engine.value("select worker.resume_queue('work')")
    crew.hire()
    wait_until(lambda: _is_done(crew))
    crew.result(crew.enqueue(step, key="a", seq=6))
    wait_until(lambda: _is_done(crew))
    assert _warnings(crew) == []
    assert crew.engine.value("select count(*) from probe.seen") == 6
    ((settings,),) = crew.engine.conn.execute("select distinct settings from probe.seen").fetchall()
    assert "77" not in settings
    assert "leaked" not in settings


@pytest.mark.parametrize("hook", ["before", "after"])
def test_a_hook_that_raises_is_a_recorded_warning(hooked: Crew, hook: str) -> None:
    hooked.hire()
    task = hooked.enqueue(step, key=f"raise {hook}")
    wait_until(lambda: _is_done(hooked))
    assert hooked.engine.state(task) == "completed"
    assert _warnings(hooked) == [(hook, "bad hook")]


def test_the_after_hook_of_a_task_cancelled_unstarted_runs(hooked: Crew) -> None:
    task = hooked.enqueue(step, key="a")
    hooked.client.sync.task(task).cancel()
    hooked.hire()
    wait_until(lambda: _is_done(hooked))
    assert hooked.engine.state(task) == "cancelled"
    assert _hooks(hooked) == ["after"]


@pytest.mark.long
def test_an_after_hook_of_a_command_that_has_none_any_more_is_dropped(hooked: Crew) -> None:
    task = hooked.enqueue(step, key="a")
    hooked.client.sync.task(task).cancel()
    hooked.engine.conn.execute("update worker.command_registry set before_procedure = null, after_procedure = null")
    hooked.hire()
    wait_until(lambda: _is_done(hooked))
    assert (_hooks(hooked), _warnings(hooked)) == ([], [])


def test_a_hanging_before_hook_is_cut_off_and_its_task_runs(hooked: Crew) -> None:
    hooked.hire()
    task = hooked.enqueue(step, key="hang before")
    other = hooked.enqueue(step, key="a")
    wait_until(lambda: _is_done(hooked), seconds=60)
    assert {hooked.engine.state(t) for t in (task, other)} == {"completed"}
    ((source, message),) = _warnings(hooked)
    assert source == "before"
    assert "statement timeout" in message


@pytest.mark.long
def test_a_hanging_after_hook_holds_nothing_up_and_is_cut_off(hooked: Crew) -> None:
    hooked.hire(hook_limit_seconds=8)
    hooked.enqueue(step, key="hang after")
    wait_until(lambda: _is_under_way(hooked))
    # Meanwhile claims and upkeep continue.
    later = hooked.engine.value(
        "select worker.enqueue('step', '{}', p_scheduled_at => worker.now() + interval '1 second')"
    )
    wait_until(lambda: hooked.engine.state(later) == "completed")
    assert _warnings(hooked) == []
    wait_until(lambda: _is_done(hooked), seconds=60)
    ((source, message),) = _warnings(hooked)
    assert source == "after"
    assert "statement timeout" in message


def _is_under_way(crew: Crew) -> bool:
    """Does an after hook wait for something?"""
    return crew.engine.value(
        "select exists (select from pg_stat_activity where datname = current_database()"
        " and application_name = 'catchment hooks' and wait_event in ('PgSleep', 'advisory'))"
    )


@pytest.mark.parametrize("number", some([signal.SIGKILL, signal.SIGTERM], one_in=2))
def test_an_after_hook_that_its_worker_did_not_finish_runs_again(hooked: Crew, db: str, number: signal.Signals) -> None:
    with psycopg.connect(db) as holder:
        holder.execute("select pg_advisory_xact_lock(7)")
        (first,) = hooked.hire()
        task = hooked.enqueue(step, key="wait after")
        wait_until(lambda: _is_under_way(hooked))
        first.send_signal(number)
        assert first.wait(timeout=60) == (0 if number == signal.SIGTERM else -number)
        hooked.workers.remove(first)
        hooked.hire()
        holder.rollback()
    wait_until(lambda: _is_done(hooked), seconds=60)
    assert hooked.engine.state(task) == "completed"
    assert "after" in _hooks(hooked)
    assert _warnings(hooked) == []


@pytest.fixture
def login(hooked: Crew, db: str) -> Iterator[str]:
    """A login that may do what a worker does, and no more."""
    name = f"worker_{hooked.engine.value('select current_database()')}"
    hooked.engine.conn.execute(f"create role {name} login in role catchment_worker")
    yield name
    hooked.engine.conn.execute(f"drop owned by {name}; drop role {name}")


def test_hooks_run_with_the_rights_of_the_worker(hooked: Crew, db: str, login: str) -> None:
    worker = hooked.launch(
        "--app",
        "tests.worker.app:app",
        dsn=make_conninfo(db, user=login),
        settings={probe.FOLDER: str(hooked.records.folder)},
    )
    hooked.enqueue(step, key="a")
    wait_until(lambda: _is_done(hooked) and len(_hooks(hooked)) == 2)
    assert hooked.engine.conn.execute("select distinct who from probe.hook").fetchall() == [(login,)]
    worker.send_signal(signal.SIGTERM)
    assert worker.wait(timeout=60) == 0


def test_a_worker_that_stops_when_idle_runs_the_hooks_first(hooked: Crew) -> None:
    hooked.enqueue(step, key="a")
    settings = {probe.FOLDER: str(hooked.records.folder)}
    worker = hooked.launch("--app", "tests.worker.app:app", "--stop-when-idle", settings=settings)
    assert worker.wait(timeout=60) == 0
    assert _hooks(hooked) == ["before", "after"]
    assert not hooked.engine.value("select worker.has_after_calls()")

"""Hooks: one before each attempt, with its claim; one after the task has settled, by itself; neither in the way."""

from __future__ import annotations

import pytest

from tests.fixtures.engine import Engine
from tests.sql.support import FLAKY, advance_clock, python_work

# The hooks note what they are and the transaction they run in; payload.hook makes one raise.
HOOKS = """
create table probe.hook (
  name text, payload jsonb, xid xid8 default pg_current_xact_id(), at timestamptz default clock_timestamp());
create procedure probe.before(payload jsonb) language plpgsql as $$
begin
  insert into probe.hook values ('before', payload);
  if payload ->> 'hook' = 'before' then raise exception 'bad hook'; end if;
end; $$;
create procedure probe.after(payload jsonb) language plpgsql as $$
begin
  insert into probe.hook values ('after', payload);
  if payload ->> 'hook' = 'after' then raise exception 'bad hook'; end if;
end; $$;
"""


def _hooked(engine: Engine, **options: object) -> Engine:
    engine.conn.execute(HOOKS)
    engine.command("hooked", **({"before_procedure": "probe.before", "after_procedure": "probe.after"} | options))
    return engine


@pytest.fixture
def hooked(engine: Engine) -> Engine:
    return _hooked(engine)


def _hooks(engine: Engine) -> list[str]:
    return [row[0] for row in engine.conn.execute("select name from probe.hook order by at")]


def _warnings(engine: Engine) -> list[tuple[int, str, str]]:
    return engine.conn.execute("select task_id, source, message from worker.warning order by at").fetchall()


def test_hooks_run_around_the_handler_with_its_payload(hooked: Engine) -> None:
    hooked.enqueue("hooked", note="ran", n=7)
    hooked.process()
    assert _hooks(hooked) == ["before", "after"]
    assert hooked.value("select count(*) from probe.hook where payload ->> 'n' = '7'") == 2
    times = hooked.conn.execute("select at from probe.hook union all select at from probe.effect order by 1").fetchall()
    ran = hooked.value("select at from probe.effect")
    assert times[1][0] == ran


def test_before_hook_runs_at_each_attempt_and_after_hook_once(engine: Engine) -> None:
    engine.conn.execute(FLAKY)
    _hooked(engine, handler_procedure="probe.flaky", max_attempts=3)
    engine.enqueue("hooked", fail_times=2)
    for _ in range(3):
        engine.process()
        advance_clock(engine, "2 minutes")
    assert _hooks(engine) == ["before", "before", "before", "after"]
    engine.check()


def test_what_the_before_hook_wrote_stays_when_the_handler_fails(hooked: Engine) -> None:
    task = hooked.enqueue("hooked", fail="no")
    hooked.process()
    assert hooked.state(task) == "failed"
    assert _hooks(hooked) == ["before", "after"]


def test_before_hook_commits_with_the_claim_and_after_hook_by_itself(committed: Engine) -> None:
    _hooked(committed)
    committed.conn.execute("alter table probe.effect add column xid xid8 default pg_current_xact_id()")
    committed.enqueue("hooked")
    committed.process()
    xids = committed.conn.execute(
        "select xid from (select xid, at from probe.hook union all select xid, at from probe.effect) as x order by at"
    ).fetchall()
    assert len(set(xids)) == 3


def test_after_hook_of_a_parent_runs_after_its_children(hooked: Engine) -> None:
    hooked.enqueue("hooked", spawn=[{"note": "child"}, {"note": "child"}])
    hooked.process()
    assert _hooks(hooked) == ["before"]
    hooked.process()
    assert _hooks(hooked) == ["before", "after"]
    assert hooked.value("select max(e.at) < (select at from probe.hook where name = 'after') from probe.effect as e")


def test_after_hook_of_a_parent_is_not_part_of_its_last_childs_transaction(committed: Engine) -> None:
    _hooked(committed)
    committed.conn.execute("alter table probe.effect add column xid xid8 default pg_current_xact_id()")
    committed.enqueue("hooked", spawn=[{"note": "child"}])
    committed.drain()
    assert committed.value(
        "select not exists (select from probe.effect as e join probe.hook as h on h.xid = e.xid where h.name = 'after')"
    )


@pytest.mark.parametrize("end", ["failed", "cancelled", "failed by a child"])
def test_after_hook_runs_however_the_task_settled(hooked: Engine, end: str) -> None:
    options = {"failed": {"fail": "no"}, "cancelled": {}, "failed by a child": {"spawn": [{"fail": "no"}]}}[end]
    task = hooked.enqueue("hooked", **options)
    if end == "cancelled":
        hooked.value("select worker.cancel(%s)", task)
    hooked.drain()
    assert hooked.state(task) in ("failed", "cancelled")
    assert _hooks(hooked)[-1] == "after"
    hooked.check()


def test_after_hook_of_a_task_settled_elsewhere_is_run_by_the_next_call(engine: Engine) -> None:
    engine.conn.execute(HOOKS)
    hand = python_work(engine, after_procedure="probe.after")
    engine.queue("other")
    engine.enqueue()
    hand.complete(hand.claim_one())
    assert _hooks(engine) == []
    engine.process("other")
    assert _hooks(engine) == ["after"]
    engine.process("other")
    assert _hooks(engine) == ["after"]


@pytest.mark.parametrize("hook", ["before", "after"])
def test_hook_that_raises_is_a_recorded_warning_and_changes_no_state(hooked: Engine, hook: str) -> None:
    task = hooked.enqueue("hooked", note="ran", hook=hook)
    hooked.enqueue("hooked", note="next")
    hooked.process()
    assert hooked.notes() == ["ran", "next"]
    assert hooked.state(task) == "completed"
    assert _warnings(hooked) == [(task, hook, "bad hook")]
    assert hooked.value("select count(*) from probe.hook where payload ->> 'hook' = %s and name = %s", hook, hook) == 0
    hooked.check()


@pytest.mark.parametrize("hook", ["before", "after"])
def test_hook_that_does_not_exist_is_a_recorded_warning(engine: Engine, hook: str) -> None:
    engine.command("hooked", **{f"{hook}_procedure": "probe.nowhere"})
    task = engine.enqueue("hooked")
    engine.process()
    assert engine.state(task) == "completed"
    assert _warnings(engine) == [(task, hook, "procedure probe.nowhere does not exist")]
    engine.check()


@pytest.mark.parametrize("hook", ["before", "after"])
def test_hook_that_commits_is_a_recorded_warning(committed: Engine, hook: str) -> None:
    committed.conn.execute("create procedure probe.rash(payload jsonb) language plpgsql as $$ begin commit; end; $$")
    committed.command("hooked", **{f"{hook}_procedure": "probe.rash"})
    task = committed.enqueue("hooked")
    committed.process()
    assert committed.state(task) == "completed"
    assert _warnings(committed) == [(task, hook, "invalid transaction termination")]
    committed.check()


@pytest.mark.parametrize("hook", ["before", "after"])
def test_hook_that_violates_a_deferred_constraint_is_a_recorded_warning(committed: Engine, hook: str) -> None:
    committed.conn.execute(
        """create table probe.parent (id int primary key);
           create table probe.child (id int references probe.parent deferrable initially deferred);
           create procedure probe.rash(payload jsonb) language sql as $$ insert into probe.child values (1) $$"""
    )
    committed.command("hooked", **{f"{hook}_procedure": "probe.rash"})
    task = committed.enqueue("hooked", note="ran")
    committed.enqueue(note="next")
    committed.process()
    assert committed.notes() == ["ran", "next"]
    ((warned, source, text),) = _warnings(committed)
    assert (warned, source) == (task, hook)
    assert "violates foreign key constraint" in text
    committed.check()


def test_join_has_no_separate_before_hook(engine: Engine) -> None:
    engine.conn.execute(
        """create procedure probe.join(payload jsonb) language sql as $$
           insert into probe.effect (note) values ('joined') $$"""
    )
    _hooked(engine, join_procedure="probe.join")
    engine.enqueue("hooked", spawn=[{"note": "child"}])
    engine.drain()
    assert engine.notes() == ["child", "joined"]
    assert _hooks(engine) == ["before", "after"]
    engine.check()

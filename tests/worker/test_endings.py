"""Ends of attempts reach the database whatever becomes of it, and one that it cannot take harms no other."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from tests.fixtures.often import some
from tests.fixtures.server import Connect
from tests.fixtures.worker import wait_until
from tests.worker.app import hold, hold_tree, spawn_lots, step
from tests.worker.crew import Crew

REFUSE = """
create function probe.refuse() returns trigger language plpgsql as $$
begin
  if (select t.payload ->> 'key' from worker.task as t where t.id = new.id) = 'refused' {condition} then
    raise exception using errcode = '{state}', message = 'not this one';
  end if;
  return new;
end $$;
create trigger refuse before insert on worker.outcome for each row execute function probe.refuse();
"""


@contextmanager
def _read_only(crew: Crew) -> Iterator[None]:
    """The server takes no writes from anybody, sessions that exist included."""
    crew.engine.conn.execute("alter system set default_transaction_read_only = on")
    crew.engine.conn.execute("select pg_reload_conf()")
    try:
        yield
    finally:
        crew.engine.conn.execute("set default_transaction_read_only = off")
        crew.engine.conn.execute("alter system reset default_transaction_read_only")
        crew.engine.conn.execute("select pg_reload_conf()")


def test_a_read_only_server_delays_work_and_ends_no_worker(crew: Crew) -> None:
    (worker,) = crew.hire(lease_seconds=1.5)
    tasks = crew.enqueue_many(hold, [{"seq": n} for n in range(20)], by_key=False)
    wait_until(lambda: len(crew.records.spans()) == 20)
    silent = "select clock_timestamp() - seen_at > %s::interval from worker.worker"
    with _read_only(crew):
        # Sessions learn of it one after the other: not before the first heartbeats were refused.
        wait_until(lambda: crew.engine.value(silent, "1500 milliseconds"))
        crew.records.open_gate("gate")
        # Longer than a lease: heartbeats, upkeep, claims and endings have all been refused by then.
        wait_until(lambda: crew.engine.value(silent, "4 seconds"))
        assert crew.engine.value("select count(*) from worker.outcome") == 0
    crew.wait_settled(20)
    assert crew.states() == {"completed": 20}
    assert [crew.result(task) for task in tasks] == list(range(20))
    assert crew.result(crew.enqueue(step, seq=7)) == 7
    assert worker.poll() is None
    wait_until(lambda: crew.engine.value("select lease_until > clock_timestamp() from worker.worker"))
    crew.engine.check()


@pytest.mark.parametrize("state", some(["54000", "23514"], one_in=2))
def test_an_ending_that_the_database_refuses_fails_alone(crew: Crew, state: str) -> None:
    """Whatever it was asked to be, its outcome is completed: that is refused, its failure is not."""
    condition = "and new.state = 'completed'"
    crew.engine.conn.execute(REFUSE.format(state=state, condition=condition))
    crew.engine.value("select worker.pause_queue('work')")
    bad = crew.enqueue(step, key="refused")
    others = crew.enqueue_many(step, [{"key": "fine", "seq": n} for n in range(30)], by_key=False)
    crew.engine.value("select worker.resume_queue('work')")
    crew.hire()
    crew.wait_settled(31)
    assert crew.engine.state(bad) == "failed"
    assert "not this one" in crew.engine.task(bad)["error"]
    assert [crew.result(task) for task in others] == list(range(30))


def test_an_ending_that_the_database_cannot_take_for_now_is_recorded_later(crew: Crew) -> None:
    crew.engine.conn.execute(REFUSE.format(state="53100", condition=""))
    (worker,) = crew.hire()
    late = crew.enqueue(step, key="refused", seq=3)
    others = crew.enqueue_many(step, [{"key": "fine", "seq": n} for n in range(30)], by_key=False)
    assert [crew.result(task) for task in others] == list(range(30))
    assert crew.engine.state(late) == "processing"
    assert [e["level"] for e in crew.logged("tasks.deferred") if "not this one" in e["error"]][:1] == ["warning"]
    crew.engine.conn.execute("drop trigger refuse on worker.outcome")
    assert crew.result(late) == 3
    assert crew.engine.task(late)["attempt"] == 1
    assert worker.poll() is None


@pytest.mark.long
def test_a_session_that_holds_a_scope_holds_up_no_other_task(crew: Crew, connect: Connect) -> None:
    crew.hire()
    tree = crew.enqueue(hold_tree, count=3)
    wait_until(lambda: crew.engine.state(tree) == "waiting")
    with connect(autocommit=False) as stranger:
        stranger.execute("select from worker.scope where id = %s for update", [tree])
        crew.records.open_gate("gate")
        others = crew.enqueue_many(step, [{"key": "fine", "seq": n} for n in range(30)], by_key=False)
        assert [crew.result(task) for task in others] == list(range(30))
        assert crew.engine.state(tree) == "waiting"
    assert crew.result(tree) == 3
    assert crew.states() == {"completed": 34}


def test_spawns_go_in_slices_and_open_one_scope(crew: Crew) -> None:
    crew.hire()
    task = crew.enqueue(spawn_lots, count=12_001)
    assert crew.result(task, timeout=90) == 12_001
    assert (
        crew.engine.value(
            "select count(*), min(xmin::text) = max(xmin::text) from worker.task"
            " where parent_id = %s group by parent_id",
            task,
        )
        == 12_001
    )
    crew.engine.check()


def test_slices_that_are_refused_in_the_middle_leave_nothing(crew: Crew) -> None:
    crew.engine.conn.execute(
        "create function probe.refuse() returns trigger language plpgsql as $$ begin"
        " if new.payload ->> 'n' = '11000' then raise exception 'not this one'; end if; return new; end $$;"
        "create trigger refuse before insert on worker.task for each row execute function probe.refuse()"
    )
    crew.hire()
    task = crew.enqueue(spawn_lots, count=12_000)
    wait_until(lambda: crew.engine.state(task) == "failed", seconds=60)
    assert "not this one" in crew.engine.task(task)["error"]
    assert crew.engine.value("select count(*) from worker.task") == 1
    assert crew.result(crew.enqueue(step, seq=5)) == 5

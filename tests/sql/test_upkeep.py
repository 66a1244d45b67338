"""Upkeep with one bad item in each of its steps: the others are done, the bad one is named and tried again."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from typing import Any

import psycopg
import pytest
from psycopg import Connection

from catchment.store.task import diagnose
from tests.fixtures.engine import Engine
from tests.sql.support import Hand, advance_clock, enqueue_in, python_work, start_work, stop_clock, wait_until

Connect = Callable[..., Connection[Any]]

# A row that cannot be written, as after a fault of the disk or a restore. The arguments name the column and its value.
POISON = """
create function probe.poison() returns trigger language plpgsql as $$
begin
  if to_jsonb(new) ->> tg_argv[0] = tg_argv[1] then
    raise exception 'this row is poisoned';
  end if;
  return new;
end; $$
"""


@pytest.fixture
def poisoned(engine: Engine) -> Engine:
    """The engine with a clock that stands still, no schedule, and a way to spoil rows."""
    stop_clock(engine)
    engine.conn.execute("delete from worker.schedule")
    engine.conn.execute(POISON)
    return engine


def poison(engine: Engine, table: str, column: str, value: object) -> None:
    engine.conn.execute(
        f"create trigger poison before insert or update on worker.{table} for each row"
        f" execute function probe.poison('{column}', '{value}')"  # type: ignore[arg-type]
    )


def cure(engine: Engine, table: str) -> None:
    """The row is well again, and the time to try it again has come."""
    engine.conn.execute(f"drop trigger poison on worker.{table}")  # type: ignore[arg-type]
    advance_clock(engine, "10 minutes")


def upkeep(engine: Engine) -> dict[str, Any]:
    return engine.value("select worker.upkeep()")


def troubles(engine: Engine) -> list[tuple[str, str]]:
    return engine.conn.execute("select step, item from worker.trouble order by step, item").fetchall()


def named(engine: Engine) -> list[str]:
    """What doctor says about upkeep."""
    return [f["subject"] for f in diagnose(engine.conn) if f["subject"].startswith("upkeep")]


def works_again(engine: Engine, table: str) -> None:
    cure(engine, table)
    upkeep(engine)
    assert troubles(engine) == []
    assert named(engine) == []
    engine.check()


def test_one_task_that_cannot_be_promoted_does_not_hold_up_the_others(poisoned: Engine) -> None:
    tasks = [enqueue_in(poisoned, "1 hour") for _ in range(3)]
    advance_clock(poisoned, "2 hours")
    poison(poisoned, "ready", "id", tasks[1])
    assert upkeep(poisoned)["promoted"] == 2
    assert troubles(poisoned) == [("due", str(tasks[1]))]
    assert named(poisoned) == [f"upkeep due {tasks[1]}"]
    poisoned.process()  # claims look for due tasks, too
    assert [poisoned.state(t) for t in tasks] == ["completed", "pending", "completed"]
    works_again(poisoned, "ready")
    poisoned.process()
    assert poisoned.state(tasks[1]) == "completed"


def test_one_cancelled_tree_that_cannot_be_swept_does_not_hold_up_the_others(poisoned: Engine) -> None:
    hand = python_work(poisoned)
    roots = [poisoned.enqueue() for _ in range(2)]
    claims = hand.claim(2)
    for claim in claims:
        hand.complete(claim, p_spawns=[{"command": "act"}])
        poisoned.value("select worker.cancel(%s)", claim.id)
    child = poisoned.children(roots[0])[0]
    poison(poisoned, "outcome", "id", child)
    upkeep(poisoned)
    assert [poisoned.state(r) for r in roots] == ["waiting", "cancelled"]
    assert troubles(poisoned) == [("cancel", str(roots[0]))]
    works_again(poisoned, "outcome")
    assert poisoned.state(roots[0]) == "cancelled"


def test_one_attempt_that_cannot_be_interrupted_does_not_hold_up_the_others(poisoned: Engine) -> None:
    hand = python_work(poisoned)
    tasks = [poisoned.enqueue() for _ in range(3)]
    assert len(hand.claim(3)) == 3
    poisoned.conn.execute("update worker.worker set lease_until = '-infinity'")
    poison(poisoned, "ready", "id", tasks[1])
    assert upkeep(poisoned)["interrupted"] == 2
    assert [poisoned.state(t) for t in tasks] == ["interrupted", "processing", "interrupted"]
    assert troubles(poisoned) == [("interrupt", str(tasks[1]))]
    works_again(poisoned, "ready")
    assert poisoned.state(tasks[1]) == "interrupted"
    upkeep(poisoned)
    assert poisoned.value("select count(*) from worker.worker") == 0


def test_one_orphan_that_cannot_be_interrupted_does_not_hold_up_the_others(poisoned: Engine) -> None:
    hand = python_work(poisoned)
    tasks = [poisoned.enqueue() for _ in range(3)]
    hand.claim(3)
    poisoned.conn.execute("delete from worker.worker")
    poison(poisoned, "ready", "id", tasks[1])
    assert poisoned.value("select worker.chores()")["interrupted"] == 2
    assert [poisoned.state(t) for t in tasks] == ["interrupted", "processing", "interrupted"]
    assert poisoned.value("select worker.chores()")["interrupted"] == 0
    assert troubles(poisoned) == [("orphan", str(tasks[1]))]
    works_again(poisoned, "ready")
    assert poisoned.state(tasks[1]) == "interrupted"


def test_one_deadline_that_cannot_be_marked_does_not_hold_up_the_others(poisoned: Engine) -> None:
    hand = python_work(poisoned, timeout="1 minute")
    tasks = [poisoned.enqueue() for _ in range(3)]
    hand.claim(3)
    advance_clock(poisoned, "2 minutes")
    poison(poisoned, "running", "id", tasks[1])
    upkeep(poisoned)
    expired = poisoned.conn.execute("select id from worker.running where expired_at is not null order by id").fetchall()
    assert [row[0] for row in expired] == [tasks[0], tasks[2]]
    assert troubles(poisoned) == [("deadline", str(tasks[1]))]
    works_again(poisoned, "running")


def test_one_lane_that_cannot_be_opened_does_not_hold_up_the_others(poisoned: Engine) -> None:
    poisoned.queue("lanes", mode="concurrent")
    poisoned.command("laned", "lanes")
    tasks = [poisoned.enqueue("laned", lane=lane) for lane in ("a", "b", "c")]
    poison(poisoned, "lane", "lane", "b")
    upkeep(poisoned)
    poisoned.process("lanes")
    assert [poisoned.state(t) for t in tasks] == ["completed", "pending", "completed"]
    (trouble,) = troubles(poisoned)
    assert trouble[0] == "lane"
    assert trouble[1].endswith("/b")
    works_again(poisoned, "lane")
    poisoned.process("lanes")
    assert poisoned.state(tasks[1]) == "completed"


def test_one_limit_that_cannot_be_opened_does_not_hold_up_the_others(poisoned: Engine) -> None:
    poisoned.queue("limits", mode="concurrent")
    poisoned.command("limited", "limits", limit_key=["note"], max_running=1)
    tasks = [poisoned.enqueue("limited", note=note) for note in ("a", "b", "c")]
    gate = poisoned.value("select gate from worker.task where id = %s", tasks[1])
    poison(poisoned, "gate", "gate", gate)
    upkeep(poisoned)
    poisoned.process("limits")
    assert [poisoned.state(t) for t in tasks] == ["completed", "pending", "completed"]
    assert troubles(poisoned) == [("gate", gate)]
    works_again(poisoned, "gate")
    poisoned.process("limits")
    assert poisoned.state(tasks[1]) == "completed"


def test_one_queue_that_cannot_be_aged_does_not_hold_up_the_others(poisoned: Engine) -> None:
    for queue in ("one", "two"):
        poisoned.queue(queue, mode="concurrent")
        poisoned.command(queue, queue)
        poisoned.enqueue(queue, priority=100)
        poisoned.enqueue(queue, priority=50)
    advance_clock(poisoned, "1 hour")
    poison(
        poisoned, "ready", "queue_id", poisoned.value("select queue_id from worker.queue_registry where queue = 'one'")
    )
    assert poisoned.value("select worker.chores()")["aged"] == 2
    assert troubles(poisoned) == [("age", "one")]
    works_again(poisoned, "ready")


def _schedule(engine: Engine, name: str, **columns: object) -> None:
    """A schedule that is due, written past the check at its entry."""
    row = {"name": name, "command": "act", "next_at": engine.value("select worker.now()")} | columns
    marks = ", ".join(["%s"] * len(row))
    engine.conn.execute("alter table worker.schedule disable trigger check_schedule")
    engine.conn.execute(f"insert into worker.schedule ({', '.join(row)}) values ({marks})", list(row.values()))
    engine.conn.execute("alter table worker.schedule enable trigger check_schedule")


def test_broken_schedule_is_kept_and_named_and_the_others_fire(poisoned: Engine) -> None:
    _schedule(poisoned, "a good one", every="1 hour")
    _schedule(poisoned, "broken zone", cron="0 * * * *", timezone="Europe/Olso")
    _schedule(poisoned, "broken cron", cron="0 0 30 2 *")
    _schedule(poisoned, "huge", every="2147483647 days")
    _schedule(poisoned, "zone that is a folder", cron="0 * * * *", timezone="Europe")
    _schedule(poisoned, "one more", cron="0 * * * *")
    fired = [f["schedule"] for f in upkeep(poisoned)["fired"]]
    assert sorted(fired) == ["a good one", "one more"]
    assert len(poisoned.states()) == 2
    broken = ["broken cron", "broken zone", "huge", "zone that is a folder"]
    assert troubles(poisoned) == [("schedule", name) for name in broken]
    assert named(poisoned) == [f"upkeep schedule {name}" for name in broken]
    assert poisoned.value("select count(*) from worker.schedule") == 6

    poisoned.conn.execute(
        "update worker.schedule set cron = '0 * * * *', every = null, timezone = 'Europe/Oslo' where name = any (%s)",
        [broken],
    )
    advance_clock(poisoned, "10 minutes")
    upkeep(poisoned)
    assert troubles(poisoned) == []
    advance_clock(poisoned, "2 hours")
    assert len(upkeep(poisoned)["fired"]) == 6


def test_schedule_whose_payload_is_refused_is_tried_again_more_and_more_rarely(poisoned: Engine) -> None:
    poisoned.command("merging", dedup=["key"], merge={"n": "add"})
    poisoned.conn.execute("""insert into worker.schedule (name, command, payload, every, next_at)
                             values ('bad', 'merging', '{"key": 1, "n": "x"}', '1 hour', worker.now())""")
    poisoned.enqueue("merging", key=1, n=1)
    pauses: list[float] = []
    for _ in range(12):
        upkeep(poisoned)
        pauses.append(poisoned.value("select extract(epoch from retry_at - worker.now()) from worker.trouble"))
        upkeep(poisoned)  # not yet
        advance_clock(poisoned, f"{pauses[-1]} seconds")
    assert [float(p) for p in pauses] == [1, 2, 4, 8, 16, 32, 64, 128, 256, 300, 300, 300]
    assert poisoned.conn.execute("select count, item from worker.trouble").fetchall() == [(12, "bad")]


def test_disabled_schedule_is_no_trouble_any_more(poisoned: Engine) -> None:
    _schedule(poisoned, "broken", cron="0 * * * *", timezone="Europe/Olso")
    upkeep(poisoned)
    poisoned.conn.execute("update worker.schedule set enabled = false")
    advance_clock(poisoned, "10 minutes")
    upkeep(poisoned)
    assert troubles(poisoned) == []


def test_step_that_fails_as_a_whole_does_not_stop_the_others(poisoned: Engine) -> None:
    task = enqueue_in(poisoned, "1 hour")
    _schedule(poisoned, "hourly", every="1 hour")
    advance_clock(poisoned, "2 hours")
    poisoned.conn.execute("alter function worker.rouse_limited() rename to rouse_limited_away")
    upkeep(poisoned)
    assert troubles(poisoned) == [("rouse", "")]
    assert poisoned.value("select last_task_id from worker.schedule") is not None
    poisoned.process()
    assert poisoned.state(task) == "completed"
    poisoned.conn.execute("alter function worker.rouse_limited_away() rename to rouse_limited")
    upkeep(poisoned)
    assert troubles(poisoned) == []


@pytest.fixture
def running(committed: Engine, connect: Connect) -> Iterator[tuple[int, threading.Thread]]:
    """A SQL task that sleeps in a session of a superuser."""
    task = committed.enqueue(sleep=60)
    conn = connect()
    thread = start_work(conn)
    wait_until(committed, "select state = 'processing' from worker.tasks where id = %s", task)
    yield task, thread
    committed.conn.execute("reset role")
    committed.conn.execute("select pg_cancel_backend(%s)", [conn.info.backend_pid])
    thread.join()


def test_session_that_may_not_be_signalled_does_not_stop_the_round(
    committed: Engine, running: tuple[int, threading.Thread]
) -> None:
    task, thread = running
    committed.conn.execute("update worker.schedule set next_at = now() - interval '1 second'")
    committed.value("select worker.cancel(%s)", task)
    committed.conn.execute("set role catchment_worker")
    done = upkeep(committed)
    assert [f["schedule"] for f in done["fired"]] == ["task_cleanup"]
    assert [step for step, _ in troubles(committed)] == ["signal"]
    committed.conn.execute("reset role")
    upkeep(committed)
    thread.join()
    upkeep(committed)
    assert troubles(committed) == []
    assert committed.state(task) == "cancelled"


def test_hanging_session_that_may_not_be_ended_does_not_stop_the_round(
    committed: Engine, running: tuple[int, threading.Thread], connect: Connect
) -> None:
    task, _ = running
    hand = Hand.hired(connect())
    committed.conn.execute("update worker.running set worker_id = %s where id = %s", [hand.worker_id, task])
    committed.conn.execute("update worker.worker set lease_until = '-infinity'")
    committed.conn.execute("update worker.schedule set next_at = now() - interval '1 second'")
    committed.conn.execute("set role catchment_worker")
    done = upkeep(committed)
    assert [f["schedule"] for f in done["fired"]] == ["task_cleanup"]
    assert [step for step, _ in troubles(committed)] == ["hanging"]


def test_row_that_a_session_keeps_locked_does_not_stop_the_round(committed: Engine, connect: Connect) -> None:
    hand = python_work(committed)
    task = committed.enqueue()
    (claim,) = hand.claim(1)
    hand.complete(claim, p_spawns=[{"command": "act"}])
    child = committed.children(task)[0]
    committed.conn.execute("update worker.schedule set next_at = now() - interval '1 second'")
    committed.value("select worker.cancel(%s)", task)
    with connect(autocommit=False) as other:
        other.execute("select from worker.scope where id = %s for update", [task])
        done = upkeep(committed)
        assert [f["schedule"] for f in done["fired"]] == ["task_cleanup"]
        assert troubles(committed) == [("cancel", str(task))]
    committed.conn.execute("update worker.trouble set retry_at = now()")
    upkeep(committed)
    assert [committed.state(task), committed.state(child)] == ["cancelled", "cancelled"]
    assert troubles(committed) == []


def test_dead_worker_whose_row_a_session_keeps_locked_does_not_stop_the_round(
    committed: Engine, connect: Connect
) -> None:
    locked, free = (Hand.hired(connect()).worker_id for _ in range(2))
    committed.conn.execute("update worker.worker set lease_until = '-infinity'")
    committed.conn.execute("update worker.schedule set next_at = now() - interval '1 second'")
    with connect(autocommit=False) as other:
        other.execute("select from worker.worker where worker_id = %s for update", [locked])
        committed.conn.execute("set statement_timeout = '20s'")  # a round that waits for the row fails here
        done = upkeep(committed)
        assert [f["schedule"] for f in done["fired"]] == ["task_cleanup"]
        assert troubles(committed) == [("forget", str(locked))]
        assert committed.value("select array_agg(worker_id) from worker.worker") == [locked]
        assert free != locked
    committed.conn.execute("update worker.trouble set retry_at = now()")
    upkeep(committed)
    assert committed.value("select count(*) from worker.worker") == 0
    assert troubles(committed) == []


def test_round_with_nothing_to_do_writes_nothing(committed: Engine) -> None:
    committed.conn.execute("update worker.schedule set next_at = now() + interval '1 hour'")
    with committed.conn.transaction():
        assert not any(upkeep(committed).values())
        assert committed.value("select pg_current_xact_id_if_assigned()") is None


def test_two_rounds_at_once_do_nothing_twice(committed: Engine, connect: Connect) -> None:
    committed.conn.execute("update worker.schedule set next_at = now() - interval '1 second'")
    other = Engine(connect())
    with committed.conn.transaction():
        assert len(upkeep(committed)["fired"]) == 1
        assert upkeep(other) == {}
    assert "fired" not in upkeep(other)
    committed.conn.execute("set role catchment_read")
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        upkeep(committed)

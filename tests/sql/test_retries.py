"""Attempts: what counts as a failure, when the next try is due, what is kept of each, and what ends the tries."""

from __future__ import annotations

import threading
from collections.abc import Callable
from datetime import datetime, timedelta

import pytest
from psycopg import Connection

from tests.fixtures.engine import Engine
from tests.sql.support import FLAKY, Hand, advance_clock, attempts, hint, message, python_work, refused, stop_clock

Connect = Callable[..., Connection]


@pytest.fixture
def flaky(engine: Engine) -> Engine:
    """Command ``flaky`` may fail twice; its delays are 10, 20, 40 … up to 60 seconds."""
    engine.conn.execute(FLAKY)
    engine.command(
        "flaky",
        handler_procedure="probe.flaky",
        max_attempts=3,
        retry_delay="10 seconds",
        retry_max_delay="60 seconds",
        retry_jitter=0,
    )
    return engine


def _delay(engine: Engine, task: int) -> timedelta:
    now: datetime = engine.value("select worker.now()")
    return datetime.fromisoformat(engine.task(task)["due_at"]) - now


def test_error_fails_the_task_at_once_unless_retries_are_declared(engine: Engine) -> None:
    task = engine.enqueue(fail="no")
    engine.process()
    row = engine.task(task)
    assert (row["state"], row["attempt"], row["max_attempts"]) == ("failed", 1, 1)
    assert row["completed_at"] is not None
    engine.check()


def test_failed_attempt_is_tried_again_after_its_delay(flaky: Engine) -> None:
    stop_clock(flaky)
    task = flaky.enqueue("flaky", fail_times=1)
    flaky.process()
    row = flaky.task(task)
    assert (row["state"], row["waits_for"], row["attempt"]) == ("pending", "retry", 1)
    assert _delay(flaky, task) == timedelta(seconds=10)
    advance_clock(flaky, "9 seconds")
    assert flaky.process() == []
    advance_clock(flaky, "1 second")
    flaky.process()
    row = flaky.task(task)
    assert (row["state"], row["attempt"], row["error"]) == ("completed", 2, None)
    flaky.check()


def test_delays_grow_by_their_factor_up_to_a_limit(flaky: Engine) -> None:
    stop_clock(flaky)
    flaky.conn.execute("update worker.command_registry set max_attempts = 6 where command = 'flaky'")
    task = flaky.enqueue("flaky", fail_times=5)
    delays: list[float] = []
    for _ in range(5):
        flaky.process()
        delays.append(_delay(flaky, task).total_seconds())
        advance_clock(flaky, "2 minutes")
    assert delays == [10, 20, 40, 60, 60]
    flaky.process()
    assert flaky.state(task) == "completed"


def test_max_attempts_limits_the_failures(flaky: Engine) -> None:
    task = flaky.enqueue("flaky", fail_times=100)
    for _ in range(5):
        flaky.process()
        advance_clock(flaky, "2 minutes")
    row = flaky.task(task)
    assert (row["state"], row["attempt"], row["error"]) == ("failed", 3, "not yet")
    flaky.check()


def test_jitter_stays_within_its_bounds_and_spreads(engine: Engine) -> None:
    low, high, spread = engine.conn.execute(
        "select min(d), max(d), count(distinct d) from generate_series(1, 1000) as n,"
        " lateral (select extract(epoch from worker.retry_delay(2, '10 seconds', 3, '1 hour', 0.2)) as d"
        " where n > 0) as drawn"
    ).fetchall()[0]
    assert 24 <= low < 25
    assert 35 < high <= 36
    assert spread > 900


def test_delay_after_very_many_failures_is_the_longest(engine: Engine) -> None:
    ask = "select worker.retry_delay(%s, '1 second', %s, '1 hour', 0)"
    for failures, factor in ((100, 2.0), (5000, 2.0), (2_000_000_000, 1e300)):
        assert engine.value(ask, failures, factor) == timedelta(hours=1)
    assert engine.value(ask, 2_000_000_000, 1.0) == timedelta(seconds=1)


def test_error_of_every_attempt_is_kept(flaky: Engine) -> None:
    task = flaky.enqueue("flaky", fail_times=2)
    for _ in range(3):
        flaky.process()
        advance_clock(flaky, "2 minutes")
    kept = attempts(flaky, task)
    assert [(a["attempt"], a["state"], a["error"]["message"]) for a in kept] == [
        (1, "failed", "not yet"),
        (2, "failed", "not yet"),
    ]
    assert all(a["started_at"] <= a["ended_at"] for a in kept)


def test_error_is_kept_with_detail_hint_and_context(engine: Engine) -> None:
    engine.conn.execute(
        """create procedure probe.grumble(payload jsonb) language plpgsql as $$
           begin
             raise exception using errcode = 'ZZ123', message = 'bad luck', detail = 'the 13th', hint = 'try tomorrow';
           end; $$"""
    )
    engine.command("grumble", handler_procedure="probe.grumble")
    task = engine.enqueue("grumble")
    engine.process()
    row = engine.task(task)
    error = row["error_detail"]
    assert row["error"] == "bad luck"
    assert {k: error[k] for k in ("kind", "message", "detail", "hint")} == {
        "kind": "ZZ123",
        "message": "bad luck",
        "detail": "the 13th",
        "hint": "try tomorrow",
    }
    assert "probe.grumble(jsonb) line 3 at RAISE" in error["context"]
    assert attempts(engine, task)[0]["error"] == error


@pytest.mark.parametrize("sqlstate", ["40001", "40P01"])
def test_deadlock_and_serialization_failure_are_tried_again_at_once(engine: Engine, sqlstate: str) -> None:
    engine.conn.execute(FLAKY)
    engine.command("flaky", handler_procedure="probe.flaky")
    task = engine.enqueue("flaky", fail_times=2, sqlstate=sqlstate, note="done")
    engine.process()
    row = engine.task(task)
    assert (row["state"], row["attempt"]) == ("completed", 1)
    assert engine.notes() == ["done"]
    engine.check()


def test_serialization_failure_that_lasts_is_a_failure(engine: Engine) -> None:
    engine.conn.execute(FLAKY)
    engine.command("flaky", handler_procedure="probe.flaky")
    task = engine.enqueue("flaky", fail_times=100, sqlstate="40001")
    engine.process()
    assert engine.state(task) == "failed"
    assert len(attempts(engine, task)) == 1


def test_two_handlers_that_deadlock_both_complete(committed: Engine, connect: Connect) -> None:
    committed.conn.execute("update worker.queue_registry set mode = 'concurrent' where queue = 'work'")
    committed.conn.execute(
        """create table probe.row (id int primary key);
           insert into probe.row values (1), (2);
           create procedure probe.cross(payload jsonb) language plpgsql as $$
           begin
             perform from probe.row where id = (payload ->> 'first')::int for update;
             perform pg_sleep(0.2);
             perform from probe.row where id = (payload ->> 'then')::int for update;
           end; $$"""
    )
    committed.command("cross", handler_procedure="probe.cross")
    tasks = [committed.enqueue("cross", first=1, then=2), committed.enqueue("cross", first=2, then=1)]

    def work() -> None:
        conn = connect()
        conn.execute("set deadlock_timeout = '50ms'")
        Engine(conn).process(p_batch_size=1)

    threads = [threading.Thread(target=work) for _ in tasks]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [(committed.task(t)["state"], committed.task(t)["attempt"]) for t in tasks] == [("completed", 1)] * 2
    committed.check()


def test_error_that_says_it_is_not_retryable_ends_the_tries(engine: Engine) -> None:
    hand = python_work(engine, max_attempts=5)
    task = engine.enqueue()
    assert hand.fail(hand.claim_one(), retryable=False) == "failed"
    assert engine.task(task)["attempt"] == 1


def test_error_may_say_when_to_try_again(engine: Engine) -> None:
    hand = python_work(engine, max_attempts=2)
    stop_clock(engine)
    task = engine.enqueue()
    hand.fail(hand.claim_one(), retry_after="90 seconds")
    assert _delay(engine, task) == timedelta(seconds=90)


def test_released_task_has_used_no_attempt(engine: Engine) -> None:
    hand = python_work(engine)
    task = engine.enqueue()
    assert hand.release(hand.claim_one()) == "pending"
    assert engine.task(task)["attempt"] == 0
    assert hand.claim_one().attempt == 1
    engine.check()


@pytest.mark.parametrize(("said", "kept"), [("TimeoutError", "TimeoutError"), ("57014", "timeout")])
def test_task_past_its_time_limit_says_so_whichever_part_notices(engine: Engine, said: str, kept: str) -> None:
    hand = python_work(engine, timeout="1 s")
    task = engine.enqueue()
    claim = hand.claim_one()
    engine.conn.execute("update worker.running set expired_at = clock_timestamp() where id = %s", [task])
    assert hand.fail(claim, kind=said, message="timed out") == "failed"
    assert attempts(engine, task)[0]["error"]["kind"] == kept
    engine.check()


def _die(hand: Hand) -> None:
    """The worker process that holds the hand's claims is gone."""
    hand.engine.value("select worker.interrupt_abandoned(array[%s::bigint])", hand.worker_id)


def test_interrupted_task_goes_first_among_equals(engine: Engine) -> None:
    hand = python_work(engine)
    early, late = engine.enqueue(), engine.enqueue()
    first, second = hand.claim(2)
    hand.release(first)
    hand.interrupt(second)
    assert (engine.state(early), engine.state(late)) == ("pending", "interrupted")
    assert [c.id for c in hand.claim(2)] == [late, early]
    engine.check()


def test_task_whose_worker_died_five_times_fails(engine: Engine) -> None:
    hand = python_work(engine, max_attempts=10)
    task = engine.enqueue()
    for _ in range(4):
        assert hand.claim_one().id == task
        _die(hand)
        assert engine.state(task) == "interrupted"
        hand = Hand.hired(engine.conn)
    hand.claim_one()
    _die(hand)
    row = engine.task(task)
    assert (row["state"], row["error"], row["attempt"]) == ("failed", "worker died 5 times", 5)
    assert [a["state"] for a in attempts(engine, task)] == ["interrupted"] * 4 + ["failed"]
    engine.check()


def test_interruptions_and_failures_have_separate_limits(engine: Engine) -> None:
    hand = python_work(engine, max_attempts=2, retry_delay="0", retry_jitter=0)
    task = engine.enqueue()
    for _ in range(4):
        hand.interrupt(hand.claim_one())
    assert hand.fail(hand.claim_one()) == "pending"
    assert hand.fail(hand.claim_one()) == "failed"
    assert engine.task(task)["attempt"] == 6
    engine.check()


def test_sql_task_whose_backend_is_gone_is_interrupted(committed: Engine, connect: Connect) -> None:
    task = committed.enqueue(note="ran")
    doomed = connect()
    doomed.execute("select worker.begin_session('work', null)")
    doomed.execute("select worker.begin_tasks('work', 1, null)")
    assert committed.value("select worker.reset_abandoned_processing_tasks()") == 0
    assert committed.state(task) == "processing"
    doomed.close()
    while committed.value("select worker.reset_abandoned_processing_tasks()") == 0:
        pass
    assert committed.state(task) == "interrupted"
    committed.process()
    assert committed.notes() == ["ran"]
    committed.check()


def test_claim_that_was_lost_can_change_nothing(engine: Engine) -> None:
    hand = python_work(engine, max_attempts=2, retry_delay="0", retry_jitter=0)
    task = engine.enqueue()
    old = hand.claim_one()
    hand.interrupt(old)
    new = hand.claim_one()
    for write in (hand.complete, hand.fail, hand.release):
        with refused(engine, "CM001") as error:
            write(old)
        assert message(error) == f"task {task} is not held under fence {old.fence}"
        assert "Drop the result" in hint(error)
    with refused(engine, "CM001"):
        engine.value("select worker.report_progress(%s, %s, '{}')", old.id, old.fence)
    assert hand.interrupt(old) is None
    assert hand.complete(new) == "completed"
    engine.check()


def test_progress_is_visible_while_a_task_runs(engine: Engine) -> None:
    hand = python_work(engine)
    task = engine.enqueue()
    claim = hand.claim_one()
    engine.value("select worker.report_progress(%s, %s, %s)", claim.id, claim.fence, '{"rows": 7}')
    assert engine.task(task)["progress"] == {"rows": 7}


def test_result_is_kept(engine: Engine) -> None:
    hand = python_work(engine)
    task = engine.enqueue()
    hand.complete(hand.claim_one(), p_result={"answer": 42}, p_info={"rows": 1})
    row = engine.task(task)
    assert (row["result"], row["info"]) == ({"answer": 42}, {"rows": 1})

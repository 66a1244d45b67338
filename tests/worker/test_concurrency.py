"""How many tasks a worker runs at once, how many it claims, and when it does not claim."""

from __future__ import annotations

import time
from typing import Any

import psycopg
import pytest

from tests.fixtures.load import measured, since_epoch
from tests.fixtures.often import often
from tests.fixtures.worker import wait_until
from tests.worker.app import end_soon, hold, step
from tests.worker.crew import Crew
from tests.worker.probe import peak_overlap


def _own_lanes(count: int, **more: Any) -> list[dict[str, Any]]:
    return [{"key": f"lane {n}", "seq": n, **more} for n in range(count)]


def _claimer_spoke_at(crew: Crew) -> Any:
    """When the claimer of the only worker last said anything to the database."""
    return crew.engine.value(
        "select max(query_start) from pg_stat_activity"
        " where application_name = 'catchment claimer' and datname = current_database()"
    )


def _claims_seen(crew: Crew, seconds: float) -> int:
    """How many statements of the claimer could be told apart in this time."""
    seen = set()
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        seen.add(_claimer_spoke_at(crew))
    return len(seen)


@pytest.mark.long
def test_one_worker_runs_a_hundred_lanes_at_once(crew: Crew) -> None:
    crew.enqueue_many(step, _own_lanes(100, seconds=2))
    crew.hire()
    crew.wait_settled(100)
    assert peak_overlap(crew.records.spans()) >= 90


def test_the_cap_is_never_passed_and_nothing_is_dropped_at_it(crew: Crew) -> None:
    crew.enqueue_many(step, _own_lanes(300, seconds=0.05))
    crew.hire(max_concurrent_tasks=25)
    crew.wait_settled(300)
    # A busy machine may end the first before the last of them has started.
    assert 20 <= peak_overlap(crew.records.spans()) <= 25
    assert crew.states() == {"completed": 300}
    assert crew.attempts() == {1}


def test_a_worker_claims_no_more_than_its_cap_and_starts_it_at_once(crew: Crew) -> None:
    crew.enqueue_many(step, _own_lanes(600, seconds=0.02))
    with measured() as load:
        crew.hire(2, max_concurrent_tasks=10)
        most = 0
        while crew.settled() < 600:
            held = crew.engine.value(
                "select coalesce(max(n), 0) from (select count(*) as n from worker.running group by worker_id) as r"
            )
            most = max(most, held)
        bound = load.bound(0.05)
    assert 0 < most <= 10
    rows = crew.engine.conn.execute(
        "select (payload ->> 'seq')::integer, process_start_at from worker.tasks"
    ).fetchall()
    claimed = {seq: at.timestamp() - since_epoch() for seq, at in rows}
    waits = sorted(span.start - claimed[span.seq] for span in crew.records.spans())
    assert waits[int(len(waits) * 0.99)] < bound


def test_what_is_claimed_ahead_does_not_run_before_there_is_a_slot(crew: Crew) -> None:
    crew.enqueue_many(hold, _own_lanes(40))
    crew.hire(max_concurrent_tasks=5, claim_ahead=10)
    wait_until(lambda: crew.engine.value("select count(*) from worker.running") == 15)
    wait_until(lambda: len(crew.records.spans()) == 5)
    crew.records.open_gate("gate")
    crew.wait_settled(40)
    assert peak_overlap(crew.records.spans()) == 5
    assert crew.attempts() == {1}


@pytest.mark.long
def test_what_was_claimed_ahead_and_finds_no_slot_goes_to_another_worker(crew: Crew) -> None:
    crew.enqueue_many(hold, _own_lanes(6))
    crew.hire(max_concurrent_tasks=2, claim_ahead=4, give_back_seconds=0.5)
    wait_until(lambda: crew.engine.value("select count(*) from worker.running") == 6)
    crew.hire(max_concurrent_tasks=10)
    wait_until(lambda: len(crew.records.spans()) == 6)
    crew.records.open_gate("gate")
    crew.wait_settled(6)
    assert crew.attempts() == {1}


def test_a_worker_that_stops_gives_back_what_it_claimed_ahead(crew: Crew) -> None:
    crew.enqueue_many(step, _own_lanes(30, seconds=1))
    (first,) = crew.hire(max_concurrent_tasks=3, claim_ahead=20)
    wait_until(lambda: len(crew.records.spans()) == 3)
    crew.stop(first)
    assert crew.states()["pending"] >= 24
    assert crew.engine.value("select count(*) from worker.running") == 0
    crew.hire()
    crew.wait_settled(30)
    assert crew.attempts() == {1}


@pytest.mark.long
def test_a_claim_takes_at_most_the_free_slots(crew: Crew) -> None:
    crew.enqueue_many(step, _own_lanes(200, seconds=0.2))
    crew.hire(max_concurrent_tasks=30)
    crew.wait_settled(200)
    assert max(crew.claim_sizes()) == 30
    assert peak_overlap(crew.records.spans()) <= 30


@pytest.mark.long
def test_concurrency_is_not_the_size_of_a_claim(crew: Crew) -> None:
    crew.enqueue_many(hold, _own_lanes(40))
    crew.hire(max_concurrent_tasks=1000, claim_batch_size=3)
    wait_until(lambda: len(crew.records.spans()) == 40)
    assert max(crew.claim_sizes()) == 3
    crew.records.open_gate("gate")
    crew.wait_settled(40)


def test_a_full_worker_does_not_claim(crew: Crew) -> None:
    crew.enqueue_many(hold, _own_lanes(20))
    crew.hire(max_concurrent_tasks=5, poll_interval_ms=20)
    wait_until(lambda: len(crew.records.spans()) == 5)
    # Silent for many times the interval. The claim that filled it may still be ending, so the first look is no proof.
    wait_until(lambda: _claims_seen(crew, seconds=0.6) == 1)
    crew.records.open_gate("gate")
    crew.wait_settled(20)
    assert crew.attempts() == {1}


@pytest.mark.timeout(300)
@pytest.mark.parametrize("number", often(150, now_and_then=[1000]))
def test_slots_and_lanes_are_free_again_however_many_tasks_end(crew: Crew, number: int) -> None:
    held = number // 10
    ways = ["raise", "hang", "cancel_itself"] * ((number - held) // 3)
    crew.enqueue_many(end_soon, [{"key": f"lane {n}", "how": how} for n, how in enumerate(ways)])
    crew.enqueue_many(hold, [{"key": f"lane {n}", "gate": "never"} for n in range(number - held, number)])
    crew.enqueue_many(step, [{"key": f"lane {n}"} for n in range(number)])
    crew.hire(max_concurrent_tasks=5, lease_seconds=1.5)

    def cancel_and_count() -> int:
        crew.engine.conn.execute(
            "select worker.cancel(r.id) from worker.running as r join worker.task as t using (id)"
            " where t.command = 'hold' and r.cancel_reason is null"
        )
        return crew.settled()

    wait_until(lambda: cancel_and_count() == 2 * number, seconds=240)
    assert crew.states() == {"failed": number - held, "cancelled": held, "completed": number}
    wait_until(lambda: crew.engine.value("select available_capacity from worker.worker") == 5)
    crew.enqueue_many(hold, _own_lanes(5, gate="last"))
    wait_until(lambda: len([s for s in crew.records.spans() if s.end == float("inf")]) == 5)
    crew.records.open_gate("last")


@pytest.mark.long
def test_a_worker_waits_only_when_nothing_is_left(crew: Crew) -> None:
    crew.enqueue_many(step, _own_lanes(1000), by_key=False)
    crew.hire(poll_interval_ms=60_000, wake_ups="false")
    crew.wait_settled(1000, seconds=30)


@pytest.mark.long
def test_an_idle_worker_without_wake_ups_looks_every_interval(crew: Crew) -> None:
    crew.hire(wake_ups="false")
    wait_until(lambda: _claimer_spoke_at(crew) is not None)
    with measured() as load:
        seen = _claims_seen(crew, 2)
        assert 8 / load.stretch() <= seen <= 40  # the default of 100 ms means 20 to 25
    task = crew.enqueue(step, seq=3)
    assert crew.result(task) == 3


def test_an_idle_worker_with_wake_ups_looks_rarely_and_starts_at_once(crew: Crew) -> None:
    crew.hire(wake_ups="true")
    crew.result(crew.enqueue(step))
    wait_until(lambda: _claims_seen(crew, 1.5) <= 2)
    with measured() as load:
        began = time.monotonic()
        crew.result(crew.enqueue(step, key="woken"))
        waited = crew.records.spans("woken")[0].start - began
        assert waited < load.bound(1), "it was not woken: the next poll came first"


@pytest.mark.long
def test_an_enqueue_that_could_not_see_the_sleeper_is_found_soon_after_its_commit(crew: Crew) -> None:
    with psycopg.connect(crew.client.dsn) as conn:
        task = crew.enqueue(step, key="unseen", conn=conn)
        crew.hire(wake_ups="true", idle_poll_ms=30_000)
        wait_until(lambda: crew.engine.value("select count(*) from worker.sleeper where kind = 'p'") == 2)
        time.sleep(2.5)  # by now an unworried sleeper looks every four seconds
        with measured() as load:
            conn.commit()
            began = time.monotonic()
            crew.result(task)
            waited = crew.records.spans("unseen")[0].start - began
            assert waited < load.bound(1.5), "the next rare poll came first"


@pytest.mark.parametrize(("settings", "capacity"), [({}, 1000), ({"max_concurrent_tasks": 7}, 7)])
def test_capacity_is_registered(crew: Crew, settings: dict[str, int], capacity: int) -> None:
    crew.hire(**settings)
    assert crew.engine.value("select max_capacity from worker.worker") == capacity


@pytest.mark.long
def test_claims_of_long_tasks_are_of_fifty_by_default(crew: Crew) -> None:
    crew.enqueue_many(hold, _own_lanes(400), by_key=False)
    crew.hire()
    wait_until(lambda: len(crew.records.spans()) == 400)
    assert max(crew.claim_sizes()) == 50
    crew.records.open_gate("gate")
    crew.wait_settled(400)


@pytest.mark.long
def test_claims_grow_while_tasks_are_short(crew: Crew) -> None:
    crew.enqueue_many(step, _own_lanes(5000), by_key=False)
    crew.hire()
    crew.wait_settled(5000)
    assert 50 < max(crew.claim_sizes()) <= 500


@pytest.mark.parametrize("value", ["many", "0", "-3", "1.5"])
def test_a_cap_that_is_no_number_stops_the_start_with_a_reason(crew: Crew, tmp_path: Any, value: str) -> None:
    worker = crew.launch("--app", "tests.worker.app:app", settings={"CATCHMENT_MAX_CONCURRENT_TASKS": value})
    assert worker.wait(timeout=60) != 0
    (log,) = tmp_path.glob("worker-*.log")
    assert "CATCHMENT_MAX_CONCURRENT_TASKS" in log.read_text()
    assert "Traceback" not in log.read_text()


def test_free_capacity_is_reported_by_the_heartbeat(crew: Crew) -> None:
    crew.enqueue_many(hold, _own_lanes(37))
    crew.hire(max_concurrent_tasks=100, lease_seconds=1.5)
    wait_until(lambda: crew.engine.value("select available_capacity from worker.worker") == 63)
    assert 0 < crew.engine.value("select memory_usage from worker.worker") <= 1
    crew.records.open_gate("gate")
    wait_until(lambda: crew.engine.value("select available_capacity from worker.worker") == 100)

"""Several workers share the work, and a long line of one workflow does not keep others waiting."""

from __future__ import annotations

from tests.fixtures.worker import wait_until
from tests.worker.app import step
from tests.worker.crew import Crew


def _wait_all_idle(crew: Crew) -> None:
    """Every worker has asked for work and found none."""
    asked = (
        "select count(*) from pg_stat_activity where application_name = 'catchment claimer'"
        " and datname = current_database() and state = 'idle' and query <> ''"
    )
    wait_until(lambda: crew.engine.value(asked) == len(crew.workers))


def test_three_workers_have_roughly_equal_shares(crew: Crew) -> None:
    crew.hire(3, max_concurrent_tasks=10, claim_batch_size=10)
    _wait_all_idle(crew)
    crew.enqueue_many(step, [{"seq": n, "seconds": 0.02} for n in range(1500)], by_key=False)
    crew.wait_settled(1500)
    shares = crew.shares()
    assert sum(shares) == 1500
    assert shares[0] >= 0.22 * 1500
    assert shares[-1] <= 0.45 * 1500


def test_a_small_backlog_is_shared_too(crew: Crew) -> None:
    crew.hire(3, max_concurrent_tasks=10, claim_batch_size=10)
    _wait_all_idle(crew)
    crew.enqueue_many(step, [{"seq": n, "seconds": 0.02} for n in range(300)], by_key=False)
    crew.wait_settled(300)
    assert crew.shares()[0] >= 0.15 * 300


def test_workers_that_join_in_the_middle_get_work_at_once(crew: Crew) -> None:
    crew.enqueue_many(step, [{"seq": n, "seconds": 0.02} for n in range(4000)], by_key=False)
    crew.hire(1, max_concurrent_tasks=10)
    wait_until(lambda: crew.settled() > 100)
    joined = [worker.pid for worker in crew.hire(2, max_concurrent_tasks=10)]
    wait_until(lambda: {span.pid for span in crew.records.spans()} >= set(joined), seconds=5)
    assert crew.settled() < 4000, "there was still a backlog"


def test_a_hot_workflow_does_not_hold_up_others(crew: Crew) -> None:
    crew.enqueue_many(step, [{"key": "hot", "seq": n, "seconds": 0.001} for n in range(2000)])
    crew.hire(max_concurrent_tasks=50)
    wait_until(lambda: len(crew.records.spans("hot")) > 10)
    others = crew.enqueue_many(step, [{"key": f"other {n}"} for n in range(100)])
    wait_until(
        lambda: crew.engine.value("select count(*) from worker.outcome where id = any (%s)", others) == len(others)
    )
    left = crew.engine.value("select count(*) from worker.blocked where lane = 'hot'")
    assert left > 500, "the hot workflow is far from done"
    ran = [span.seq for span in crew.records.spans("hot")]
    assert ran == list(range(len(ran)))

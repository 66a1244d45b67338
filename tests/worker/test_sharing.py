"""Several workers share the work, and a long line of one lane does not keep others waiting."""

from __future__ import annotations

import pytest

from tests.fixtures.load import measured, since_epoch
from tests.fixtures.worker import wait_until
from tests.worker.app import step
from tests.worker.crew import Crew
from tests.worker.probe import Span, peak_overlap

# Whatever the workers say: one has no room at all, the other room without end.
LIES = """
create function probe.lie() returns trigger language plpgsql as $$
begin
  new.available_capacity := case when new.worker_id % 2 = 0 then 0 else 1000000 end;
  return new;
end;
$$;
create trigger lie before insert or update on worker.worker for each row execute function probe.lie();
"""


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
    crew.enqueue_many(step, [{"seq": n, "seconds": 0.02} for n in range(3000)], by_key=False)
    crew.wait_settled(3000)
    shares = crew.shares()
    assert sum(shares) == 3000
    assert shares[0] >= 0.25 * 3000
    assert shares[-1] <= 0.42 * 3000


@pytest.mark.long
def test_a_small_backlog_is_shared_too(crew: Crew) -> None:
    crew.hire(3, max_concurrent_tasks=10, claim_batch_size=10)
    _wait_all_idle(crew)
    crew.enqueue_many(step, [{"seq": n, "seconds": 0.02} for n in range(300)], by_key=False)
    crew.wait_settled(300)
    assert crew.shares()[0] >= 0.15 * 300


def test_workers_that_join_in_the_middle_get_work_within_a_second(crew: Crew) -> None:
    crew.enqueue_many(step, [{"seq": n, "seconds": 0.02} for n in range(6000)], by_key=False)
    crew.hire(1, max_concurrent_tasks=10)
    wait_until(lambda: crew.settled() > 100)
    with measured() as load:
        joined = {worker.pid for worker in crew.hire(2, max_concurrent_tasks=10)}
        wait_until(lambda: {span.pid for span in crew.records.spans()} >= joined, seconds=30)
        assert crew.settled() < 6000, "there was still a backlog"
        begun = crew.engine.conn.execute("select started_at from worker.worker order by worker_id desc limit 2")
        last = max(row[0].timestamp() for row in begun) - since_epoch()
        first_spans = [min(s.start for s in crew.records.spans() if s.pid == pid) for pid in joined]
        assert max(first_spans) - last < load.bound(1)


@pytest.mark.long
def test_what_a_worker_reports_of_its_capacity_changes_nothing(crew: Crew) -> None:
    """It is for people who watch: whoever has a free slot takes what is there."""
    crew.engine.conn.execute(LIES)
    crew.hire(2, max_concurrent_tasks=10, lease_seconds=1.5)
    _wait_all_idle(crew)
    wait_until(lambda: crew.engine.value("select sum(available_capacity) from worker.worker") == 1_000_000)
    crew.enqueue_many(step, [{"seq": n, "seconds": 0.02} for n in range(1000)], by_key=False)
    crew.wait_settled(1000)
    assert crew.shares()[0] >= 0.35 * 1000
    assert max(peak_overlap(spans) for spans in _by_worker(crew)) == 10
    assert crew.engine.value("select sum(available_capacity) from worker.worker") == 1_000_000


def _by_worker(crew: Crew) -> list[list[Span]]:
    return [[span for span in crew.records.spans() if span.pid == worker.pid] for worker in crew.workers]


def test_a_hot_lane_does_not_hold_up_others(crew: Crew) -> None:
    crew.enqueue_many(step, [{"key": "hot", "seq": n, "seconds": 0.001} for n in range(2000)])
    crew.hire(max_concurrent_tasks=50)
    wait_until(lambda: len(crew.records.spans("hot")) > 10)
    others = crew.enqueue_many(step, [{"key": f"other {n}"} for n in range(100)])
    wait_until(
        lambda: crew.engine.value("select count(*) from worker.outcome where id = any (%s)", others) == len(others)
    )
    left = crew.engine.value("select count(*) from worker.blocked where lane = 'hot'")
    assert left > 500, "the hot lane is far from done"
    ran = [span.seq for span in crew.records.spans("hot")]
    assert ran == list(range(len(ran)))

"""How many workers are free is what lives and idles now, not what was configured."""

from __future__ import annotations

from tests.fixtures.lake import LakeCase

WORKER = (
    "insert into worker.worker (name, lease_until, started_at, seen_at, queues, max_capacity)"
    " values ('w', worker.now() + %s::interval, worker.now(), worker.now(), %s, %s) returning worker_id"
)


def hire(case: LakeCase, *, queues: tuple[str, ...] = ("lake", "lake_schedule"), lease: str = "1 h") -> int:
    ((worker_id,),) = case.pg(WORKER, lease, list(queues), 1)
    return worker_id


def work(case: LakeCase, worker_id: int, task_id: int) -> None:
    """Let a worker hold a task of queue lake."""
    case.pg(
        "insert into worker.running (id, fence, worker_id, queue_id, tier, band, phase, attempt, failures,"
        " interruptions, started_at, is_plain, has_lane)"
        " select %s, %s, %s, q.queue_id, 1, 100, 0, 1, 0, 0, worker.now(), true, false"
        " from worker.queue_registry as q where q.queue = 'lake'",
        task_id,
        task_id,
        worker_id,
    )


def test_free_slots_are_those_of_live_workers_of_the_lake_that_do_nothing(lake_case: LakeCase) -> None:
    control = lake_case.control
    assert control.free_slots() == 1
    first, second, _ = (hire(lake_case) for _ in range(3))
    work(lake_case, first, 1)
    # Who asks is one that works.
    assert control.free_slots() == 3
    work(lake_case, second, 2)
    assert control.free_slots() == 2
    hire(lake_case, lease="-1 s")
    hire(lake_case, queues=("lake", "mail"))
    hire(lake_case, queues=("lake_schedule",))
    assert control.free_slots() == 2
    hire(lake_case, queues=("lake",))
    assert control.free_slots() == 3

"""How many workers are free is what lives and idles now and can run a bucket, not what was configured."""

from __future__ import annotations

from tests.fixtures.lake_case import LakeCase

WORKER = (
    "insert into worker.worker (name, lease_until, started_at, seen_at, queues, python_queues, max_capacity)"
    " values ('w', worker.now() + %s::interval, worker.now(), worker.now(), %s, %s, %s) returning worker_id"
)


def hire(
    case: LakeCase,
    *,
    queues: tuple[str, ...] = ("lake", "lake_schedule"),
    python: tuple[str, ...] = ("lake",),
    lease: str = "1 h",
    capacity: int = 1,
) -> int:
    ((worker_id,),) = case.pg(WORKER, lease, list(queues), list(python), capacity)
    return worker_id


def work(case: LakeCase, worker_id: int, task_id: int, queue: str = "lake") -> None:
    """Let a worker hold a task of a queue."""
    case.pg(
        "insert into worker.running (id, fence, worker_id, queue_id, tier, band, phase, attempt, failures,"
        " interruptions, started_at, is_plain, has_lane)"
        " select %s, %s, %s, q.queue_id, 1, 100, 0, 1, 0, 0, worker.now(), true, false"
        " from worker.queue_registry as q where q.queue = %s",
        task_id,
        task_id,
        worker_id,
        queue,
    )


def test_free_slots_are_those_of_live_workers_of_the_lake_that_do_nothing(lake_case: LakeCase) -> None:
    control = lake_case.control
    assert (control.free_slots(), control.count_workers()) == (1, 0)
    first, second, _ = (hire(lake_case) for _ in range(3))
    work(lake_case, first, 1)
    # Who asks is one that works.
    assert control.free_slots() == 3
    work(lake_case, second, 2)
    assert (control.free_slots(), control.count_workers()) == (2, 3)
    hire(lake_case, lease="-1 s")
    hire(lake_case, queues=("lake_schedule",), python=())
    assert (control.free_slots(), control.count_workers()) == (2, 3)


def test_workers_that_serve_other_queues_too_are_free_while_they_have_room(lake_case: LakeCase) -> None:
    control = lake_case.control
    lake_case.pg("insert into worker.queue_registry (queue) values ('mail')")
    general = hire(lake_case, queues=("lake", "lake_schedule", "mail"), python=("lake", "mail"), capacity=100)
    # However many tasks it may hold, it has one DuckDB.
    assert (control.free_slots(), control.count_workers()) == (2, 1)
    work(lake_case, general, 1, "mail")
    assert control.free_slots() == 2
    work(lake_case, general, 2)
    assert control.free_slots() == 1
    busy = hire(lake_case, queues=("lake", "mail"))
    assert control.free_slots() == 2
    work(lake_case, busy, 3, "mail")
    assert control.free_slots() == 1
    # It serves the queue for SQL handlers, and knows nothing of refreshes.
    hire(lake_case, queues=("lake", "lake_schedule"), python=())
    assert (control.free_slots(), control.count_workers()) == (1, 2)

"""How full the queues are, for a gauge: a connection for one question, with short time limits."""

from __future__ import annotations

from dataclasses import dataclass

from catchment.store.connect import connect_ours

PLACES = ("ready", "blocked", "processing", "waiting")
_DEPTHS = """
select q.queue, q.ready, q.blocked, q.processing, q.waiting,
       case when isfinite(q.oldest_ready_since)
         then greatest(extract(epoch from worker.now() - q.oldest_ready_since), 0)::float8 else 0 end
  from worker.queues as q
 order by q.queue
"""


@dataclass(frozen=True, slots=True)
class QueueDepth:
    """The unsettled tasks of one queue by place, and how long its first ready task has been waiting."""

    queue: str
    ready: int
    blocked: int
    processing: int
    waiting: int
    oldest_ready_seconds: float


def read_depths(dsn: str) -> list[QueueDepth]:
    """All queues as they are now; raises within seconds when the database is away or busy."""
    with connect_ours(dsn, name="catchment metrics", seconds=2) as conn:
        conn.execute("set statement_timeout = '2s'")
        return [QueueDepth(*row) for row in conn.execute(_DEPTHS)]

"""How full the queues are, for gauges and autoscalers."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from psycopg import Connection
from psycopg.rows import dict_row

from catchment.store.connect import connect_ours

PLACES = ("ready", "blocked", "processing", "waiting")
_DEPTHS = """
select q.queue, q.ready, q.blocked, q.processing, q.waiting,
       case when isfinite(q.oldest_ready_since)
         then greatest(extract(epoch from worker.now() - q.oldest_ready_since), 0)::float8 else 0 end,
       q.is_paused, q.halted_lanes
  from worker.queues as q
 order by q.oldest_ready_since, q.queue
 limit 1000
"""


@dataclass(frozen=True, slots=True)
class QueueDepth:
    """The unsettled tasks of one queue by place, how long its first ready task has been waiting, and what stops it."""

    queue: str
    ready: int
    blocked: int
    processing: int
    waiting: int
    oldest_ready_seconds: float
    is_paused: bool
    halted_lanes: int


def read_desired(conn: Connection[Any], queue: str, *, soon: timedelta) -> list[dict[str, Any]]:
    """How many tasks of a queue want to run, by command; see ``worker.desired_capacity``."""
    with conn.cursor(row_factory=dict_row) as cursor:
        cursor.execute("select * from worker.desired_capacity(%s, %s)", [queue, soon])
        return cursor.fetchall()


def read_depths(dsn: str) -> list[QueueDepth]:
    """All queues as they are now, or the 1,000 whose tasks wait longest; with a connection for this question alone.
    Raises within seconds when the database is away or busy."""
    with connect_ours(dsn, name="catchment metrics", seconds=2) as conn:
        conn.execute("set statement_timeout = '2s'")
        return [QueueDepth(*row) for row in conn.execute(_DEPTHS)]

"""Dynamic tables that nobody computes: the schedule alone, with refreshes done by hand and a clock that is moved."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import psycopg

from catchment.lake.files.physical import create_physical
from catchment.lake.types import Created, Properties, TableRef
from tests.fixtures.lake_case import LakeCase
from tests.lake.control.support import COLUMNS, begin, new_table, publication, publish, source_use, view_over

# Midnight, so a turn of every period begins there.
START = datetime(2030, 1, 1, tzinfo=UTC)
MINUTE = timedelta(minutes=1)


def add(
    case: LakeCase,
    name: str,
    *sources: str,
    lag: timedelta | None = MINUTE,
    old: TableRef | None = None,
    is_always_due: bool = False,
    **properties: Any,
) -> Created:
    """A dynamic table with columns k and n that reads these tables."""
    used = [source_use(case, source) for source in sources]
    table = new_table(name, used, properties=Properties(target_lag=lag, **properties), or_replace=old is not None)
    if is_always_due:
        table = type(table)(
            table.definition, "hash", "full", "TIME_DEPENDENT", True, table.layout, table.sources, table.buckets
        )
    with case.commit_lock():
        created = create_physical(case.duck, case.control, table, COLUMNS, view=view_over, old=old)
    case.control.set_schedule()
    return created


def at(case: LakeCase, when: datetime, text: str, *parameters: Any) -> Any:
    """The value of a query at a time."""
    with psycopg.connect(case.dsn, autocommit=True) as conn:
        conn.execute("select set_config('worker.now', %s, false)", [when.isoformat()])
        row = conn.execute(text, parameters or None).fetchone()
    return row[0] if row else None


def tick(case: LakeCase, seconds: float = 0) -> dict[str, Any]:
    """One tick, so many seconds after the start."""
    return at(case, START + timedelta(seconds=seconds), "select lake.tick()")


def work(case: LakeCase, rows: Sequence[tuple[int, int]] = ((1, 1),), *, fail: Sequence[str] = ()) -> list[str]:
    """Do all refreshes that have become tasks, wave by wave, as a worker would; returns the tables in order."""
    done: list[str] = []
    while True:
        waiting = case.pg(
            "select r.id, d.name from lake.refresh as r join lake.dt as d on d.id = r.dt_id"
            " where r.task_id is not null and r.finished_at is null order by r.id"
        )
        if not waiting:
            return done
        for refresh_id, name in waiting:
            order = begin(case, refresh_id)
            done.append(name)
            if name in fail:
                case.control.fail_refresh(refresh_id, order.fence, "QUERY", "no")
            elif rows:
                publish(case, order, rows)
                case.control.finish_refresh(refresh_id, order.fence, {})
            else:
                case.control.prepare_publish(refresh_id, order.fence, publication(case, order, 0))
                case.control.move_frontier(refresh_id, order.fence)
                case.control.finish_refresh(refresh_id, order.fence, {})


def states(case: LakeCase, round_id: int | None = None) -> dict[str, str]:
    """The state of each table's newest refresh, or of those of a round."""
    rows = case.pg(
        "select distinct on (d.id) d.name, r.state from lake.refresh as r join lake.dt as d on d.id = r.dt_id"
        " where %(round)s::bigint is null or r.round_id = %(round)s::bigint order by d.id, r.id desc".replace(
            "%(round)s", str(round_id) if round_id is not None else "null"
        )
    )
    return dict(rows)


def snapshots(case: LakeCase) -> dict[str, int | None]:
    """The data snapshot of each table."""
    return dict(case.pg("select d.name, f.data_snapshot from lake.dt as d join lake.frontier as f on f.dt_id = d.id"))


def tasks(case: LakeCase, queue: str = "lake") -> int:
    """How many tasks a queue ever had, upkeep aside: tables that are made by hand have no view."""
    ((count,),) = case.pg(
        "select count(*) from worker.task as t join worker.queue_registry as q using (queue_id)"
        " where q.queue = %s and t.command not in ('lake_maintain', 'lake_expire')",
        queue,
    )
    return count

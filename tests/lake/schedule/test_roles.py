"""The schedule runs with the rights of a worker and no more."""

from __future__ import annotations

import psycopg

from tests.fixtures.lake_case import LakeCase
from tests.lake.schedule.support import add, tasks


def test_a_member_of_catchment_worker_runs_the_tick(lake_case: LakeCase) -> None:
    lake_case.make("s", "k BIGINT, n BIGINT", [(1, 1)])
    table = add(lake_case, "d", "s")
    with psycopg.connect(lake_case.dsn, autocommit=True) as conn:
        conn.execute("select worker.enqueue('lake_tick')")
        conn.execute("set role catchment_worker")
        conn.execute("call worker.drain('lake_schedule')")
        conn.execute("select lake.suspend(%s)", [table.dt_id])
        conn.execute("select lake.resume(%s)", [table.dt_id])
        conn.execute("select lake.cancel_refreshes(%s, 'enough')", [table.dt_id])
    assert lake_case.pg("select state, error from worker.tasks where command = 'lake_tick'") == [("completed", None)]
    assert tasks(lake_case) == 1
    assert lake_case.pg("select state from lake.refresh") == [("CANCELLED",)]

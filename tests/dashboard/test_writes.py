"""An action is done by the database or not at all: neither its settings nor a newer schema are passed over."""

from __future__ import annotations

import httpx
from psycopg.conninfo import make_conninfo

from catchment.dashboard.auth.check import Access
from tests.fixtures.dashboard import OPERATOR, DashboardSite, StartDashboard, serving
from tests.fixtures.engine import Engine


def test_sessions_that_are_read_only_by_default_stay_so(committed: Engine, db: str) -> None:
    task = committed.enqueue()
    dsn = make_conninfo(db, options="-c default_transaction_read_only=on")
    with serving(dsn, Access(local=OPERATOR)) as address, httpx.Client(timeout=60) as client:
        site = DashboardSite(address, client)
        answer = site.post(f"/tasks/{task}/cancel", token=site.token(), confirmed="yes")
    assert answer.status_code >= 400
    assert "read-only" in answer.text
    assert committed.state(task) == "pending"


def test_nothing_is_done_in_a_schema_that_was_migrated_beyond_this_version(
    dashboard: StartDashboard, committed: Engine
) -> None:
    task = committed.enqueue()
    site = dashboard()
    token = site.token()
    committed.conn.execute("update worker.version set compatible_from = 999")
    answer = site.post(f"/tasks/{task}/cancel", token=token, confirmed="yes")
    assert answer.status_code == 503
    assert committed.state(task) == "pending"

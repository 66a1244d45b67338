"""A standby can be looked at: pages are read again by themselves, also after it was promoted."""

from __future__ import annotations

from pathlib import Path

import httpx
import pytest

from catchment.dashboard.auth.check import Access
from catchment.doctor import diagnose
from tests.dashboard.test_events import following, wait_for
from tests.fixtures.dashboard import OPERATOR, DashboardSite, serving
from tests.hosts.pair import paired

pytestmark = [pytest.mark.long, pytest.mark.timeout(600)]


def test_a_standby_is_shown_and_followed_until_it_is_promoted(prepared_server: Path) -> None:
    with (
        paired(prepared_server) as (_, standby),
        serving(standby.dsn, Access(local=OPERATOR)) as address,
        httpx.Client(timeout=60) as client,
    ):
        site = DashboardSite(address, client)
        with following(site) as events:
            kind, data = next(events)
            assert kind == "hello"
            assert '"lost": null' in data
            wait_for(events, "change")
            wait_for(events, "change")
            health = site.json("/api/health")
            assert health["notify_seconds"] is None
            assert "it is a standby" in str(health["findings"])
            with standby.connect() as conn:
                assert "it is a standby" in str(diagnose(conn))
            standby.run("pg_ctl", "-D", standby.data, "-w", "promote")
            with standby.connect() as conn:
                conn.execute("select worker.enqueue('task_cleanup')")
            wait_for(events, "change")
        with standby.connect() as conn:
            assert "standby" not in str(diagnose(conn))

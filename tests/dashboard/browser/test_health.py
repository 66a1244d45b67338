"""*Health* in a browser: a finding comes and goes by itself."""

from __future__ import annotations

import pytest

from catchment.dashboard.pages import health as health_page
from tests.fixtures.dashboard import StartDashboard
from tests.fixtures.engine import Engine

pytest.importorskip("playwright", reason="playwright is not installed")
from playwright.sync_api import Page, expect

LIMIT = 60_000


@pytest.mark.long
def test_a_finding_comes_and_goes(
    page: Page, dashboard: StartDashboard, committed: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(health_page, "SECONDS", 0)
    site = dashboard()
    page.goto(f"{site.address}/")
    page.keyboard.press("g")
    page.keyboard.press("h")
    page.wait_for_url("**/health")
    page.get_by_text("catchment doctor finds nothing.").wait_for()
    committed.conn.execute("select worker.pause_queue('work')")
    expect(page.locator("#findings li")).to_contain_text("queue work paused", timeout=LIMIT)
    expect(page.locator("#findings code")).to_have_text("catchment queue resume work")
    committed.conn.execute("select worker.resume_queue('work')")
    expect(page.locator("#findings li")).to_have_count(0, timeout=LIMIT)

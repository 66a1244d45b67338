"""*Schedules* in a browser: one is paused."""

from __future__ import annotations

import pytest

from tests.fixtures.dashboard import StartDashboard
from tests.fixtures.engine import Engine

pytest.importorskip("playwright", reason="playwright is not installed")
from playwright.sync_api import Page, expect

LIMIT = 60_000


@pytest.mark.long
def test_a_schedule_is_paused_and_run_by_hand(page: Page, dashboard: StartDashboard, committed: Engine) -> None:
    site = dashboard()
    page.goto(f"{site.address}/schedules")
    row = page.locator("[data-schedule=task_cleanup]")
    expect(row).to_contain_text("every day")
    row.hover()
    row.get_by_role("button", name="Pause").click()
    page.get_by_role("dialog").get_by_role("button", name="Pause task_cleanup").click()
    page.get_by_text("Schedule task_cleanup is paused.").wait_for()
    expect(row.locator(".tag")).to_have_text("paused")
    assert committed.value("select enabled from worker.schedule") is False
    row.get_by_role("button", name="Run now").click()
    page.get_by_role("dialog").get_by_role("button", name="Run task_cleanup now").click()
    page.get_by_text("Schedule task_cleanup has made task").wait_for()
    expect(row.locator(".strip a")).to_have_count(1, timeout=LIMIT)

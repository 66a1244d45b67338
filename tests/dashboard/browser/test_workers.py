"""*Workers* in a browser: one that starts appears by itself, and can be drained."""

from __future__ import annotations

import pytest

from tests.fixtures.dashboard import StartDashboard
from tests.fixtures.engine import Engine
from tests.fixtures.worker import StartWorker

pytest.importorskip("playwright", reason="playwright is not installed")
from playwright.sync_api import Page, expect

LIMIT = 60_000


@pytest.mark.long
def test_a_worker_appears_when_it_starts_and_goes_when_it_is_drained(
    page: Page, dashboard: StartDashboard, committed: Engine, start_worker: StartWorker
) -> None:
    site = dashboard()
    page.goto(f"{site.address}/workers")
    page.evaluate("window.isSamePage = true")
    page.get_by_text("No worker is running.").wait_for()
    worker = start_worker("--queue", "work")
    row = page.locator("[data-worker]")
    expect(row).to_have_count(1, timeout=LIMIT)
    expect(row.locator(".standing")).to_have_text("live", timeout=LIMIT)
    assert page.evaluate("window.isSamePage")
    row.get_by_role("button", name="Drain").click()
    page.get_by_role("dialog").get_by_role("button", name="Drain worker").click()
    page.get_by_text("takes no more tasks, and ends when those that it runs have.").wait_for()
    assert worker.wait(timeout=60) == 0
    expect(row).to_have_count(0, timeout=LIMIT)
    assert committed.value("select actor || ' ' || action from worker.audit") == "ada worker.drain"

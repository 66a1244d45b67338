"""*Lanes* in a browser: a halted lane is skipped, and its row goes by itself."""

from __future__ import annotations

import pytest

from tests.fixtures.dashboard import StartDashboard
from tests.fixtures.engine import Engine

pytest.importorskip("playwright", reason="playwright is not installed")
from playwright.sync_api import Page, expect

LIMIT = 60_000


@pytest.mark.long
def test_a_halted_lane_goes_on_without_its_head(page: Page, dashboard: StartDashboard, committed: Engine) -> None:
    site = dashboard()
    page.goto(f"{site.address}/lanes")
    page.get_by_text("No lane has work").wait_for()
    committed.queue("mail", mode="concurrent")
    committed.command("send", "mail")
    bad = committed.enqueue("send", lane="customer 7", fail="the address is wrong")
    behind = committed.enqueue("send", lane="customer 7")
    committed.drain("mail")
    row = page.locator("tr", has_text="the address is wrong")
    expect(row).to_have_count(1, timeout=LIMIT)
    row.get_by_role("button", name="Skip").click()
    page.get_by_role("dialog").get_by_role("button", name=f"Skip task {bad}").click()
    page.get_by_text(f"Lane customer 7 of queue mail continues without task {bad}.").wait_for()
    expect(row).to_have_count(0, timeout=LIMIT)
    committed.drain("mail")
    assert (committed.state(bad), committed.state(behind)) == ("failed", "completed")

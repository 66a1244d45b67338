"""A scope in a browser: it follows its children, and is cancelled with a mouse or by keyboard."""

from __future__ import annotations

import re
from typing import Any

import pytest

from catchment.dashboard.pages import scope as scope_page
from tests.dashboard.test_scope import scope_of
from tests.fixtures.dashboard import StartDashboard
from tests.fixtures.engine import Engine

pytest.importorskip("playwright", reason="playwright is not installed")
from playwright.sync_api import Page, expect

LIMIT = 60_000
DONE = ".progress .value"


def test_a_scope_follows_its_children_and_is_cancelled(
    page: Page, dashboard: StartDashboard, committed: Engine
) -> None:
    site = dashboard()
    task_id = scope_of(committed, {"note": "a"}, {"fail": "no"}, {"note": "b"}, {"note": "c"})
    page.goto(f"{site.address}/")
    page.keyboard.press("g")
    page.keyboard.press("o")
    page.get_by_role("link", name=f"act {task_id}").click()
    page.wait_for_url(f"**/scopes/{task_id}")
    page.evaluate("window.isSamePage = true")
    expect(page.locator(DONE)).to_have_text("0 of 4")
    committed.process(p_mode="child", p_batch_size=2)
    expect(page.locator(DONE)).to_have_text("2 of 4", timeout=LIMIT)
    expect(page.locator("tbody tr").first).to_contain_text("failed", timeout=LIMIT)
    assert page.locator("tbody tr").first.locator(".bar-run.tone-failed").count() == 1
    page.get_by_role("button", name="Cancel all").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_role("heading", name=f"Cancel task {task_id} and 2 open children?").wait_for()
    dialog.get_by_role("button", name="Leave it").click()
    assert committed.state(task_id) == "waiting"
    assert page.evaluate("window.isSamePage")
    # By keyboard alone: the palette has the actions of the page.
    page.keyboard.press("Control+k")
    page.keyboard.type(f"cancel task {task_id}")
    page.keyboard.press("Enter")
    dialog.get_by_role("heading", name=f"Cancel task {task_id} and 2 open children?").wait_for()
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    page.get_by_text(f"Task {task_id} and everything under it: cancelling.").wait_for()
    committed.drain()
    expect(page.locator(DONE)).to_have_text("1 of 4", timeout=LIMIT)
    expect(page.locator("h1")).to_have_text(f"act {task_id} · cancelled", timeout=LIMIT)
    assert committed.state(task_id) == "cancelled"
    page.get_by_role("button", name="Retry 3 failed or cancelled").click()
    page.get_by_role("button", name=f"Retry 3 children of task {task_id}").click()
    page.get_by_text("3 children run again.").wait_for()
    assert committed.state(task_id) == "waiting"


@pytest.mark.long
def test_many_children_are_shown_as_counts_with_a_way_down(
    page: Page, dashboard: StartDashboard, committed: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(scope_page, "MANY", 100)
    site = dashboard()
    children: list[dict[str, Any]] = [{"note": "x"}] * 115 + [{"fail": "no"}] * 5
    task_id = scope_of(committed, *reversed(children))
    committed.process(p_mode="child", p_batch_size=60)
    page.goto(f"{site.address}/scopes/{task_id}")
    expect(page.locator(DONE)).to_have_text("60 of 120")
    assert page.locator(".outline tbody tr").count() == 50
    counts = page.locator(".groups tbody tr")
    assert counts.count() == 1
    counts.get_by_role("link", name=re.compile("^5$")).click()
    page.wait_for_url(re.compile("state=failed"))
    assert page.locator(".outline tbody tr").count() == 5
    page.go_back()
    page.get_by_role("link", name="Next").click()
    page.wait_for_url(re.compile("after="))
    assert page.locator(".outline tbody tr").count() == 50
    for width in (1280, 390):
        page.set_viewport_size({"width": width, "height": 800})
        assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0

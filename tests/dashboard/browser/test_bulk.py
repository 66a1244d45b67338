"""Retry all tasks of a filter, in a browser."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.fixtures.dashboard import StartDashboard
from tests.fixtures.engine import Engine

if TYPE_CHECKING:
    from playwright.sync_api import Page


@pytest.mark.long
def test_tasks_of_a_filter_are_retried_after_a_question(
    page: Page, dashboard: StartDashboard, committed: Engine
) -> None:
    """The page of the task that does it follows without being loaded again."""
    site = dashboard()
    committed.command("other")
    failed = [committed.enqueue(fail="the disk is full") for _ in range(3)]
    other = committed.enqueue("other", fail="the disk is full")
    committed.drain()
    page.goto(f"{site.address}/tasks?state=failed")
    page.get_by_label("Command").fill("act")
    page.get_by_role("button", name="Filter").click()
    page.get_by_role("link", name="Retry all that match").click()
    page.get_by_role("heading", name="Retry 3 tasks?").wait_for()
    page.get_by_role("link", name="Leave them").click()
    page.wait_for_url("**/tasks?*command=act*")
    page.get_by_role("link", name="Retry all that match").click()
    page.get_by_role("button", name="Retry 3 tasks").click()
    page.get_by_role("heading", name="0 of 3 tasks retried · pending").wait_for()
    page.get_by_text("No worker is alive").wait_for()
    committed.drain("bulk_changes")
    page.get_by_role("heading", name="3 of 3 tasks retried · completed").wait_for()
    assert [committed.state(task) for task in (*failed, other)] == ["pending"] * 3 + ["failed"]


@pytest.mark.long
def test_selected_rows_are_retried_and_cancelled(page: Page, dashboard: StartDashboard, committed: Engine) -> None:
    """By key and by box; each verb takes those that it can change. What is selected stays while the list changes."""
    site = dashboard()
    committed.queue("other")
    committed.command("wait", "other")
    failed = [committed.enqueue(fail="no") for _ in range(2)]
    committed.drain()
    waiting = committed.enqueue("wait")
    page.goto(f"{site.address}/tasks")
    bar = page.locator("[data-selection]")
    assert bar.is_hidden()
    page.keyboard.press("j")
    page.keyboard.press("x")
    bar.get_by_text("1 selected").wait_for()
    assert bar.get_by_role("link").all_inner_texts() == ["Cancel 1"]
    page.get_by_label(f"Select task {failed[0]}").check()
    newer = committed.enqueue("wait")
    page.get_by_label(f"Select task {newer}").wait_for()
    assert page.get_by_label(f"Select task {waiting}").is_checked()
    assert bar.get_by_role("link").all_inner_texts() == ["Retry 1", "Cancel 1"]
    page.get_by_label("Select all tasks of this page").check()
    bar.get_by_text("4 selected").wait_for()
    bar.get_by_role("button", name="Clear").click()
    bar.wait_for(state="hidden")
    assert not page.get_by_label(f"Select task {waiting}").is_checked()
    page.get_by_label(f"Select task {failed[0]}").check()
    bar.get_by_role("link", name="Retry 1").click()
    page.get_by_role("button", name="Retry 1 task").click()
    page.get_by_role("heading", name="0 of 1 tasks retried").wait_for()
    committed.drain("bulk_changes")
    assert [committed.state(task) for task in failed] == ["pending", "failed"]

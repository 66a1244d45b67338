"""The page of a task and the form that starts one, in a browser."""

from __future__ import annotations

import pytest

from tests.dashboard.test_start import shop
from tests.dashboard.test_task import halted_lane
from tests.fixtures.dashboard import StartDashboard
from tests.fixtures.engine import Engine

pytest.importorskip("playwright", reason="playwright is not installed")
from playwright.sync_api import Page, expect

LIMIT = 60_000
HOSTILE = "</pre><img src=x onerror=\"document.title='owned'\"><script>document.title='owned'</script>"


@pytest.mark.long
def test_a_blocked_task_leads_to_what_blocks_it_and_a_button_retries_that(
    page: Page, dashboard: StartDashboard, committed: Engine
) -> None:
    first, rest = halted_lane(committed)
    site = dashboard()
    page.goto(f"{site.address}/tasks/{rest[0]}")
    why = page.get_by_role("region", name="Why")
    why.get_by_role("link", name=f"task {first}").click()
    # Beside the page, which stays.
    panel = page.locator("[data-panel]")
    panel.get_by_text(f"send {first} · failed").wait_for()
    expect(panel.locator(".machine .is-now")).to_contain_text("failed")
    panel.get_by_role("button", name="Close").click()
    why.get_by_role("button", name=f"Retry task {first}").click()
    page.get_by_role("dialog").get_by_role("button", name=f"Retry task {first}").click()
    page.get_by_text(f"Task {first} runs again").wait_for()
    assert committed.state(first) == "pending"
    # The page follows: the lane is not halted any more.
    page.goto(f"{site.address}/tasks/{rest[0]}")
    expect(page.get_by_text("halts the lane")).to_have_count(0)
    committed.conn.execute("select worker.cancel(%s)", [rest[0]])
    expect(page.locator(".machine .is-now")).to_contain_text("cancelled", timeout=LIMIT)


@pytest.mark.long
def test_values_are_unfolded_as_text(page: Page, dashboard: StartDashboard, committed: Engine) -> None:
    task = committed.enqueue(note=HOSTILE, number=123456789012345678901234567890)
    site = dashboard()
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.goto(f"{site.address}/tasks/{task}")
    assert not [url for url in asked if url.endswith("/payload")]
    page.get_by_text("Payload", exact=True).click()
    value = page.get_by_label("Payload", exact=True)
    expect(value).to_contain_text("123456789012345678901234567890", timeout=LIMIT)
    assert "</pre><img src=x onerror=" in value.inner_text()
    # What is unfolded stays so when the page follows an event.
    committed.conn.execute("select worker.cancel(%s)", [task])
    expect(page.locator(".machine .is-now")).to_contain_text("cancelled", timeout=LIMIT)
    assert value.is_visible()
    assert "owned" not in page.title()


@pytest.mark.long
def test_a_task_is_started_by_keyboard_alone(page: Page, dashboard: StartDashboard, committed: Engine, db: str) -> None:
    app = shop(db)
    app.sync.register()
    app.sync.close()
    site = dashboard()
    page.goto(f"{site.address}/")
    keys = page.keyboard
    keys.press("Control+k")
    page.get_by_role("combobox", name="Find").wait_for()
    keys.type("start a task")
    keys.press("Enter")
    page.wait_for_url("**/start")
    while page.locator("tr.is-current", has_text="ship").count() == 0:
        keys.press("j")
    keys.press("Enter")
    page.get_by_label("to required").wait_for()
    expect(page.get_by_label("to required")).to_be_focused()
    keys.type("ada")
    keys.press("Tab")
    keys.type("heavy")
    keys.press("Tab")
    keys.type("[]")
    keys.press("Shift+Tab")
    keys.press("Enter")
    page.get_by_text("expected a whole number").wait_for()
    expect(page.get_by_label("weight required")).to_be_focused()
    keys.press("Control+a")
    keys.type("70")
    keys.press("Enter")
    page.get_by_role("heading", name="Start ship?").wait_for()
    expect(page.get_by_label("What it gets")).to_contain_text('"weight": 70')
    expect(page.get_by_role("link", name="Leave it")).to_be_focused()
    keys.press("Shift+Tab")
    keys.press("Enter")
    page.get_by_text("was enqueued").wait_for()
    (task,) = committed.states()
    page.wait_for_url(f"**/tasks/{task}")
    assert committed.task(task)["payload"] == {"to": "ada", "weight": 70, "items": []}

"""The frame in a browser: live, paused, lost, by keyboard, on a phone, in both themes."""

from __future__ import annotations

import re
from collections.abc import Callable
from time import monotonic

import psycopg
import pytest
from starlette.applications import Starlette
from starlette.routing import Mount

from catchment.dashboard import asgi_app
from catchment.dashboard.auth.check import Access
from catchment.dashboard.auth.user import User
from tests.fixtures.dashboard import OPERATOR, StartDashboard, serving_app
from tests.fixtures.engine import Engine

pytest.importorskip("playwright", reason="playwright is not installed")
from playwright.sync_api import APIResponse, Page, Route, expect

PASSWORD = "the password of ada"  # noqa: S105
LIMIT = 60_000
READY = "#ready [data-figure]"
CONCURRENT = "update worker.queue_registry set mode = 'concurrent' where queue = 'work'"
HOSTILE = "<img src=x onerror=\"document.title='owned'\"><script>document.title='owned'</script>"


def test_a_page_follows_what_happens_and_a_pause_pauses(
    page: Page, dashboard: StartDashboard, committed: Engine
) -> None:
    committed.conn.execute(CONCURRENT)
    site = dashboard()
    page.goto(f"{site.address}/")
    page.evaluate("window.isSamePage = true")
    ready = page.locator(READY)
    assert ready.inner_text() == "0"
    committed.enqueue()
    expect(page.locator(READY)).to_have_text("1", timeout=LIMIT)
    assert page.evaluate("window.isSamePage")
    page.get_by_role("button", name="Live").click()
    assert "Paused since" in page.locator("[data-lost]").inner_text()
    committed.enqueue()
    # Another page that is not paused has it; this one has not even asked.
    other = page.context.new_page()
    other.goto(f"{site.address}/")
    expect(other.locator(READY)).to_have_text("2", timeout=LIMIT)
    with_requests: list[str] = []
    page.on("request", lambda request: with_requests.append(request.url))
    committed.enqueue()
    expect(other.locator(READY)).to_have_text("3", timeout=LIMIT)
    other.close()
    assert (ready.inner_text(), with_requests) == ("1", [])
    page.get_by_role("button", name="Paused").click()
    expect(page.locator(READY)).to_have_text("3", timeout=LIMIT)
    expect(page.locator("[data-lost]")).to_be_hidden(timeout=LIMIT)


def test_what_happens_while_a_page_is_being_read_is_shown(
    page: Page, dashboard: StartDashboard, committed: Engine
) -> None:
    committed.conn.execute(CONCURRENT)
    site = dashboard()
    page.goto(f"{site.address}/")
    committed.enqueue()
    expect(page.locator(READY)).to_have_text("1", timeout=LIMIT)
    held: list[tuple[Route, APIResponse]] = []
    page.route(f"{site.address}/", lambda route: held.append((route, route.fetch())), times=1)
    committed.enqueue()
    wait_for(page, lambda: bool(held))
    # The answer on its way does not know the next task, nor does the read that its event asks for begin.
    committed.enqueue()
    page.wait_for_timeout(3_000)
    route, answer = held[0]
    route.fulfill(response=answer)
    expect(page.locator(READY)).to_have_text("3", timeout=LIMIT)


def test_windows_of_one_browser_share_a_stream(page: Page, dashboard: StartDashboard, committed: Engine) -> None:
    """A browser has six connections to a server, and a stream takes one."""
    site = dashboard()
    windows = [page, *(page.context.new_page() for _ in range(6))]
    for window in windows:
        window.goto(f"{site.address}/")
    committed.enqueue()
    for window in windows:
        expect(window.locator(READY)).to_have_text("1", timeout=LIMIT)
    # Another one listens when the first is gone.
    windows.pop(0).goto("about:blank")
    committed.conn.execute("select worker.cancel(t.id) from worker.tasks as t")
    for window in windows:
        expect(window.locator(READY)).to_have_text("0", timeout=LIMIT)
        window.close()


def wait_for(page: Page, is_so: Callable[[], bool]) -> None:
    """Let the browser work until something is so."""
    until = monotonic() + LIMIT / 1000
    while not is_so():
        assert monotonic() < until
        page.wait_for_timeout(20)


def test_a_bar_says_since_when_the_database_is_lost(
    page: Page, dashboard: StartDashboard, committed: Engine, server: str
) -> None:
    site = dashboard()
    page.goto(f"{site.address}/")
    page.locator("#ready").wait_for()
    name = committed.conn.info.dbname
    with psycopg.connect(server, autocommit=True) as other:
        other.execute(f"alter database {name} allow_connections false")
        other.execute(
            "select pg_terminate_backend(pid, 10000) from pg_stat_activity where datname = %s and pid <> %s",
            [name, committed.conn.info.backend_pid],
        )
        page.get_by_text(re.compile(r"The database has been unreachable since \d")).wait_for()
        assert page.locator("#ready").is_visible()
        new = page.context.new_page()
        new.goto(f"{site.address}/tasks")
        new.get_by_role("heading", name="The database cannot be read").wait_for()
        assert new.locator("[data-lost]").is_hidden(), "nothing is shown that was from before"
        other.execute(f"alter database {name} allow_connections true")
    expect(page.locator("[data-lost]")).to_be_hidden(timeout=LIMIT)
    new.get_by_role("heading", name="Tasks").wait_for()
    new.close()
    committed.enqueue()
    expect(page.locator(READY)).to_have_text("1", timeout=LIMIT)


def test_a_failed_task_is_retried_by_keyboard_alone(page: Page, dashboard: StartDashboard, committed: Engine) -> None:
    site = dashboard()
    older, newer = committed.enqueue(fail="old"), committed.enqueue(fail=HOSTILE)
    committed.drain()
    page.goto(f"{site.address}/")
    keys = page.keyboard
    keys.press("g")
    keys.press("t")
    page.wait_for_url("**/tasks")
    for key in ("j", "j", "k", "x", "j", "Enter"):
        keys.press(key)
    assert page.get_by_text("1 selected").is_visible()
    panel = page.locator("[data-panel]")
    panel.get_by_text(f"act {older} · failed").wait_for()
    keys.press("k")
    panel.get_by_text(f"act {newer} · failed").wait_for()
    # What a task says is text.
    assert HOSTILE in panel.inner_text()
    assert "owned" not in page.title()
    keys.press("Escape")
    assert panel.is_hidden()
    keys.press("Control+k")
    page.get_by_role("combobox", name="Find").wait_for()
    keys.type(f"retry task {newer}")
    keys.press("Enter")
    dialog = page.get_by_role("dialog")
    dialog.get_by_role("heading", name=f"Retry task {newer}?").wait_for()
    keys.press("Tab")
    keys.press("Enter")
    page.wait_for_url(f"**/tasks/{newer}*")
    page.get_by_text(f"Task {newer} runs again: it is pending.").wait_for()
    assert (committed.state(newer), committed.state(older)) == ("pending", "failed")
    assert "note=" not in page.url
    keys.press("Control+k")
    keys.type(str(older))
    keys.press("Enter")
    page.wait_for_url(f"**/tasks/{older}")
    page.go_back()
    page.wait_for_url(f"**/tasks/{newer}")


@pytest.mark.long
def test_a_question_stays_what_it_was_while_the_page_changes(
    page: Page, dashboard: StartDashboard, committed: Engine
) -> None:
    """What is sent is what was asked, though the button beneath has become its opposite, or has gone."""
    site = dashboard()
    task_id = committed.enqueue()
    page.goto(f"{site.address}/tasks/{task_id}")
    page.get_by_role("button", name="Cancel").click()
    committed.value("select worker.cancel(%s)", task_id)
    page.locator(f'main form[data-verb="Retry task {task_id}"]').wait_for()
    page.get_by_role("button", name=f"Cancel task {task_id}").click()
    page.get_by_text(f"Nothing was done: task {task_id} was cancelled already.").wait_for()
    assert committed.state(task_id) == "cancelled"

    page.goto(f"{site.address}/tasks?state=cancelled")
    page.get_by_role("button", name="Retry").click()
    committed.value("select worker.retry(%s)", task_id)
    page.get_by_text("No task matches").wait_for()
    page.get_by_role("button", name=f"Retry task {task_id}").click()
    page.get_by_text("only failed and cancelled tasks can be retried").wait_for()
    assert committed.state(task_id) == "pending"


@pytest.mark.long
def test_a_page_that_cannot_be_read_any_more_says_so(page: Page, dashboard: StartDashboard, committed: Engine) -> None:
    """The title follows. Without a user the page goes away, though the stream knows nothing of it yet."""
    user: list[User | None] = [OPERATOR]
    site = dashboard(Access(authenticate=lambda _: user[0]))
    task_id = committed.enqueue()
    page.goto(f"{site.address}/tasks/{task_id}")
    committed.value("select worker.cancel(%s)", task_id)
    expect(page).to_have_title(f"act {task_id} · cancelled · Catchment", timeout=LIMIT)
    broken = "<h1>The database cannot be read</h1>"
    page.route("**/tasks/*", lambda route: route.fulfill(status=503, body=broken, content_type="text/html"))
    committed.value("select worker.retry(%s)", task_id)
    page.get_by_text(re.compile(r"This page has not been updated since \d.*: The database cannot be read\.")).wait_for()
    page.unroute_all()
    committed.enqueue()
    expect(page.locator("[data-lost]")).to_be_hidden(timeout=LIMIT)
    user[0] = None
    committed.enqueue()
    page.get_by_role("heading", name="Log in first").wait_for()


@pytest.mark.long
def test_nothing_needs_sideways_scrolling(page: Page, dashboard: StartDashboard, committed: Engine) -> None:
    """Wide or on a phone, light or dark, whatever the length of names."""
    site = dashboard()
    name = "a_command_with_a_long_name_" * 5
    committed.queue("q" * 150, mode="concurrent")
    committed.command(name, "q" * 150)
    task_id = committed.enqueue(name, lane="l" * 300, fail="x" * 2000)
    committed.drain("q" * 150)
    for path in ("/", "/tasks", f"/tasks/{task_id}"):
        page.goto(f"{site.address}{path}")
        for width in (1280, 390):
            page.set_viewport_size({"width": width, "height": 800})
            over = page.evaluate("document.documentElement.scrollWidth - innerWidth")
            assert over <= 0, (width, path)


@pytest.mark.long
def test_a_page_is_readable_and_acts_without_scripts(page: Page, dashboard: StartDashboard, committed: Engine) -> None:
    site = dashboard()
    task_id = committed.enqueue(fail="no")
    committed.drain()
    browser = page.context.browser
    assert browser is not None
    with browser.new_context(java_script_enabled=False) as window:
        plain = window.new_page()
        plain.goto(f"{site.address}/tasks")
        plain.get_by_role("link", name="failed", exact=True).click()
        plain.get_by_role("button", name="Retry").click()
        plain.get_by_role("button", name=f"Retry task {task_id}").click()
        plain.get_by_text("runs again").wait_for()
        plain.go_back()
        plain.get_by_role("heading", name=f"Retry task {task_id}?").wait_for()
    assert committed.state(task_id) == "pending"


def test_log_in_be_refused_and_act_under_any_prefix(page: Page, committed: Engine, db: str) -> None:
    """People come back to where they were; cookies are for the path as the browser writes it."""
    task_id = committed.enqueue()
    app = asgi_app(db, password=PASSWORD)
    host = Starlette(routes=[Mount("/größe x", app)], lifespan=lambda _: app.router.lifespan_context(app))
    host.state.site = app.state.site
    with serving_app(host) as address:
        page.goto(f"{address}/größe x/tasks?state=pending")
        page.get_by_label("Your name").fill("ada")
        page.get_by_label("Password").fill("wrong one")
        page.get_by_role("button", name="Log in").click()
        page.get_by_text("This password is not right.").wait_for()
        page.get_by_label("Password").fill(PASSWORD)
        page.get_by_role("button", name="Log in").click()
        page.wait_for_url("**/tasks?state=pending")
        page.goto(f"{address}/größe x/tasks/{task_id}")
        page.get_by_role("button", name="Cancel").click()
        page.get_by_role("button", name="Leave it").click()
        assert committed.state(task_id) == "pending"
        page.get_by_role("button", name="Cancel").click()
        page.get_by_role("button", name=f"Cancel task {task_id}").click()
        page.get_by_text(f"Task {task_id} is cancelled.").wait_for()
        assert committed.state(task_id) == "cancelled"
        page.get_by_role("button", name="Switch between light and dark").click()
        page.reload()
        assert page.locator("html").get_attribute("data-theme") == "dark"
        page.get_by_role("button", name="Log out").click()
        page.wait_for_url("**/login")

"""The screens of dynamic tables in a browser, with a real lake and a real worker."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack

import pytest

from catchment.dashboard.auth.check import Access
from catchment.dashboard.auth.user import User
from tests.dashboard.browser.axe import complaints_of
from tests.dashboard.lake import fail_daily, ids_of
from tests.fixtures.dashboard import serving
from tests.fixtures.lake_case import LakeCase
from tests.fixtures.worker import StartWorker

pytest.importorskip("playwright", reason="playwright is not installed")
from playwright.sync_api import Page, expect

LIMIT = 120_000


@pytest.fixture
def address(lake_db: str) -> Iterator[str]:
    with ExitStack() as stack:
        yield stack.enter_context(serving(lake_db, Access(local=User("ada", "operator"))))


@pytest.mark.long
def test_a_refresh_that_is_asked_for_shows_up_by_itself(
    page: Page, address: str, lake_case: LakeCase, start_lake_worker: StartWorker
) -> None:
    lake_case.add("orders", [(3, "30")])
    page.goto(f"{address}/tables")
    row = page.locator("tr", has_text="main.daily")
    expect(row).to_contain_text("fresh")
    expect(row).to_contain_text("2")
    row.get_by_role("link", name="main.daily").click()
    page.wait_for_url("**/tables/*")
    page.evaluate("window.isSamePage = true")
    page.get_by_role("button", name="Refresh now").click()
    page.get_by_role("dialog").get_by_role("button", name="Refresh table").click()
    page.get_by_text("refreshes main.daily and what it reads").wait_for()
    why = page.locator("#why")
    expect(why).to_contain_text("No live worker serves queue lake", timeout=LIMIT)
    start_lake_worker("--app", "catchment.lake.tasks.app:app")
    rows = page.locator(".figure", has_text="Rows")
    expect(rows.locator("[data-figure]")).to_have_text("3", timeout=LIMIT)
    expect(page.locator("#refreshes-title")).to_be_visible()
    page.get_by_role("link", name="Preview 100 rows").click()
    page.locator("[data-panel] .preview td", has_text="30").wait_for(timeout=LIMIT)
    assert complaints_of(page) == []


@pytest.mark.long
def test_the_failed_table_above_is_named_as_the_cause(page: Page, address: str, lake_case: LakeCase) -> None:
    ids = ids_of(lake_case)
    fail_daily(lake_case)

    def fits() -> bool:
        """Wide, and on a phone."""
        over: list[int] = []
        for width in (390, 1280):
            page.set_viewport_size({"width": width, "height": 800})
            over.append(page.evaluate("document.documentElement.scrollWidth - innerWidth"))
        return max(over) <= 0

    page.goto(f"{address}/tables")
    page.locator("#roots", has_text="main.daily failed").wait_for()
    assert "1 table below does not get newer because of it" in page.locator("#roots").inner_text()
    page.set_viewport_size({"width": 390, "height": 800})
    command = page.locator("#roots .remedy").bounding_box()
    assert command is not None
    assert command["width"] > command["height"], "a letter per line"
    assert fits()
    assert complaints_of(page) == []
    page.get_by_role("link", name="main.totals").first.click()
    page.wait_for_url(f"**/tables/{ids['totals']}")
    expect(page.locator("#why")).to_contain_text("It reads main.daily, whose last refresh failed")
    assert fits()
    assert [*complaints_of(page), *complaints_of(page, is_dark=True)] == []
    page.locator("svg.lineage a", has_text="daily").click()
    page.wait_for_url(f"**/tables/{ids['daily']}")
    # What the query said about a hostile row is text.
    assert "<script>alert(1)</script>" in page.locator("#why").inner_text()
    page.go_back()
    page.get_by_role("link", name="Open main.daily").click()
    page.wait_for_url(f"**/tables/{ids['daily']}")

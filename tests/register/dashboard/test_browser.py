"""The screens of the register in a browser: find a unit, go into a region, and see an edit arrive."""

from __future__ import annotations

import re

import pytest

from tests.fixtures.dashboard import StartDashboard
from tests.fixtures.register_driver import RegisterDatabase
from tests.register.dashboard.test_screens import fill

pytest.importorskip("playwright", reason="playwright is not installed")
from playwright.sync_api import Page, expect

LIMIT = 60_000


@pytest.mark.long
def test_a_unit_is_searched_and_its_timeline_shown(
    page: Page, reg_db: RegisterDatabase, start_site: StartDashboard
) -> None:
    fill(reg_db)
    site = start_site()
    page.goto(f"{site.address}/")
    page.keyboard.press("g")
    page.keyboard.press("r")
    page.get_by_role("heading", name="The register is up to date").wait_for()
    page.keyboard.press("/")
    page.keyboard.type("second")
    page.keyboard.press("Enter")
    page.wait_for_url("**/register/units?text=second")
    page.locator("tr", has_text="legal unit").get_by_role("link", name="Second Unit").click()
    page.wait_for_url("**/register/units/legal_unit/*")
    chart = page.locator("svg.timeline")
    expect(chart.locator(".run-text", has_text="03.01 Oslo")).to_be_visible(timeout=LIMIT)
    assert chart.locator("rect title").first.text_content() == "Second Unit, from 2024-01-01 on"
    for width in (1280, 390):
        page.set_viewport_size({"width": width, "height": 800})
        assert page.evaluate("document.documentElement.scrollWidth") <= width
    page.go_back()
    page.wait_for_url("**/register/units?text=second")


@pytest.mark.long
def test_a_region_is_gone_into_and_the_address_has_it(
    page: Page, reg_db: RegisterDatabase, start_site: StartDashboard
) -> None:
    fill(reg_db)
    site = start_site()
    page.goto(f"{site.address}/register")
    count = page.locator("#count")
    assert count.inner_text() == "3"
    page.get_by_role("link", name=re.compile("^03 ")).click()
    page.wait_for_url("**/register?region=03")
    assert count.inner_text() == "2"
    page.get_by_role("link", name=re.compile("^J ")).click()
    page.wait_for_url("**/register?*activity=J*")
    assert (count.inner_text(), "region=03" in page.url) == ("1", True)
    page.get_by_role("link", name="establishments").click()
    page.wait_for_url("**unit_type=establishment**")
    assert count.inner_text() == "0"
    page.go_back()
    expect(page.locator("#count")).to_have_text("1", timeout=LIMIT)
    assert page.locator("svg.chart rect.stock").count() > 0


def test_an_edit_arrives_when_its_round_has_ended(
    page: Page, reg_db: RegisterDatabase, start_site: StartDashboard
) -> None:
    fill(reg_db)
    site = start_site()
    unit_id = reg_db.unit_id("200")
    other = page.context.new_page()
    other.goto(f"{site.address}/register?region=11")
    assert other.locator("#count").inner_text() == "1"
    page.goto(f"{site.address}/register/units/legal_unit/{unit_id}")
    page.evaluate("window.isSamePage = true")
    page.get_by_text(re.compile("is up to date with all committed changes")).wait_for()
    reg_db.conn.execute(
        'select register.edit_unit(\'legal_unit\', %s, \'{"name": "Brand New", "physical_region_code": "1103"}\')',
        [unit_id],
    )
    page.get_by_text(re.compile("not in a round yet")).wait_for()
    page.get_by_text(re.compile("No live worker serves queue analytics")).wait_for()
    assert page.locator("h1").inner_text() == "Second Unit"
    reg_db.start_worker("--queue", "analytics")
    expect(page.locator("h1")).to_have_text("Brand New", timeout=LIMIT)
    expect(page.locator(".conditions")).to_contain_text("is up to date with all committed changes", timeout=LIMIT)
    assert page.evaluate("window.isSamePage")
    expect(other.locator("#count")).to_have_text("2", timeout=LIMIT)
    expect(other.locator("h1")).to_have_text("The register is up to date", timeout=LIMIT)

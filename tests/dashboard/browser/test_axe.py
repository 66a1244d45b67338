"""axe-core on every screen, light and dark: contrast, names, roles, order."""

from __future__ import annotations

from importlib import resources
from typing import TYPE_CHECKING, Any

import pytest

from catchment.dashboard.pages import SCREENS
from tests.dashboard.sample import fill
from tests.fixtures.dashboard import StartDashboard
from tests.fixtures.engine import Engine

if TYPE_CHECKING:
    from playwright.sync_api import Page

# A screen without parameters of its path has an address; of the others, one is made of the sample.
MORE = (
    "/tasks/{failed}",
    "/tasks/{scope}",
    "/tasks/{pending}",
    "/scopes/{parent}",
    "/bulk/{bulk}",
    "/start?command=act",
)


@pytest.mark.timeout(600)
def test_axe_finds_nothing(page: Page, dashboard: StartDashboard, committed: Engine) -> None:
    ids = fill(committed)
    site = dashboard()
    plain = [screen.path for screen in SCREENS if "{" not in screen.path]
    paths = [*plain, *(path.format(**ids) for path in MORE), "/nowhere"]
    # Not by a script element, which the content security policy refuses.
    axe = resources.files("axe_playwright_python").joinpath("axe.min.js").read_text(encoding="utf-8")
    said: list[str] = []
    for path in paths:
        page.goto(f"{site.address}{path}")
        page.evaluate(axe)
        for theme in ("light", "dark"):
            page.emulate_media(color_scheme=theme, reduced_motion="reduce")
            answer: dict[str, Any] = page.evaluate("axe.run()")
            said += [
                f"{path} {theme}: {each['id']}: {each['help']}: {node['html'][:150]} {node['failureSummary'][:300]}"
                for each in answer["violations"]
                for node in each["nodes"][:3]
            ]
    assert not said, "\n".join(said)

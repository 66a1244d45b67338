"""axe-core on every screen, light and dark. Those of dynamic tables are in ``test_tables``."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from catchment.dashboard.pages import SCREENS
from tests.dashboard.browser.axe import complaints_at
from tests.dashboard.sample import fill
from tests.fixtures.dashboard import StartDashboard
from tests.fixtures.engine import Engine

if TYPE_CHECKING:
    from playwright.sync_api import Page

# A screen without parameters of its path has an address; of the others, one is made of the sample.
PLAIN = tuple(screen.path for screen in SCREENS if "{" not in screen.path)
MORE = (
    "/tasks/{failed}",
    "/tasks/{scope}",
    "/tasks/{pending}",
    "/tasks/{done}/result",
    "/scopes/{parent}",
    "/bulk/{bulk}",
    "/start?command=act",
)
# All tones and kinds of parts: the others have the same.
COLOURFUL = ("/tasks/{failed}",)
MOST_KINDS = ("/", "/start?command=act", *COLOURFUL)


@pytest.mark.timeout(900)
@pytest.mark.parametrize("is_thorough", [False, pytest.param(True, marks=pytest.mark.long)])
def test_axe_finds_nothing(page: Page, dashboard: StartDashboard, committed: Engine, is_thorough: bool) -> None:
    ids = fill(committed)
    site = dashboard()
    paths = [path.format(**ids) for path in ((*PLAIN, *MORE, "/nowhere") if is_thorough else MOST_KINDS)]
    dark = paths if is_thorough else [path.format(**ids) for path in COLOURFUL]
    said = complaints_at(page, site.address, paths, dark=dark, loads_each=is_thorough)
    assert not said, "\n".join(said)

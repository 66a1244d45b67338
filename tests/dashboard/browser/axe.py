"""axe-core in a page: contrast, names, roles, order."""

from __future__ import annotations

from functools import cache
from importlib import resources
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from playwright.sync_api import Page

# Of what is not violated, nothing is made ready to be read.
_RUN = "rules => axe.run(document, {resultTypes: ['violations'], ...(rules && {runOnly: rules})})"


@cache
def _script() -> str:
    return resources.files("axe_playwright_python").joinpath("axe.min.js").read_text(encoding="utf-8")


def complaints_of(page: Page, *, theme: str = "light") -> list[str]:
    """What axe-core says against the page as it is. In the dark, only colours are others."""
    page.emulate_media(color_scheme=theme, reduced_motion="reduce")  # type: ignore[arg-type]
    # Not by a script element, which the content security policy refuses.
    page.evaluate(_script())
    answer: dict[str, Any] = page.evaluate(_RUN, ["color-contrast"] if theme == "dark" else None)
    return [
        f"{page.url} {theme}: {each['id']}: {each['help']}: {node['html'][:150]} {node['failureSummary'][:300]}"
        for each in answer["violations"]
        for node in each["nodes"][:3]
    ]


def complaints_at(page: Page, address: str, *paths: str, theme: str = "light") -> list[str]:
    """The same for pages of a dashboard."""
    said: list[str] = []
    for path in paths:
        page.goto(f"{address}{path}")
        said += complaints_of(page, theme=theme)
    return said

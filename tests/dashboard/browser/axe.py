"""axe-core in a page: contrast, names, roles, order."""

from __future__ import annotations

from collections.abc import Collection
from functools import cache
from importlib import resources
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from playwright.sync_api import Page

# Of what is not violated, nothing is made ready to be read.
_RUN = "rules => axe.run(document, {preload: false, resultTypes: ['violations'], ...(rules && {runOnly: rules})})"
# Another page in the place of this one, without its scripts: loading these is most of the time that a page takes.
_PUT = """async path => {
  const text = await (await fetch(path)).text();
  const other = new DOMParser().parseFromString(text, "text/html").documentElement;
  document.replaceChild(document.adoptNode(other), document.documentElement);
  const styles = [...document.querySelectorAll("link[rel=stylesheet]")];
  await Promise.all(styles.map(link => link.sheet || new Promise(done => { link.onload = link.onerror = done; })));
}"""


@cache
def _script() -> str:
    return resources.files("axe_playwright_python").joinpath("axe.min.js").read_text(encoding="utf-8")


def complaints_of(page: Page, *, is_dark: bool = False) -> list[str]:
    """What axe-core says against the page as it is. In the dark, only colours are others."""
    page.emulate_media(color_scheme="dark" if is_dark else "light", reduced_motion="reduce")
    if not page.evaluate("'axe' in window"):
        # Not by a script element, which the content security policy refuses.
        page.evaluate(_script())
    answer: dict[str, Any] = page.evaluate(_RUN, ["color-contrast"] if is_dark else None)
    where = f"{page.title()} ({page.url}, {'dark' if is_dark else 'light'})"
    return [
        f"{where}: {each['id']}: {each['help']}: {node['html'][:150]} {node['failureSummary'][:300]}"
        for each in answer["violations"]
        for node in each["nodes"][:3]
    ]


def complaints_at(
    page: Page, address: str, paths: Collection[str], *, dark: Collection[str] = (), loads_each: bool = False
) -> list[str]:
    """The same for pages of a dashboard, some of them also in the dark. Without ``loads_each``, the first is loaded,
    and the others are put in its place."""
    said: list[str] = []
    for number, path in enumerate(paths):
        if number == 0 or loads_each:
            page.goto(f"{address}{path}")
        else:
            page.evaluate(_PUT, path)
        said += complaints_of(page)
        if path in dark:
            said += complaints_of(page, is_dark=True)
    return said

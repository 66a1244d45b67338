"""The pages of the register: their blocks do what they say, and they name only verbs, options and links that exist."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import typer.main
from typer.core import TyperGroup

from catchment.commands.group import LazyCommand
from catchment_register.cli.main import app
from tests.docs.live import LivePage, live_page
from tests.docs.steps import ROOT, read_blocks
from tests.fixtures.often import often

__all__ = ["live_page"]

REGISTER = ROOT / "docs" / "register"
PAGES = sorted(REGISTER.glob("*.md"))
LIVE = often("adapt", now_and_then=["import", "operate"])


@pytest.mark.parametrize("name", LIVE)
def test_a_page_of_the_register_does_what_it_says(name: str, live_page: LivePage) -> None:
    live_page.shell.run("catchment register init")
    run_page(name, live_page)


@pytest.mark.long
def test_pages_about_figures_do_what_they_say_to_the_register_of_the_tutorial(live_page: LivePage) -> None:
    for name in ("tutorial", "facets", "history", "pipeline"):
        run_page(name, live_page)


def run_page(name: str, live_page: LivePage) -> None:
    page = REGISTER / f"{name}.md"
    for block in read_blocks(page.read_text(encoding="utf-8")):
        try:
            live_page.run(block)
        except Exception as problem:
            where = f"{page.relative_to(ROOT)}:{block.line}"
            pytest.fail(f"{where}\n{block.text}\n\n{type(problem).__name__}: {problem}", pytrace=False)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_pages_name_verbs_and_options_that_exist(page: Path) -> None:
    group = typer.main.get_command(app)
    assert isinstance(group, TyperGroup)
    for words in re.findall(r"catchment register ([a-z][^`\n]*)", page.read_text(encoding="utf-8")):
        command = group
        rest = words.split("#")[0].split()
        while rest and isinstance(command, TyperGroup):
            found = command.commands.get(rest.pop(0))
            assert found is not None, f"catchment register {words}"
            command = found.load() if isinstance(found, LazyCommand) else found
        known = {name for option in command.params for name in (*option.opts, *option.secondary_opts)}
        assert {word for word in rest if word.startswith("--")} <= known, f"catchment register {words}"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_links_of_pages_lead_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", page.read_text(encoding="utf-8")):
        assert (page.parent / target).exists(), f"{page.name} links to {target}"

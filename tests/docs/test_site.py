"""The site has every page in its menu and builds without a warning."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.docs.steps import read_blocks

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
PAGE = re.compile(r"([\w/-]+\.md)\b")


def test_the_menu_has_every_page_once() -> None:
    """Design records are listed on a page that the menu has."""
    named = PAGE.findall((ROOT / "mkdocs.yml").read_text(encoding="utf-8").partition("\nnav:")[2])
    pages = {str(page.relative_to(DOCS)) for page in DOCS.rglob("*.md")}
    assert sorted(named) == sorted(page for page in pages if not re.match(r"design/\d", page))


def test_the_first_page_leads_to_every_other() -> None:
    linked = {*re.findall(r"\]\(([\w/-]+\.md)\)", (DOCS / "index.md").read_text(encoding="utf-8"))}
    pages = {str(page.relative_to(DOCS)) for page in DOCS.rglob("*.md")}
    assert linked == {page for page in pages if not re.match(r"design/\d", page)} - {"index.md"}


def test_the_first_page_begins_with_the_example_of_the_readme() -> None:
    """So it runs: tests/package reads the README with the wheel."""
    first, readme = (
        [block.text for block in read_blocks(page.read_text(encoding="utf-8"))]
        for page in (DOCS / "index.md", ROOT / "README.md")
    )
    assert len(first) == 4
    assert first == readme[:4]


@pytest.mark.long
def test_the_site_builds_without_a_warning(tmp_path: Path) -> None:
    shutil.copytree(DOCS, tmp_path / "docs")
    shutil.copy(ROOT / "mkdocs.yml", tmp_path)
    command = [str(Path(sys.executable).with_name("zensical")), "build", "--strict"]
    built = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, env={**os.environ, "NO_COLOR": "1"})
    assert built.returncode == 0, built.stdout + built.stderr
    assert (tmp_path / "site" / "tutorial" / "index.html").exists()

"""What the pages on frameworks show is in the examples, word for word."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.docs.live import file_of
from tests.docs.steps import HOW_TO, read_blocks
from tests.examples.programs import EXAMPLES

PAGES = {"use-with-django": "django", "use-with-fastapi": "fastapi"}


@pytest.mark.parametrize("page", PAGES)
def test_the_code_of_a_page_is_that_of_its_example(page: str) -> None:
    shown: set[str] = set()
    for block in read_blocks((HOW_TO / f"{page}.md").read_text(encoding="utf-8")):
        name = file_of(block)
        if name is not None:
            text = block.text.partition("\n")[2]
            assert text in (EXAMPLES / PAGES[page] / name).read_text(encoding="utf-8"), f"{page}.md:{block.line}"
            shown.add(name)
    assert len(shown) >= 3


def test_the_readme_of_each_example_names_its_page_and_its_programs() -> None:
    folders = [path for path in EXAMPLES.iterdir() if path.is_dir()]
    assert {path.name for path in folders} >= {*PAGES.values()}
    for folder in folders:
        text = (folder / "README.md").read_text(encoding="utf-8")
        links = [part.partition(")")[0] for part in text.split("](")[1:]]
        assert links, folder
        assert [link for link in links if not (folder / Path(link.partition("#")[0])).exists()] == []

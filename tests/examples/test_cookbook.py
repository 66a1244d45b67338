"""Every recipe of the cookbook runs as a program and prints what its end says."""

from __future__ import annotations

import asyncio
import importlib.util
import re
from pathlib import Path

import pytest

from tests.examples.programs import EXAMPLES
from tests.fixtures.often import often

COOKBOOK = EXAMPLES / "cookbook"
RECIPES = sorted(path.stem for path in COOKBOOK.glob("*.py"))
# One with lanes, one with a table, one with a schedule; the others are much like them.
EVERY_RUN = ("dead_letters", "human_approval", "nightly_pipeline")


@pytest.mark.parametrize("name", often(*EVERY_RUN, now_and_then=[name for name in RECIPES if name not in EVERY_RUN]))
def test_a_recipe_prints_what_it_says(
    name: str, db: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("DATABASE_URL", db)
    path = COOKBOOK / f"{name}.py"
    spec = importlib.util.spec_from_file_location(f"cookbook_{name}", path)
    assert spec is not None
    assert spec.loader is not None
    recipe = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(recipe)
    asyncio.run(recipe.main())
    said = re.findall(r"^# prints: (.*)$", path.read_text(encoding="utf-8"), re.MULTILINE)
    assert capsys.readouterr().out.splitlines() == said


def test_the_page_shows_every_recipe(tmp_path: Path) -> None:
    page = (COOKBOOK / "README.md").read_text(encoding="utf-8")
    assert sorted(re.findall(r"\]\((\w+)\.py\)", page)) == RECIPES

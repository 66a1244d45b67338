"""The Python of the page on testing is a project whose tests pass."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import catchment.testing
from catchment.testing import plugin
from tests.testing.test_plugin import LOADED

pytest_plugins = ["pytester"]

PAGE = (Path(__file__).parents[2] / "docs" / "how-to" / "test-your-tasks.md").read_text(encoding="utf-8")
FILES = re.findall(r"^```(?:python|toml)\n# ([\w.]+)\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)


@pytest.mark.long
def test_the_tests_of_the_page_pass(pytester: pytest.Pytester) -> None:
    for name, text in FILES:
        (pytester.path / name).write_text(text, encoding="utf-8")
    tests = sum(len(re.findall(r"^def test_", text, re.MULTILINE)) for _, text in FILES)
    pytester.runpytest_subprocess("-p", "no:cacheprovider", *LOADED).assert_outcomes(passed=tests)


def test_every_public_name_of_the_package_is_on_the_page() -> None:
    assert [name for name in catchment.testing.__all__ if not re.search(rf"\b{name}\b", PAGE)] == []


def test_every_fixture_of_the_plugin_is_on_the_page() -> None:
    source = Path(plugin.__file__).read_text(encoding="utf-8")
    fixtures = re.findall(r"@pytest\.fixture.*\ndef (\w+)", source)
    assert len(fixtures) >= 8
    assert [name for name in fixtures if f"`{name}`" not in PAGE] == []

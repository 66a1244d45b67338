"""The pages of commands, and the JSON Schemas of their answers, are what the commands say."""

from __future__ import annotations

import runpy

from tests.docs.steps import ROOT


def test_the_pages_of_commands_and_their_schemas_are_up_to_date() -> None:
    made = runpy.run_path(str(ROOT / "docs" / "generate_cli.py"))["pages"]()
    for path, text in made.items():
        assert path.read_text(encoding="utf-8") == text, "run: python docs/generate_cli.py"

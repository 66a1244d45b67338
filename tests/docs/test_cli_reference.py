"""The pages of commands, and the JSON Schemas of their answers, are what the commands say."""

from __future__ import annotations

import runpy
from typing import Literal

from catchment.cli.answers import schema_of
from catchment.cli.answers.base import Answer
from tests.docs.steps import ROOT


def test_the_pages_of_commands_and_their_schemas_are_up_to_date() -> None:
    made = runpy.run_path(str(ROOT / "docs" / "generate_cli.py"))["pages"]()
    for path, text in made.items():
        assert path.read_text(encoding="utf-8") == text, "run: python docs/generate_cli.py"


class _Chosen(Answer):
    this: Literal["b", "a"] | None
    that: Literal["d", "c"]


def test_the_order_of_choices_does_not_depend_on_what_was_imported_before() -> None:
    fields = schema_of(_Chosen)["properties"]
    assert (fields["this"]["anyOf"][0]["enum"], fields["that"]["enum"]) == (["a", "b"], ["d", "c"])

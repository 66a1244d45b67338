"""Runs commands in every width, in a pipe and as JSON, and gathers what is wrong."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pytest

from tests.cli.walk.output import Printed, ids_of, problems_of_json, problems_of_text, run

Words = Sequence[str]
# Print one document on each line.
LINES = {"tail"}


@dataclass(frozen=True)
class Walk:
    """``cases`` has what comes behind the words of each command, ``fill`` gives each part of it its value for a slot:
    json, pipe or a width. Those that ``may_fail`` may end with 1. ``ids`` names what is shown in one piece, of each
    row."""

    cases: Mapping[str, Sequence[Words]]
    answers: Mapping[str, Any]
    fill: Callable[[str, str], str]
    may_fail: Collection[str] = ()
    ids: Mapping[str, str] = field(default_factory=dict[str, str])
    may_sleep: bool = False

    def problems(
        self, monkeypatch: pytest.MonkeyPatch, widths: Sequence[int | None], *, most: int | None = None
    ) -> list[str]:
        """What is wrong as JSON and in these widths; None is a pipe. ``most``: of this many cases of each command."""
        problems: list[str] = []
        for words, variants in self.cases.items():
            for arguments in variants[:most]:
                printed, called = self._called(monkeypatch, words, arguments, "json", None)
                problems += [f"{called}: {problem}" for problem in self._problems_of_end(words, printed)]
                if printed.out or not printed.code:
                    wrong = problems_of_json(printed.out, self.answers[words], are_lines=words in LINES)
                    problems += [f"{called}: {problem}" for problem in wrong]
                ids = ids_of(printed.out, self.ids[words]) if words in self.ids else set[str]()
                for width in widths:
                    slot = "pipe" if width is None else str(width)
                    printed, called = self._called(monkeypatch, words, arguments, slot, width)
                    wrong = [*self._problems_of_end(words, printed), *problems_of_text(printed, width, ids)]
                    problems += [f"{called}: {problem}" for problem in wrong]
        return problems

    def _problems_of_end(self, words: str, printed: Printed) -> list[str]:
        is_fine = not printed.code or (printed.code == 1 and words in self.may_fail)
        return [] if is_fine else [f"ended with {printed.code}: {printed.err}"]

    def _called(
        self, monkeypatch: pytest.MonkeyPatch, words: str, arguments: Words, slot: str, width: int | None
    ) -> tuple[Printed, str]:
        """What a command prints, and how it was called."""
        given = [*words.split(), *(self.fill(part, slot) for part in arguments)]
        if slot == "json":
            given.append("--json")
        printed = run(monkeypatch, *given, width=width, may_sleep=self.may_sleep)
        return printed, f"catchment {' '.join(given)} ({slot})"

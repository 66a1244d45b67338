"""A SQLSTATE means one thing: its class, every function that raises it and the reference say the same about it."""

from __future__ import annotations

import re
import runpy
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from catchment import errors
from catchment_register import errors as register_errors
from tests.docs.steps import ROOT

MADE = runpy.run_path(str(ROOT / "docs" / "generate_sqlstates.py"))
CODES = {**errors.BY_SQLSTATE, **register_errors.BY_SQLSTATE}
# Caught by the engine: notes of a function to itself, and how a SQL handler snoozes.
INTERNAL = {"CM000", "RG000", "CM041"}
CODE = r"(?:CM|RG)\d{3}"
RAISES = re.compile(r"^--   raises  (.*\n(?:--           .*\n)*)", re.MULTILINE)


class Source(NamedTuple):
    """A SQL file: the codes that it raises itself, those that it only catches, and what its header says of each."""

    path: Path
    raised: set[str]
    caught: set[str]
    said: dict[str, str]


def _sources() -> Iterator[Source]:
    for path in sorted((ROOT / "src").rglob("*.sql")):
        text = path.read_text(encoding="utf-8")
        code = re.sub(r"^\s*--.*\n", "", text, flags=re.MULTILINE)
        listed = " ".join(re.sub(r"^--", "", "".join(RAISES.findall(text)), flags=re.MULTILINE).split())
        said = {part[1]: part[2] for part in re.finditer(rf"({CODE}) ([^;]+)", listed)}
        caught = set(re.findall(rf"sqlstate '({CODE})'", code))
        raised = set(re.findall(rf"(?<!sqlstate )'({CODE})'", code)) - INTERNAL
        yield Source(path.relative_to(ROOT), raised, caught, said)


SOURCES = list(_sources())


def _meaning(code: str) -> str:
    return MADE["meaning"](code, CODES[code])[0].replace("`", "")


def test_each_code_means_one_thing_in_every_function_that_raises_it() -> None:
    meanings: defaultdict[str, set[str]] = defaultdict(set)
    for source in SOURCES:
        for code, text in source.said.items():
            meanings[code].add(text)
    assert {code: said for code, said in meanings.items() if code not in INTERNAL} == {
        code: {_meaning(code)} for code in meanings.keys() - INTERNAL
    }
    assert [code for code, said in meanings.items() if len(said) > 1] == []


def test_no_two_codes_mean_the_same() -> None:
    assert len({_meaning(code) for code in CODES}) == len(CODES) == len(set(CODES.values()))


def test_the_header_of_a_function_names_every_code_that_it_raises() -> None:
    wrong = {str(s.path): s.raised - s.said.keys() for s in SOURCES if "functions" in s.path.parts}
    assert {path: codes for path, codes in wrong.items() if codes} == {}


def test_each_code_is_raised_somewhere_and_each_that_is_raised_or_caught_has_a_class() -> None:
    assert set().union(*(s.raised for s in SOURCES)) == CODES.keys()
    assert set().union(*(s.caught for s in SOURCES)) <= CODES.keys() | INTERNAL


@pytest.mark.parametrize("name", MADE["PAGES"])
def test_the_reference_is_written_from_the_codes(name: str) -> None:
    page = (ROOT / "docs" / "reference" / name).read_text(encoding="utf-8")
    assert MADE["HEAD"] in page
    assert page == MADE["placed"](page, MADE["PAGES"][name]), "run: python docs/generate_sqlstates.py"


def test_pages_name_no_code_that_is_gone() -> None:
    named = {
        code
        for path in (ROOT / "docs").rglob("*.md")
        for code in re.findall(rf"\b{CODE}\b", path.read_text(encoding="utf-8"))
    }
    assert sorted(named - CODES.keys() - INTERNAL) == []

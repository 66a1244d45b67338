"""Headers and the page on session state say what the bodies of functions touch."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.fixtures.channels import Touched, all_functions, expected_header, scratch_tables, session_sequences, touched
from tests.fixtures.sql_files import SOURCE, Function

PAGE = Path(__file__).parents[2] / "docs" / "session-state.md"
PART = {"worker": "Engine", "lake": "Lake"}
PYTHON = re.compile(r"(?:set_config|current_setting)\('((?:worker|lake|register)\.\w+)'")

schemas = pytest.mark.parametrize("schema", [*PART])
Table = dict[str, list[set[str]]]


def of(schema: str) -> list[Function]:
    return [f for f in all_functions() if f.schema == schema]


def table(schema: str, heading: str) -> Table:
    """Rows of the tables of a part whose first column has this heading: names of each row's columns."""
    part = re.split(rf"^## {PART[schema]}$", PAGE.read_text(encoding="utf-8"), flags=re.MULTILINE)[1]
    part = re.split(r"^## ", part, flags=re.MULTILINE)[0]
    found: Table = {}
    for head, rows in re.findall(r"^\| (\w+) \|.*\n\|[-|]+\n((?:\|.*\n)*)", part, re.MULTILINE):
        for row in rows.splitlines() if head == heading else []:
            name, *cells = row.strip("|").split("|")
            assert name.strip(" `") not in found, name
            found[name.strip(" `")] = [set(re.findall(r"`([^`]+)`", cell)) for cell in cells]
    return found


def names(schema: str, of_function: Callable[[Touched], set[str]], touched_name: str) -> set[str]:
    return {f.name for f in of(schema) if touched_name in of_function(touched(f))}


@schemas
def test_headers_say_what_bodies_read_write_and_set(schema: str) -> None:
    wrong = {
        f"{f.schema}.{f.name}": expected
        for f in of(schema)
        if (expected := expected_header(f)) != {k: c for k in ("reads", "writes", "session") if (c := f.clause(k))}
    }
    assert wrong == {}, "headers should say this"


@schemas
def test_the_page_names_who_makes_fills_reads_and_empties_each_scratch_table(schema: str) -> None:
    used = {name for f in of(schema) for name in touched(f).reads | touched(f).writes}
    expected: Table = {}
    for name in used:
        ways = (lambda t: t.makes, lambda t: t.fills, lambda t: t.reads, lambda t: t.empties)
        expected[name] = [names(schema, way, name) for way in ways]
    assert {name: cells[1:] for name, cells in table(schema, "table").items()} == expected


@schemas
def test_the_page_names_who_sets_and_reads_each_setting(schema: str) -> None:
    expected: Table = {}
    for name in {name for f in of(schema) for name in touched(f).asks | touched(f).sets} - session_sequences():
        expected[name] = [names(schema, lambda t: t.sets, name), names(schema, lambda t: t.asks, name)]
    for path in SOURCE.rglob("*.py"):
        for name in set(PYTHON.findall(path.read_text(encoding="utf-8"))):
            if name.split(".")[0] == schema:
                expected[name][0].add(".".join(path.relative_to(SOURCE).with_suffix("").parts))
    assert table(schema, "setting") == expected


@schemas
def test_the_page_names_who_sets_and_reads_each_sequence(schema: str) -> None:
    used = {name for f in of(schema) for name in touched(f).asks | touched(f).sets} & session_sequences()
    expected = {n: [names(schema, lambda t: t.sets, n), names(schema, lambda t: t.asks, n)] for n in used}
    assert {name: cells[1:] for name, cells in table(schema, "sequence").items()} == expected


def test_every_scratch_table_is_touched_by_a_function() -> None:
    used = {name for f in all_functions() for name in touched(f).reads | touched(f).writes}
    assert used == scratch_tables()

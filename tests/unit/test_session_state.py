"""Headers and the page on session state say what the bodies of functions touch."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.fixtures.channels import (
    Touched,
    all_functions,
    expected_header,
    scratch_tables,
    session_sequences,
    temporary_tables,
    touched,
    unqualified,
)
from tests.fixtures.sql_files import SOURCE, Function

PAGE = Path(__file__).parents[2] / "docs" / "session-state.md"
PART = {"worker": "Engine", "lake": "Lake", "register": "Register"}
PYTHON = re.compile(r"(?:set_config|current_setting)\('((?:worker|lake|register)\.\w+)'")

# A line of a drawing: the function, what it reads, an arrow and what it fills.
STEP = re.compile(r"^(\w+) +(.*)$", re.MULTILINE)

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


def test_the_reference_explains_every_setting_of_the_engine() -> None:
    reference = (PAGE.parent / "reference" / "settings.md").read_text(encoding="utf-8")
    explained = set(re.findall(r"^\| `(worker\.[^`]+)` \|", reference, re.MULTILINE))
    assert explained == {name for name in table("worker", "setting") if name.startswith("worker.")}


@schemas
def test_the_page_names_who_sets_and_reads_each_sequence(schema: str) -> None:
    used = {name for f in of(schema) for name in touched(f).asks | touched(f).sets} & session_sequences()
    expected = {n: [names(schema, lambda t: t.sets, n), names(schema, lambda t: t.asks, n)] for n in used}
    assert {name: cells[1:] for name, cells in table(schema, "sequence").items()} == expected


def test_drawings_show_what_each_step_reads_and_fills() -> None:
    drawings = re.findall(r"^```text\n(.*?)^```", PAGE.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    assert drawings
    for drawing in drawings:
        drawn = {name: [set(part.split()) for part in rest.split("→")] for name, rest in STEP.findall(drawing)}
        tables = {name for parts in drawn.values() for part in parts for name in part}
        expected: Table = {}
        for function in of("register"):
            both = [{n.removeprefix("pg_temp.") for n in way} & tables for way in _reads_and_fills(function)]
            if any(both):
                expected[function.name] = both
        assert {name: [*parts, set[str]()][:2] for name, parts in drawn.items()} == expected


def _reads_and_fills(function: Function) -> tuple[set[str], set[str]]:
    found = touched(function)
    return found.reads, found.fills


def test_temporary_tables_are_empty_after_a_commit_and_named_with_their_schema() -> None:
    for function in all_functions():
        for made in re.findall(r"create temporary table [^;]*;", function.body):
            assert re.search(r"on commit (delete rows|drop)", made), function.path
        found = touched(function)
        named = {name for name in temporary_tables() if re.search(rf"\b{name}\b", function.body)}
        assert {f"pg_temp.{name}" for name in named} <= found.reads | found.writes, f"{function.path}: in which way?"
        assert not unqualified(function), function.path


def test_every_scratch_table_is_touched_by_a_function() -> None:
    used = {name for f in all_functions() for name in touched(f).reads | touched(f).writes}
    assert used == scratch_tables()

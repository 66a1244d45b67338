"""Comments in SQL files name what exists: functions, tables, settings, and words that the code has."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from psycopg import Connection

from tests.fixtures.channels import all_functions, touched
from tests.fixtures.sql_files import FOLDERS, SOURCE

FILES = sorted(path for folder in FOLDERS.values() for path in folder.rglob("*.sql"))
COMMENT = re.compile(r"('(?:[^']|'')*')|--([^\n]*)")
COMMENT_ON = re.compile(r"\bcomment on [^']*?\bis\s+((?:'(?:[^']|'')*'\s*)+);")
CREATED = re.compile(
    r"create (?:or replace )?(?:unlogged )?(?:table|view|type|sequence|function|procedure|aggregate)\s+"
    r"(?:if not exists )?(\w+)\.(\w+)"
)
# What "see" is followed by where it is followed by a sentence.
ENGLISH = {"it", "the", "them", "to", "what"}


@cache
def code(path: Path) -> str:
    """The file without what is written for people."""
    return COMMENT_ON.sub("", COMMENT.sub(lambda m: m[1] or "", path.read_text(encoding="utf-8")))


@cache
def comments(path: Path) -> str:
    """What is written for people: comments, and those that the database keeps."""
    text = path.read_text(encoding="utf-8")
    lines = [m[2] for m in COMMENT.finditer(text) if m[2] is not None]
    kept = COMMENT_ON.findall(COMMENT.sub(lambda m: m[1] or "", text))
    return "\n".join([*lines, *(re.sub(r"'\s+'|^'|'\s*$", "", one) for one in kept)])


@cache
def created() -> frozenset[tuple[str, str]]:
    return frozenset(pair for path in FILES for pair in CREATED.findall(code(path)))


@cache
def words() -> frozenset[str]:
    """Every word of the code, in SQL and in Python, and the names of files."""
    python = [path.read_text(encoding="utf-8") for path in SOURCE.rglob("*.py")]
    texts = [*(code(path) for path in FILES), *python]
    return frozenset(word for text in texts for word in re.findall(r"\w+", text)) | {path.stem for path in FILES}


@pytest.fixture
def known_functions(tx: Connection[Any]) -> set[str]:
    """Ours, and those of PostgreSQL."""
    rows = tx.execute("select p.proname from pg_proc as p where p.pronamespace = 'pg_catalog'::regnamespace")
    return {f.name for f in all_functions()} | {name for (name,) in rows}


def named(pattern: str) -> list[tuple[str, str]]:
    """File and name, wherever a comment has the pattern."""
    found = [(path, name) for path in FILES for name in re.findall(pattern, comments(path))]
    return [(str(path.relative_to(SOURCE)), name) for path, name in found]


def test_a_header_begins_with_the_name_of_its_function_and_its_file() -> None:
    assert [f.path for f in all_functions() if not f.header.startswith(f"-- {f.name}: ")] == []
    assert [f.path for f in all_functions() if f.path.stem != f.name] == []


def test_functions_in_comments_exist(known_functions: set[str]) -> None:
    called = named(r"(?<![\w:.])(?:(?:worker|lake|register)\.)?([a-z]\w*)\(")
    assert [(path, name) for path, name in called if name not in known_functions] == []


def test_see_is_followed_by_a_function_that_exists(known_functions: set[str]) -> None:
    seen = [(path, name) for path, name in named(r"\bsee ([a-z_]+)\b(?![.-])") if name not in ENGLISH]
    assert len(seen) > 30
    files = {path.stem for path in FILES}
    assert [(path, name) for path, name in seen if name not in known_functions | files] == []


@pytest.mark.parametrize("schema", [*FOLDERS])
def test_names_with_a_schema_in_comments_exist(schema: str) -> None:
    settings = {name.rstrip("…") for f in all_functions() for name in touched(f).asks | touched(f).sets}
    known = {name for where, name in created() if where == schema} | {n.removeprefix(f"{schema}.") for n in settings}
    found = named(rf"(?<![\w/])(?:{schema})\.([a-z]\w+)")
    assert [(path, name) for path, name in found if name not in known] == []


def test_names_in_comments_are_words_of_the_code() -> None:
    found = named(r"(?<![\w.])([a-z]+(?:_[a-z0-9]+)+)\b")
    assert len(found) > 200
    assert [(path, name) for path, name in found if name not in words()] == []


@pytest.mark.parametrize(
    ("row", "constructor"), [("worker.settled", "settled_task"), ("worker.scope_change", "counted_change")]
)
def test_rows_of_many_columns_are_built_by_the_names_of_these(row: str, constructor: str) -> None:
    assert [f.name for f in all_functions() if re.search(rf"\)::{row}\b", f.body)] == [constructor]

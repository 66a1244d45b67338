"""Finds the SQL text that ships with a package.

The only place where file content becomes ``LiteralString``: everything in such a folder is the package's own.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from dataclasses import dataclass
from functools import cache
from importlib import resources
from importlib.resources.abc import Traversable
from typing import LiteralString, cast

from catchment.errors import DefinitionRefused


@dataclass(frozen=True, slots=True)
class Migration:
    number: int
    name: str
    text: LiteralString


_NUMBERED = re.compile(r"[0-9]{4}_.+\.sql", re.DOTALL)


def _read(path: Traversable) -> LiteralString:
    """The text of a file. ``DefinitionRefused`` if it is no text: what follows a zero byte would not be run."""
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise DefinitionRefused(f"{path.name} is not written in UTF-8: {error}") from error
    if "\0" in text:
        raise DefinitionRefused(f"{path.name} has a zero byte in it, expected SQL")
    return cast(LiteralString, text)


def _walk(path: Traversable) -> list[Traversable]:
    """The SQL files in a folder and the folders in it, or the file itself; none if there is nothing of that name."""
    if path.is_file():
        return [path] if path.name.lower().endswith(".sql") else []
    if not path.is_dir():
        return []
    return [file for entry in sorted(path.iterdir(), key=lambda e: e.name) for file in _walk(entry)]


@cache
def migrations(package: str) -> tuple[Migration, ...]:
    """All migrations, in order. ``DefinitionRefused`` if there are none, or if one has no number of its own."""
    folder = resources.files(package) / "migrations"
    files = sorted(_walk(folder), key=lambda f: f.name)
    beside = {entry.name for entry in folder.iterdir() if entry.is_file()} if files else set[str]()
    strange = (
        [f.name for f in files if f.name not in beside or not _NUMBERED.fullmatch(f.name)] if files else ["nothing"]
    )
    if strange:
        raise DefinitionRefused(
            f"{package} has {strange[0]} in its folder migrations, expected files with numbers of four digits",
            hint="Such as migrations/0001_stock.sql.",
        )
    number, count = Counter(f.name[:4] for f in files).most_common(1)[0]
    if count > 1:
        names = ", ".join(f.name for f in files if f.name.startswith(number))
        raise DefinitionRefused(
            f"{package} has {count} migrations with the number {number}: {names}",
            hint="Give the one that is not applied anywhere yet the next free number.",
        )
    return tuple(Migration(int(f.name[:4]), f.name.removesuffix(".sql"), _read(f)) for f in files)


@cache
def routines(package: str) -> tuple[LiteralString, ...]:
    """What the owner of the schema has besides tables: functions with their planner settings, views, triggers
    and grants."""
    parts = ("functions", "profiles.sql", "views", "triggers", "grants.sql", "grants")
    return tuple(_read(file) for part in parts for file in _walk(resources.files(package) / part))


@cache
def commands(package: str) -> tuple[LiteralString, ...]:
    """What is written as the owner of the engine."""
    return tuple(_read(file) for file in _walk(resources.files(package) / "commands"))


@cache
def fingerprint(package: str) -> str:
    """Changes whenever a routine or a command does."""
    return hashlib.sha256("\0".join([*routines(package), *commands(package)]).encode()).hexdigest()[:16]


@cache
def query(package: str, name: str) -> LiteralString:
    """A statement by its file name."""
    return _read(resources.files(package) / "queries" / f"{name}.sql")

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
class Script:
    """A file of SQL, with what messages call it."""

    name: str
    text: LiteralString


@dataclass(frozen=True, slots=True)
class Migration(Script):
    number: int
    digest: str


_COMMAND_GRANTS = "commands/grants.sql"
_NUMBERED = re.compile(r"migrations/[0-9]{4}_[^/]+\.sql")


def _read(path: Traversable) -> LiteralString:
    """The text of a file. ``DefinitionRefused`` if it is no text: what follows a zero byte would not be run."""
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise DefinitionRefused(f"{path.name} is not written in UTF-8: {error}") from error
    if "\0" in text:
        raise DefinitionRefused(f"{path.name} has a zero byte in it, expected SQL")
    return cast(LiteralString, text)


def _folder(package: str) -> Traversable:
    """Where the files of a package are. ``DefinitionRefused`` if there is no such package."""
    try:
        return resources.files(package)
    except (ImportError, TypeError, ValueError) as error:
        raise DefinitionRefused(
            f"package {package} cannot be read: {error}", hint="It is the name of a package that has SQL files."
        ) from error


def _scripts(package: str, *parts: str) -> tuple[Script, ...]:
    """The files of these parts, in order, by their names within the package."""
    start = _folder(package)
    return tuple(Script(name, _read(file)) for part in parts for name, file in _walk(start / part, part))


def _walk(path: Traversable, name: str) -> list[tuple[str, Traversable]]:
    """The SQL files in a folder and the folders in it, or the file itself, each with its path from there on; none if
    there is nothing of that name."""
    if path.is_file():
        return [(name, path)] if path.name.lower().endswith(".sql") else []
    if not path.is_dir():
        return []
    entries = sorted(path.iterdir(), key=lambda e: e.name)
    return [file for entry in entries for file in _walk(entry, f"{name}/{entry.name}")]


@cache
def migrations(package: str) -> tuple[Migration, ...]:
    """All migrations, in order. ``DefinitionRefused`` if there are none, or if two have the same number."""
    entries = _walk(_folder(package) / "migrations", "migrations")
    strange = [name for name, _ in entries if not _NUMBERED.fullmatch(name)]
    if strange or not entries:
        raise DefinitionRefused(
            f"{package} has {strange[0] if strange else 'no migration'}, "
            "expected files with numbers of four digits in its folder migrations",
            hint="Such as migrations/0001_stock.sql.",
        )
    files = [file for _, file in entries]
    number, count = Counter(f.name[:4] for f in files).most_common(1)[0]
    if count > 1:
        names = ", ".join(f.name for f in files if f.name.startswith(number))
        raise DefinitionRefused(
            f"{package} has {count} migrations with the number {number}: {names}",
            hint="Give the one that is not applied anywhere yet the next free number.",
        )
    return tuple(_migration(file) for file in files)


def _migration(file: Traversable) -> Migration:
    text = _read(file)
    # An editor or a checkout may write other ends of lines.
    digest = hashlib.sha256(text.replace("\r\n", "\n").encode()).hexdigest()[:16]
    return Migration(file.name.removesuffix(".sql"), text, int(file.name[:4]), digest)


@cache
def routines(package: str) -> tuple[Script, ...]:
    """What the owner of the schema has besides tables: functions with their planner settings, views and triggers."""
    return _scripts(package, "functions", "profiles.sql", "views", "triggers")


@cache
def grants(package: str) -> tuple[Script, ...]:
    """What roles may do with all that."""
    return _scripts(package, "grants.sql", "grants")


@cache
def commands(package: str) -> tuple[Script, ...]:
    """What is written as the owner of the engine."""
    return tuple(script for script in _scripts(package, "commands") if script.name != _COMMAND_GRANTS)


@cache
def command_grants(package: str) -> tuple[Script, ...]:
    """What roles may do with that."""
    return _scripts(package, _COMMAND_GRANTS)


@cache
def fingerprint(package: str) -> str:
    """Changes whenever one of those files does."""
    parts = (routines(package), grants(package), commands(package), command_grants(package))
    return hashlib.sha256("\0".join(script.text for part in parts for script in part).encode()).hexdigest()[:16]


@cache
def query(package: str, name: str) -> LiteralString:
    """A statement by its file name. ``DefinitionRefused`` if there is no such file."""
    try:
        return _read(_folder(package) / "queries" / f"{name}.sql")
    except (OSError, ValueError) as error:
        raise DefinitionRefused(
            f"{package} has no file queries/{name}.sql", hint="The name of a query is that of its file, without .sql."
        ) from error

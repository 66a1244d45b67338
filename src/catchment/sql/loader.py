"""Finds the SQL text that ships with the package.

The only place where file content becomes ``LiteralString``: everything in such a folder is ours.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import cache
from importlib import resources
from importlib.resources.abc import Traversable
from typing import LiteralString, cast


@dataclass(frozen=True, slots=True)
class Migration:
    number: int
    name: str
    text: LiteralString


def _read(path: Traversable) -> LiteralString:
    return cast(LiteralString, path.read_text(encoding="utf-8"))


def _walk(folder: Traversable) -> list[Traversable]:
    found: list[Traversable] = []
    if not folder.is_dir():
        return found
    for entry in sorted(folder.iterdir(), key=lambda e: e.name):
        if entry.is_dir():
            found.extend(_walk(entry))
        elif entry.name.endswith(".sql"):
            found.append(entry)
    return found


@dataclass(frozen=True, slots=True)
class Folder:
    """The SQL of one schema: its migrations, routines, grants and queries, by the name of the package they are in."""

    package: str

    def migrations(self) -> tuple[Migration, ...]:
        """All migrations, in order."""
        return _migrations(self.package)

    def routines(self) -> tuple[LiteralString, ...]:
        """Functions with their planner settings, views, triggers and grants: re-created as a whole by each upgrade."""
        return _routines(self.package)

    def fingerprint(self) -> str:
        """Changes whenever a routine does."""
        return hashlib.sha256("\0".join(self.routines()).encode()).hexdigest()[:16]


ENGINE = Folder("catchment.sql")


@cache
def _migrations(package: str) -> tuple[Migration, ...]:
    found = _walk(resources.files(package) / "migrations")
    return tuple(Migration(int(f.name[:4]), f.name.removesuffix(".sql"), _read(f)) for f in found)


@cache
def _routines(package: str) -> tuple[LiteralString, ...]:
    root = resources.files(package)
    profiles = [f for f in [root / "profiles.sql"] if f.is_file()]
    files = [*_walk(root / "functions"), *profiles, *_walk(root / "views"), *_walk(root / "triggers")]
    return (*(_read(f) for f in files), _read(root / "grants.sql"))


def migrations() -> tuple[Migration, ...]:
    """All migrations of the engine, in order."""
    return ENGINE.migrations()


def roles() -> LiteralString:
    """The statement that makes the four roles."""
    return _read(resources.files(ENGINE.package) / "roles.sql")


@cache
def query(name: str, package: str = ENGINE.package) -> LiteralString:
    """A read for people and screens, by its file name."""
    return _read(resources.files(package) / "queries" / f"{name}.sql")

"""Finds the SQL text that ships with the package.

The only place where file content becomes ``LiteralString``: everything under this folder is ours.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import cache
from importlib import resources
from importlib.resources.abc import Traversable
from typing import LiteralString, cast

_ROOT = resources.files("catchment.sql")


@dataclass(frozen=True, slots=True)
class Migration:
    number: int
    name: str
    text: LiteralString


def _read(path: Traversable) -> LiteralString:
    return cast(LiteralString, path.read_text(encoding="utf-8"))


def _walk(folder: Traversable) -> list[Traversable]:
    found: list[Traversable] = []
    for entry in sorted(folder.iterdir(), key=lambda e: e.name):
        if entry.is_dir():
            found.extend(_walk(entry))
        elif entry.name.endswith(".sql"):
            found.append(entry)
    return found


@cache
def migrations() -> tuple[Migration, ...]:
    """All migrations, in order."""
    found = _walk(_ROOT / "migrations")
    return tuple(Migration(int(f.name[:4]), f.name.removesuffix(".sql"), _read(f)) for f in found)


@cache
def routines() -> tuple[LiteralString, ...]:
    """Functions, views, triggers and grants: re-created as a whole by each upgrade."""
    files = [*_walk(_ROOT / "functions"), *_walk(_ROOT / "views"), *_walk(_ROOT / "triggers")]
    return (*(_read(f) for f in files), _read(_ROOT / "grants.sql"))


def roles() -> LiteralString:
    """The statement that makes the four roles."""
    return _read(_ROOT / "roles.sql")


def fingerprint() -> str:
    """Changes whenever a routine does."""
    return hashlib.sha256("\0".join(routines()).encode()).hexdigest()[:16]


@cache
def query(name: str) -> LiteralString:
    """A read for people and screens, by its file name."""
    return _read(_ROOT / "queries" / f"{name}.sql")

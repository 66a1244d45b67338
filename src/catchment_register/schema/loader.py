"""Finds the SQL text that ships with the package.

The only place where file content becomes ``LiteralString``: everything in that folder is ours.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from importlib import resources
from importlib.resources.abc import Traversable
from typing import LiteralString, cast

_ROOT = resources.files("catchment_register.sql")


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


def roles() -> LiteralString:
    """The statement that makes the three roles."""
    return _read(_ROOT / "roles.sql")


@cache
def migrations() -> tuple[Migration, ...]:
    """All migrations, in order."""
    found = _walk(_ROOT / "migrations")
    return tuple(Migration(int(f.name[:4]), f.name.removesuffix(".sql"), _read(f)) for f in found)


@cache
def routines() -> tuple[LiteralString, ...]:
    """What ``register_owner`` owns besides tables: functions, views, triggers and grants, re-created as a whole."""
    files = [*_walk(_ROOT / "functions")]
    files += [*_walk(_ROOT / "views"), *_walk(_ROOT / "triggers"), _ROOT / "grants.sql", *_walk(_ROOT / "grants")]
    return tuple(_read(f) for f in files)


@cache
def registrations() -> tuple[LiteralString, ...]:
    """What ``catchment_owner`` owns: the enqueue functions of the schema ``worker``, and the rows of its registries."""
    return tuple(_read(f) for f in _walk(_ROOT / "commands"))


@cache
def query(name: str) -> LiteralString:
    """A read or a write of a verb, by its file name."""
    return _read(_ROOT / "queries" / f"{name}.sql")

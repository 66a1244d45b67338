"""Rows that functions of schema ``lake`` return: where a refresh stands, files that it left, names that were lost."""

from __future__ import annotations

from dataclasses import dataclass

from catchment.lake.types import Json, TableRef


@dataclass(frozen=True, slots=True)
class RefreshState:
    """Where a refresh stands, for who has lost its connection at a COMMIT."""

    state: str
    fence: int
    commit_snapshot: int | None


@dataclass(frozen=True, slots=True)
class Artifact:
    """A file of a refresh that is over; a path that ends with a slash is a folder of them. ``kind`` table: the
    directory of a table, in which files of commits that did not happen may be."""

    path: str
    kind: str
    is_registered: bool
    is_final: bool
    fence: int


@dataclass(frozen=True, slots=True)
class LostName:
    """A dynamic table whose name does not lead to its content. ``taken_by``: table or view, if the name is in use."""

    dt_id: int
    ref: TableRef
    physical: TableRef
    layout: Json
    taken_by: str | None

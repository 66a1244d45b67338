"""What every reader of files yields."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class SourceRow:
    """A row of a file: its fields in the order of the header, or why it cannot be read. The first one below the header
    is number 1; blank rows have numbers, too, so that people find a row where its number says."""

    number: int
    fields: Sequence[str]
    problem: str | None = None


@dataclass(frozen=True, slots=True)
class Source:
    """A file that is open: its header, and its rows as they are requested."""

    headers: list[str]
    rows: Iterator[SourceRow]

"""Reads a file of codes: pure, no database.

A file has a header. Wrong columns refuse the whole file; a wrong row is skipped and reported with its line.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from catchment_register.codes.kinds import Kind
from catchment_register.encoding import SAMPLE, is_text_encoding, is_utf16, other_format
from catchment_register.errors import CodesRefused

_LABELS = re.compile(r"[A-Za-z0-9_]+(\.[A-Za-z0-9_]+)*")


@dataclass(frozen=True, slots=True)
class Code:
    """One row: the line it began in, its key, and the other columns that the file has."""

    line: int
    key: str
    values: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Problem:
    """A row that is skipped, and why."""

    line: int
    text: str


@dataclass(frozen=True, slots=True)
class Reading:
    """The content of a file: its columns besides the key, its codes, and the invalid rows."""

    columns: tuple[str, ...]
    codes: tuple[Code, ...]
    problems: tuple[Problem, ...]


def read_codes(file: Path, kind: Kind, *, encoding: str = "utf-8") -> Reading:
    """Read a CSV file with commas, semicolons or tabs."""
    if not is_text_encoding(encoding):
        raise CodesRefused(f"there is no encoding {encoding!r}", hint="Try utf-8, latin-1 or cp1252.")
    try:
        _check_format(file, encoding)
        with file.open(
            encoding="utf-8-sig" if encoding.lower() in ("utf-8", "utf8") else encoding, newline=""
        ) as lines:
            return parse_codes(lines, kind, name=str(file))
    except OSError as error:
        raise CodesRefused(f"{file} cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise CodesRefused(
            f"{file} is not {encoding}: {error.reason} at byte {error.start}",
            hint="If it is in another encoding, say which: --encoding cp1252, or latin-1.",
        ) from error


def _check_format(file: Path, encoding: str) -> None:
    with file.open("rb") as opened:
        start = opened.read(SAMPLE)
    if is_utf16(start):
        if not encoding.lower().startswith(("utf-16", "utf_16", "utf16", "u16")):
            raise CodesRefused(f"{file} is UTF-16", hint="Say so: --encoding utf-16.")
        return
    other = other_format(start)
    if other is not None:
        raise CodesRefused(f"{file} cannot be read: {other[0]}", hint="Save it as CSV in UTF-8.")


def parse_codes(lines: Iterable[str], kind: Kind, *, name: str = "the file") -> Reading:
    """Read lines of CSV text."""
    rest = iter(lines)
    header = next(rest, "")
    delimiter = max(",;\t", key=header.count)
    try:
        columns = [c.strip().lower() for row in csv.reader([header], delimiter=delimiter) for c in row]
    except csv.Error as error:
        raise CodesRefused(f"{name} is not CSV: line 1: {error}") from error
    _check_columns(columns, kind, name)

    codes: dict[str, Code] = {}
    problems: list[Problem] = []
    reader = csv.reader(rest, delimiter=delimiter, strict=True)
    try:
        for line, row in _numbered(reader):
            try:
                code = _read_row(line, row, columns, kind)
                if code.key in codes:
                    raise ValueError(f"{code.key} was there before, in line {codes[code.key].line}")
                codes[code.key] = code
            except ValueError as error:
                problems.append(Problem(line, str(error)))
    except csv.Error as error:
        raise CodesRefused(f"{name} is not CSV: line {reader.line_num + 1}: {error}") from error
    present = tuple(c.name for c in kind.columns if c.name in columns)
    return Reading(present, tuple(codes.values()), tuple(problems))


def _numbered(reader: Any) -> Iterator[tuple[int, list[str]]]:
    """Rows that are not blank, with the line each begins in; the header was line 1."""
    begins = 2
    for row in reader:
        if any(cell.strip() for cell in row):
            yield begins, row
        begins = reader.line_num + 2


def _check_columns(columns: list[str], kind: Kind, name: str) -> None:
    wanted = (kind.key, *kind.columns)
    missing = [c.name for c in wanted if c.required and c.name not in columns]
    repeated = sorted({c for c in columns if columns.count(c) > 1})
    if missing or repeated:
        what = f"lacks the column {', '.join(missing)}" if missing else f"has {', '.join(repeated)} more than once"
        shown = ", ".join(c.name if c.required else f"[{c.name}]" for c in wanted)
        raise CodesRefused(f"{name} {what}", hint=f"The first line names the columns; {kind.name} has {shown}.")


def _read_row(line: int, row: list[str], columns: list[str], kind: Kind) -> Code:
    """The code of a row; raises ``ValueError`` with what is wrong."""
    if len(row) != len(columns):
        raise ValueError(f"it has {len(row)} fields, expected {len(columns)}")
    cells = {column: cell.strip() for column, cell in zip(columns, row, strict=True)}
    if any("\0" in cell for cell in row):
        raise ValueError("it contains the byte 0")
    empty = [c.name for c in (kind.key, *kind.columns) if c.required and not cells[c.name]]
    if empty:
        raise ValueError(f"{', '.join(empty)} is empty")
    key = kind.key.read(cells[kind.key.name])
    if kind.key.name == "path" and not _LABELS.fullmatch(key):
        raise ValueError(f"{key!r} is not a path: letters, digits and _, joined by dots")
    present = [c for c in kind.columns if c.name in cells]
    return Code(line, key, {c.name: c.read(cells[c.name]) if cells[c.name] else c.default for c in present})

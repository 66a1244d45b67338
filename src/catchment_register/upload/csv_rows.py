"""Reads CSV row by row, in constant memory.

A row that cannot be decoded, is too long, has the wrong number of fields or a quote that never ends is a row with a
problem, and the next line begins a row again: one broken row does not take the rest of the file with it. Therefore
lines are put together here and not by the ``csv`` module, which reads an open quote to the end of the file.
"""

from __future__ import annotations

import csv
from collections import deque
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from catchment_register.encoding import check_bytes, is_text_encoding
from catchment_register.errors import refuse
from catchment_register.upload.source import Source, SourceRow

DELIMITERS = (",", ";", "\t")
# How far a quoted field with line breaks may reach.
MAX_LINES = 200
# How many bytes of a line are held; a longer one is a problem, and the rest of it is passed over.
MAX_LINE = 1 << 20


@contextmanager
def open_csv(path: Path, *, encoding: str = "utf-8", delimiter: str | None = None) -> Generator[Source]:
    """Open a file and read its header. Raises ``FileRefused`` if there is none."""
    if not is_text_encoding(encoding):
        raise refuse(path, f"there is no encoding {encoding!r}", "Try utf-8, latin-1 or cp1252.")
    try:
        file = path.open("rb")
    except OSError as error:
        raise refuse(path, error.strerror or str(error)) from None
    with file:
        check_bytes(path, file, encoding)
        lines = _Lines(file)
        first = next(lines, None)
        if first is None:
            raise refuse(path, "it is empty", "Its first row must name the columns.")
        if is_too_long(first):
            raise refuse(path, f"its header is longer than {MAX_LINE} bytes", "Its first row must name the columns.")
        try:
            text = first.decode(encoding)
        except UnicodeDecodeError as error:
            raise refuse(path, f"its header is not {encoding}: {error.reason}", "Say which with --encoding.") from None
        separator = delimiter or max(DELIMITERS, key=text.count)
        headers = _header(path, text.rstrip("\r\n"), separator)
        yield Source(headers, read_rows(lines, len(headers), encoding, separator))


def _header(path: Path, text: str, separator: str) -> list[str]:
    if "\r" in text:
        raise refuse(path, "its lines end with CR alone", "Save it with line ends LF or CR LF.")
    try:
        return [h.strip() for h in _fields(text, separator)]
    except csv.Error as error:
        raise refuse(path, f"its header is not CSV: {error}", "Its first row must name the columns.") from None


def is_too_long(line: bytes) -> bool:
    """Whether this is the beginning of a line that was not read to its end."""
    return len(line) > MAX_LINE


class _Lines(Iterator[bytes]):
    """Lines of a file that are not blank, and how many were; lines can be given back. Of one that is too long there is
    its beginning."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self._back: deque[bytes] = deque()
        self.blank = 0

    def __next__(self) -> bytes:
        while line := self.follow():
            if is_too_long(line) or line.strip():
                return line
            self.blank += 1
        raise StopIteration

    def follow(self) -> bytes:
        """The next line, blank or not; empty at the end of the file."""
        if self._back:
            return self._back.popleft()
        line = rest = self._file.readline(MAX_LINE + 1)
        while len(rest) > MAX_LINE and not rest.endswith(b"\n"):
            rest = self._file.readline(MAX_LINE + 1)
        return line

    def give_back(self, lines: list[bytes]) -> None:
        self._back.extendleft(reversed(lines))


@dataclass(frozen=True, slots=True)
class _Broken:
    problem: str


def read_rows(lines: _Lines, width: int, encoding: str, delimiter: str) -> Iterator[SourceRow]:
    """Rows with as many fields as the header has; others with the reason. Blank ones are counted and skipped."""
    mark = delimiter.encode()
    for count, line in enumerate(lines, 1):
        number = count + lines.blank
        if is_too_long(line):
            read = _Broken(f"the row is longer than {MAX_LINE} bytes")
        elif b'"' in line:
            read = _row(line, lines, width, encoding, delimiter)
        else:
            read = _plain(line, encoding, mark)
        if isinstance(read, _Broken):
            yield SourceRow(number, (), read.problem)
        elif len(read) != width:
            yield SourceRow(number, (), f"the row has {len(read)} fields, the header {width}")
        else:
            yield SourceRow(number, read)


def _plain(line: bytes, encoding: str, mark: bytes) -> list[str] | _Broken:
    """A line without quotes."""
    text = _decode(line.rstrip(b"\r\n"), encoding)
    return text if isinstance(text, _Broken) else text.split(mark.decode())


def _row(line: bytes, lines: _Lines, width: int, encoding: str, delimiter: str) -> list[str] | _Broken:
    """A row that begins with a line with quotes. If lines after it do not complete it, they are separate rows."""
    taken: list[bytes] = []
    while True:
        text = _decode(b"".join([line, *taken]).rstrip(b"\r\n"), encoding)
        if isinstance(text, _Broken):
            lines.give_back(taken)
            return text
        try:
            fields = _fields(text, delimiter, strict=True)
        except csv.Error as error:
            is_open = str(error) == "unexpected end of data"
            more = lines.follow() if is_open and len(taken) < MAX_LINES and len(text) < MAX_LINE else b""
            if not more or is_too_long(more):
                lines.give_back([*taken, more] if more else taken)
                return _Broken("a quote is not closed" if is_open or taken else f"a quote is out of place: {error}")
            taken.append(more)
            continue
        if taken and len(fields) != width:
            lines.give_back(taken)
            return _Broken("a quote is not closed")
        return fields


def _decode(line: bytes, encoding: str) -> str | _Broken:
    if b"\0" in line:
        return _Broken("the row contains the byte 0")
    try:
        return line.decode(encoding)
    except UnicodeDecodeError as error:
        return _Broken(f"the row is not {encoding}: byte 0x{line[error.start]:02x} at {error.start + 1}")


def _fields(text: str, delimiter: str, *, strict: bool = False) -> list[str]:
    # Given as one piece, a quoted line break is part of its field.
    for fields in csv.reader((text,), delimiter=delimiter, strict=strict):
        return fields
    return []

"""What a file is written in, as far as its bytes tell."""

from __future__ import annotations

import codecs
import io
from itertools import pairwise
from pathlib import Path
from typing import IO

from catchment_register.errors import refuse

# How much of a file is looked at.
SAMPLE = 1 << 18
# How old Excel files begin, and those of other office programs.
_OLD_EXCEL = bytes.fromhex("d0cf11e0a1b11ae1")
_ZIP = b"PK\x03\x04"


def is_text_encoding(name: str) -> bool:
    """Whether Python reads text in an encoding of this name; it also has some that are for bytes, such as hex."""
    try:
        io.TextIOWrapper(io.BytesIO(), encoding=name)
    except LookupError:
        return False
    return True


def other_format(start: bytes) -> tuple[str, str] | None:
    """What a file that begins like this is if it is no text of one byte and more for each character, and a hint."""
    if start.startswith(_OLD_EXCEL):
        return "it is an Excel file of the old kind (.xls)", "Save it as .xlsx or as CSV in UTF-8."
    if start.startswith(_ZIP):
        return "it is no CSV file but a packed one", "An Excel file has to be called .xlsx."
    if is_utf16(start):
        return "it is UTF-16", "Save it as UTF-8."
    return None


def is_utf16(start: bytes) -> bool:
    """Whether a file that begins like this is in UTF-16."""
    return start[:2] in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE) or _is_wide(start)


def check_bytes(path: Path, file: IO[bytes], encoding: str) -> None:
    """Raise ``FileRefused`` if a file is no text in the encoding, as a whole. Leaves it at its first byte of text.

    A few lines that cannot be decoded are problems of their rows; if many cannot, the encoding is not the one given.
    """
    start = file.read(SAMPLE)
    other = other_format(start)
    if other is not None:
        raise refuse(path, *other)
    lines = start.splitlines()[: None if len(start) < SAMPLE else -1]
    broken = [line for line in lines if not _can_decode(line, encoding)]
    if len(broken) > 1 and 100 * len(broken) >= len(lines) and all(_can_decode(line, "cp1252") for line in broken):
        raise refuse(
            path,
            f"{len(broken)} of its first {len(lines)} lines are not {encoding}",
            "It seems to be in another encoding: try --encoding cp1252, or latin-1.",
        )
    file.seek(len(codecs.BOM_UTF8) if start.startswith(codecs.BOM_UTF8) else 0)


def _is_wide(start: bytes) -> bool:
    """Whether every other byte of the beginning is 0, as in UTF-16 without a mark."""
    head = start[:64]
    zeros = [place for place, byte in enumerate(head) if byte == 0]
    return len(zeros) >= 8 and all(two - one == 2 for one, two in pairwise(zeros))


def _can_decode(line: bytes, encoding: str) -> bool:
    try:
        line.decode(encoding)
    except UnicodeDecodeError:
        return False
    return True

"""The files of a load: found by paths and patterns, and looked at before DuckDB reads them.

What DuckDB would guess about a CSV file is not guessed here: the first record has the names, quotes are double quotes,
and the delimiter is the one that the first line has most of. A guess that is wrong loses rows without a word.
"""

from __future__ import annotations

import csv
import glob
import gzip
import os
import re
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from io import TextIOWrapper
from pathlib import Path
from typing import IO, cast

from catchment.errors import RequestRefused, shown

FORMATS = ("parquet", "csv", "json")
ENCODINGS = ("utf-8", "utf-16", "latin-1")
"""Those that DuckDB reads by itself."""

_ENDINGS: Mapping[str, str] = {
    ".parquet": "parquet",
    ".pq": "parquet",
    ".csv": "csv",
    ".tsv": "csv",
    ".tab": "csv",
    ".txt": "csv",
    ".json": "json",
    ".ndjson": "json",
    ".jsonl": "json",
}
_CHUNK = 1 << 20
_DELIMITERS = (",", ";", "\t", "|")
_PATTERN = re.compile(r"[*?\[]")
_GZIP, _PARQUET, _ZIP, _ZSTD = b"\x1f\x8b", b"PAR1", b"PK\x03\x04", b"\x28\xb5\x2f\xfd"
_KNOWN = {_GZIP: "gzip", _PARQUET: "Parquet", _ZIP: "a ZIP archive, such as an Excel file,", _ZSTD: "zstd"}
_BOMS = {b"\xff\xfe": "utf-16", b"\xfe\xff": "utf-16"}
NOTHING = "Nothing was loaded."


@dataclass(frozen=True, slots=True)
class Options:
    """How files are to be read. ``columns`` names those of CSV files that have no header; ``types`` are those of single
    columns, as DuckDB writes them."""

    format: str | None = None
    columns: tuple[str, ...] = ()
    types: Mapping[str, str] | None = None
    delimiter: str | None = None
    encoding: str = "utf-8"


@dataclass(frozen=True, slots=True)
class Source:
    """A file to load. ``names`` are the columns of a CSV file, ``is_lines``: JSON with a value on each line."""

    path: str
    format: str
    bytes: int
    names: tuple[str, ...] = ()
    delimiter: str = ","
    is_lines: bool = False


def find_sources(given: Sequence[str], options: Options) -> list[Source]:
    """The files of these paths and patterns, each once, in order. Raises ``RequestRefused`` for what is not a file, or
    is not what it should be."""
    if options.encoding not in ENCODINGS:
        raise RequestRefused(
            f"the encoding {options.encoding!r} is not known here",
            hint=f"Known are {', '.join(ENCODINGS)}; for another one: iconv -f {options.encoding} -t utf-8 FILE > NEW.",
        )
    if options.delimiter is not None and len(options.delimiter.encode()) != 1:
        raise RequestRefused(f"{options.delimiter!r} is not a delimiter", hint="Give one character: --delimiter ';'")
    paths = {os.path.realpath(path): path for text in given for path in _matches(text)}
    if not paths:
        raise RequestRefused("no file is named", hint="Such as: catchment table load orders.csv --into orders")
    return [_source(path, options) for path in paths.values()]


def _matches(text: str) -> list[str]:
    if "://" in text:
        raise RequestRefused(
            f"{text} is a URL, and files of this machine are loaded",
            hint="Read it with DuckDB, which has attached the lake: catchment table attach",
        )
    if os.path.lexists(text):
        return [text]
    if not _PATTERN.search(text):
        raise RequestRefused(
            f"there is no file {shown(text)}", hint="Check the path; a pattern such as 'data/*.csv' is fine."
        )
    files = sorted(path for path in glob.glob(text, recursive=True) if not os.path.isdir(path))
    if not files:
        raise RequestRefused(f"no file matches {shown(text)}", hint="Check the pattern; ** reaches into folders.")
    return files


def _source(path: str, options: Options) -> Source:
    if os.path.isdir(path):
        raise RequestRefused(f"{path} is a folder", hint=f"Name its files: '{path.rstrip('/')}/*.csv'")
    kind, is_gzip, is_lines = _kind(path, options)
    full = os.path.abspath(path)
    try:
        full.encode()
    except UnicodeEncodeError:
        raise RequestRefused(f"the name {shown(path)} is not valid UTF-8", hint="Rename the file.") from None
    try:
        size = os.stat(path).st_size
        if not os.path.isfile(path):
            raise RequestRefused(f"{path} is no regular file", hint="Write it to a file first.")
        if size == 0:
            raise RequestRefused(f"{path} is empty: it has 0 bytes", hint=f"{NOTHING} Leave it out.")
        _check_start(path, kind, is_gzip, options)
        if is_gzip:
            _check_whole(path)
        if kind != "csv":
            return Source(full, kind, size, is_lines=is_lines)
        names, delimiter = _header(path, is_gzip, options)
    except OSError as error:
        raise RequestRefused(f"{path} cannot be read: {error.strerror or error}", hint=NOTHING) from error
    return Source(full, kind, size, names, delimiter)


def _kind(path: str, options: Options) -> tuple[str, bool, bool]:
    name = Path(path).name.lower()
    is_gzip = name.endswith(".gz")
    ending = Path(name.removesuffix(".gz")).suffix
    kind = options.format or _ENDINGS.get(ending)
    if kind is None:
        raise RequestRefused(
            f"{path} does not say what it is: it ends with {ending!r}",
            hint=f"Say --format {', --format '.join(FORMATS)}; or name it {', '.join(_ENDINGS)}, with .gz if you like.",
        )
    if kind not in FORMATS:
        raise RequestRefused(f"the format {kind!r} is not known", hint=f"Supported formats: {', '.join(FORMATS)}.")
    return kind, is_gzip, ending in (".ndjson", ".jsonl")


def _check_start(path: str, kind: str, is_gzip: bool, options: Options) -> None:
    """Refuse a file whose first bytes are those of something else."""
    with open(path, "rb") as file:
        start = file.read(4)
        file.seek(-len(start), os.SEEK_END)
        end = file.read()
    expected = {"parquet": _PARQUET}.get(kind, _GZIP if is_gzip else b"")
    for magic, name in _KNOWN.items():
        # Parquet ends with it too; the first column of a CSV file may be called PAR1.
        is_it = start.startswith(magic) and (magic != _PARQUET or end == magic)
        if is_it and not magic.startswith(expected or b"-"):
            fitting = {_GZIP: "Name it .gz.", _PARQUET: "Say --format parquet."}.get(magic, "Unpack it first.")
            raise RequestRefused(
                f"{path} is {name} by its content, and {kind} was expected", hint=f"{NOTHING} {fitting}"
            )
    if expected and not start.startswith(expected):
        raise RequestRefused(
            f"{path} is not {'Parquet' if kind == 'parquet' else 'gzip'}: it begins with {start!r}",
            hint=f"{NOTHING} {'Name it without .gz.' if is_gzip else 'Say --format csv or --format json.'}",
        )
    bom = _BOMS.get(start[:2])
    if bom is not None and kind == "csv" and options.encoding != bom:
        raise _wrong_encoding(path, 1, f"it is {bom}", bom)
    if bom is not None and kind == "json":
        raise RequestRefused(
            f"{path} is {bom}, and JSON is read as utf-8", hint=f"iconv -f {bom} -t utf-8 {path} > NEW"
        )


def _check_whole(path: str) -> None:
    """Refuse a gzip file that was cut or damaged: DuckDB does not compare its checksum and its length."""
    try:
        with gzip.open(path) as file:
            while file.read(_CHUNK):
                pass
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise RequestRefused(
            f"{path} is damaged, or not all of it is there: {error}", hint=f"{NOTHING} Copy it again."
        ) from error


def _header(path: str, is_gzip: bool, options: Options) -> tuple[tuple[str, ...], str]:
    encoding = "utf-8-sig" if options.encoding == "utf-8" else options.encoding
    opened = cast("IO[bytes]", gzip.open(path) if is_gzip else open(path, "rb"))  # noqa: SIM115 - closed below
    try:
        with TextIOWrapper(opened, encoding=encoding, newline="") as text:
            first = text.readline()
            delimiter = options.delimiter or _delimiter(path, first)
            text.seek(0)
            names = next(csv.reader(text, delimiter=delimiter, strict=True), list[str]())
    except UnicodeDecodeError as error:
        line = 1 + error.object[: error.start].count(b"\n")
        raise _wrong_encoding(path, line, f"byte {error.object[error.start]:#x} is not valid there") from error
    except csv.Error as error:
        raise RequestRefused(f"{path}, line 1: {error}", hint=f"{NOTHING} Fix the first line.") from error
    names = options.columns or tuple(names)
    _check_names(path, names)
    return names, delimiter


def _delimiter(path: str, line: str) -> str:
    if Path(path.removesuffix(".gz")).suffix.lower() in (".tsv", ".tab"):
        return "\t"
    bare = re.sub(r'"[^"]*"', "", line)
    return max(_DELIMITERS, key=bare.count)


def _check_names(path: str, names: Sequence[str]) -> None:
    hint = f"{NOTHING} Fix the first line; for a file without names: --columns a,b,c"
    for place, name in enumerate(names, 1):
        if not name.strip() or "\0" in name:
            raise RequestRefused(f"{path}, line 1: column {place} has no name", hint=hint)
    check_different(path, names, hint)


def check_different(path: str, names: Sequence[str], hint: str) -> None:
    """Refuse columns of one name: case does not tell two columns of a table apart."""
    seen: dict[str, int] = {}
    for place, name in enumerate(names, 1):
        first = seen.setdefault(name.lower(), place)
        if first != place:
            raise RequestRefused(
                f"{path}: columns {first} and {place} have one name, {names[first - 1]!r} and {name!r}", hint=hint
            )


def _wrong_encoding(path: str, line: int, why: str, better: str = "latin-1") -> RequestRefused:
    return RequestRefused(
        f"{path}, line {line}: the text is not in the encoding that was expected: {why}",
        hint=f"{NOTHING} Try --encoding {better}; supported: {', '.join(ENCODINGS)}.",
    )

"""How DuckDB reads a file of a load, and what its errors about one mean."""

from __future__ import annotations

import os
import re
from collections.abc import Generator, Mapping
from contextlib import contextmanager

import duckdb

from catchment.errors import RequestRefused
from catchment.lake.duck.duck import Duck
from catchment.lake.load.sources import ENCODINGS, NOTHING, Options, Source, check_different
from catchment.lake.names import literal
from catchment.lake.types import Column

_PATTERN = re.compile(r"[*?\[]")
_LINE = re.compile(r"CSV Error on Line: (\d+)")
_COLUMN = re.compile(r'Error when converting column "(.*?)"\. (.*)')
_COUNT = re.compile(r"Expected Number of Columns: (\d+) Found: (\d+)")
_JSON_PLACE = re.compile(r'in file "[^\n]*?", (?:in|at) ([^\n:]*): ([^\n]*)')
_MOST_DIGITS = 38
# A field without a name, or one nested too deeply, is a type that cannot be written as SQL.
_UNREADABLE = (
    duckdb.IOException,
    duckdb.SerializationException,
    duckdb.NotImplementedException,
    duckdb.ParserException,
)


def read_call(source: Source, options: Options, types: Mapping[str, str] | None = None) -> str:
    """The table function that reads a file; ``types`` of columns, if they are not to be found out."""
    # A name is no pattern, whatever is in it, and no folder on its way is a column.
    parts = [literal(_PATTERN.sub(r"[\g<0>]", source.path)), "hive_partitioning = false"]
    if source.format == "parquet":
        return f"read_parquet({', '.join(parts)})"
    if source.format == "json":
        # All of it is looked at, so that no row is a surprise.
        parts += ["records = true", *_json_options(source)]
        parts += ["sample_size = -1"] if types is None else [f"columns = {_struct(types)}"]
        return f"read_json({', '.join(parts)})"
    parts += ["auto_detect = true", *_csv_options(source, options)]
    if types:
        parts.append(f"types = {_struct(types)}")
    return f"read_csv({', '.join(parts)})"


def _strict_call(source: Source, options: Options) -> str:
    """A CSV file as text, read without looking at more than one row at a time."""
    parts = [
        literal(_PATTERN.sub(r"[\g<0>]", source.path)),
        "auto_detect = false",
        *(part for part in _csv_options(source, options) if not part.startswith(("names", "sample_size"))),
        f"columns = {_struct(dict.fromkeys(source.names, 'VARCHAR'))}",
    ]
    return f"read_csv({', '.join(parts)})"


def _json_options(source: Source) -> list[str]:
    return [
        "maximum_object_size = 134217728",
        f"format = {literal('newline_delimited' if source.is_lines else 'auto')}",
    ]


def _csv_options(source: Source, options: Options) -> list[str]:
    return [
        f"delim = {literal(source.delimiter)}",
        "quote = '\"'",
        "escape = '\"'",
        "comment = ''",
        "skip = 0",
        "strict_mode = true",
        "null_padding = false",
        "ignore_errors = false",
        "sample_size = -1",
        f"header = {str(not options.columns).lower()}",
        f"names = [{', '.join(literal(name) for name in source.names)}]",
        f"encoding = {literal(options.encoding)}",
    ]


def _struct(types: Mapping[str, str]) -> str:
    return "{" + ", ".join(f"{literal(name)}: {literal(kind)}" for name, kind in types.items()) + "}"


def columns_of(duck: Duck, source: Source, options: Options) -> list[Column]:
    """The columns of a file, as DuckDB finds them. Raises ``RequestRefused``."""
    with refusing(source):
        if source.format == "parquet":
            _check_parquet(duck, source)
        try:
            columns = duck.describe(f"SELECT * FROM {read_call(source, options)}")
        except duckdb.InvalidInputException:
            if source.format == "csv":
                # It only says that it cannot make sense of the file; reading row by row says where.
                duck.run(f"SELECT count(*) FROM {_strict_call(source, options)}")
            raise
    if source.format == "csv" and tuple(column.name for column in columns) != source.names:
        raise RequestRefused(
            f"{shortened(source.path)} has {len(columns)} columns, and {len(source.names)} names:"
            f" {', '.join(source.names)}",
            hint=f"{NOTHING} Check --columns and --delimiter.",
        )
    if source.format == "json":
        _check_keys(duck, source)
    return columns


def _check_keys(duck: Duck, source: Source) -> None:
    """Refuse keys that cannot be columns. DuckDB renames them, finds no value of the new name, and reads NULL."""
    where = shortened(source.path)
    parts = [literal(_PATTERN.sub(r"[\g<0>]", source.path)), *_json_options(source)]
    with refusing(source):
        rows = duck.rows(f"SELECT DISTINCT unnest(json_keys(json)) AS key FROM read_json_objects({', '.join(parts)})")
    keys = sorted(key for (key,) in rows)
    for key in keys:
        if not key.strip() or "\0" in key:
            raise RequestRefused(f"{where} has the key {key!r}", hint=f"{NOTHING} Give each key a name.")
    seen: dict[str, str] = {}
    for key in keys:
        first = seen.setdefault(key.lower(), key)
        if first != key:
            raise RequestRefused(
                f"{where} has the keys {first!r} and {key!r}, which are one column",
                hint=f"{NOTHING} Give the keys names that differ by more than case.",
            )


def _check_parquet(duck: Duck, source: Source) -> None:
    """Refuse what DuckDB would rename, or read as other numbers."""
    path = literal(_PATTERN.sub(r"[\g<0>]", source.path))
    rows = duck.rows(f"SELECT name, num_children, precision FROM parquet_schema({path})")
    names: list[str] = []
    place = 1
    while place < len(rows):
        names.append(rows[place][0])
        place = _after(rows, place)
    check_different(shortened(source.path), names, f"{NOTHING} Rename one of them.")
    for name, _, digits in rows:
        if digits is not None and digits > _MOST_DIGITS:
            raise RequestRefused(
                f"{shortened(source.path)}, column {name}: decimals of {digits} digits, and at most {_MOST_DIGITS} fit",
                hint=f"{NOTHING} Write it as text or with fewer digits.",
            )


def _after(rows: list[tuple[str, int | None, int | None]], place: int) -> int:
    """The place after a column with all that is in it."""
    children = rows[place][1] or 0
    place += 1
    for _ in range(children):
        place = _after(rows, place)
    return place


def shortened(path: str) -> str:
    """A path as people would type it here."""
    relative = os.path.relpath(path)
    return path if relative.startswith("..") else relative


@contextmanager
def refusing(source: Source) -> Generator[None]:
    """Raise what DuckDB says about a file as ``RequestRefused``, with file, line and column if they are known."""
    try:
        yield
    except (duckdb.InvalidInputException, duckdb.ConversionException, duckdb.OutOfRangeException) as error:
        raise _refusal(source, str(error)) from error
    except duckdb.BinderException as error:
        if source.format != "json":
            raise
        raise RequestRefused(
            f"{shortened(source.path)}: {_first(str(error))}",
            hint=f"{NOTHING} An object for each row is expected, in an array or one after the other.",
        ) from error
    except _UNREADABLE as error:
        raise _unreadable(source, error) from error
    except duckdb.Error as error:
        # What the reader of Parquet throws by itself has no subclass; cancels and broken connections are.
        if type(error) is not duckdb.Error:
            raise
        raise _unreadable(source, error) from error


def _unreadable(source: Source, error: duckdb.Error) -> RequestRefused:
    return RequestRefused(f"{shortened(source.path)} cannot be read: {_first(str(error))}", hint=NOTHING)


def _refusal(source: Source, text: str) -> RequestRefused:
    where = shortened(source.path)
    line, column, count = _LINE.search(text), _COLUMN.search(text), _COUNT.search(text)
    if line is not None:
        where += f", line {line[1]}"
    if "not utf-8 encoded" in text or "encoding" in text.partition("\n")[0]:
        return RequestRefused(
            f"{where}: the text is not in the encoding that was expected",
            hint=f"{NOTHING} Set --encoding to one of {', '.join(ENCODINGS)}.",
        )
    if column is not None:
        return RequestRefused(
            f"{where}, column {column[1]}: {column[2]}",
            hint=f"{NOTHING} Fix the value, or load it as text: --type {column[1]}=VARCHAR",
        )
    if count is not None:
        return RequestRefused(
            f"{where}: {count[2]} values, and there are {count[1]} columns",
            hint=f"{NOTHING} Fix the line: values with a {source.delimiter!r} in them need quotes.",
        )
    place = _JSON_PLACE.search(text)
    if place is not None:
        return RequestRefused(f"{where}, {place[1]}: {place[2].strip()}", hint=f"{NOTHING} Fix the file.")
    return RequestRefused(f"{where}: {_first(text)}", hint=f"{NOTHING} Fix the file.")


def _first(text: str) -> str:
    """What an error says, without suggestions and settings."""
    lines = [line for line in text.partition("\n\n")[0].splitlines() if not line.startswith("Original Line")]
    lines = [line for line in lines if not _LINE.search(line)] or lines
    return re.sub(r"^[A-Z][\w ]* Error: ", "", " ".join(line.strip() for line in lines))

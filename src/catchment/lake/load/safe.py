"""Types that keep each value, where those that DuckDB finds in CSV and JSON files would change one.

DuckDB takes 01/02/2026 for a date, by a guess of what comes first, whole numbers beyond 64 bits for rounded ones, 1e400
for infinity, and times of JSON for local ones, whatever zone they name; of a second it keeps six digits.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from catchment.lake.duck.duck import Duck
from catchment.lake.load.reading import read_call, refusing
from catchment.lake.load.sources import Options, Source
from catchment.lake.names import literal, quoted
from catchment.lake.types import Column

MOST_DIGITS = 38
_ZONED = "TIMESTAMP WITH TIME ZONE"
_TIMES = ("DATE", "TIMESTAMP", _ZONED)
# Names of fields come first: they may hold anything between quotes.
_FIELD = r'("(?:[^"]|"")*")'
_DOUBLE = re.compile(rf"{_FIELD}|\bDOUBLE\b(?=[,)\[]|$)")
_PLAIN_TIMESTAMP = re.compile(rf"{_FIELD}|\bTIMESTAMP\b(?=[,)\[]|$)")
# The year comes first, so that nobody can misread it.
_YEAR_FIRST = r"\s*[+-]?\d{4,}[-/]\d{1,2}[-/]\d{1,2}(\D.*)?"
_HAS_ZONE = r".*\d:\d\d(\.\d+)?\s*[^\s\d.:].*"
_INNER_ZONE = r'"[^"]*\d:\d\d(\.\d+)?\s*(Z|[+-]\d\d)[^"]*"'
_INNER_TOO_FINE = r'"[^"]*\d:\d\d\.\d{6}\d*[1-9][^"]*"'
_INNER_NUMBER = r"-?\d[\d.eE+-]*"
_TEXT = r'"(\\.|[^"\\])*"'
_NUMBER = r"\s*[+-]?\d*\.?\d*\s*"
_BEFORE = r"[+-]?0*(\d*)"
_AFTER = r"\.(\d*)"
_WHOLE = r"\s*[+-]?\d+\s*"


def safe_columns(duck: Duck, source: Source, columns: Sequence[Column], options: Options) -> list[Column]:
    """The columns of a text file, with types that can hold what is written there. One more look at the file, if it has
    times or rounded numbers."""
    doubtful = [column for column in columns if _looks(source, column)]
    if source.format == "parquet" or not doubtful:
        return list(columns)
    as_text = {column.name: column.type for column in columns} if source.format == "json" else {}
    as_text |= {column.name: "VARCHAR" if _is_flat(column) else "JSON" for column in doubtful}
    looks = [look for column in doubtful for look in _looks(source, column)]
    with refusing(source):
        ((*seen,),) = duck.rows(f"SELECT {', '.join(looks)} FROM {read_call(source, options, as_text)}")
    safe: dict[str, str] = {}
    for column in doubtful:
        count = len(_looks(source, column))
        safe[column.name] = _safe_type(column.type, seen[:count])
        del seen[:count]
    return [Column(column.name, safe.get(column.name, column.type)) for column in columns]


def is_kept(x: str, cast: str) -> str:
    """The condition under which a number that is whole is not rounded, and no number becomes infinity."""
    exact = f"TRY_CAST({cast} AS DECIMAL({MOST_DIGITS},0)) = TRY_CAST({x} AS DECIMAL({MOST_DIGITS},0))"
    is_finite = f"(NOT coalesce(isinf({cast}), false) OR contains(lower({x}), 'inf'))"
    return f"((NOT regexp_full_match({x}, {literal(_WHOLE)}) OR coalesce({exact}, false)) AND {is_finite})"


def is_too_fine(x: str, digits: int = 6) -> str:
    """The condition under which a text has more than ``digits`` digits after the second."""
    pattern = rf"\.\d{{{digits}}}\d*[1-9]"
    return f"regexp_matches({x}, {literal(pattern)})"


def _is_flat(column: Column) -> bool:
    return column.type in ("DOUBLE", "TIME", *_TIMES)


def _looks(source: Source, column: Column) -> list[str]:
    """What has to be known about the values of a column."""
    x = quoted(column.name)
    if column.type == "DOUBLE":
        return [
            f"bool_and({is_kept(x, f'TRY_CAST({x} AS DOUBLE)')})",
            f"bool_and(regexp_full_match({x}, {literal(_NUMBER)}))",
            f"max(length(regexp_extract({x}, {literal(_BEFORE)}, 1)))",
            f"max(length(regexp_extract({x}, {literal(_AFTER)}, 1)))",
        ]
    if column.type in _TIMES:
        zones = f"bool_or(regexp_full_match({x}, {literal(_HAS_ZONE)}))" if source.format == "json" else "false"
        is_clear = f"trim({x}) = '' OR (regexp_full_match({x}, {literal(_YEAR_FIRST)}) AND NOT {is_too_fine(x)})"
        return [f"bool_and({is_clear})", zones]
    if column.type == "TIME":
        return [f"bool_or({is_too_fine(x)})"]
    return _looks_inside(column, f"CAST({x} AS VARCHAR)") if source.format == "json" else []


def _looks_inside(column: Column, x: str) -> list[str]:
    """The same for a column with values inside others: is one of them a time with a zone, is one a number that would be
    rounded?"""
    has_times, has_numbers = (_with_text(column.type, kind) != column.type for kind in (_PLAIN_TIMESTAMP, _DOUBLE))
    if not has_times and not has_numbers:
        return []
    times = f"regexp_matches({x}, {literal(_INNER_ZONE)}) OR regexp_matches({x}, {literal(_INNER_TOO_FINE)})"
    numbers = f"regexp_extract_all(regexp_replace({x}, {literal(_TEXT)}, '', 'g'), {literal(_INNER_NUMBER)})"
    rounded = f"len(list_filter({numbers}, n -> NOT {is_kept('n', 'TRY_CAST(n AS DOUBLE)')})) > 0"
    return [f"bool_or({times})" if has_times else "false", f"bool_or({rounded})" if has_numbers else "false"]


def _safe_type(kind: str, seen: Sequence[Any]) -> str:
    if kind == "DOUBLE":
        fits, is_plain, before, after = seen
        if fits is not False:
            return kind
        return f"DECIMAL({MOST_DIGITS},{after})" if is_plain and before + after <= MOST_DIGITS else "VARCHAR"
    if kind in _TIMES:
        is_clear, has_zone = seen
        if is_clear is False:
            return "VARCHAR"
        return _ZONED if has_zone else kind
    if kind == "TIME":
        return "VARCHAR" if seen[0] else kind
    has_zones, has_rounded = seen
    kind = _with_text(kind, _PLAIN_TIMESTAMP) if has_zones else kind
    return _with_text(kind, _DOUBLE) if has_rounded else kind


def _with_text(kind: str, inner: re.Pattern[str]) -> str:
    """A type with VARCHAR in place of an inner one."""
    return inner.sub(lambda match: match[1] or "VARCHAR", kind)

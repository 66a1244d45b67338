"""Whether the columns of files fit a table: names, types, and each value of those that could be changed by a cast."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

import duckdb

from catchment.errors import RequestRefused
from catchment.lake.duck.duck import Duck
from catchment.lake.load.reading import read_call, refusing, shortened
from catchment.lake.load.safe import is_kept, is_too_fine
from catchment.lake.load.sources import NOTHING, Options, Source
from catchment.lake.names import literal, quoted
from catchment.lake.types import Column

Files = Sequence[tuple[Source, Sequence[Column]]]

_EXACT = re.compile(r"U?(?:TINY|SMALL|BIG|HUGE)?INT(?:EGER)?|DECIMAL\(\d+,\s*(?P<scale>\d+)\)")
_ROUNDED = ("DOUBLE", "FLOAT")
# The CSV reader cuts what does not fit into one of these, or makes NULL of it, without a word.
_TIME = re.compile(r"DATE|TIME.*")
# Types that the lake lacks or stores with less than they have.
_STORED = {"HUGEINT": "DECIMAL(38,0)", "UHUGEINT": "DECIMAL(38,0)", "BIT": "VARCHAR", '"NULL"': "VARCHAR"}


def check_names(files: Files, expected: Sequence[str], *, of: str, is_table: bool) -> None:
    """Each file has these columns, in whatever order. Raises ``RequestRefused``."""
    wanted = {name.lower(): name for name in expected}
    for source, columns in files:
        given = {column.name.lower(): column.name for column in columns}
        missing = [name for folded, name in wanted.items() if folded not in given]
        extra = [name for folded, name in given.items() if folded not in wanted]
        if not missing and not extra:
            continue
        parts = [f"lacks {_listed(missing)}"] if missing else []
        parts += [f"has {_listed(extra)} besides"] if extra else []
        remedy = (
            "Change the file, or the table: lake.query('ALTER TABLE …')." if is_table else "Load them into two tables."
        )
        raise RequestRefused(
            f"{shortened(source.path)} does not have the columns of {of}: it {' and '.join(parts)}",
            hint=f"{NOTHING} {remedy}",
        )


def _listed(names: Sequence[str]) -> str:
    return f"the column{'s' if len(names) > 1 else ''} {', '.join(names)}"


def check_types(duck: Duck, types: Mapping[str, str], names: Sequence[str]) -> dict[str, str]:
    """Types that were given for columns, as DuckDB writes them, by names in lower case. Raises ``RequestRefused``."""
    known = {name.lower() for name in names}
    written: dict[str, str] = {}
    for name, kind in types.items():
        if name.lower() not in known:
            raise RequestRefused(
                f"there is no column {name} for the type {kind}", hint=f"There are {', '.join(names)}."
            )
        try:
            # Nothing but a type can stand there: what follows would be another expression.
            (column,) = duck.describe(f"SELECT CAST(NULL AS {_one_type(kind)}) AS x")
        except duckdb.Error:
            raise RequestRefused(
                f"{kind!r} is not a type of DuckDB", hint="Such as BIGINT, DECIMAL(10,2), DATE."
            ) from None
        written[name.lower()] = _STORED.get(column.type, column.type)
    return written


def _one_type(kind: str) -> str:
    if not re.fullmatch(r'[\w\s(),\[\]"]+', kind):
        raise RequestRefused(f"{kind!r} is not a type of DuckDB", hint="Such as BIGINT, DECIMAL(10,2), DATE.")
    return kind


def common_columns(duck: Duck, files: Files, types: Mapping[str, str], options: Options) -> list[Column]:
    """The columns of a new table, which can hold the values of all files. Raises ``RequestRefused``."""
    first, names = files[0]
    return [
        Column(column.name, types.get(column.name.lower()) or _common(duck, files, column.name, first, options))
        for column in names
    ]


def _common(duck: Duck, files: Files, name: str, first: Source, options: Options) -> str:
    kind, seen = type_of(files[0][1], name), first
    for source, columns in files[1:]:
        other = type_of(columns, name)
        if other == kind:
            continue
        if _is_empty(duck, source, name, other, options):
            continue
        if _is_empty(duck, seen, name, kind, options):
            kind, seen = other, source
            continue
        wider = _wider(duck, kind, other)
        if wider is None:
            raise RequestRefused(
                f"column {name} is {kind} in {shortened(seen.path)} and {other} in {shortened(source.path)}",
                hint=f"{NOTHING} Say which it is to be: --type {name}=VARCHAR",
            )
        kind = wider
    return _STORED.get(kind, kind)


def _wider(duck: Duck, one: str, two: str) -> str | None:
    """The type that holds values of both; none for text and something else."""
    if "VARCHAR" in (one, two):
        return None
    try:
        (column,) = duck.describe(f"SELECT CAST(NULL AS {one}) AS x UNION ALL SELECT CAST(NULL AS {two})")
    except duckdb.Error:
        return None
    return None if column.type == "VARCHAR" else column.type


def _is_empty(duck: Duck, source: Source, name: str, kind: str, options: Options) -> bool:
    """Has the column no value? Then its type was not found out but assumed."""
    if kind not in ("VARCHAR", "JSON", "INTEGER"):
        return False
    with refusing(source):
        return not duck.value(f"SELECT count({quoted(name)}) FROM {read_call(source, options)}")


def type_of(columns: Sequence[Column], name: str) -> str:
    """The type of a column by its name, whatever its case."""
    return next(column.type for column in columns if column.name.lower() == name.lower())


def check_values(
    duck: Duck, source: Source, given: Sequence[Column], wanted: Sequence[Column], options: Options
) -> None:
    """No value of a file is changed by the types of the table: refuse 1.5 for a whole number, and what cannot be cast.

    Raises ``RequestRefused`` with the row and the value. What a CSV reader refuses by itself is left to it: it knows
    the line.
    """
    for column in wanted:
        kind = type_of(given, column.name)
        name = next(item.name for item in given if item.name.lower() == column.name.lower())
        if kind == column.type or not _is_risky(duck, source, kind, column.type):
            continue
        # Only the text has the zone of a time of JSON, and the digits of a number of CSV.
        is_text = source.format == "csv" or (source.format == "json" and _TIME.fullmatch(column.type) is not None)
        call = read_call(source, options, _types_to_read(source, given, name if is_text else None))
        fits = _fits("x", "VARCHAR" if is_text else kind, column.type)
        with refusing(source):
            rows = duck.rows(
                f"SELECT n, CAST(x AS VARCHAR) FROM (SELECT row_number() OVER () AS n, {quoted(name)} AS x FROM {call})"
                f" WHERE x IS NOT NULL AND NOT coalesce({fits}, false) ORDER BY n LIMIT 1"
            )
        for row, value in rows:
            raise RequestRefused(
                f"{shortened(source.path)}, row {row}, column {name}: {value!r} does not fit into {column.type}",
                hint=f"{NOTHING} Give the column of the table a type that holds it, or change the file.",
            )


def _types_to_read(source: Source, given: Sequence[Column], as_text: str | None) -> dict[str, str] | None:
    if source.format == "csv" and as_text is not None:
        return {as_text: "VARCHAR"}
    if source.format == "json":
        return {column.name: "VARCHAR" if column.name == as_text else column.type for column in given}
    return None


def _is_risky(duck: Duck, source: Source, kind: str, wanted: str) -> bool:
    if source.format == "csv":
        is_cut = kind in _ROUNDED and _EXACT.fullmatch(wanted) is not None
        return is_cut or _TIME.fullmatch(wanted) is not None or (kind not in _ROUNDED and wanted in _ROUNDED)
    if wanted in _ROUNDED:
        return kind not in ("FLOAT", wanted)
    return kind in _ROUNDED or not duck.value(
        f"SELECT can_cast_implicitly(CAST(NULL AS {kind}), CAST(NULL AS {wanted}))"
    )


def _fits(x: str, kind: str, wanted: str) -> str:
    """The condition under which a value stays the same."""
    cast = f"TRY_CAST({x} AS {wanted})"
    if kind not in ("VARCHAR", "JSON"):
        return f"TRY_CAST({cast} AS {kind}) = {x}"
    if wanted in _ROUNDED:
        return f"{cast} IS NOT NULL AND {is_kept(x, cast)}"
    if kind == "VARCHAR" and _TIME.fullmatch(wanted):
        return _fits_time(x, cast, wanted)
    exact = _EXACT.fullmatch(wanted)
    if exact is None:
        return f"{cast} IS NOT NULL"
    digits = rf"\s*[+-]?\d*(\.\d{{0,{exact['scale'] or 0}}}0*)?\s*"
    same = f"CAST({cast} AS DOUBLE) = TRY_CAST({x} AS DOUBLE)"
    return f"{cast} IS NOT NULL AND (regexp_full_match({x}, {literal(digits)}) OR {same})"


def _fits_time(x: str, cast: str, wanted: str) -> str:
    """The condition under which a text is a date or a time of this type, and no more: casts overlook what follows."""
    if wanted == "DATE":
        return f"CAST({cast} AS TIMESTAMP) = TRY_CAST({x} AS TIMESTAMP)"
    is_fine_enough = f"NOT {is_too_fine(x, 9 if wanted == 'TIMESTAMP_NS' else 6)}"
    if wanted == "TIME":
        return f"{cast} = CAST(TRY_CAST('2000-01-01 ' || trim({x}) AS TIMESTAMP) AS TIME) AND {is_fine_enough}"
    if wanted.startswith("TIMESTAMP"):
        return f"CAST({cast} AS TIMESTAMPTZ) = TRY_CAST({x} AS TIMESTAMPTZ) AND {is_fine_enough}"
    return f"{cast} IS NOT NULL"

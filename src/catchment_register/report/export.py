"""Published units as a file: CSV, or Parquet if DuckDB is installed."""

from __future__ import annotations

import tempfile
from datetime import date
from pathlib import Path
from typing import Any

from psycopg import Connection
from psycopg.sql import SQL, Composed, Identifier, Literal

from catchment_register.errors import ReportRefused

SUFFIXES = (".csv", ".parquet")
# Columns that serve searching and the pipeline.
_LEFT_OUT = ("search", "hash_slot")
_PARQUET_TYPES = {
    "boolean": "BOOLEAN",
    "date": "DATE",
    "integer": "INTEGER",
    "smallint": "SMALLINT",
    "numeric": "DOUBLE",
    "timestamp with time zone": "TIMESTAMPTZ",
}


def export_units(conn: Connection[Any], file: Path, *, unit_type: str | None = None, at: date | None = None) -> int:
    """Write all rows of ``statistical_unit``, or those of a type or a day; an open end is empty. Returns how many."""
    suffix = file.suffix.lower()
    if suffix not in SUFFIXES:
        raise ReportRefused(
            f"{file.name} is no kind of file that can be written", hint=f"End it in {' or '.join(SUFFIXES)}."
        )
    columns = _columns(conn)
    query = _query(columns, unit_type, at)
    try:
        if suffix == ".csv":
            return _write_csv(conn, query, file)
        with tempfile.TemporaryDirectory() as folder:
            count = _write_csv(conn, query, Path(folder) / "units.csv")
            _to_parquet(Path(folder) / "units.csv", columns, file)
            return count
    except OSError as error:
        raise ReportRefused(f"{file} cannot be written: {error.strerror or error}") from error


def _columns(conn: Connection[Any]) -> dict[str, str]:
    rows = conn.execute(
        "select a.attname, format_type(a.atttypid, null) from pg_attribute as a"
        " where a.attrelid = 'register.statistical_unit'::regclass and a.attnum > 0 and not a.attisdropped"
        " order by a.attnum"
    ).fetchall()
    return {name: kind for name, kind in rows if name not in _LEFT_OUT}


def _query(columns: dict[str, str], unit_type: str | None, at: date | None) -> Composed:
    shown = [
        SQL("nullif(u.{}, 'infinity') as {}").format(Identifier(name), Identifier(name))
        if name in ("valid_to", "valid_until")
        else SQL("u.{}").format(Identifier(name))
        for name in columns
    ]
    return SQL(
        "select {} from register.statistical_unit as u where ({type}::text is null or u.unit_type = {type})"
        " and ({day}::date is null or u.valid_from <= {day} and {day} < u.valid_until)"
        " order by u.unit_type, u.unit_id, u.valid_from"
    ).format(SQL(", ").join(shown), type=Literal(unit_type), day=Literal(at))


def _write_csv(conn: Connection[Any], query: Composed, file: Path) -> int:
    statement = SQL("copy ({}) to stdout with (format csv, header)").format(query)
    with file.open("wb") as out, conn.cursor() as cursor:
        with cursor.copy(statement) as copy:
            for data in copy:
                out.write(data)
        return cursor.rowcount


def _to_parquet(source: Path, columns: dict[str, str], file: Path) -> None:
    try:
        import duckdb
    except ImportError:
        raise ReportRefused("Parquet needs DuckDB", hint="Run: pip install 'catchment[lake]', or write .csv.") from None
    types = {name: _PARQUET_TYPES.get(kind, "VARCHAR") for name, kind in columns.items()}
    with duckdb.connect() as duck:
        rows = duck.read_csv(str(source), header=True, columns=types, all_varchar=False, quotechar='"')
        rows.write_parquet(str(file))

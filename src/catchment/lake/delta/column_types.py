"""Types of the catalog as DuckDB reads them. Pure.

DuckLake has its own names (``int64``) and keeps the parts of nested types as further columns below their parent. The
names of struct fields are always in quotes: half a thousand words would need them, ``order`` and ``user`` among these.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from catchment.lake.names import quoted
from catchment.lake.types import ColumnAt

_NAMES = {
    "boolean": "BOOLEAN",
    "int8": "TINYINT",
    "int16": "SMALLINT",
    "int32": "INTEGER",
    "int64": "BIGINT",
    "int128": "HUGEINT",
    "uint8": "UTINYINT",
    "uint16": "USMALLINT",
    "uint32": "UINTEGER",
    "uint64": "UBIGINT",
    "uint128": "UHUGEINT",
    "float32": "FLOAT",
    "float64": "DOUBLE",
    "timetz": "TIME WITH TIME ZONE",
    "timestamptz": "TIMESTAMP WITH TIME ZONE",
    "timestamp_us": "TIMESTAMP",
}

ALIKE = r"\b(FLOAT|DOUBLE|INTERVAL|TIME WITH TIME ZONE)\b"
"""Types, also inside others, with values that compare as equal and still differ: 0.0 and -0.0, a month and 30 days."""


@dataclass(frozen=True, slots=True)
class CatalogColumn:
    """A row of the catalog's columns; ``parent`` is the column that it is a part of."""

    column_id: int
    parent: int | None
    name: str
    type: str


def duck_types(columns: Iterable[CatalogColumn]) -> dict[str, ColumnAt]:
    """The columns themselves, in order, without the parts of nested ones."""
    rows = list(columns)
    parts: dict[int, list[CatalogColumn]] = {}
    for column in rows:
        if column.parent is not None:
            parts.setdefault(column.parent, []).append(column)
    return {
        column.name: ColumnAt(column.column_id, _type_of(column, parts)) for column in rows if column.parent is None
    }


def _type_of(column: CatalogColumn, parts: dict[int, list[CatalogColumn]]) -> str:
    inner = parts.get(column.column_id, [])
    name = column.type.lower()
    if name == "list" and len(inner) == 1:
        return f"{_type_of(inner[0], parts)}[]"
    if name == "struct":
        return f"STRUCT({_fields(inner, parts)})"
    if name == "map" and len(inner) == 2:
        return f"MAP({_type_of(inner[0], parts)}, {_type_of(inner[1], parts)})"
    return _NAMES.get(name, column.type.upper())


def _fields(inner: Sequence[CatalogColumn], parts: dict[int, list[CatalogColumn]]) -> str:
    return ", ".join(f"{quoted(field.name)} {_type_of(field, parts)}" for field in inner)

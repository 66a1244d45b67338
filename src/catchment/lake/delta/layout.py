"""The columns of the stored table: what a definition gives, and what is kept beside it to find and update rows.

Order: the visible columns, ``__br`` (branch of a UNION ALL), ``__k<part>_<i>`` (parts of a key that are no visible
column), ``__n``, ``__s<j>``, ``__c<j>`` (row count, sums, counts), and ``__b`` (storage bucket) last. Every column is
cast to its stored type, always: DuckLake would store a HUGEINT inexactly and refuses files with other types.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sqlglot import exp

from catchment.lake.delta.buckets import Method
from catchment.lake.names import BRANCH, BUCKET, HIDDEN, ROWID
from catchment.lake.query.trees import data_type, text
from catchment.lake.reasons import Reason, refused
from catchment.lake.types import Column, Json

ROW_GROUP = 30_720
"""Rows of a row group in the files of dynamic tables. A scan for a few keys reads one row group of each file."""

_SAME_VALUE = {"HUGEINT": "DECIMAL(38,0)", '"NULL"': "INTEGER", "NULL": "INTEGER"}
_REFUSED = (exp.DType.UINT128, exp.DType.BIT, exp.DType.UNION, exp.DType.BIGNUM)


@dataclass(frozen=True, slots=True)
class Layout:
    """What is stored. ``keys`` are, for each part, the stored columns that hold its key.

    ``drivers`` says which source gives a block without grouping its row ids. The choice depends on how big tables are
    when the definition is made, so it is kept: analysing again later must not choose another.
    """

    visible: tuple[Column, ...]
    keys: tuple[tuple[Column, ...], ...]
    states: tuple[Column, ...]
    method: Method
    drivers: tuple[tuple[int, str], ...]

    @property
    def columns(self) -> tuple[Column, ...]:
        """Every stored column in order, ``__b`` last."""
        branch = (Column(BRANCH, "INTEGER"),) if len(self.keys) > 1 else ()
        return (*self.visible, *branch, *self.hidden_keys, *self.states, Column(BUCKET, "SMALLINT"))

    @property
    def hidden_keys(self) -> tuple[Column, ...]:
        """Key columns that are stored beside the visible ones."""
        return tuple(item for keys in self.keys for item in keys if item.name.startswith(HIDDEN))

    def keys_of(self, part: int) -> tuple[Column, ...]:
        """The stored columns of a part's key. Parts are counted from 1."""
        return self.keys[part - 1]

    def bucketed_by(self, part: int) -> tuple[Column, ...]:
        """The stored columns that a row's storage bucket follows from: its key. Rows without one lie in all buckets."""
        return self.keys_of(part) or self.visible

    def key_types(self, part: int) -> tuple[str, ...]:
        """The stored types of a part's key."""
        return tuple(item.type for item in self.keys_of(part))

    def to_json(self) -> dict[str, Any]:
        """Plain JSON; ``from_json`` reads it back."""
        return {
            "visible": _pairs(self.visible),
            "keys": [_pairs(keys) for keys in self.keys],
            "states": _pairs(self.states),
            "method": self.method,
            "drivers": [list(pair) for pair in self.drivers],
        }

    @classmethod
    def from_json(cls, json: Json) -> Layout:
        """What ``to_json`` wrote."""
        return cls(
            visible=_columns(json["visible"]),
            keys=tuple(_columns(keys) for keys in json["keys"]),
            states=_columns(json["states"]),
            method=json["method"],
            drivers=tuple((int(number), str(alias)) for number, alias in json["drivers"]),
        )


def stored_type(column: Column) -> str:
    """The type in which a column is stored, or TableRefused if the lake has none for it.

    Values that differ stay different. Nested types may come back in another spelling than DuckDB's.
    """
    if column.type in _SAME_VALUE:
        return _SAME_VALUE[column.type]
    if column.type.startswith("ENUM("):
        return "VARCHAR"
    tree = data_type(column.type)
    for node in tree.find_all(exp.DataType):
        _check(node, column)
    changed = tree.transform(_stored_node)
    return column.type if changed == tree else text(changed)


def is_same_value(native: str, stored: str) -> bool:
    """Whether values of a native type stay different from each other in a stored type."""
    return native == stored or _SAME_VALUE.get(native) == stored or (native.startswith("ENUM(") and stored == "VARCHAR")


def has_nameless_fields(native: str) -> bool:
    """Whether a type has a struct without names for its fields, of which DuckDB makes no table."""
    return any(map(_is_nameless, data_type(native).find_all(exp.DataType)))


def check_visible(columns: Sequence[Column]) -> None:
    """TableRefused for output names that cannot be columns of one table."""
    for item in columns:
        if item.name.startswith(HIDDEN):
            raise refused(Reason.RESERVED_NAME, f"the output column {item.name!r} starts with two underscores")
        if item.name.lower() == ROWID:
            raise refused(Reason.RESERVED_NAME, f"an output column is called {item.name!r}")
        if not item.name or "\0" in item.name:
            raise refused(Reason.RESERVED_NAME, "an output column has no name", hint="Give it one with AS.")


def _check(node: exp.Expr, column: Column) -> None:
    if isinstance(node, exp.DataType) and node.this in _REFUSED:
        raise refused(Reason.UNSUPPORTED_TYPE, f"the column {column.name!r} has the type {column.type}")
    if _is_nameless(node):
        raise refused(
            Reason.UNSUPPORTED_TYPE,
            f"the fields of the column {column.name!r} have no names: {column.type}",
            hint="Name them: {'a': x, 'b': y} instead of row(x, y) or (x, y).",
        )


def _is_nameless(node: exp.Expr) -> bool:
    is_struct = isinstance(node, exp.DataType) and node.this == exp.DType.STRUCT
    return is_struct and not all(isinstance(field, exp.ColumnDef) for field in node.expressions)


def _stored_node(node: exp.Expr) -> exp.Expr:
    if isinstance(node, exp.DataType):
        if node.this == exp.DType.INT128:
            return data_type("DECIMAL(38,0)")
        if node.this in (exp.DType.ENUM, exp.DType.ENUM8, exp.DType.ENUM16):
            return data_type("VARCHAR")
        if node.this == exp.DType.ARRAY and node.args.get("values"):
            return exp.DataType(this=exp.DType.ARRAY, expressions=node.expressions, nested=True)
    return node


def _pairs(columns: Sequence[Column]) -> list[list[str]]:
    return [[item.name, item.type] for item in columns]


def _columns(pairs: Sequence[Sequence[str]]) -> tuple[Column, ...]:
    return tuple(Column(name, type_text) for name, type_text in pairs)

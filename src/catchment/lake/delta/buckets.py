"""The bucket of a key: one function for storage, for cutting a refresh into subtasks, and for reading keys back.

``h`` is a number below 2^31 made from the key. A row is stored in bucket ``h mod N``, a subtask owns ``h mod M``; both
are powers of two, so a subtask owns whole storage buckets, or a storage bucket whole subtasks. Values are hashed in
their stored type: the hash of one number differs between types.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from sqlglot import exp

from catchment.lake.query.trees import all_of, cast, number, same
from catchment.lake.types import BucketRange

Method = Literal["hash", "modulo"]
NULL_BUCKET = -1
"""The storage bucket of a NULL key when keys are cut by ``modulo``."""

_MASK = 2**31 - 1
_MIX = 1_000_003
_INTEGERS = frozenset(
    {"TINYINT", "SMALLINT", "INTEGER", "BIGINT", "UTINYINT", "USMALLINT", "UINTEGER", "UBIGINT"},
)
_NATIVE = frozenset(
    {"TINYINT", "SMALLINT", "INTEGER", "BIGINT", "VARCHAR", "DATE", "TIMESTAMP", "TIMESTAMP WITH TIME ZONE"},
)
_WIDEST_NATIVE_DECIMAL = 18
_HASHABLE = _INTEGERS | {"VARCHAR", "DATE", "TIMESTAMP", "TIMESTAMP WITH TIME ZONE", "UUID", "BOOLEAN"}


def is_hashable(type_text: str) -> bool:
    """Whether equal values of the type have equal hashes. Not so for floats: 0.0 equals -0.0."""
    return type_text in _HASHABLE or type_text.startswith("DECIMAL(")


def is_integer(type_text: str) -> bool:
    """Whether ``modulo`` can cut keys of this type."""
    return type_text in _INTEGERS


def hash_expression(keys: Sequence[tuple[exp.Expr, str]], method: Method) -> exp.Expr:
    """``h`` as an expression over the key's columns and their stored types.

    By ``hash`` it is never NULL; columns that cannot be hashed take no part. By ``modulo`` it is NULL for a NULL key.
    """
    if method == "modulo":
        [(key, type_text)] = keys
        return _masked_integer(key, type_text)
    hashes = [_hashed(key, type_text) for key, type_text in keys if is_hashable(type_text)]
    if not hashes:
        return cast(number(0), "BIGINT")
    result = hashes[0]
    for following in hashes[1:]:
        product = exp.Mul(this=exp.Paren(this=result), expression=number(_MIX))
        result = _mod(exp.Add(this=product, expression=following), _MASK)
    return result


def storage_bucket(h: exp.Expr, buckets: int) -> exp.Expr:
    """The value of ``__b`` for this number of storage buckets."""
    bucket = exp.Coalesce(this=_mod(h, buckets), expressions=[number(NULL_BUCKET)])
    return cast(bucket, "SMALLINT")


def in_range(h: exp.Expr, only: BucketRange) -> exp.Expr:
    """Whether a key belongs to a range of a refresh that is cut by hash or by modulo."""
    if only.partition is None:
        return exp.Is(this=h, expression=exp.Null())
    return exp.EQ(this=_mod(h, only.total), expression=number(only.partition))


def belongs(keys: Sequence[tuple[exp.Expr, str]], method: Method, only: BucketRange) -> exp.Expr | None:
    """Whether a key belongs to any kind of range. ``spec`` names key columns k1, k2, … and their values."""
    if only.spec is None:
        return in_range(hash_expression(keys, method), only)
    wanted = [
        same(keys[int(name.removeprefix("k")) - 1][0].copy(), _value(value, keys[int(name.removeprefix("k")) - 1][1]))
        for name, value in only.spec.items()
    ]
    return all_of(wanted)


def _value(value: object, type_text: str) -> exp.Expr:
    return cast(exp.Null() if value is None else exp.Literal.string(str(value)), type_text)


def _hashed(key: exp.Expr, type_text: str) -> exp.Expr:
    murmur = cast(exp.Anonymous(this="murmur3_32", expressions=[_hash_input(key, type_text)]), "BIGINT")
    return exp.Coalesce(this=exp.BitwiseAnd(this=murmur, expression=number(_MASK)), expressions=[number(0)])


def _hash_input(key: exp.Expr, type_text: str) -> exp.Expr:
    """The value as it is hashed. Of types that murmur3_32 does not know itself it takes the rows that a filter has left
    for others, or reads beyond them: those go in as text."""
    stored = cast(key.copy(), type_text)
    is_native = type_text in _NATIVE or (
        type_text.startswith("DECIMAL(") and int(type_text[8:].partition(",")[0]) <= _WIDEST_NATIVE_DECIMAL
    )
    return stored if is_native else cast(stored, "VARCHAR")


def _masked_integer(key: exp.Expr, type_text: str) -> exp.Expr:
    """The low 31 bits, which for powers of two is the remainder that is never negative."""
    if type_text == "UBIGINT":
        return cast(_mod(key.copy(), _MASK + 1), "BIGINT")
    return exp.BitwiseAnd(this=cast(key.copy(), "BIGINT"), expression=number(_MASK))


def _mod(left: exp.Expr, right: int) -> exp.Expr:
    return exp.Mod(this=exp.Paren(this=left), expression=number(right))

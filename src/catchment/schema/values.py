"""The values of a ``Schema``, checked when it is defined: what is wrong with them would show in the database, late."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from typing import Any, cast

from catchment.errors import CatchmentError, DefinitionRefused, SchemaMismatch, shown
from catchment.model.check import LARGEST_INTEGER, is_text
from catchment.model.release import is_release

_NAME_BYTES = 63
_TABLE = "migration"


def check_schema(schema: Any) -> None:
    """Raise ``DefinitionRefused`` for the first value that cannot be used."""
    for what in ("name", "owner", "version_table"):
        _check_name(what, getattr(schema, what))
    for what in ("package", "title", "command"):
        value = getattr(schema, what)
        _refuse_unless(is_text(value) and value.strip() != "", what, value, "a text that is not empty")
    _refuse_unless(
        is_release(schema.release), "release", schema.release, "a version such as '1.4', '1.4.0rc1' or '2.0.dev3'"
    )
    oldest = schema.compatible_from
    is_number = type(oldest) is int and 1 <= oldest <= LARGEST_INTEGER
    _refuse_unless(is_number, "compatible_from", oldest, "the number of a migration, 1 or more")
    _refuse_unless(
        schema.version_table != _TABLE, "version_table", _TABLE, "another name: it is the table of migrations"
    )
    _check_roles(schema.roles)
    _check_errors(schema.errors)
    _check_class("mismatch", schema.mismatch, SchemaMismatch)


def _check_name(what: str, value: Any) -> None:
    fits = is_text(value) and 0 < len(value.encode()) <= _NAME_BYTES
    _refuse_unless(fits, what, value, f"a name of 1 to {_NAME_BYTES} bytes")
    _refuse_unless(not value.startswith("pg_"), what, value, "a name that does not begin with pg_, as PostgreSQL's do")
    _refuse_unless(value not in ("public", "none"), what, value, "a name that PostgreSQL has no other meaning for")


def _check_roles(roles: Any) -> None:
    expected = "a mapping such as {'shop_user': ['catchment_enqueue']}"
    _refuse_unless(isinstance(roles, Mapping), "roles", roles, expected)
    for role, groups in cast("Mapping[Any, Any]", roles).items():
        _check_name("a role", role)
        _refuse_unless(isinstance(groups, list | tuple), f"roles[{role!r}]", groups, "a list of roles")
        for group in cast("list[Any]", groups):
            _refuse_unless(is_text(group) and group != "", f"roles[{role!r}]", groups, "a list of names of roles")


def _check_errors(errors: Any) -> None:
    _refuse_unless(isinstance(errors, Mapping), "errors", errors, "a mapping such as {'SH001': OutOfStock}")
    for state, kind in cast("Mapping[Any, Any]", errors).items():
        is_state = is_text(state) and len(state) == 5 and state.isascii() and state.isalnum() and state == state.upper()
        _refuse_unless(is_state, "a key of errors", state, "an SQLSTATE, such as 'SH001'")
        _check_class(f"errors[{state!r}]", kind, CatchmentError)


def _check_class(what: str, kind: Any, base: type) -> None:
    is_class = isinstance(kind, type) and issubclass(kind, base)
    _refuse_unless(is_class, what, kind, f"a subclass of {base.__name__}")
    try:
        inspect.signature(kind).bind("message", hint=None)
    except TypeError:
        _refuse_unless(False, what, kind, "a class that is made of a message and hint=")


def _refuse_unless(fits: bool, what: str, value: Any, expected: str) -> None:
    if not fits:
        raise DefinitionRefused(f"{what} of a Schema is {shown(value)}, expected {expected}")

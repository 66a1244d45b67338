"""The code lists that files can be loaded into, and what their columns are."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from catchment_register.errors import CodesRefused

# What an integer column holds.
LARGEST_INTEGER = 2**31 - 1
_MOST_DIGITS = 20


def _yes_or_no(text: str) -> bool:
    known = {"true": True, "yes": True, "t": True, "1": True, "false": False, "no": False, "f": False, "0": False}
    if text.lower() not in known:
        raise ValueError(f"{text!r} is neither true nor false")
    return known[text.lower()]


def _one_of(*choices: str) -> Callable[[str], str]:
    def read(text: str) -> str:
        if text not in choices:
            raise ValueError(f"{text!r} is not one of {', '.join(choices)}")
        return text

    return read


def _two_letters(text: str) -> str:
    if len(text) != 2 or not text.isascii() or not text.isalpha():
        raise ValueError(f"{text!r} is not a code of two letters")
    return text.upper()


def _number(text: str) -> int:
    if len(text) > _MOST_DIGITS or not re.fullmatch(r"[0-9]+", text) or not 1 <= int(text) <= LARGEST_INTEGER:
        raise ValueError(f"{text[:40]!r} is not a whole number from 1 to {LARGEST_INTEGER}")
    return int(text)


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a file: how its text is read (``ValueError`` if it cannot be), and what an empty cell stands for."""

    name: str
    read: Callable[[str], Any] = str
    required: bool = False
    default: Any = None


_NAME = Column("name", required=True)
_DESCRIPTION = Column("description")
# Codes with an order; a new one without a number joins at the end.
_PRIORITY = Column("priority", _number)
_TYPE = Column("type", _one_of("int", "float", "string", "bool"), required=True)


@dataclass(frozen=True, slots=True)
class Kind:
    """A code list: ``key`` is the column that tells a code, within ``scope`` if the list has several editions."""

    name: str
    table: str
    key: Column
    columns: tuple[Column, ...] = (_NAME,)
    scope: Literal["version_id", "standard_id"] | None = None

    @property
    def is_ordered(self) -> bool:
        return _PRIORITY in self.columns


_PATH = Column("path", required=True)
_CODE = Column("code", required=True)

KINDS: Mapping[str, Kind] = {
    kind.name: kind
    for kind in (
        Kind("activity", "activity_category", _PATH, (_NAME, _DESCRIPTION), "standard_id"),
        Kind("region", "region", _PATH, (_NAME, _DESCRIPTION), "version_id"),
        Kind("sector", "sector", _PATH, (_NAME, _DESCRIPTION)),
        Kind("tag", "tag", _PATH, (_NAME, _DESCRIPTION)),
        Kind("legal_form", "legal_form", _CODE),
        Kind("unit_size", "unit_size", _CODE),
        Kind("data_source", "data_source", _CODE),
        Kind("foreign_participation", "foreign_participation", _CODE),
        Kind("person_role", "person_role", _CODE),
        Kind("power_group_type", "power_group_type", _CODE),
        Kind("country", "country", Column("iso_2", _two_letters, required=True), (_NAME, Column("iso_3"))),
        Kind(
            "status",
            "status",
            _CODE,
            (
                _NAME,
                Column("used_for_counting", _yes_or_no, required=True),
                Column("assigned_by_default", _yes_or_no, default=False),
            ),
        ),
        Kind("stat", "stat_definition", _CODE, (_NAME, _TYPE, Column("frequency", default="yearly"), _PRIORITY)),
        Kind(
            "ident_type",
            "external_ident_type",
            _CODE,
            (_NAME, Column("shape", _one_of("regular", "hierarchical"), default="regular"), _PRIORITY),
        ),
        Kind(
            "rel_type",
            "legal_rel_type",
            _CODE,
            (_NAME, Column("primary_influencer_only", _yes_or_no, default=False)),
        ),
    )
}


def find_kind(name: str) -> Kind:
    """The kind of this name, or ``CodesRefused`` with the names there are."""
    if name not in KINDS:
        raise CodesRefused(f"there is no code list {name!r}", hint=f"Choose one of {', '.join(sorted(KINDS))}.")
    return KINDS[name]

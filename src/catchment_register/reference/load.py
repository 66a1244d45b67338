"""Reads the base tables as they are, whole, for the reference to derive from."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from datetime import date
from functools import cached_property
from typing import Any, LiteralString

from psycopg import Connection

from catchment_register.reference.algebra import Variable
from catchment_register.reference.model import Row
from catchment_register.reference.published import read_rows, variables

# A unit by its type and number.
Unit = tuple[str, int]

_DETAILS: dict[str, LiteralString] = {
    "activity": "select * from register.activity",
    "location": "select * from register.location",
    "contact": "select * from register.contact",
    "stat": "select * from register.stat_for_unit",
    "person": "select * from register.person_for_unit",
}


@dataclass(frozen=True)
class Base:
    """Everything that derivation reads. Slices and details by unit, in the order of time."""

    today: date
    slices: dict[Unit, list[Row]]
    details: dict[str, dict[Unit, list[Row]]]
    enterprises: dict[int, Row]
    power_groups: dict[int, Row]
    relationships: list[Row]
    roots: list[Row]
    counting: set[int]
    variables: dict[int, Variable]
    paths: dict[str, dict[int, str]]

    def of(self, kind: str, unit: Unit) -> list[Row]:
        """Details of one kind of a unit."""
        return self.details[kind].get(unit, [])

    @cached_property
    def parts(self) -> dict[Unit, list[Unit]]:
        """What ever belonged directly to a legal unit or an enterprise."""
        parts_of: defaultdict[Unit, list[Unit]] = defaultdict(list)
        for unit, slices in self.slices.items():
            for owner in {_owner(slice_) for slice_ in slices}:
                parts_of[owner].append(unit)
        return dict(parts_of)

    def units(self, unit_type: str) -> list[Unit]:
        return sorted(unit for unit in self.slices if unit[0] == unit_type)


def load(conn: Connection[Any]) -> Base:
    """All base data of the register."""
    slices: defaultdict[Unit, list[Row]] = defaultdict(list)
    for row in read_rows(conn, "select * from register.legal_unit order by id, valid_from"):
        slices[("legal_unit", row["id"])].append(row)
    for row in read_rows(conn, "select * from register.establishment order by id, valid_from"):
        slices[("establishment", row["id"])].append(row | {"legal_form_id": None})
    counting = read_rows(conn, "select s.id from register.status as s where s.used_for_counting")
    today = read_rows(conn, "select register.today() as today")[0]["today"]
    return Base(
        today,
        dict(slices),
        {kind: _by_owner(read_rows(conn, query)) for kind, query in _DETAILS.items()},
        {row["id"]: row for row in read_rows(conn, "select * from register.enterprise")},
        {row["id"]: row for row in read_rows(conn, "select * from register.power_group")},
        read_rows(conn, "select * from register.legal_relationship order by id, valid_from"),
        read_rows(conn, "select * from register.power_root order by power_group_id, valid_from"),
        {row["id"] for row in counting},
        variables(conn),
        {
            "activity": _paths(read_rows(conn, "select c.id, c.path from register.activity_category as c")),
            "sector": _paths(read_rows(conn, "select c.id, c.path from register.sector as c")),
            "region": _paths(read_rows(conn, "select c.id, c.path from register.region as c")),
        },
    )


def _owner(slice_: Row) -> Unit:
    legal_unit_id = slice_.get("legal_unit_id")
    return ("enterprise", slice_["enterprise_id"]) if legal_unit_id is None else ("legal_unit", legal_unit_id)


def _by_owner(rows: list[Row]) -> dict[Unit, list[Row]]:
    owned: defaultdict[Unit, list[Row]] = defaultdict(list)
    for row in rows:
        is_legal = row["legal_unit_id"] is not None
        owner = ("legal_unit", row["legal_unit_id"]) if is_legal else ("establishment", row["establishment_id"])
        owned[owner].append(row)
    return dict(owned)


def _paths(rows: list[Row]) -> dict[int, str]:
    return {row["id"]: row["path"] for row in rows}

"""External identifiers: unique within their type, one of a type for a unit, of any kind of owner."""

from __future__ import annotations

import pytest

from tests.fixtures.register_driver import Register
from tests.register.support import refused

UNIQUE = "23505"


def _give(reg: Register, ident: str, type_code: str = "stat_ident", **owner: int) -> None:
    reg.insert("external_ident", type_id=reg.code("external_ident_type", type_code), ident=ident, **owner)


def test_an_identifier_belongs_to_one_unit(reg: Register) -> None:
    first, second = reg.lu("1", "2020-01-01"), reg.lu("2", "2020-01-01")
    _give(reg, "x", legal_unit_id=first)
    with refused(reg, UNIQUE):
        _give(reg, "x", legal_unit_id=second)
    _give(reg, "1", legal_unit_id=second)


def test_a_unit_has_one_identifier_of_a_type(reg: Register) -> None:
    unit = reg.lu("1", "2020-01-01")
    _give(reg, "x", legal_unit_id=unit)
    with refused(reg, UNIQUE):
        _give(reg, "y", legal_unit_id=unit)


def test_every_kind_of_unit_and_person_can_have_one(reg: Register) -> None:
    owners = {
        "legal_unit_id": reg.lu("1", "2020-01-01"),
        "establishment_id": reg.es("11", "1", "2020-01-01"),
        "enterprise_id": reg.enterprise_of("1"),
        "power_group_id": reg.insert("power_group", ident="PG0001")["id"],
        "person_id": reg.insert("person", family_name="Berg")["id"],
    }
    for number, (owner, unit) in enumerate(owners.items()):
        _give(reg, f"x{number}", **{owner: unit})
    assert reg.value("select count(*) from register.external_ident where ident like 'x%%'") == 5


def test_an_identifier_has_exactly_one_owner(reg: Register) -> None:
    unit = reg.lu("1", "2020-01-01")
    with refused(reg, "23514"):
        _give(reg, "x")
    with refused(reg, "23514"):
        _give(reg, "x", legal_unit_id=unit, enterprise_id=reg.enterprise_of("1"))


@pytest.mark.parametrize("ident", ["", "x" * 51])
def test_an_identifier_has_a_length(reg: Register, ident: str) -> None:
    unit = reg.lu("1", "2020-01-01")
    with refused(reg, "23514"):
        _give(reg, ident, legal_unit_id=unit)


def test_a_hierarchical_identifier_is_its_path(reg: Register) -> None:
    reg.insert("external_ident_type", code="census", name="Census", shape="hierarchical", priority=3)
    first, second = reg.lu("1", "2020-01-01"), reg.lu("2", "2020-01-01")
    _give(reg, "north.17.3", "census", legal_unit_id=first)
    _give(reg, "north.17", "census", legal_unit_id=second)
    with refused(reg, UNIQUE):
        _give(reg, "north.17.3", "census", establishment_id=reg.es("11", "1", "2020-01-01"))
    third = reg.lu("3", "2020-01-01")
    for ident in ("..not a path!!", "north..3", ".north", "north 17"):
        with refused(reg, "RG017"):
            _give(reg, ident, "census", legal_unit_id=third)
    with refused(reg, "RG017"):
        reg.conn.execute("update register.external_ident set ident = 'north.' where ident = 'north.17'")
    _give(reg, "..not a path!!", legal_unit_id=third)

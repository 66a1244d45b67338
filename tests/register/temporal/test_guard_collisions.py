"""Two sessions break a rule together that neither breaks alone: the second waits, looks again, and is refused."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from tests.fixtures.register import opened
from tests.fixtures.register_driver import RegisterDatabase
from tests.fixtures.server import cloned
from tests.register.support import meet

SLICE = """
insert into register.legal_unit (id, valid_from, valid_until, name, status_id, enterprise_id, primary_for_enterprise)
select id, '{0}', '{1}', name, status_id, enterprise_id, true from register.legal_unit where id = 1 limit 1
"""
ACTIVITY = """
insert into register.activity (legal_unit_id, type, category_id, valid_from, valid_until)
select 1, 'primary', id, '{0}', '{1}' from register.activity_category limit 1
"""
ESTABLISHMENT = """
insert into register.establishment (id, valid_from, name, status_id, legal_unit_id, primary_for_legal_unit)
select {0}, '2020-01-01', 'Place', status_id, 1, true from register.legal_unit where id = 1 limit 1
"""
IDENT = "insert into register.external_ident (type_id, ident, legal_unit_id) values (1, 'new', 1)"
SHRINK = "update register.legal_unit set valid_until = '2022-01-01' where id = 1"
MEMBER = """
insert into register.legal_unit (id, valid_from, name, status_id, enterprise_id, primary_for_enterprise)
select {0}, '2020-01-01', name, status_id, 2, true from register.legal_unit where id = 1 limit 1
"""


@pytest.fixture(scope="module")
def database(server: str, register_template: str) -> Iterator[str]:
    """One database for all meetings: each begins with empty tables."""
    with cloned(server, register_template) as dsn:
        yield dsn


@pytest.fixture
def world(database: str, tmp_path: Path) -> Iterator[RegisterDatabase]:
    """Legal unit 1 of enterprise 1, valid from 2020 until 2024, and enterprise 2 without units."""
    with opened(database, tmp_path) as reg:
        with reg.conn.transaction():
            reg.conn.execute("set local session_replication_role = replica")
            reg.conn.execute(
                "truncate register.enterprise, register.legal_unit, register.establishment, register.activity,"
                " register.external_ident"
            )
        reg.conn.execute("insert into register.enterprise (id) values (1), (2)")
        reg.conn.execute(
            """insert into register.legal_unit (id, valid_from, valid_until, name, status_id, enterprise_id,
                                                primary_for_enterprise)
               select 1, '2020-01-01', '2024-01-01', 'Unit', id, 1, true from register.status where code = 'active'"""
        )
        yield reg


def test_two_slices_of_one_unit(world: RegisterDatabase) -> None:
    first, second = SLICE.format("2025-01-01", "2027-01-01"), SLICE.format("2026-01-01", "2028-01-01")
    assert meet(world, first, second) == "RG001"
    assert meet(world, SLICE.format("2027-01-01", "2028-01-01"), SLICE.format("2028-01-01", "infinity")) is None


def test_the_first_two_details_of_a_unit(world: RegisterDatabase) -> None:
    first, second = ACTIVITY.format("2020-01-01", "2022-01-01"), ACTIVITY.format("2021-01-01", "2023-01-01")
    assert meet(world, first, second) == "RG001"


def test_two_details_that_touch(world: RegisterDatabase) -> None:
    first, second = ACTIVITY.format("2020-01-01", "2022-01-01"), ACTIVITY.format("2022-01-01", "2023-01-01")
    assert meet(world, first, second) is None


def test_a_detail_after_its_unit_was_shortened(world: RegisterDatabase) -> None:
    assert meet(world, SHRINK, ACTIVITY.format("2020-01-01", "2024-01-01")) == "RG002"


def test_a_detail_after_its_unit_was_extended(world: RegisterDatabase) -> None:
    extend = "update register.legal_unit set valid_until = '2030-01-01' where id = 1"
    assert meet(world, extend, ACTIVITY.format("2020-01-01", "2028-01-01")) is None


def test_a_detail_after_another_slice_came_to_its_unit(world: RegisterDatabase) -> None:
    assert meet(world, SLICE.format("2024-01-01", "2030-01-01"), ACTIVITY.format("2020-01-01", "2028-01-01")) is None


def test_a_unit_is_shortened_after_a_detail_came(world: RegisterDatabase) -> None:
    assert meet(world, ACTIVITY.format("2020-01-01", "2024-01-01"), SHRINK) == "RG003"


def test_a_unit_is_deleted_after_an_identifier_came(world: RegisterDatabase) -> None:
    assert meet(world, IDENT, "delete from register.legal_unit where id = 1") == "RG003"


def test_an_identifier_after_its_unit_was_deleted(world: RegisterDatabase) -> None:
    assert meet(world, "delete from register.legal_unit where id = 1", IDENT) == "RG002"


def test_two_primary_units_of_one_enterprise(world: RegisterDatabase) -> None:
    assert meet(world, MEMBER.format(11), MEMBER.format(12)) == "RG005"


def test_two_primary_establishments_of_one_unit(world: RegisterDatabase) -> None:
    world.conn.execute("update register.legal_unit set valid_until = 'infinity'")
    assert meet(world, ESTABLISHMENT.format(11), ESTABLISHMENT.format(12)) == "RG005"


def test_an_enterprise_is_deleted_after_a_unit_came(world: RegisterDatabase) -> None:
    assert meet(world, MEMBER.format(11), "delete from register.enterprise where id = 2") == "RG006"


def test_a_unit_after_its_enterprise_was_deleted(world: RegisterDatabase) -> None:
    assert meet(world, "delete from register.enterprise where id = 2", MEMBER.format(11)) == "RG002"


@pytest.mark.parametrize("level", ["repeatable read", "serializable"])
def test_only_read_committed_writes(world: RegisterDatabase, level: str) -> None:
    session = world.connect()
    session.execute(f"set default_transaction_isolation = '{level}'")
    for statement in (ACTIVITY.format("2020-01-01", "2021-01-01"), SHRINK, IDENT, "delete from register.enterprise"):
        with pytest.raises(psycopg.Error) as caught:
            session.execute(statement)
        assert caught.value.sqlstate == "RG007"

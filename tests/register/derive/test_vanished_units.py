"""Units that are gone lose what was published of them."""

from __future__ import annotations

import pytest

from tests.fixtures.register_driver import Register
from tests.register.unit_support import assert_right, derive, rows_of, without_reports


@pytest.fixture
def units(reg: Register) -> Register:
    without_reports(reg)
    reg.conn.execute("update register.settings set rebuild_share = 1")
    reg.lu("1", "2020-01-01")
    reg.lu("2", "2020-01-01")
    reg.es("e", "1", "2020-01-01", employees=3)
    derive(reg)
    return reg


def forget(reg: Register, ident: str) -> int:
    """Delete a unit and all that belongs to it."""
    owner, unit_id = reg.unit(ident)
    for table in ("stat_for_unit", "external_ident"):
        reg.conn.execute(f"delete from register.{table} where {owner} = %s", [unit_id])
    reg.conn.execute(f"delete from register.{owner.removesuffix('_id')} where id = %s", [unit_id])
    return unit_id


def test_a_deleted_establishment_goes_and_its_legal_unit_changes(units: Register) -> None:
    gone = forget(units, "e")
    derive(units)
    assert rows_of(units, "establishment", gone) == []
    (row,) = rows_of(units, "legal_unit", units.unit_id("1"))
    assert (row["related_establishment_ids"], row["stats_summary"]) == (None, {})
    assert units.value("select sum(sign) from register.statistical_unit_change where unit_type = 'establishment'") == -1
    assert_right(units)


def test_a_deleted_legal_unit_takes_its_enterprise_along(units: Register) -> None:
    enterprise = units.enterprise_of("2")
    gone = forget(units, "2")
    derive(units)
    assert rows_of(units, "legal_unit", gone) == []
    # The enterprise is still there, but nothing belongs to it.
    assert rows_of(units, "enterprise", enterprise) == []
    units.conn.execute("delete from register.enterprise where id = %s", [enterprise])
    derive(units)
    assert_right(units)


def test_an_enterprise_that_its_last_unit_left_has_no_row(units: Register) -> None:
    left, joined = units.enterprise_of("2"), units.enterprise_of("1")
    units.conn.execute(
        "update register.legal_unit set enterprise_id = %s, primary_for_enterprise = false where id = %s",
        [joined, units.unit_id("2")],
    )
    derive(units)
    assert rows_of(units, "enterprise", left) == []
    (row,) = rows_of(units, "enterprise", joined)
    assert row["related_legal_unit_ids"] == sorted([units.unit_id("1"), units.unit_id("2")])
    assert_right(units)


def test_time_that_a_unit_lost_is_no_longer_published(units: Register) -> None:
    units.conn.execute("update register.legal_unit set valid_from = '2022-01-01' where id = %s", [units.unit_id("2")])
    derive(units)
    (row,) = rows_of(units, "legal_unit", units.unit_id("2"))
    assert str(row["valid_from"]) == "2022-01-01"
    assert_right(units)


def test_a_power_group_that_fell_apart_goes(units: Register) -> None:
    units.relate("1", "2", "2020-01-01")
    derive(units)
    group = units.value("select id from register.power_group")
    assert rows_of(units, "power_group", group) != []
    units.conn.execute("delete from register.legal_relationship")
    derive(units)
    assert rows_of(units, "power_group", group) == []
    assert units.value("select count(*) from register.power_group") == 0
    assert_right(units)


def test_a_derivation_of_everything_removes_what_has_no_base(units: Register) -> None:
    # As if a deletion had never been noticed.
    units.conn.execute("set local register.capture = 'off'")
    gone = forget(units, "e")
    units.conn.execute("set local register.capture = 'on'")
    units.value("select worker.enqueue_collect_changes('all')")
    derive(units)
    assert rows_of(units, "establishment", gone) == []
    assert_right(units)

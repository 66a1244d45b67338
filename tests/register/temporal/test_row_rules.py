"""Rules of rows: codes that exist, one primary unit at a time, nothing deleted that others need; all at little cost."""

from __future__ import annotations

import pytest

from tests.fixtures.often import some_rows
from tests.fixtures.register_driver import Register
from tests.register.support import message, refused


@pytest.fixture
def units(reg: Register) -> dict[str, int]:
    """A legal unit, its establishment and another unit, all of 2020 and later."""
    reg.lu("1", "2020-01-01")
    reg.es("11", "1", "2020-01-01")
    reg.lu("2", "2020-01-01")
    return {"legal_unit_id": reg.unit_id("1"), "establishment_id": reg.unit_id("11")}


CODES = [
    ("legal_unit", "sector_id", "sector"),
    ("legal_unit", "status_id", "status"),
    ("legal_unit", "legal_form_id", "legal_form"),
    ("legal_unit", "unit_size_id", "unit_size"),
    ("legal_unit", "data_source_id", "data_source"),
    ("legal_unit", "foreign_participation_id", "foreign_participation"),
    ("legal_unit", "image_id", "image"),
    ("establishment", "status_id", "status"),
    ("establishment", "unit_size_id", "unit_size"),
    ("establishment", "data_source_id", "data_source"),
    ("activity", "category_id", "activity_category"),
    ("location", "region_id", "region"),
    ("location", "country_id", "country"),
    ("contact", "data_source_id", "data_source"),
    ("stat_for_unit", "stat_definition_id", "stat_definition"),
    ("external_ident", "type_id", "external_ident_type"),
    ("tag_for_unit", "tag_id", "tag"),
    ("legal_relationship", "type_id", "legal_rel_type"),
    ("power_group", "type_id", "power_group_type"),
    ("person_for_unit", "person_role_id", "person_role"),
]


@pytest.mark.parametrize(("table", "column", "listed"), some_rows(CODES, one_in=4))
def test_codes_exist(reg: Register, units: dict[str, int], table: str, column: str, listed: str) -> None:
    reg.details("1", "2020-01-01", activity="A.01.1", region="46.26", email="x", employees=1)
    reg.relate("1", "2", "2020-01-01")
    reg.insert("tag_for_unit", tag_id=reg.code("tag", "watch"), legal_unit_id=units["legal_unit_id"])
    reg.insert("power_group", ident="PG0001")
    reg.insert(
        "person_for_unit",
        person_id=reg.insert("person", family_name="Berg")["id"],
        valid_from="2020-01-01",
        **units | {"establishment_id": None},
    )
    with refused(reg, "RG004") as caught:
        reg.conn.execute(f"update register.{table} set {column} = 1000000")
    assert message(caught) == f"{table}: {column} 1000000 is not in {listed}"


def test_a_statistic_is_stored_by_its_type(reg: Register, units: dict[str, int]) -> None:
    slot = {"legal_unit_id": units["legal_unit_id"], "valid_from": "2020-01-01"}
    for code, wrong in (("employees", {"value_float": 1.0}), ("turnover", {"value_int": 1})):
        with refused(reg, "RG017") as caught:
            reg.insert("stat_for_unit", **slot, stat_definition_id=reg.code("stat_definition", code), **wrong)
        assert code in message(caught)
    with refused(reg, "23514"):
        reg.insert(
            "stat_for_unit", **slot, stat_definition_id=reg.code("stat_definition", "turnover"), value_float="NaN"
        )


def test_an_enterprise_has_one_primary_unit_at_a_time(reg: Register, units: dict[str, int]) -> None:
    enterprise = reg.enterprise_of("1")
    with refused(reg, "RG005") as caught:
        reg.lu("3", "2022-01-01", enterprise=enterprise, primary=True)
    assert f"both have primary_for_enterprise for enterprise_id {enterprise} from 2022-01-01" in message(caught)
    reg.lu("3", "2022-01-01", enterprise=enterprise, primary=False)
    with refused(reg, "RG005"):
        reg.conn.execute("update register.legal_unit set primary_for_enterprise = true")
    reg.conn.execute(
        "update register.legal_unit set primary_for_enterprise = not primary_for_enterprise where enterprise_id = %s",
        [enterprise],
    )
    reg.es("31", enterprise, "2020-01-01", primary=True)
    with refused(reg, "RG005"):
        reg.es("32", enterprise, "2020-01-01", primary=True)


def test_a_legal_unit_has_one_primary_establishment_at_a_time(reg: Register, units: dict[str, int]) -> None:
    with refused(reg, "RG005"):
        reg.es("12", "1", "2024-01-01", primary=True)
    reg.es("12", "1", "2024-01-01", primary=False)


def test_a_unit_has_one_primary_influencer_at_a_time(reg: Register, units: dict[str, int]) -> None:
    reg.lu("3", "2020-01-01")
    reg.relate("1", "3", "2020-01-01", "2022-01-01", kind="control")
    reg.relate("2", "3", "2020-01-01", kind="ownership")
    with refused(reg, "RG005"):
        reg.relate("2", "3", "2021-01-01", kind="control")
    reg.relate("2", "3", "2022-01-01", kind="control")
    flags = reg.rows("select distinct type_id, primary_influencer_only from register.legal_relationship")
    assert {row["type_id"]: row["primary_influencer_only"] for row in flags} == {
        reg.code("legal_rel_type", "control"): True,
        reg.code("legal_rel_type", "ownership"): False,
    }


def test_the_table_itself_keeps_the_rules_of_a_row(reg: Register, units: dict[str, int]) -> None:
    for wrong in (
        "update register.legal_unit set valid_until = valid_from",
        "update register.legal_unit set valid_from = '-infinity'",
        "update register.legal_unit set name = ''",
        "update register.establishment set enterprise_id = 1",
        "update register.establishment set primary_for_enterprise = true",
        "update register.establishment set primary_for_legal_unit = null",
        "update register.establishment set sector_id = 1",
        "update register.external_ident set enterprise_id = 1",
    ):
        with refused(reg, "23514"):
            reg.conn.execute(wrong)


def test_what_is_in_use_stays(reg: Register, units: dict[str, int]) -> None:
    for table in ("enterprise", "status", "external_ident_type", "country"):
        with refused(reg, "RG006" if table == "enterprise" else "RG020"):
            reg.conn.execute(f"delete from register.{table}")
        with refused(reg, "RG020"):
            reg.conn.execute(f"update register.{table} set id = id + 100000")
    for table in ("enterprise", "legal_unit", "establishment", "activity", "status", "external_ident"):
        with refused(reg, "RG021"):
            reg.conn.execute(f"truncate register.{table}")
    with refused(reg, "RG020"):
        reg.conn.execute("update register.stat_definition set type = 'float' where code = 'employees'")
    with refused(reg, "RG020"):
        reg.conn.execute("update register.legal_rel_type set primary_influencer_only = true")


def test_an_enterprise_that_nobody_needs_can_go(reg: Register, units: dict[str, int]) -> None:
    left = reg.insert("enterprise", short_name="left")["id"]
    reg.conn.execute("delete from register.enterprise where id = %s", [left])
    reg.insert("enterprise", id=left, short_name="again")
    reg.insert("tag_for_unit", tag_id=reg.code("tag", "watch"), enterprise_id=left)
    with refused(reg, "RG006") as caught:
        reg.conn.execute("delete from register.enterprise where id = %s", [left])
    assert message(caught) == f"enterprise {left} is in use: tag_for_unit names it"


def test_a_disabled_code_may_still_be_named(reg: Register) -> None:
    reg.conn.execute("update register.legal_form set enabled = false where code = 'AS'")
    form = reg.value("select id from register.legal_form where code = 'AS'")
    reg.lu("1", "2020-01-01")
    reg.conn.execute("update register.legal_unit set legal_form_id = %s", [form])


@pytest.mark.long
def test_many_rows_cost_little_each(reg: Register) -> None:
    """Twenty thousand units in a statement, and one with four thousand slices: comparing all pairs takes minutes."""
    reg.conn.execute("set local statement_timeout = '45s'")
    status = reg.code("status", "active")
    reg.conn.execute("insert into register.enterprise (id) select n + 1000000 from generate_series(1, 20000) as n")
    reg.conn.execute(
        """insert into register.legal_unit (id, valid_from, name, status_id, enterprise_id, primary_for_enterprise)
           select n + 1000000, '2020-01-01', 'Unit ' || n, %s, n + 1000000, true from generate_series(1, 20000) as n""",
        [status],
    )
    reg.conn.execute(
        """insert into register.stat_for_unit (legal_unit_id, stat_definition_id, valid_from, value_int)
           select n + 1000000, %s, '2020-01-01', n from generate_series(1, 20000) as n""",
        [reg.code("stat_definition", "employees")],
    )
    reg.conn.execute(
        """insert into register.legal_unit (id, valid_from, valid_until, name, status_id, enterprise_id,
                                            primary_for_enterprise)
           select 1000001, date '2000-01-01' + n, date '2000-01-01' + n + 1, 'Slice ' || n, %s, 1000001, true
             from generate_series(1, 4000) as n""",
        [status],
    )
    assert reg.value("select count(*) from register.legal_unit") == 24000

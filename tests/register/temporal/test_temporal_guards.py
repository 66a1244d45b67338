"""Rules between rows with validity: what overlaps, reaches out, is left behind or names nothing is refused."""

from __future__ import annotations

from typing import Any

import pytest

from tests.fixtures.often import some
from tests.fixtures.register_driver import Register
from tests.register.support import message, refused

DETAILS: dict[str, dict[str, Any]] = {
    "activity": {"type": "primary"},
    "location": {"type": "postal"},
    "contact": {"email_address": "a@example.org"},
    "stat_for_unit": {"value_int": 3},
    "person_for_unit": {},
}
OWNERS = ("legal_unit_id", "establishment_id")


@pytest.fixture
def units(reg: Register) -> dict[str, int]:
    """A legal unit, its establishment and another unit, all of 2020 and later."""
    reg.lu("1", "2020-01-01")
    reg.es("11", "1", "2020-01-01")
    reg.lu("2", "2020-01-01")
    return {"legal_unit_id": reg.unit_id("1"), "establishment_id": reg.unit_id("11")}


def _detail(reg: Register, table: str) -> dict[str, Any]:
    """Columns of a row of this table, without owner and dates."""
    needs: dict[str, dict[str, Any]] = {
        "activity": {"category_id": reg.code("activity_category", "A.01.1")},
        "location": {"country_id": reg.code("country", "NO", column="iso_2")},
        "stat_for_unit": {"stat_definition_id": reg.code("stat_definition", "employees")},
        "person_for_unit": {"person_id": reg.value("select coalesce(max(id), 0) from register.person") or _person(reg)},
    }
    return DETAILS[table] | needs.get(table, {})


def _person(reg: Register) -> int:
    return reg.insert("person", family_name="Berg")["id"]


@pytest.mark.parametrize("owner", some(OWNERS, one_in=2))
@pytest.mark.parametrize("table", DETAILS)
def test_details_of_one_kind_do_not_overlap(reg: Register, units: dict[str, int], table: str, owner: str) -> None:
    detail = {owner: units[owner], **_detail(reg, table)}
    reg.insert(table, **detail, valid_from="2020-01-01", valid_until="2021-01-01")
    reg.insert(table, **detail, valid_from="2021-01-01", valid_until="2022-01-01")
    with refused(reg, "RG001") as caught:
        reg.insert(table, **detail, valid_from="2021-12-31")
    assert message(caught).startswith(f"{table} ({owner}")
    assert "from 2021-01-01 until 2022-01-01 overlaps the one from 2021-12-31" in message(caught)
    reg.insert(table, **detail, valid_from="2022-01-01")


def test_details_of_different_kinds_or_owners_may_overlap(reg: Register, units: dict[str, int]) -> None:
    reg.details("1", "2020-01-01", activity="A.01.1", secondary="J.62.0.1", employees=1, turnover=2.0)
    reg.details("11", "2020-01-01", activity="A.01.1", employees=1)
    reg.details("2", "2020-01-01", activity="A.01.1", employees=1)
    assert reg.value("select count(*) from register.activity") == 4


def test_slices_of_a_unit_do_not_overlap(reg: Register, units: dict[str, int]) -> None:
    reg.conn.execute("update register.legal_unit set valid_until = '2022-01-01' where id = %s", [reg.unit_id("2")])
    reg.lu("2", "2022-01-01", "2023-01-01", name="Later")
    with refused(reg, "RG001"):
        reg.lu("2", "2019-01-01", "2020-01-02")
    with refused(reg, "RG001"):
        reg.conn.execute("update register.legal_unit set valid_until = '2022-06-01' where name = 'Unit 2'")
    reg.conn.execute("update register.legal_unit set valid_until = 'infinity' where name = 'Later'")


def test_a_row_within_another_is_an_overlap(reg: Register, units: dict[str, int]) -> None:
    reg.details("1", "2020-01-01", "2030-01-01", employees=1)
    reg.details("1", "2030-01-01", "2031-01-01", employees=2)
    with refused(reg, "RG001"):
        reg.details("1", "2025-01-01", "2025-01-02", employees=3)


def test_relationships_of_one_pair_and_type_do_not_overlap(reg: Register, units: dict[str, int]) -> None:
    reg.relate("1", "2", "2020-01-01", "2021-01-01")
    reg.relate("1", "2", "2020-01-01", kind="HFOR")
    reg.relate("2", "1", "2020-01-01")
    with refused(reg, "RG001"):
        reg.relate("1", "2", "2020-06-01")


def test_roots_of_a_group_do_not_overlap(reg: Register, units: dict[str, int]) -> None:
    group = reg.insert("power_group", ident="PG0001")["id"]
    reg.relate("1", "2", "2020-01-01")
    reg.conn.execute("update register.legal_relationship set derived_power_group_id = %s", [group])
    root = {"power_group_id": group, "custom_root_legal_unit_id": units["legal_unit_id"]}
    reg.insert("power_root", **root, valid_from="2020-01-01", valid_until="2021-01-01")
    with refused(reg, "RG001"):
        reg.insert("power_root", **root, valid_from="2020-06-01")
    assert reg.value("select root_legal_unit_id from register.power_root") == units["legal_unit_id"]


def test_a_slice_is_split_in_one_statement(reg: Register, units: dict[str, int]) -> None:
    reg.details("1", "2020-01-01", activity="A.01.1", employees=1)
    reg.conn.execute(
        """with gone as (delete from register.legal_unit where id = %(id)s returning *)
           insert into register.legal_unit (id, valid_from, valid_until, name, status_id, enterprise_id,
                                            primary_for_enterprise)
           select g.id, p.valid_from, p.valid_until, p.name, g.status_id, g.enterprise_id, true
             from gone as g
            cross join (values (date '2020-01-01', date '2022-01-01', 'Early'),
                               ('2022-01-01', 'infinity', 'Late')) as p (valid_from, valid_until, name)""",
        {"id": units["legal_unit_id"]},
    )
    names = reg.rows("select name from register.legal_unit where id = %s order by valid_from", units["legal_unit_id"])
    assert [row["name"] for row in names] == ["Early", "Late"]


@pytest.mark.parametrize("owner", OWNERS)
@pytest.mark.parametrize("table", DETAILS)
def test_details_lie_within_their_unit(reg: Register, units: dict[str, int], table: str, owner: str) -> None:
    detail = {owner: units[owner], **_detail(reg, table)}
    with refused(reg, "RG002") as caught:
        reg.insert(table, **detail, valid_from="2019-12-31", valid_until="2021-01-01")
    unit = owner.removesuffix("_id")
    assert message(caught) == (
        f"{table} with {owner} {units[owner]} from 2019-12-31 until 2021-01-01 has no {unit} that covers it"
    )
    reg.insert(table, **detail, valid_from="2020-01-01")
    with refused(reg, "RG002"):
        reg.conn.execute(f"update register.{table} set valid_from = '2019-01-01'")
    with refused(reg, "RG002"):
        reg.insert(table, **(detail | {owner: 10**6}), valid_from="2020-01-01")


def test_slices_that_touch_cover_together_and_a_hole_does_not(reg: Register) -> None:
    reg.lu("1", "2020-01-01", "2021-01-01")
    reg.lu("1", "2021-01-01", "2022-01-01")
    reg.lu("1", "2023-01-01")
    reg.details("1", "2020-06-01", "2022-01-01", employees=1)
    with refused(reg, "RG002"):
        reg.details("1", "2020-06-01", "2023-06-01", turnover=1.0)


def test_establishments_lie_within_their_legal_unit(reg: Register, units: dict[str, int]) -> None:
    with refused(reg, "RG002"):
        reg.es("12", "1", "2019-01-01", primary=False)
    with refused(reg, "RG002"):
        reg.conn.execute("update register.establishment set valid_from = '2019-01-01'")
    with refused(reg, "RG002") as caught:
        reg.es("12", 10**6, "2020-01-01")
    assert message(caught) == "establishment with enterprise_id 1000000 has no enterprise that covers it"


def test_relationships_lie_within_both_units(reg: Register, units: dict[str, int]) -> None:
    reg.lu("3", "2021-01-01", "2022-01-01")
    for pair in (("1", "3"), ("3", "1")):
        with refused(reg, "RG002"):
            reg.relate(*pair, "2021-01-01")
        reg.relate(*pair, "2021-01-01", "2022-01-01")


@pytest.mark.parametrize("table", ["external_ident", "tag_for_unit", "unit_notes"])
@pytest.mark.parametrize("owner", [*OWNERS, "enterprise_id", "power_group_id"])
def test_identifiers_tags_and_notes_belong_to_something(reg: Register, table: str, owner: str) -> None:
    row = {
        "external_ident": {"type_id": reg.code("external_ident_type", "stat_ident"), "ident": "x"},
        "tag_for_unit": {"tag_id": reg.code("tag", "watch")},
        "unit_notes": {"notes": "x"},
    }[table]
    with refused(reg, "RG002") as caught:
        reg.insert(table, **row, **{owner: 10**6})
    assert message(caught) == f"{table} names {owner} 1000000, which does not exist"


@pytest.mark.parametrize(
    "shrink",
    some(
        [
            "delete from register.{table} where id = %(id)s",
            "update register.{table} set valid_until = '2021-01-01' where id = %(id)s",
            "update register.{table} set valid_from = '2020-01-02' where id = %(id)s",
            "update register.{table} set id = id + 100000 where id = %(id)s",
        ],
        one_in=4,
    ),
)
@pytest.mark.parametrize("owner", OWNERS)
@pytest.mark.parametrize("table", DETAILS)
def test_a_unit_cannot_leave_its_details(
    reg: Register, units: dict[str, int], table: str, owner: str, shrink: str
) -> None:
    reg.conn.execute("delete from register.external_ident")
    if owner == "legal_unit_id":
        reg.conn.execute("delete from register.establishment")
    text = shrink.format(table=owner.removesuffix("_id"))
    reg.insert(table, **{owner: units[owner]}, **_detail(reg, table), valid_from="2020-01-01")
    with refused(reg, "RG003") as caught:
        reg.conn.execute(text, {"id": units[owner]})
    assert f"still has {table} with {owner} {units[owner]}" in message(caught)
    reg.conn.execute(f"delete from register.{table}")
    reg.conn.execute(text, {"id": units[owner]})


def test_a_legal_unit_cannot_leave_its_establishments_and_relationships(reg: Register, units: dict[str, int]) -> None:
    shrink = "update register.legal_unit set valid_until = '2025-01-01' where id = %s"
    with refused(reg, "RG003"):
        reg.conn.execute(shrink, [reg.unit_id("1")])
    reg.conn.execute("update register.establishment set valid_until = '2025-01-01'")
    reg.conn.execute(shrink, [reg.unit_id("1")])
    reg.relate("1", "2", "2024-01-01", "2025-01-01")
    for ident in ("1", "2"):
        with refused(reg, "RG003"):
            reg.conn.execute(
                "update register.legal_unit set valid_until = '2024-06-01' where id = %s", [reg.unit_id(ident)]
            )


@pytest.mark.parametrize("table", ["external_ident", "tag_for_unit", "unit_notes"])
def test_a_unit_with_a_name_tag_or_note_keeps_one_slice(reg: Register, units: dict[str, int], table: str) -> None:
    reg.conn.execute("delete from register.external_ident")
    reg.lu("3", "2020-01-01", "2021-01-01")
    unit = reg.unit_id("3")
    reg.lu("3", "2021-01-01")
    if table == "tag_for_unit":
        reg.insert(table, tag_id=reg.code("tag", "watch"), legal_unit_id=unit)
    elif table == "unit_notes":
        reg.insert(table, notes="x", legal_unit_id=unit)
    reg.conn.execute("delete from register.legal_unit where id = %s and valid_from = '2020-01-01'", [unit])
    if table != "external_ident":
        reg.conn.execute("delete from register.external_ident where legal_unit_id = %s", [unit])
    with refused(reg, "RG003") as caught:
        reg.conn.execute("delete from register.legal_unit where id = %s", [unit])
    assert f"still has {table}" in message(caught)


def test_a_unit_goes_with_all_it_has_in_one_statement(reg: Register, units: dict[str, int]) -> None:
    reg.details("1", "2020-01-01", activity="A.01.1", employees=1)
    reg.conn.execute(
        """with owner as (select %s::integer as id),
                idents as (delete from register.external_ident as i using owner as o where i.legal_unit_id = o.id
                              or i.establishment_id is not null),
                activities as (delete from register.activity as a using owner as o where a.legal_unit_id = o.id),
                stats as (delete from register.stat_for_unit as s using owner as o where s.legal_unit_id = o.id),
                places as (delete from register.establishment as e using owner as o where e.legal_unit_id = o.id)
           delete from register.legal_unit as u using owner as o where u.id = o.id""",
        [units["legal_unit_id"]],
    )
    assert reg.value("select count(*) from register.legal_unit") == 1

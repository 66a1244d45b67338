"""Change capture: which units each statement notes, and that a transaction asks for a collection once."""

from __future__ import annotations

from datetime import date
from typing import Any

import pytest

from tests.fixtures.register_driver import Register, RegisterDatabase, Row
from tests.register.support import refused

KINDS = ("establishment_ids", "legal_unit_ids", "enterprise_ids", "power_group_ids", "relationship_legal_unit_ids")
SINCE_2020 = "{[2020-01-01,infinity)}"
ALL_OF_1 = "where legal_unit_id = (select legal_unit_id from register.external_ident where ident = '1')"


def ids(*numbers: int) -> str:
    """Numbers as the log shows them: ranges, neighbours together."""
    shown: list[list[int]] = []
    for number in sorted(set(numbers)):
        if shown and shown[-1][1] == number:
            shown[-1][1] += 1
        else:
            shown.append([number, number + 1])
    return "{" + ",".join(f"[{first},{end})" for first, end in shown) + "}"


def noted(reg: Register, statement: str, *parameters: Any) -> list[Row]:
    """What a statement notes, row by row, without what is empty."""
    reg.forget_log()
    assert reg.conn.execute(statement, parameters).rowcount > 0
    return [{k: row[k] for k in (*KINDS, "valid_ranges") if row[k] is not None} for row in reg.log()]


@pytest.fixture
def units(reg: Register) -> dict[str, int]:
    """A legal unit with an establishment, another legal unit, an informal establishment; all from 2020."""
    reg.lu("1", "2020-01-01", activity="A.01.1", region="46.26", email="x", employees=3)
    reg.es("11", "1", "2020-01-01", activity="A.01.1", region="46.26", email="x", employees=3)
    reg.lu("2", "2020-01-01")
    reg.informal("3", "2020-01-01")
    reg.forget_log()
    return {ident: reg.unit_id(ident) for ident in ("1", "11", "2", "3")}


def test_a_legal_unit_notes_itself_and_its_enterprises(reg: Register, units: dict[str, int]) -> None:
    old, new = reg.enterprise_of("2"), reg.insert("enterprise", short_name="new")["id"]
    move = "update register.legal_unit set enterprise_id = %s, valid_until = '2030-01-01' where id = %s"
    assert noted(reg, move, new, units["2"]) == [
        {"legal_unit_ids": ids(units["2"]), "enterprise_ids": ids(old), "valid_ranges": SINCE_2020},
        {"legal_unit_ids": ids(units["2"]), "enterprise_ids": ids(new), "valid_ranges": "{[2020-01-01,2030-01-01)}"},
    ]
    reg.conn.execute("delete from register.external_ident where ident = '2'")
    assert noted(reg, "delete from register.legal_unit where id = %s", units["2"]) == [
        {"legal_unit_ids": ids(units["2"]), "enterprise_ids": ids(new), "valid_ranges": "{[2020-01-01,2030-01-01)}"}
    ]
    reg.forget_log()
    made = reg.lu("4", "2021-01-01", "2022-01-01")
    assert {**reg.log()[1], "round_id": 0} == {
        "legal_unit_ids": ids(made),
        "enterprise_ids": ids(reg.enterprise_of("4")),
        "valid_ranges": "{[2021-01-01,2022-01-01)}",
        "establishment_ids": None,
        "power_group_ids": None,
        "relationship_legal_unit_ids": None,
        "rebuilds_reports": False,
        "round_id": 0,
    }


def test_an_establishment_notes_itself_and_its_owners(reg: Register, units: dict[str, int]) -> None:
    move = "update register.establishment set legal_unit_id = %s where id = %s"
    assert noted(reg, move, units["2"], units["11"]) == [
        {"establishment_ids": ids(units["11"]), "legal_unit_ids": ids(units["1"]), "valid_ranges": SINCE_2020},
        {"establishment_ids": ids(units["11"]), "legal_unit_ids": ids(units["2"]), "valid_ranges": SINCE_2020},
    ]
    enterprise = reg.enterprise_of("3")
    assert (
        noted(reg, "update register.establishment set name = 'New' where id = %s", units["3"])
        == [{"establishment_ids": ids(units["3"]), "enterprise_ids": ids(enterprise), "valid_ranges": SINCE_2020}] * 2
    )


def test_an_enterprise_notes_itself(reg: Register, units: dict[str, int]) -> None:
    enterprise = reg.enterprise_of("1")
    rename = "update register.enterprise set short_name = 'New' where id = %s"
    assert noted(reg, rename, enterprise) == [{"enterprise_ids": ids(enterprise)}] * 2
    (made,) = noted(reg, "insert into register.enterprise (id) values (1000000)")
    assert made == {"enterprise_ids": ids(1000000)}
    assert noted(reg, "delete from register.enterprise where id = 1000000") == [made]


@pytest.mark.parametrize("table", ["activity", "location", "contact", "stat_for_unit"])
def test_details_note_their_owners(reg: Register, units: dict[str, int], table: str) -> None:
    both = {
        "establishment_ids": ids(units["11"]),
        "legal_unit_ids": ids(units["1"]),
        "valid_ranges": SINCE_2020,
    }
    shorter = both | {"valid_ranges": "{[2020-01-01,2022-01-01)}"}
    assert noted(reg, f"update register.{table} set valid_until = '2022-01-01'") == [both, shorter]
    assert noted(reg, f"delete from register.{table} {ALL_OF_1}") == [
        {"legal_unit_ids": ids(units["1"]), "valid_ranges": "{[2020-01-01,2022-01-01)}"}
    ]


def test_persons_note_the_units_they_are_part_of(reg: Register, units: dict[str, int]) -> None:
    person = reg.insert("person", family_name="Berg")["id"]
    join = (
        "insert into register.person_for_unit (person_id, establishment_id, valid_from) values (%s, %s, '2020-01-01')"
    )
    assert noted(reg, join, person, units["11"]) == [
        {"establishment_ids": ids(units["11"]), "valid_ranges": SINCE_2020}
    ]
    assert noted(reg, "update register.person set family_name = 'Dahl'") == []


@pytest.mark.parametrize("table", ["external_ident", "tag_for_unit"])
def test_identifiers_and_tags_note_owners_of_every_kind(reg: Register, units: dict[str, int], table: str) -> None:
    group = reg.insert("power_group", ident="PG0001")["id"]
    enterprise = reg.enterprise_of("3")
    reg.conn.execute("delete from register.external_ident")
    what = (
        {"type_id": reg.code("external_ident_type", "stat_ident")}
        if table == "external_ident"
        else {"tag_id": reg.code("tag", "watch")}
    )
    owners = {
        "establishment_id": units["11"],
        "legal_unit_id": units["1"],
        "enterprise_id": enterprise,
        "power_group_id": group,
    }
    for number, (owner, unit) in enumerate(owners.items()):
        reg.forget_log()
        reg.insert(table, **what, **{owner: unit}, **({"ident": f"i{number}"} if table == "external_ident" else {}))
        assert [reg.log()[0][k] for k in KINDS if reg.log()[0][k]] == [ids(unit)]
    assert noted(reg, f"delete from register.{table}") == [{f"{o}s": ids(u) for o, u in owners.items()}]


def test_identifiers_of_persons_note_nothing(reg: Register) -> None:
    person = reg.insert("person", family_name="Berg")["id"]
    name = "insert into register.external_ident (type_id, ident, person_id) values (1, 'p1', %s)"
    assert noted(reg, name, person) == []
    assert reg.pending() == 0


def test_a_relationship_notes_both_ends_and_its_group(reg: Register, units: dict[str, int]) -> None:
    group = reg.insert("power_group", ident="PG0001")["id"]
    reg.forget_log()
    reg.relate("1", "2", "2020-01-01")
    ends = {"relationship_legal_unit_ids": ids(units["1"], units["2"]), "valid_ranges": SINCE_2020}
    assert reg.log()[0]["relationship_legal_unit_ids"] == ends["relationship_legal_unit_ids"]
    assign = "update register.legal_relationship set derived_power_group_id = %s"
    assert noted(reg, assign, group) == [ends, ends | {"power_group_ids": ids(group)}]
    assert noted(reg, "delete from register.legal_relationship") == [ends | {"power_group_ids": ids(group)}]


def test_a_power_group_and_its_root_note_the_group(reg: Register, units: dict[str, int]) -> None:
    (made,) = noted(reg, "insert into register.power_group (id, ident) values (1000000, 'PG0001')")
    assert made == {"power_group_ids": ids(1000000)}
    reg.relate("1", "2", "2020-01-01")
    reg.conn.execute("update register.legal_relationship set derived_power_group_id = 1000000")
    reg.forget_log()
    root = "insert into register.power_root (power_group_id, valid_from, custom_root_legal_unit_id) values (%s, %s, %s)"
    assert noted(reg, root, 1000000, "2020-01-01", units["1"]) == [
        made | {"relationship_legal_unit_ids": ids(units["1"], units["2"]), "valid_ranges": SINCE_2020}
    ]


@pytest.mark.parametrize(
    ("table", "path", "notes"),
    [("region", "46.26", {"11", "1"}), ("activity_category", "A.01.1", {"11", "1"}), ("sector", None, {"1", "3"})],
)
def test_another_path_notes_the_units_that_name_it_and_rebuilds_reports(
    reg: Register, units: dict[str, int], table: str, path: str | None, notes: set[str]
) -> None:
    code = reg.code(table, path) if path else reg.code("sector", "2100")
    reg.conn.execute(
        "update register.legal_unit set sector_id = %s where id = %s", [reg.code("sector", "2100"), units["1"]]
    )
    reg.conn.execute(
        "update register.establishment set sector_id = %s where id = %s", [reg.code("sector", "2100"), units["3"]]
    )
    move = f"update register.{table} set path = path || '_moved' where id = %s"
    expected = {"legal_unit_ids": ids(units["1"]), "establishment_ids": ids(units["11" if "11" in notes else "3"])}
    assert noted(reg, move, code) == [expected]
    assert [row["rebuilds_reports"] for row in reg.log()] == [True]
    assert noted(reg, f"update register.{table} set name = 'Renamed' where id = %s", code) == []


def test_a_status_that_begins_to_count_notes_its_units(reg: Register, units: dict[str, int]) -> None:
    flip = "update register.status set used_for_counting = not used_for_counting where code = 'active'"
    assert noted(reg, flip) == [
        {
            "legal_unit_ids": ids(units["1"], units["2"]),
            "establishment_ids": ids(units["11"], units["3"]),
        }
    ]
    assert [row["rebuilds_reports"] for row in reg.log()] == [False]
    assert noted(reg, "update register.status set name = 'In business'") == []


def test_neither_notes_nor_people_are_derived_from(reg: Register, units: dict[str, int]) -> None:
    assert noted(reg, "insert into register.unit_notes (notes, legal_unit_id) values ('x', %s)", units["1"]) == []


def test_a_statement_notes_many_units_in_one_row(reg: Register) -> None:
    reg.conn.execute("insert into register.enterprise (id) select generate_series(1000001, 1000300)")
    assert [row["enterprise_ids"] for row in reg.log()] == ["{[1000001,1000301)}"]


def test_a_statement_that_touches_no_row_notes_nothing_and_asks_for_nothing(
    reg: Register, units: dict[str, int]
) -> None:
    reg.conn.execute("delete from register.base_change_log")
    before = reg.pending()
    for table in ("enterprise", "legal_unit", "establishment", "activity", "external_ident", "legal_relationship"):
        reg.conn.execute(f"update register.{table} set edit_comment = 'x' where false")
        reg.conn.execute(f"delete from register.{table} where false")
    assert reg.log() == []
    assert reg.pending() == before


def test_a_transaction_asks_once(reg_db: RegisterDatabase) -> None:
    with reg_db.conn.transaction():
        reg_db.lu("1", "2020-01-01", employees=1)
        reg_db.lu("2", "2020-01-01", employees=1)
        assert reg_db.pending() == 0
    assert len(reg_db.log()) == 8
    assert reg_db.pending() == 1
    reg_db.conn.execute("update register.legal_unit set name = 'New'")
    assert reg_db.value("select count(*) from worker.tasks where command = 'collect_changes'") == 1


def test_a_rolled_back_change_is_neither_noted_nor_asked_for(reg_db: RegisterDatabase) -> None:
    with reg_db.conn.transaction(force_rollback=True):
        reg_db.insert("enterprise", short_name="gone")
    with reg_db.conn.transaction(), reg_db.conn.transaction(force_rollback=True):
        reg_db.insert("enterprise", short_name="gone")
    assert reg_db.log() == []
    assert reg_db.pending() == 0


def test_a_savepoint_takes_back_the_request_with_the_change(reg: Register) -> None:
    with reg.conn.transaction(force_rollback=True):
        reg.insert("enterprise", short_name="gone")
        assert reg.pending() == 1
    assert (reg.log(), reg.pending()) == ([], 0)
    reg.insert("enterprise", short_name="kept")
    assert (len(reg.log()), reg.pending()) == (1, 1)


def test_a_long_transaction_does_not_hold_up_the_collection_of_others(reg_db: RegisterDatabase) -> None:
    """The request is made at commit, so the pending task stays free to be claimed while a change is open."""
    reg_db.insert("enterprise", short_name="first")
    long = reg_db.connect(autocommit=False)
    long.execute("insert into register.enterprise (short_name) values ('long')")
    free = "select count(*) from (select from worker.ready for update skip locked) as r"
    assert reg_db.value(free) == 1
    reg_db.insert("enterprise", short_name="second")
    assert reg_db.pending() == 1
    long.commit()
    assert reg_db.pending() == 1
    assert len(reg_db.log()) == 3


def test_a_change_that_commits_after_a_claim_requests_another_round(reg_db: RegisterDatabase) -> None:
    reg_db.insert("enterprise", short_name="first")
    late = reg_db.connect(autocommit=False)
    late.execute("insert into register.enterprise (short_name) values ('late')")
    reg_db.conn.execute("update worker.tasks set state = 'cancelled' where command = 'collect_changes'")
    assert reg_db.pending() == 0
    late.commit()
    assert reg_db.pending() == 1


def test_a_refused_statement_notes_nothing(reg: Register, units: dict[str, int]) -> None:
    with refused(reg, "RG001"):
        reg.lu("1", "2021-01-01")
    assert reg.log() == []


def test_an_import_of_new_units_notes_each_of_them_once(reg: Register) -> None:
    reg.import_rows(
        "legal_unit",
        [{"tax_ident": n, "name": n, "employees": "3", "email_address": "x@y.no"} for n in ("1", "2")],
        valid_from=date(2020, 1, 1),
    )
    both, homes = ids(reg.unit_id("1"), reg.unit_id("2")), ids(reg.enterprise_of("1"), reg.enterprise_of("2"))
    noted = [{k: row[k] for k in (*KINDS, "valid_ranges") if row[k] is not None} for row in reg.log()]
    assert noted == [
        {"enterprise_ids": homes},
        {"legal_unit_ids": both, "enterprise_ids": homes, "valid_ranges": SINCE_2020},
    ]
    reg.forget_log()
    reg.conn.execute("update register.contact set email_address = 'z'")
    assert {row["legal_unit_ids"] for row in reg.log()} == {both}, "noted again when the import is over"


def test_an_import_about_a_known_unit_notes_its_details(reg: Register, units: dict[str, int]) -> None:
    """Beside a new one in the same batch, and although the unit itself stays as it is."""
    row = {"name": "1", "employees": "9"}
    reg.import_rows(
        "legal_unit",
        [{"tax_ident": "1", **row}, {"tax_ident": "5", **row}],
        strategy="insert_or_update",
        valid_from=date(2020, 1, 1),
    )
    details = {row["legal_unit_ids"] for row in reg.log() if row["enterprise_ids"] is None}
    assert {ids(units["1"]), ids(reg.unit_id("5"))} <= details

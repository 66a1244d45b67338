"""What is derived again after an edit: the unit, and whatever is made from it, upwards."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.fixtures.often import some_rows
from tests.fixtures.register_driver import Register
from tests.register.unit_support import derive, without_reports

Edit = Callable[[Register], object]
SHORT_NAME = "update register.enterprise set short_name = 'x' where id = %s"


def effective(reg: Register) -> dict[str, set[int]]:
    """What the last round derived."""
    row = reg.rows(
        "select register.id_array(effective_establishment_ids) as establishment,"
        " register.id_array(effective_legal_unit_ids) as legal_unit,"
        " register.id_array(effective_enterprise_ids) as enterprise,"
        " register.id_array(effective_power_group_ids) as power_group"
        " from register.round order by id desc limit 1"
    )[0]
    return {unit_type: set(ids) for unit_type, ids in row.items()}


@pytest.fixture
def two(reg: Register) -> Register:
    """Two legal units with an establishment each, one over the other, and an informal one; all derived."""
    without_reports(reg)
    reg.lu("l1", "2020-01-01")
    reg.lu("l2", "2020-01-01")
    reg.es("e1", "l1", "2020-01-01")
    reg.es("e2", "l2", "2020-01-01")
    reg.informal("i1", "2020-01-01")
    reg.relate("l1", "l2", "2020-01-01")
    derive(reg)
    return reg


def expected(reg: Register, *, es: str = "", lu: str = "", en: str = "", pg: bool = False) -> dict[str, set[int]]:
    group = reg.value("select derived_power_group_id from register.legal_relationship")
    return {
        "establishment": {reg.unit_id(e) for e in es.split()},
        "legal_unit": {reg.unit_id(u) for u in lu.split()},
        "enterprise": {reg.enterprise_of(u) for u in en.split()},
        "power_group": {group} if pg else set(),
    }


@pytest.mark.parametrize(
    ("edit", "reach"),
    some_rows([
        (lambda r: r.stat("e1", "employees", 5, "2020-01-01"), {"es": "e1", "lu": "l1", "en": "l1", "pg": True}),
        (lambda r: r.details("l2", "2020-01-01", email="x@y.no"), {"lu": "l2", "en": "l2", "pg": True}),
        (lambda r: r.details("i1", "2020-01-01", region="03.01"), {"es": "i1", "en": "i1"}),
        (lambda r: r.conn.execute(SHORT_NAME, [r.enterprise_of("l1")]), {"en": "l1"}),
        (lambda r: r.conn.execute("update register.power_group set name = 'x'"), {"pg": True}),
        (lambda r: r.conn.execute("update register.legal_relationship set percentage = 60"), {"pg": True}),
        (lambda r: r.conn.execute("update register.establishment set name = 'x' where id = %s", [r.unit_id("e2")]),
         {"es": "e2", "lu": "l2", "en": "l2", "pg": True}),
        (lambda r: r.insert("tag_for_unit", tag_id=r.code("tag", "watch"), establishment_id=r.unit_id("i1")),
         {"es": "i1", "en": "i1"}),
    ], one_in=2),
    ids=["statistic", "contact", "informal", "enterprise", "power group", "relationship", "slice", "tag"],
)  # fmt: skip
def test_an_edit_reaches_what_is_made_from_the_unit(two: Register, edit: Edit, reach: dict[str, str]) -> None:
    edit(two)
    derive(two)
    assert effective(two) == expected(two, **reach)  # pyright: ignore[reportArgumentType] # flags among the names


def test_a_detail_of_an_informal_establishment_changes_its_enterprise(two: Register) -> None:
    two.stat("i1", "employees", 7, "2020-01-01")
    derive(two)
    found = two.value(
        "select stats_summary -> 'employees' ->> 'sum' from register.statistical_unit"
        " where unit_type = 'enterprise' and unit_id = %s",
        two.enterprise_of("i1"),
    )
    assert found == "7"


def test_both_owners_of_a_unit_that_moved_are_derived(two: Register) -> None:
    two.conn.execute(
        "update register.establishment set legal_unit_id = %s, primary_for_legal_unit = false where id = %s",
        [two.unit_id("l2"), two.unit_id("e1")],
    )
    derive(two)
    assert effective(two) == expected(two, es="e1", lu="l1 l2", en="l1 l2", pg=True)
    held = two.rows(
        "select unit_id, related_establishment_ids from register.statistical_unit where unit_type = 'legal_unit'"
    )
    assert {r["unit_id"]: r["related_establishment_ids"] for r in held} == {
        two.unit_id("l1"): None,
        two.unit_id("l2"): [two.unit_id("e1"), two.unit_id("e2")],
    }


def test_an_enterprise_bridged_to_the_changed_one_is_read_but_not_written(reg: Register) -> None:
    without_reports(reg)
    reg.lu("l1", "2020-01-01", "2021-01-01")
    reg.lu("l2", "2020-01-01")
    moved_to = reg.enterprise_of("l2")
    reg.lu("l1", "2021-01-01", enterprise=moved_to, primary=False)
    reg.lu("l3", "2020-01-01", enterprise=moved_to, primary=False)
    derive(reg)
    reg.stat("l3", "employees", 3, "2020-01-01")
    derive(reg)
    assert effective(reg)["legal_unit"] == {reg.unit_id("l3")}
    assert effective(reg)["enterprise"] == {moved_to}


def test_nothing_logged_means_no_round(reg: Register) -> None:
    without_reports(reg)
    reg.value("select worker.enqueue_collect_changes()")
    derive(reg)
    assert reg.value("select count(*) from register.round") == 0
    assert reg.value("select info ->> 'affected_legal_unit_count' from worker.tasks") == "0"

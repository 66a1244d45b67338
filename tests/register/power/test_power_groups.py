"""Power groups: connected legal units, their idents, levels and roots, and how groups join and split."""

from __future__ import annotations

from datetime import date, timedelta

import pytest

from tests.fixtures.register_driver import Register
from tests.register.agreement import assert_agreement
from tests.register.breaking import break_once, drain
from tests.register.support import message, refused
from tests.register.unit_support import assert_right, derive, rows_of, without_reports


@pytest.fixture
def units(reg: Register) -> Register:
    without_reports(reg)
    for ident in "abcdefg":
        reg.lu(ident, "2020-01-01")
    return reg


def relate(reg: Register, *pairs: str) -> None:
    for pair in pairs:
        reg.relate(pair[0], pair[1], "2020-01-01")


def groups(reg: Register) -> dict[int, set[str]]:
    """Groups with their relationships, as pairs of letters."""
    rows = reg.rows(
        "select r.derived_power_group_id as id, i.ident || o.ident as pair from register.legal_relationship as r"
        " join register.external_ident as i on i.legal_unit_id = r.influencing_id"
        " join register.external_ident as o on o.legal_unit_id = r.influenced_id"
    )
    found: dict[int, set[str]] = {}
    for row in rows:
        found.setdefault(row["id"], set()).add(row["pair"])
    return found


def levels(reg: Register) -> dict[str, int | None]:
    rows = reg.rows(
        "select i.ident, r.derived_influenced_power_level as level from register.legal_relationship as r"
        " join register.external_ident as i on i.legal_unit_id = r.influenced_id"
    )
    return {r["ident"]: r["level"] for r in rows}


def root(reg: Register) -> str | None:
    """The unit that describes the only group."""
    group = reg.value("select id from register.power_group")
    (row,) = rows_of(reg, "power_group", group)
    name = row["name"]
    return None if name is None else name.removeprefix("Unit ")


def choose_root(reg: Register, ident: str) -> None:
    reg.conn.execute("update register.power_root set custom_root_legal_unit_id = %s", [reg.unit_id(ident)])


def only_group(reg: Register) -> int:
    (group,) = groups(reg)
    return group


@pytest.mark.parametrize(
    ("number", "ident"), [(1, "PG0001"), (36, "PG0010"), (1679615, "PGZZZZ"), (1679616, "PG10000")]
)
def test_an_ident_is_the_number_to_the_base_of_36(reg: Register, number: int, ident: str) -> None:
    assert reg.value("select register.power_ident(%s)", number) == ident


def test_connected_units_are_a_group_whatever_the_direction(units: Register) -> None:
    relate(units, "ab", "cb", "de")
    derive(units)
    assert sorted(map(sorted, groups(units).values())) == [["ab", "cb"], ["de"]]
    for row in units.rows("select id, ident from register.power_group"):
        assert row["ident"] == units.value("select register.power_ident(%s)", row["id"])
    assert_right(units)


def test_relationships_of_different_times_make_one_group(units: Register) -> None:
    units.relate("a", "b", "2020-01-01", "2021-01-01")
    units.relate("b", "c", "2022-01-01")
    derive(units)
    rows = rows_of(units, "power_group", only_group(units))
    assert [str(r["valid_from"]) for r in rows] == ["2020-01-01", "2022-01-01"]
    assert_right(units)


def test_levels_count_from_the_top(units: Register) -> None:
    relate(units, "ab", "bc", "ad", "dc", "ce")
    derive(units)
    assert levels(units) == {"b": 1, "c": 2, "d": 1, "e": 3}
    assert root(units) == "a"
    assert units.value("select count(*) from register.power_root") == 0


def test_a_cycle_has_no_levels_and_a_root_that_influences_most(units: Register) -> None:
    relate(units, "ab", "ba", "bc")
    derive(units)
    assert levels(units) == {"b": None, "a": None, "c": None}
    # Both reach two others; the older one is taken.
    assert root(units) == "a"
    assert units.value("select count(*) from register.power_root") == 1
    assert_right(units)


def test_of_several_tops_the_one_with_most_below_it_is_the_root(units: Register) -> None:
    relate(units, "ac", "bc", "bd", "de")
    derive(units)
    assert root(units) == "b"
    assert_right(units)


def test_a_root_that_a_user_chose_stays(units: Register) -> None:
    relate(units, "ac", "bc", "bd")
    derive(units)
    choose_root(units, "a")
    derive(units)
    assert root(units) == "a"
    relate(units, "ae")
    derive(units)
    assert root(units) == "a"
    units.conn.execute("update register.power_root set custom_root_legal_unit_id = null")
    derive(units)
    assert root(units) == "a"
    assert_right(units)


def test_only_a_unit_of_the_group_can_be_chosen_as_its_root(units: Register) -> None:
    relate(units, "ab", "ba")
    derive(units)
    with refused(units, "RG023") as caught:
        choose_root(units, "c")
    c, group = units.unit_id("c"), only_group(units)
    assert message(caught) == f"legal unit {c} cannot be the root of power group {group}: it is not in the group"
    choose_root(units, "b")
    derive(units)
    units.conn.execute("update register.legal_unit set name = 'Unit renamed' where id = %s", [units.unit_id("b")])
    derive(units)
    assert root(units) == "renamed"


def test_a_chosen_root_that_leaves_its_group_is_forgotten(units: Register) -> None:
    relate(units, "ab", "ba", "bc", "cd")
    derive(units)
    choose_root(units, "d")
    derive(units)
    assert root(units) == "d"
    units.value("select register.delete_unit('legal_unit', %s)", units.unit_id("d"))
    derive(units)
    assert root(units) == "a"
    assert_right(units)


def test_a_chosen_root_goes_with_its_group(units: Register) -> None:
    relate(units, "ab", "ba")
    derive(units)
    choose_root(units, "b")
    units.conn.execute("delete from register.legal_relationship")
    derive(units)
    assert units.value("select count(*) from register.power_root") == 0
    assert units.value("select count(*) from register.power_group") == 0
    assert_right(units)


def test_a_root_that_left_while_it_was_chosen_is_forgotten(units: Register) -> None:
    relate(units, "ab", "ba", "bc", "cd")
    derive(units)
    # As if somebody chose it in a transaction that saw the group before it was split, and committed after that.
    units.conn.execute("alter table register.power_root disable trigger guard_5_root_update")
    choose_root(units, "e")
    derive(units)
    assert root(units) == "a"
    assert_right(units)


def test_a_root_is_forgotten_when_relationships_tell_it(units: Register) -> None:
    relate(units, "ac", "bc")
    derive(units)
    assert units.value("select count(*) from register.power_root") == 1
    relate(units, "ab")
    derive(units)
    assert units.value("select count(*) from register.power_root") == 0
    assert root(units) == "a"
    assert_right(units)


def test_groups_that_are_joined_go_on_as_the_larger_one(units: Register) -> None:
    relate(units, "ab")
    derive(units)
    relate(units, "cd", "de")
    derive(units)
    larger = next(g for g, pairs in groups(units).items() if len(pairs) == 2)
    smaller = next(g for g, pairs in groups(units).items() if len(pairs) == 1)
    relate(units, "bc")
    derive(units)
    assert groups(units) == {larger: {"ab", "bc", "cd", "de"}}
    assert rows_of(units, "power_group", smaller) == []
    assert units.value("select count(*) from register.power_group") == 1
    assert_right(units)


def test_a_group_that_was_joined_to_another_goes_though_its_round_broke(units: Register) -> None:
    relate(units, "ab", "cd", "de")
    derive(units)
    smaller = next(g for g, pairs in groups(units).items() if len(pairs) == 1)
    relate(units, "bc")
    break_once(units, "statistical_unit_flush_staging")
    drain(units)
    states = [r["state"] for r in units.rows("select state from register.round order by id desc limit 2")]
    assert states == ["done", "broken"]
    assert rows_of(units, "power_group", smaller) == []
    assert_right(units)


def test_a_group_that_splits_stays_with_the_larger_part(units: Register) -> None:
    relate(units, "ab", "bc", "cd", "de")
    derive(units)
    group = only_group(units)
    units.conn.execute("delete from register.legal_relationship where influencing_id = %s", [units.unit_id("b")])
    derive(units)
    found = groups(units)
    assert found[group] == {"cd", "de"}
    assert sorted(map(sorted, found.values())) == [["ab"], ["cd", "de"]]
    assert_right(units)


def test_a_group_that_a_user_named_stays_without_units(units: Register) -> None:
    relate(units, "ab")
    derive(units)
    group = only_group(units)
    units.insert("tag_for_unit", tag_id=units.code("tag", "watch"), power_group_id=group)
    units.conn.execute("delete from register.legal_relationship")
    derive(units)
    assert units.value("select id from register.power_group") == group
    assert rows_of(units, "power_group", group) == []
    assert_right(units)


def test_deriving_everything_keeps_groups_as_they_are(units: Register) -> None:
    relate(units, "ab", "cd", "dc", "ef", "gf")
    derive(units)
    before = (
        groups(units),
        units.rows("select * from register.power_root"),
        units.rows("select * from register.power_group"),
    )
    units.value("select worker.enqueue_collect_changes('all')")
    derive(units)
    after = (
        groups(units),
        units.rows("select * from register.power_root"),
        units.rows("select * from register.power_group"),
    )
    assert after == before


def test_what_derivation_writes_about_groups_is_no_further_change(units: Register) -> None:
    relate(units, "ab", "ba")
    derive(units)
    assert units.log() == []
    assert units.pending() == 0
    assert units.value("select count(*) from register.round") == 1


def test_a_hand_made_group_without_units_is_left_alone(units: Register) -> None:
    made = units.insert("power_group", ident="PGTEST")["id"]
    relate(units, "ab")
    derive(units)
    assert units.value("select count(*) from register.power_group where id = %s", made) == 1


def figures(reg: Register) -> list[tuple[str, str, str, int | None]]:
    """Rows of the only group: first day, last day, name, employees."""
    return [
        (str(r["valid_from"]), str(r["valid_to"]), r["name"], r["stats_summary"].get("employees", {}).get("sum"))
        for r in rows_of(reg, "power_group", only_group(reg))
    ]


def test_the_figures_of_a_group_are_those_of_its_time(reg: Register) -> None:
    for ident in "ab":
        reg.lu(ident, "2023-01-01")
    reg.stat("a", "employees", 10, "2023-01-01", "2025-01-01")
    reg.stat("a", "employees", 30, "2025-01-01")
    reg.stat("b", "employees", 1, "2023-01-01")
    reg.relate("a", "b", "2023-01-01")
    reg.derive()
    assert figures(reg) == [
        ("2023-01-01", "2024-12-31", "Unit a", 11),
        ("2025-01-01", "infinity", "Unit a", 31),
    ]
    employees = {
        r["year"]: r["stats_summary"]["employees"]["sum"]
        for r in reg.history()
        if (r["resolution"], r["unit_type"]) == ("year", "power_group")
    }
    assert employees == {2023: 11, 2024: 11, 2025: 31, 2026: 31}
    assert_agreement(reg)


def test_a_unit_that_is_not_in_the_group_yet_does_not_cut_its_time(units: Register) -> None:
    units.relate("a", "b", "2020-01-01")
    units.relate("a", "c", "2023-01-01")
    units.stat("c", "employees", 5, "2022-01-01")
    units.stat("b", "employees", 2, "2021-01-01", "2024-01-01")
    derive(units)
    assert [(f[0], f[3]) for f in figures(units)] == [
        ("2020-01-01", None),
        ("2021-01-01", 2),
        ("2023-01-01", 7),
        ("2024-01-01", 5),
    ]
    assert_right(units)


def test_a_root_describes_its_group_from_the_day_that_was_chosen(units: Register) -> None:
    relate(units, "ab", "ac")
    derive(units)
    root = {"power_group_id": only_group(units), "custom_root_legal_unit_id": units.unit_id("c")}
    units.insert("power_root", **root, valid_from="2022-01-01", valid_until="2023-01-01")
    derive(units)
    assert [f[:3] for f in figures(units)] == [
        ("2020-01-01", "2021-12-31", "Unit a"),
        ("2022-01-01", "2022-12-31", "Unit c"),
        ("2023-01-01", "infinity", "Unit a"),
    ]
    assert_right(units)


def test_a_derived_root_has_the_time_that_a_chosen_one_leaves(units: Register) -> None:
    relate(units, "ac", "bc", "bd")
    derive(units)
    units.conn.execute("delete from register.power_root")
    root = {"power_group_id": only_group(units), "custom_root_legal_unit_id": units.unit_id("d")}
    units.insert("power_root", **root, valid_from="2022-01-01", valid_until="2023-01-01")
    derive(units)
    found = units.rows("select * from register.power_root order by valid_from")
    assert [(r["valid_from"].year, r["root_legal_unit_id"]) for r in found] == [
        (2020, units.unit_id("b")),
        (2022, units.unit_id("d")),
        (2023, units.unit_id("b")),
    ]
    assert [f[2] for f in figures(units)] == ["Unit b", "Unit d", "Unit b"]
    assert_right(units)


def test_the_root_is_a_unit_of_the_group_at_the_time(units: Register) -> None:
    units.relate("a", "b", "2020-01-01", "2021-01-01")
    units.relate("b", "c", "2020-01-01")
    units.relate("d", "e", "2022-01-01")
    units.relate("c", "d", "2022-01-01", "2023-01-01")
    derive(units)
    # Nobody ever influences a, but from 2021 on it is not there; then b is at the top, and from 2023 on d is, too.
    assert [(f[0], f[2]) for f in figures(units)] == [
        ("2020-01-01", "Unit a"),
        ("2021-01-01", "Unit b"),
        ("2022-01-01", "Unit b"),
        ("2023-01-01", "Unit b"),
    ]
    assert_right(units)


@pytest.mark.long
def test_many_units_that_change_on_different_days_cut_their_group_once_each(reg: Register) -> None:
    without_reports(reg)
    reg.lu("top", "2020-01-01")
    for n in range(60):
        reg.lu(f"u{n}", "2020-01-01")
        reg.stat(f"u{n}", "employees", 1, str(date(2021, 1, 1) + timedelta(days=n)))
        reg.relate("top", f"u{n}", "2020-01-01")
    derive(reg)
    rows = figures(reg)
    assert [f[3] for f in rows] == [None, *range(1, 61)]
    assert_right(reg)


def test_a_root_is_chosen_by_a_new_row_whatever_derivation_wrote(units: Register) -> None:
    relate(units, "ab", "ba")
    derive(units)
    group = only_group(units)
    derived = units.value("select derived_root_legal_unit_id from register.power_root")
    chosen = units.unit_id("b" if derived == units.unit_id("a") else "a")
    units.conn.execute(
        "insert into register.power_root (power_group_id, valid_from, valid_until, custom_root_legal_unit_id)"
        " values (%(group)s, '2020-01-01', '2021-01-01', %(unit)s), (%(group)s, '2022-01-01', '2023-01-01', %(unit)s)",
        {"group": group, "unit": chosen},
    )
    derive(units)
    rows = units.rows("select valid_from::text, root_legal_unit_id from register.power_root order by valid_from")
    assert [tuple(row.values()) for row in rows] == [
        ("2020-01-01", chosen),
        ("2021-01-01", derived),
        ("2022-01-01", chosen),
        ("2023-01-01", derived),
    ]
    with refused(units, "RG001"):
        units.insert("power_root", power_group_id=group, valid_from="2022-06-01", custom_root_legal_unit_id=chosen)
    assert_right(units)

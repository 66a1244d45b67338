"""Which unit is the primary one: at import, when units are connected, when somebody chooses."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date
from typing import Any

import pytest

from tests.fixtures.often import some
from tests.fixtures.register_driver import Register
from tests.register.support import message, refused

FROM = {"valid_from": date(2020, 1, 1)}
Dated = dict[str, Any]


def es(ident: str, owner: str, valid_from: str, valid_to: str = "infinity") -> Dated:
    return {
        "tax_ident": ident,
        "legal_unit_tax_ident": owner,
        "name": f"E{ident}",
        "valid_from": valid_from,
        "valid_to": valid_to,
    }


def primaries(reg: Register, owner: str) -> list[tuple[str, int, bool]]:
    """Establishments of a legal unit: identifier, first year, whether primary."""
    found = reg.rows(
        "select i.ident, e.valid_from, e.primary_for_legal_unit from register.establishment as e"
        " join register.external_ident as i on i.establishment_id = e.id where e.legal_unit_id = %s order by 1, 2",
        reg.unit_id(owner),
    )
    return [(r["ident"], r["valid_from"].year, r["primary_for_legal_unit"]) for r in found]


def test_a_new_legal_unit_is_primary_in_a_new_enterprise(reg: Register) -> None:
    reg.import_rows("legal_unit", [{"tax_ident": n, "name": n} for n in "12"], **FROM)
    assert reg.enterprise_of("1") != reg.enterprise_of("2")
    assert reg.value("select bool_and(primary_for_enterprise) from register.legal_unit")


def test_a_new_informal_establishment_is_primary_in_all_its_slices(reg: Register) -> None:
    rows = [
        {"tax_ident": "1", "name": name, "valid_from": start, "valid_to": end}
        for name, start, end in (("a", "2020-01-01", "2020-12-31"), ("b", "2021-01-01", "infinity"))
    ]
    job = reg.import_rows("establishment_informal", rows)
    assert reg.import_errors(job) == {}
    found = reg.rows(
        "select name, primary_for_enterprise, enterprise_id from register.establishment order by valid_from"
    )
    assert [(r["name"], r["primary_for_enterprise"]) for r in found] == [("a", True), ("b", True)]
    assert len({r["enterprise_id"] for r in found}) == 1


def test_units_that_exist_keep_their_enterprise_and_their_flag(reg: Register) -> None:
    reg.lu("1", "2020-01-01", "2022-01-01")
    home = reg.enterprise_of("1")
    reg.lu("2", "2020-01-01", enterprise=home, primary=False)
    job = reg.import_rows(
        "legal_unit", [{"tax_ident": n, "name": f"new {n}"} for n in "12"], valid_from=date(2021, 1, 1)
    )
    assert reg.import_errors(job) == {}
    found = reg.rows(
        "select id, enterprise_id, primary_for_enterprise, valid_until from register.legal_unit order by 1, valid_from"
    )
    assert {r["enterprise_id"] for r in found} == {home}
    assert {r["primary_for_enterprise"] for r in found if r["id"] == reg.unit_id("1")} == {True}
    assert {r["primary_for_enterprise"] for r in found if r["id"] == reg.unit_id("2")} == {False}
    assert max(r["valid_until"] for r in found if r["id"] == reg.unit_id("1")) == date.max


def test_the_first_row_of_each_island_of_time_is_primary(reg: Register) -> None:
    reg.lu("1", "2010-01-01")
    job = reg.import_rows(
        "establishment_formal",
        [
            es("11", "1", "2011-01-01", "2012-12-31"),
            es("12", "1", "2012-01-01", "2013-12-31"),
            es("13", "1", "2015-01-01"),
            es("14", "1", "2016-01-01"),
        ],
    )
    assert reg.import_errors(job) == {}
    assert primaries(reg, "1") == [("11", 2011, True), ("12", 2012, False), ("13", 2015, True), ("14", 2016, False)]


def test_a_row_is_no_candidate_where_another_establishment_is_primary(reg: Register) -> None:
    reg.lu("1", "2010-01-01")
    reg.es("11", "1", "2010-01-01", "2012-01-01")
    job = reg.import_rows("establishment_formal", [es("12", "1", "2011-01-01"), es("13", "1", "2013-01-01")])
    assert reg.import_errors(job) == {}
    assert primaries(reg, "1") == [("11", 2010, True), ("12", 2011, False), ("13", 2013, True)]


def test_the_establishment_that_was_primary_stays_so_wherever_it_is_in_the_file(reg: Register) -> None:
    reg.lu("1", "2010-01-01")
    reg.es("11", "1", "2010-01-01")
    job = reg.import_rows("establishment_formal", [es("12", "1", "2011-01-01"), es("11", "1", "2011-01-01")])
    assert reg.import_errors(job) == {}
    assert primaries(reg, "1") == [("11", 2010, True), ("11", 2011, True), ("12", 2011, False)]


def test_another_row_takes_the_place_of_a_primary_one_that_failed(reg: Register) -> None:
    """In the analysis (a birth that is no day), or when the database refuses the unit (a name it does not take)."""
    reg.conn.execute("alter table register.establishment add constraint taken check (name <> 'E21')")
    for ident in "123":
        reg.lu(ident, "2010-01-01")
    reg.es("31", "3", "2010-01-01")
    reg.es("39", "3", "2010-01-01", primary=False)
    reg.conn.execute("update register.settings set import_batch_rows = 1")
    rows = [
        es("11", "1", "2011-01-01", "2012-12-31") | {"birth_date": "nonsense"},
        es("12", "1", "2012-01-01", "2012-12-31"),
        es("13", "1", "2012-06-01", "2013-12-31"),
        es("12", "1", "2014-01-01"),
        es("14", "1", "2020-01-01"),
        es("21", "2", "2011-01-01"),
        es("22", "2", "2011-01-01"),
        es("31", "3", "2011-01-01") | {"birth_date": "nonsense"},
        es("32", "3", "2011-01-01"),
    ]
    job = reg.import_rows("establishment_formal", [{"birth_date": "", **row} for row in rows])
    assert set(reg.import_errors(job)) == {1, 6, 8}
    assert primaries(reg, "1") == [("12", 2012, True), ("12", 2014, True), ("13", 2012, False), ("14", 2020, False)]
    assert primaries(reg, "2") == [("22", 2011, True)]
    # Nobody is missing where the one that was primary before still is, and what no row speaks of stays as it is.
    assert primaries(reg, "3") == [("31", 2010, True), ("32", 2011, False), ("39", 2010, False)]
    reg.check()


def test_an_establishment_that_moves_away_leaves_its_place(reg: Register) -> None:
    for ident in "12":
        reg.lu(ident, "2010-01-01")
    reg.es("11", "1", "2010-01-01")
    reg.conn.execute("update register.settings set import_batch_rows = 1")
    job = reg.import_rows("establishment_formal", [es("12", "1", "2015-01-01"), es("11", "2", "2015-01-01")])
    assert reg.import_errors(job) == {}
    assert primaries(reg, "1") == [("11", 2010, True), ("12", 2015, True)]
    assert primaries(reg, "2") == [("11", 2015, True)]
    reg.check()


def connect(reg: Register, ident: str, enterprise: int | None, valid_from: str = "2021-01-01") -> int:
    return reg.value("select register.connect_legal_unit(%s, %s, %s)", reg.unit_id(ident), enterprise, valid_from)


def flags(reg: Register) -> list[tuple[str, int, int, bool]]:
    found = reg.rows(
        "select i.ident, l.valid_from, l.enterprise_id, l.primary_for_enterprise from register.legal_unit as l"
        " join register.external_ident as i on i.legal_unit_id = l.id order by 1, 2"
    )
    return [(r["ident"], r["valid_from"].year, r["enterprise_id"], r["primary_for_enterprise"]) for r in found]


def test_connecting_where_it_already_is_does_nothing(reg: Register) -> None:
    reg.lu("1", "2020-01-01")
    reg.forget_log()
    connect(reg, "1", reg.enterprise_of("1"))
    assert reg.log() == []


def test_a_connected_unit_is_primary_only_if_nobody_is(reg: Register) -> None:
    for ident in "12":
        reg.lu(ident, "2020-01-01")
    old, new = reg.enterprise_of("1"), reg.enterprise_of("2")
    connect(reg, "1", new)
    assert flags(reg) == [("1", 2020, old, True), ("1", 2021, new, False), ("2", 2020, new, True)]
    assert reg.value("select count(*) from register.enterprise") == 2


def test_an_enterprise_that_nothing_ever_belongs_to_goes(reg: Register) -> None:
    for ident in "12":
        reg.lu(ident, "2020-01-01")
    connect(reg, "1", reg.enterprise_of("2"), "2020-01-01")
    assert reg.value("select count(*) from register.enterprise") == 1


def test_the_only_one_that_remains_becomes_primary(reg: Register) -> None:
    reg.lu("1", "2020-01-01")
    home = reg.enterprise_of("1")
    reg.lu("2", "2020-06-01", "2023-01-01", enterprise=home, primary=False)
    new = connect(reg, "1", None)
    assert flags(reg) == [
        ("1", 2020, home, True),
        ("1", 2021, new, True),
        ("2", 2020, home, False),
        ("2", 2021, home, True),
    ]
    reg.check()


def test_when_several_remain_a_user_has_to_choose(reg: Register) -> None:
    reg.lu("1", "2020-01-01")
    home = reg.enterprise_of("1")
    for ident in "23":
        reg.lu(ident, "2020-01-01", enterprise=home, primary=False)
    with refused(reg, "RG019") as caught:
        connect(reg, "1", None)
    assert message(caught) == f"enterprise {home} keeps several legal units, and its primary one leaves"
    reg.value("select register.set_primary('legal_unit', %s, '2021-01-01')", reg.unit_id("3"))
    connect(reg, "1", None)
    assert [f for f in flags(reg) if f[1] == 2021 and f[3]] == [
        ("1", 2021, reg.enterprise_of("1"), True),
        ("3", 2021, home, True),
    ]


def test_a_chosen_establishment_takes_the_place_of_the_others(reg: Register) -> None:
    reg.lu("1", "2020-01-01")
    reg.es("11", "1", "2020-01-01")
    reg.es("12", "1", "2020-01-01", primary=False)
    reg.value("select register.set_primary('establishment', %s, '2021-01-01', '2022-01-01')", reg.unit_id("12"))
    assert primaries(reg, "1") == [
        ("11", 2020, True),
        ("11", 2021, False),
        ("11", 2022, True),
        ("12", 2020, False),
        ("12", 2021, True),
        ("12", 2022, False),
    ]


def end(reg: Register, ident: str, day: str = "2022-01-01") -> None:
    owner, unit = reg.unit(ident)
    reg.value("select register.end_unit(%s, %s, %s)", owner.removesuffix("_id"), unit, day)


def delete(reg: Register, ident: str) -> None:
    owner, unit = reg.unit(ident)
    reg.value("select register.delete_unit(%s, %s)", owner.removesuffix("_id"), unit)


def informal_flags(reg: Register, enterprise: int) -> list[tuple[str, int, bool]]:
    found = reg.rows(
        "select i.ident, e.valid_from, e.primary_for_enterprise from register.establishment as e"
        " join register.external_ident as i on i.establishment_id = e.id where e.enterprise_id = %s order by 1, 2",
        enterprise,
    )
    return [(r["ident"], r["valid_from"].year, r["primary_for_enterprise"]) for r in found]


def counted(reg: Register, enterprise: int) -> list[tuple[int, str, bool]]:
    """Rows of an enterprise: first year, name, whether it counts."""
    found = reg.rows(
        "select * from register.statistical_unit where unit_type = 'enterprise' and unit_id = %s order by valid_from",
        enterprise,
    )
    return [(r["valid_from"].year, r["name"], r["used_for_counting"]) for r in found]


def test_an_enterprise_whose_primary_legal_unit_ends_still_counts(reg: Register) -> None:
    reg.lu("1", "2020-01-01")
    home = reg.enterprise_of("1")
    reg.lu("2", "2020-06-01", enterprise=home, primary=False)
    end(reg, "1")
    assert flags(reg) == [("1", 2020, home, True), ("2", 2020, home, False), ("2", 2022, home, True)]
    reg.derive()
    assert counted(reg, home) == [(2020, "Unit 1", True), (2020, "Unit 1", True), (2022, "Unit 2", True)]
    reg.check()


def test_an_enterprise_whose_primary_legal_unit_is_deleted_still_counts(reg: Register) -> None:
    reg.lu("1", "2020-01-01")
    home = reg.enterprise_of("1")
    reg.lu("2", "2020-01-01", enterprise=home, primary=False)
    delete(reg, "1")
    assert flags(reg) == [("2", 2020, home, True)]
    reg.derive()
    assert counted(reg, home) == [(2020, "Unit 2", True)]


@pytest.mark.parametrize("leave", [end, delete])
def test_a_primary_legal_unit_does_not_leave_several_without_a_choice(
    reg: Register, leave: Callable[[Register, str], None]
) -> None:
    reg.lu("1", "2020-01-01")
    home = reg.enterprise_of("1")
    for ident in "23":
        reg.lu(ident, "2020-01-01", enterprise=home, primary=False)
    with refused(reg, "RG019") as caught:
        leave(reg, "1")
    assert message(caught) == f"enterprise {home} keeps several legal units, and its primary one leaves"
    reg.value("select register.set_primary('legal_unit', %s, '2020-01-01')", reg.unit_id("3"))
    leave(reg, "1")
    reg.check()


@pytest.mark.parametrize("leave", some([end, delete, lambda reg, ident: connect(reg, ident, None)], one_in=3))
def test_an_informal_establishment_describes_an_enterprise_that_legal_units_have_left(
    reg: Register, leave: Callable[[Register, str], None]
) -> None:
    reg.lu("1", "2020-01-01")
    home = reg.enterprise_of("1")
    reg.es("11", home, "2020-01-01", primary=False)
    leave(reg, "1")
    assert informal_flags(reg, home)[-1][2]
    reg.check()
    reg.derive()
    assert counted(reg, home)[-1][1:] == ("Unit 11", True)


@pytest.mark.parametrize("leave", [end, delete])
def test_another_informal_establishment_takes_the_place_of_the_primary_one(
    reg: Register, leave: Callable[[Register, str], None]
) -> None:
    reg.informal("1", "2020-01-01")
    home = reg.enterprise_of("1")
    reg.es("2", home, "2020-01-01", primary=False)
    leave(reg, "1")
    assert informal_flags(reg, home)[-1][2]
    reg.check()


def test_the_first_establishment_of_a_legal_unit_takes_the_place_of_the_primary_one(reg: Register) -> None:
    """Nothing is described by it, so nobody has to choose."""
    reg.lu("1", "2020-01-01")
    reg.es("11", "1", "2020-01-01")
    reg.es("13", "1", "2021-01-01", primary=False)
    reg.es("12", "1", "2020-06-01", "2023-01-01", primary=False)
    end(reg, "11")
    assert primaries(reg, "1") == [
        ("11", 2020, True),
        ("12", 2020, False),
        ("12", 2022, True),
        ("13", 2021, False),
        ("13", 2023, True),
    ]
    reg.check()


def test_a_known_unit_that_gets_more_time_is_primary_where_nobody_is(reg: Register) -> None:
    reg.lu("1", "2020-01-01", "2022-01-01")
    home = reg.enterprise_of("1")
    for ident in "23":
        reg.lu(ident, "2020-01-01", "2022-01-01", enterprise=home, primary=False)
    job = reg.import_rows(
        "legal_unit", [{"tax_ident": n, "name": f"Unit {n}"} for n in "32"], valid_from=date(2021, 1, 1)
    )
    assert reg.import_errors(job) == {}
    assert flags(reg) == [
        ("1", 2020, home, True),
        ("2", 2020, home, False),
        ("2", 2022, home, True),
        ("3", 2020, home, False),
    ]
    reg.check()

"""Batches: whatever shares a unit is in one batch, and no unit is in two."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from catchment_register.reference.check import check_units
from tests.fixtures.often import often
from tests.fixtures.register_driver import Register, RegisterDatabase
from tests.fixtures.worker import wait_until
from tests.register.unit_support import ENDS_ROUNDS

YEARS = ("2020-01-01", "2021-01-01", "2022-01-01", "2023-01-01")
Batches = list[set[int]]


def plan(reg: Register, enterprises: list[int] | None = None, *, size: int = 1000) -> Batches:
    """The batches of enterprises of a round over some of them, or over all. The round is taken back."""
    reg.conn.execute("savepoint planning")
    reg.conn.execute("update register.settings set batch_enterprises = %s", [size])
    kind = "all" if enterprises is None else "direct"
    ids = "{" + ",".join(f"[{e},{e + 1})" for e in enterprises or []) + "}"
    round_id = reg.value("select (register.open_round(%s, p_enterprise_ids => %s::int4multirange)).id", kind, ids)
    rows = reg.rows("select register.id_array(enterprise_ids) as ids from register.plan_batches(%s)", round_id)
    reg.conn.execute("rollback to savepoint planning")
    return [set(row["ids"]) for row in rows if row["ids"]]


def enterprises(reg: Register, count: int) -> list[int]:
    return [reg.insert("enterprise", short_name=None)["id"] for _ in range(count)]


def legal_unit(reg: Register, ident: str, owners: list[int]) -> None:
    """A legal unit that belongs to each of the owners for a year, to the last one from then on."""
    for year, owner in enumerate(owners):
        until = "infinity" if year == len(owners) - 1 else YEARS[year + 1]
        reg.lu(ident, YEARS[year], until, enterprise=owner, primary=False)


def establishment(reg: Register, ident: str, owners: list[str | int]) -> None:
    for year, owner in enumerate(owners):
        until = "infinity" if year == len(owners) - 1 else YEARS[year + 1]
        reg.es(ident, owner, YEARS[year], until, primary=False)


def test_enterprises_without_anything_in_common_are_packed_by_number(reg: Register) -> None:
    made = enterprises(reg, 7)
    batches = plan(reg, made, size=3)
    assert batches == [set(made[0:3]), set(made[3:6]), set(made[6:])]


def test_a_legal_unit_that_moved_brings_its_enterprises_together(reg: Register) -> None:
    one, two, other = enterprises(reg, 3)
    legal_unit(reg, "1", [one, two])
    assert plan(reg, [one], size=1) == [{one, two}]
    assert plan(reg, [two, other], size=1) == [{one, two}, {other}]


def test_an_establishment_that_moved_brings_the_enterprises_of_its_owners_together(reg: Register) -> None:
    one, two, three = enterprises(reg, 3)
    legal_unit(reg, "1", [one])
    legal_unit(reg, "2", [two])
    establishment(reg, "e", ["1", "2", three])
    assert plan(reg, [two], size=1) == [{one, two, three}]


def test_a_chain_of_moves_is_one_group(reg: Register) -> None:
    made = enterprises(reg, 4)
    legal_unit(reg, "1", made[0:2])
    legal_unit(reg, "2", made[1:3])
    legal_unit(reg, "3", made[2:4])
    assert plan(reg, [made[3]], size=1) == [set(made)]


def test_a_unit_with_three_owners_loses_none(reg: Register) -> None:
    made = enterprises(reg, 3)
    legal_unit(reg, "1", [made[0], made[2], made[1], made[0]])
    assert plan(reg, [made[2]], size=1) == [set(made)]


def test_an_enterprise_that_is_gone_is_in_no_batch(reg: Register) -> None:
    assert plan(reg, [987654]) == []


def components(count: int, legal_units: list[list[int]], places: list[list[tuple[bool, int]]]) -> Batches:
    """Groups by merging sets, from the same description."""
    groups: Batches = [{e} for e in range(count)]
    ties = [set(owners) for owners in legal_units]
    for owners in places:
        ties.append({e for formal, n in owners for e in (legal_units[n % len(legal_units)] if formal else [n % count])})
    for tie in ties:
        touched = [g for g in groups if g & tie]
        groups = [g for g in groups if not g & tie] + [set().union(*touched)]
    return groups


@settings(
    max_examples=5,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow, HealthCheck.data_too_large],
)
@given(
    legal_units=st.lists(st.lists(st.integers(0, 7), min_size=1, max_size=3), min_size=1, max_size=6),
    places=st.lists(
        st.lists(st.tuples(st.booleans(), st.integers(0, 7)), min_size=1, max_size=3), min_size=0, max_size=4
    ),
    first=st.integers(0, 7),
)
def test_batches_are_whole_groups_that_share_nothing(
    reg: Register, legal_units: list[list[int]], places: list[list[tuple[bool, int]]], first: int
) -> None:
    reg.conn.execute("savepoint example")
    try:
        made = enterprises(reg, 8)
        for number, owners in enumerate(legal_units):
            legal_unit(reg, f"l{number}", [made[o] for o in owners])
        for number, owners in enumerate(places):
            establishment(
                reg, f"e{number}", [f"l{n % len(legal_units)}" if formal else made[n] for formal, n in owners]
            )
        groups = [{made[e] for e in group} for group in components(8, legal_units, places)]
        for size in (1, 3, 1000):
            everything = [batch & set(made) for batch in plan(reg, size=size)]
            assert sum(map(len, everything)) == 8
            for group in groups:
                assert len([batch for batch in everything if batch & group]) == 1
        assert plan(reg, [made[first]], size=1) == [group for group in groups if made[first] in group]
    finally:
        reg.conn.execute("rollback to savepoint example")


@pytest.mark.long
@pytest.mark.slow
@pytest.mark.parametrize("fibers", often(8, now_and_then=[1]))
def test_any_number_of_fibers_publishes_the_same(reg_db: RegisterDatabase, fibers: int) -> None:
    reg_db.conn.execute(ENDS_ROUNDS)
    reg_db.conn.execute("update register.settings set batch_enterprises = 2")
    reg_db.conn.execute("update worker.queue_registry set concurrency = %s where queue = 'analytics'", [fibers])
    made = enterprises(reg_db, 12)
    for number in range(12):
        legal_unit(
            reg_db, f"l{number}", [made[number], made[(number * 5 + 1) % 12]] if number % 4 == 0 else [made[number]]
        )
        establishment(reg_db, f"e{number}", [f"l{number}", f"l{number // 2}"] if number % 3 == 0 else [f"l{number}"])
        reg_db.stat(f"e{number}", "employees", number, "2020-01-01")
    reg_db.start_worker("--queue", "analytics")
    wait_until(
        lambda: not reg_db.log() and not reg_db.value("select count(*) from register.round where state <> 'done'"),
        seconds=60,
    )
    assert check_units(reg_db.conn) == []
    assert reg_db.value("select count(*) from register.statistical_unit_row") > 36

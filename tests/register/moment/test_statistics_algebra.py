"""Moments: put together in any order they are the same, and what is taken away leaves what was there."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.fixtures.register_driver import Register

# Few different values, so that extremes have several holders.
VALUES = st.lists(st.sampled_from([-2, 0, 1, 2, 7, 100]), max_size=6)
UNITS = st.lists(st.tuples(st.sampled_from([1, 2]), st.sampled_from([0, 1, 3, 7])), max_size=8)
QUIET = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


def moment(variable: int, values: list[int]) -> str | None:
    """The moment of some rows with one value each, as PostgreSQL reads it."""
    if not values:
        return None
    least, most, squares = min(values), max(values), sum(v * v for v in values)
    holders = f"{least},{values.count(least)},{most},{values.count(most)}"
    return f"({variable},{len(values)},{sum(values)},{squares},{holders})"


def moments(reg: Register, *of: tuple[int, list[int]]) -> str | None:
    """An array of moments, or None if there is none."""
    known = [m for m in (moment(*one) for one in of) if m is not None]
    return "{" + ",".join(f'"{m}"' for m in known) + "}" if known else None


def add(reg: Register, parts: list[str | None]) -> Any:
    return reg.value(
        "select to_jsonb(register.total_moments(p::register.moment[] order by n))"
        " from unnest(%s::text[]) with ordinality as u (p, n)",
        parts,
    )


@QUIET
@given(parts=st.lists(st.tuples(VALUES, VALUES), min_size=1, max_size=4), order=st.randoms())
def test_the_order_in_which_values_come_together_does_not_matter(reg: Register, parts: Any, order: Any) -> None:
    written = [moments(reg, (1, one), (2, two)) for one, two in parts]
    shuffled = list(written)
    order.shuffle(shuffled)
    both = moments(reg, (1, [v for one, _ in parts for v in one]), (2, [v for _, two in parts for v in two]))
    assert add(reg, written) == add(reg, shuffled) == add(reg, [both])


@QUIET
@given(old=UNITS, added=UNITS, kept=st.sets(st.integers(0, 7)), counted=st.booleans(), several=st.booleans())
def test_what_is_left_is_what_a_recount_gives(
    reg: Register, old: Any, added: Any, kept: set[int], counted: bool, several: bool
) -> None:
    """Or that it has to be looked up: then nothing is claimed."""
    removed = [unit for n, unit in enumerate(old) if n not in kept]
    if several:
        # With several flushes, some of what they add may be gone again.
        removed = removed + added[:2]
    left = list((Counter(old) + Counter(added) - Counter(removed)).elements())
    merged = merge(reg, old, added, removed, counted=counted, is_part=not several)
    expected = {v: [value for variable, value in left if variable == v] for v in (1, 2)}
    assert set(merged) == {v for v, values in expected.items() if values}
    for variable, found in merged.items():
        values = expected[variable]
        assert (found["n"], found["total"], found["squares"]) == (len(values), sum(values), sum(v * v for v in values))
        for extreme, name in ((min(values), "min"), (max(values), "max")):
            assert found[name] in (extreme, None)
            if found[name] is not None:
                assert found[f"{name}_count"] in (values.count(extreme), 0), "counted right, or not at all"
            elif counted:
                was = [v for k, v in [*old, *added] if k == variable]
                assert extreme != (min(was) if name == "min" else max(was)), "an extreme with holders is known"


def merge(reg: Register, old: Any, added: Any, removed: Any, *, counted: bool, is_part: bool) -> dict[int, Any]:
    """What merge_moments makes of these rows, by variable."""
    reg.conn.execute("savepoint example")
    reg.value("select register.open_report_scratch()")
    sides = [
        moments(reg, *((v, [value for variable, value in side if variable == v]) for v in (1, 2)))
        for side in (old, added, removed)
    ]
    reg.conn.execute("delete from moment_merge")
    reg.conn.execute(
        "insert into moment_merge values (gen_random_uuid(), 0,"
        " %s::text::register.moment[], %s::text::register.moment[], %s::text::register.moment[])",
        sides,
    )
    if not counted:
        reg.conn.execute(
            "update moment_merge set old = (select array_agg(row(stat_definition_id, n, total, squares, min, 0, max, 0)"
            "::register.moment order by stat_definition_id) from unnest(old))"
        )
    reg.value("select register.merge_moments(%s)", is_part)
    rows = reg.rows("select * from moment_piece")
    reg.conn.execute("rollback to savepoint example")
    return {row["stat_definition_id"]: row for row in rows}


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([5], {"count": 1, "mean": 5, "sum_sq_diff": 0, "variance": None, "stddev": None, "cv": None}),
        ([-1, 1], {"count": 2, "mean": 0, "sum_sq_diff": 2, "variance": 2, "stddev": 1.41, "cv": None}),
        ([1, 2, 4], {"count": 3, "mean": 2.33, "sum_sq_diff": 4.67, "variance": 2.33, "stddev": 1.53, "cv": 65.47}),
    ],
)
def test_derived_figures_need_enough_values(reg: Register, values: list[int], expected: dict[str, Any]) -> None:
    summary = reg.value("select register.stats_summary(%s::text::register.moment[], null)", moments(reg, (1, values)))[
        "employees"
    ]
    summary["cv"] = summary.pop("coefficient_of_variation_pct")
    assert {k: summary[k] for k in expected} == expected


def test_sums_are_exact(reg: Register) -> None:
    """A tenth, ten million times, and taken away again, leaves nothing."""
    parts = [moments(reg, (2, [1])), '{"(2,10000000,1000000.0,100000.00,0.1,10000000,0.1,10000000)"}']
    total = add(reg, parts)[0]["total"]
    assert Fraction(str(total)) == 1000001


def test_counts_of_values_add_up_and_go(reg: Register) -> None:
    merged = reg.value(
        "select register.merge_counts(%s, %s, %s)",
        '{"8": {"a": 2, "b": 1}}',
        '{"8": {"a": 1}, "9": {"true": 1}}',
        '{"8": {"b": 1}, "9": {"true": 1}}',
    )
    assert merged == {"8": {"a": 3}}
    assert reg.value('select register.merge_counts(\'{"8": {"a": 1}}\', null, \'{"8": {"a": 1}}\')') is None
    total = "select register.total_counts(c::jsonb) from unnest(%s::text[]) as c"
    assert reg.value(total, ['{"8": {"a": 1}}', None, '{"8": {"a": 2, "b": 1}}']) == {"8": {"a": 3, "b": 1}}


@pytest.mark.parametrize("way", ["enable_hashagg", "enable_sort"])
def test_variables_are_in_the_order_of_their_ids_however_groups_are_found(reg: Register, way: str) -> None:
    reg.conn.execute("select register.open_report_scratch()")
    reg.conn.execute(f"set local {way} = off")
    reg.conn.execute(
        "insert into moment_merge (facet_key, period_key)"
        " select md5(k::text)::uuid, 202601 from generate_series(1, 50) as k"
    )
    reg.conn.execute(
        "insert into moment_piece (facet_key, period_key, stat_definition_id, n, total, squares)"
        " select m.facet_key, m.period_key, v, 1, 1, 1 from moment_merge as m, generate_series(7, 1, -1) as v"
    )
    reg.conn.execute("select register.close_moments()")
    orders = reg.rows(
        "select distinct array(select v.stat_definition_id"
        "                        from unnest(m.moments) with ordinality as v order by ordinality) as ids"
        "  from moment_merged as m"
    )
    assert orders == [{"ids": [1, 2, 3, 4, 5, 6, 7]}]

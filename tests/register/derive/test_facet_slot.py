"""The share of the facets that a row belongs to: spread evenly, and the same on every server."""

from __future__ import annotations

import pytest

from tests.fixtures.register_driver import Register

LARGEST = 2**31 - 1


def test_slots_never_change(reg: Register) -> None:
    full = reg.value("select register.facet_slot('legal_unit', 1, 2, 3, 4, 5, 6, 7, 8)")
    empty = reg.value("select register.facet_slot('enterprise', null, null, null, null, null, null, null, null)")
    assert (full, empty) == (2492, 5048)


@pytest.mark.parametrize("unit_type", ["establishment", "legal_unit", "enterprise", "power_group"])
def test_the_largest_numbers_have_a_slot(reg: Register, unit_type: str) -> None:
    slot = reg.value("select register.facet_slot(%s, %s, %s, %s, %s, %s, %s, %s, %s)", unit_type, *[LARGEST] * 8)
    assert 0 <= slot < 16384


def test_slots_are_spread(reg: Register) -> None:
    found = reg.rows(
        "select register.facet_slot('legal_unit', a, null, 1, 2, r, 1, null, 1) / 4096 as quarter, count(*) as n"
        " from generate_series(1, 100) as a, generate_series(1, 100) as r group by 1 order by 1"
    )
    assert [row["quarter"] for row in found] == [0, 1, 2, 3]
    assert all(2000 < row["n"] < 3000 for row in found)

"""Whatever is edited, in whatever order: rounds over the changes publish what the reference says, and what a derivation
of everything would."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from tests.fixtures.register_driver import Register
from tests.register.random_edits import BEGINNING, Edit, Editor, edits
from tests.register.unit_support import assert_right, derive, versions, without_reports

STEPS = st.lists(st.lists(edits, min_size=1, max_size=6), min_size=1, max_size=4)
# Two power groups are joined in a round that breaks in its flush.
JOINED = [
    [Edit("new_legal_unit", 0, 1, 0, 0), Edit("new_legal_unit", 0, 1, 0, 1), Edit("relate", 2, 3, 8, 0)],
    [Edit("relate", 1, 2, 8, 0), Edit("break_round", 0, 0, 0, 2)],
]
QUIET = [HealthCheck.function_scoped_fixture, HealthCheck.too_slow, HealthCheck.data_too_large]


def follow(reg: Register, steps: list[list[Edit]], batch_enterprises: int, rebuild_share: float) -> None:
    """A round after each step; the same must come out of everything at once."""
    reg.conn.execute("savepoint example")
    try:
        without_reports(reg)
        reg.conn.execute(
            "update register.settings set batch_enterprises = %s, rebuild_share = %s",
            [batch_enterprises, rebuild_share],
        )
        editor = Editor(reg)
        for edit in BEGINNING:
            editor.apply(edit)
        for step in steps:
            derive(reg)
            for edit in step:
                editor.apply(edit)
            editor.let_break()
        derive(reg)
        assert_right(reg)
        before = versions(reg)
        reg.value("select register.derive_now('units')")
        assert versions(reg) == before
    finally:
        reg.conn.execute("rollback to savepoint example")


@settings(max_examples=3, deadline=None, suppress_health_check=QUIET)
@given(steps=STEPS, size=st.sampled_from([1, 2, 1000]), share=st.sampled_from([0, 0.2, 1]))
@example(steps=JOINED, size=1000, share=0.2)
def test_rounds_over_changes_publish_what_the_base_data_say(
    reg: Register, steps: list[list[Edit]], size: int, share: float
) -> None:
    follow(reg, steps, size, share)


@pytest.mark.long
@pytest.mark.timeout(7200)
@pytest.mark.parametrize("part", range(5))
@settings(max_examples=200, deadline=None, suppress_health_check=QUIET)
@given(steps=STEPS, size=st.sampled_from([1, 2, 1000]), share=st.sampled_from([0, 0.2, 1]))
def test_a_thousand_registers_come_out_right(
    part: int, reg: Register, steps: list[list[Edit]], size: int, share: float
) -> None:
    follow(reg, steps, size, share)

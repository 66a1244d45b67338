"""Whatever is edited, in whatever order: after each round the four derived tables are what the plain reference says,
and what a derivation from scratch gives."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.fixtures.register import Register
from tests.register.agreement import assert_agreement
from tests.register.random_edits import BEGINNING, Edit, Editor, edits

STEPS = st.lists(st.lists(edits, min_size=1, max_size=6), min_size=1, max_size=4)
# Reports are made anew after every change, after large ones, and never.
SHARES = st.sampled_from([0, 0.2, 1])
QUIET = [HealthCheck.function_scoped_fixture, HealthCheck.too_slow, HealthCheck.data_too_large]


def follow(reg: Register, steps: list[list[Edit]], share: float) -> None:
    reg.conn.execute("savepoint example")
    try:
        reg.conn.execute(
            "update register.settings set batch_enterprises = 2, partition_count_target = 2, rebuild_share = %s",
            [share],
        )
        editor = Editor(reg)
        for step in ([*BEGINNING], *steps):
            for edit in step:
                editor.apply(edit)
            reg.derive()
            assert_agreement(reg)
        assert reg.rows("select * from register.check_register(true)") == []
    finally:
        reg.conn.execute("rollback to savepoint example")


@settings(max_examples=8, deadline=None, suppress_health_check=QUIET)
@given(steps=STEPS, share=SHARES)
def test_rounds_give_what_the_reference_and_a_derivation_from_scratch_give(
    reg: Register, steps: list[list[Edit]], share: float
) -> None:
    follow(reg, steps, share)


@pytest.mark.long
@pytest.mark.timeout(7200)
@settings(max_examples=1000, deadline=None, suppress_health_check=QUIET)
@given(steps=STEPS, share=SHARES)
def test_a_thousand_histories_come_out_right(reg: Register, steps: list[list[Edit]], share: float) -> None:
    follow(reg, steps, share)

"""Whatever is edited or imported, in whatever order: after each round the four derived tables are what the plain
reference says, and what a derivation from scratch gives."""

from __future__ import annotations

import csv
from datetime import date
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from catchment_register.codes.kinds import KINDS
from catchment_register.codes.load import load_codes
from catchment_register.codes.read import read_codes
from catchment_register.generate.files import CODE_FILES, UNIT_FILES, write_register
from catchment_register.generate.plan import Plan
from tests.fixtures.register_driver import Register
from tests.register.agreement import assert_agreement
from tests.register.random_edits import BEGINNING, NOT_KEPT, Edit, Editor, edits

STEPS = st.lists(st.lists(edits, min_size=1, max_size=6), min_size=1, max_size=4)
# Reports are rebuilt after every change, after large ones, and never.
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
            editor.let_break()
            reg.derive()
            assert_agreement(reg, besides=NOT_KEPT)
        reg.check(besides=NOT_KEPT, deep=True)
    finally:
        reg.conn.execute("rollback to savepoint example")


@settings(max_examples=2, deadline=None, suppress_health_check=QUIET)
@given(steps=STEPS, share=SHARES)
def test_rounds_give_what_the_reference_and_a_derivation_from_scratch_give(
    reg: Register, steps: list[list[Edit]], share: float
) -> None:
    follow(reg, steps, share)


def test_a_generated_register_is_what_the_reference_says(reg: Register, tmp_path: Path) -> None:
    plan = Plan(legal_units=40, informal=0.1, relationships=0.2, years=3, valid_from=date(2023, 1, 1))
    write_register(plan, tmp_path)
    for kind, name in CODE_FILES.items():
        load_codes(reg.conn, KINDS[kind], read_codes(tmp_path / name, KINDS[kind]))
    reg.today(plan.today)
    for kind, name in UNIT_FILES.items():
        with (tmp_path / name).open(encoding="utf-8", newline="") as file:
            job = reg.import_rows(kind, list(csv.DictReader(file)))
        assert reg.import_errors(job) == {}
        if kind in ("establishment_formal", "legal_relationship"):
            reg.derive()
    assert {row["unit_type"] for row in reg.units()} == {"establishment", "legal_unit", "enterprise", "power_group"}
    assert_agreement(reg)


@pytest.mark.long
@pytest.mark.timeout(7200)
@pytest.mark.parametrize("part", range(5))
@settings(max_examples=200, deadline=None, suppress_health_check=QUIET)
@given(steps=STEPS, share=SHARES)
def test_a_thousand_histories_come_out_right(part: int, reg: Register, steps: list[list[Edit]], share: float) -> None:
    follow(reg, steps, share)

"""Which way is chosen."""

from __future__ import annotations

import pytest

from catchment.lake.choose.cost import (
    FEW_ROWS,
    FIXED_MS,
    MEMORY,
    Choice,
    Estimate,
    Sample,
    choose,
    full_units,
    incremental_units,
    predict,
    predict_full,
    refine,
)
from catchment.lake.delta.effort import Effort
from catchment.lake.settings import LakeSettings
from catchment.lake.types import Action, Mode
from tests.fixtures.lake_case import SETTINGS

LARGE = Estimate(source_rows=10_000_000, dt_rows=1_000_000, changed_rows=1_000, key_share=0.001)
DEFAULTS = LakeSettings(**SETTINGS)


def samples(action: Action, ms: float, units: float, count: int = 3) -> list[Sample]:
    return [Sample(action.value, units, ms)] * count


def share(value: float, changed: int = FEW_ROWS + 1) -> Estimate:
    return Estimate(LARGE.source_rows, LARGE.dt_rows, changed, value)


def test_samples_of_another_action_predict_nothing() -> None:
    assert predict(samples(Action.FULL, FIXED_MS + 500, 100_000), ["full"], 200_000) == FIXED_MS + 1000
    assert predict(samples(Action.INCREMENTAL, 500, 100), ["full"], 100) is None


def test_one_slow_sample_does_not_decide() -> None:
    found = predict([*samples(Action.FULL, FIXED_MS + 100, 1e5), Sample("full", 1e5, 90_000)], ["full"], 1e5)
    assert found == FIXED_MS + 100


def test_tiny_sample_says_little_about_a_large_refresh() -> None:
    """Four rows in 400 ms are not a hundred milliseconds for each row."""
    found = predict(samples(Action.FULL, 400, 4), ["full"], 1_000)
    assert found is not None
    assert found < 500


def test_first_fill_is_a_first_guess_at_a_full_refresh() -> None:
    guess = predict_full(LARGE, [])
    assert guess > FIXED_MS
    units = full_units(LARGE)
    assert predict_full(LARGE, samples(Action.REINITIALIZE, FIXED_MS + 5_000, units, 1)) == FIXED_MS + 5_000
    known = samples(Action.REINITIALIZE, FIXED_MS + 5_000, units, 1) + samples(Action.FULL, FIXED_MS + 900, units)
    assert predict_full(LARGE, known) == FIXED_MS + 900


@pytest.mark.parametrize(("value", "action"), [(0.3, Action.INCREMENTAL), (0.31, Action.FULL)])
def test_share_of_keys_decides_before_there_are_samples(value: float, action: Action) -> None:
    assert choose(Mode.AUTO, share(value), [], DEFAULTS).action == action


def test_few_changes_are_counted_before_a_share_decides() -> None:
    """One of three rows of a dimension may touch one key in a million."""
    third = share(1 / 3, 1)
    assert choose(Mode.AUTO, third, [], DEFAULTS).action == Action.INCREMENTAL
    assert choose(Mode.AUTO, third, [], DEFAULTS, 0.1).action == Action.INCREMENTAL
    assert choose(Mode.AUTO, share(1 / 3, FEW_ROWS), [], DEFAULTS).action == Action.INCREMENTAL
    full = samples(Action.FULL, FIXED_MS + 1_000, full_units(LARGE))
    # By a third of the keys it would take longer than a full refresh; but nobody knows that yet.
    steps = samples(Action.INCREMENTAL, FIXED_MS + 1_000, incremental_units(LARGE, 0) + 200_000)
    chosen = choose(Mode.AUTO, third, full + steps, DEFAULTS)
    assert chosen.action == Action.INCREMENTAL
    assert refine(Mode.AUTO, chosen, third, LARGE.dt_rows // 3, full + steps, DEFAULTS).reason == "COST"


def test_counted_keys_are_held_against_earlier_times_however_few_they_are() -> None:
    full, units = (
        samples(Action.FULL, FIXED_MS + 1_000, full_units(LARGE)),
        incremental_units(LARGE, LARGE.dt_rows // 4),
    )
    chosen = choose(Mode.AUTO, LARGE, full, DEFAULTS)
    assert chosen.action == Action.INCREMENTAL
    slow, quick = (samples(Action.INCREMENTAL, FIXED_MS + ms, units) for ms in (1_300, 900))

    def refined(times: list[Sample], spent_ms: float = 0) -> Action:
        return refine(Mode.AUTO, chosen, LARGE, LARGE.dt_rows // 4, times, DEFAULTS, spent_ms=spent_ms).action

    assert refined(full + slow) == Action.FULL
    assert refined(full + quick) == Action.INCREMENTAL
    # Without a time the share decides. A full refresh must also save more than the time spent so far.
    assert refined(full) == Action.INCREMENTAL
    assert refined(full + slow, spent_ms=400) == Action.INCREMENTAL


def test_share_of_the_table_beats_the_global_one() -> None:
    assert choose(Mode.AUTO, share(0.4), [], DEFAULTS, 0.5).action == Action.INCREMENTAL
    assert choose(Mode.AUTO, share(0.2), [], DEFAULTS, 0.1).reason == "COST"


def test_small_tables_are_refreshed_fully() -> None:
    small = Estimate(source_rows=1000, dt_rows=100, changed_rows=1, key_share=0.001)
    found = choose(Mode.AUTO, small, [], DEFAULTS)
    assert (found.action, found.reason) == (Action.FULL, "SMALL_TABLE")
    assert choose(Mode.INCREMENTAL, small, [], DEFAULTS).action == Action.INCREMENTAL


def test_own_times_decide_until_they_are_old() -> None:
    full = samples(Action.FULL, FIXED_MS + 1_000, full_units(LARGE))
    units = incremental_units(LARGE, LARGE.key_share * LARGE.dt_rows)
    slow = samples(Action.INCREMENTAL, FIXED_MS + 2_000, units)
    quick = samples(Action.INCREMENTAL, FIXED_MS + 200, units)
    assert choose(Mode.AUTO, LARGE, full + slow, DEFAULTS).reason == "COST"
    assert choose(Mode.AUTO, LARGE, full + quick, DEFAULTS).action == Action.INCREMENTAL
    assert choose(Mode.AUTO, LARGE, full + slow[:1], DEFAULTS).reason == "COST"
    many = full[:1] * MEMORY
    assert choose(Mode.AUTO, LARGE, many[1:] + slow, DEFAULTS).reason == "COST"
    assert choose(Mode.AUTO, LARGE, many + slow, DEFAULTS).action == Action.INCREMENTAL


def test_incremental_never_falls_back_for_cost() -> None:
    slow = samples(Action.INCREMENTAL, 1e9, 1) + samples(Action.FULL, 61, 1e6)
    found = choose(Mode.INCREMENTAL, share(1.0), slow, DEFAULTS)
    assert found.action == Action.INCREMENTAL
    assert refine(Mode.INCREMENTAL, found, LARGE, 10**9, slow, DEFAULTS).action == Action.INCREMENTAL


def test_counted_keys_can_change_the_mind() -> None:
    """One row of a dimension changed, and most keys with it."""
    chosen = Choice(Action.INCREMENTAL, None, None, 5_000)
    few, most = LARGE.dt_rows // 10, LARGE.dt_rows * 9 // 10
    assert refine(Mode.AUTO, chosen, LARGE, few, [], DEFAULTS).action == Action.INCREMENTAL
    assert refine(Mode.AUTO, chosen, LARGE, most, [], DEFAULTS).reason == "COST"
    quick = samples(Action.INCREMENTAL, FIXED_MS + 1, 1_000_000)
    assert refine(Mode.AUTO, chosen, LARGE, most, quick, DEFAULTS).action == Action.INCREMENTAL


def wide(tables: int) -> Estimate:
    """A join of so many tables of a thousand rows that have all changed."""
    effort = Effort(joins=tables * tables, scanned=tables * tables * 1_000)
    return Estimate(tables * 1_000, 100, 100 * tables, 0.1, effort=lambda: effort)


def test_a_wide_join_is_full_before_it_was_tried() -> None:
    """Eighteen terms of eighteen tables, where a full refresh takes less than a second."""

    def chosen(tables: int, mode: Mode = Mode.AUTO) -> Choice:
        estimate = wide(tables)
        return choose(mode, estimate, [Sample("reinitialize", full_units(estimate), 800)], DEFAULTS)

    assert chosen(18).reason == "COST"
    assert chosen(3).action == Action.INCREMENTAL
    assert chosen(18, Mode.INCREMENTAL).action == Action.INCREMENTAL


def test_samples_are_better_than_a_guess() -> None:
    estimate = wide(18)
    known = samples(Action.FULL, 5_000, full_units(estimate))
    quick = samples(Action.INCREMENTAL, 100, incremental_units(estimate, estimate.changed_rows))
    assert choose(Mode.AUTO, estimate, known + quick, DEFAULTS).action == Action.INCREMENTAL


def test_what_is_computed_anyway_counts_like_a_full_refresh() -> None:
    one_key = Estimate(10_000_000, 1, 1_000, 0.001, effort=lambda: Effort(joins=1, computed=10_000_000))
    twice = Estimate(10_000_000, 1, 1_000, 0.001, effort=lambda: Effort(joins=2, computed=20_000_000))
    assert choose(Mode.AUTO, one_key, [], DEFAULTS).action == Action.INCREMENTAL
    assert choose(Mode.AUTO, twice, [], DEFAULTS).reason == "COST"


def test_what_took_far_too_long_is_not_tried_again() -> None:
    full = samples(Action.FULL, 900, full_units(LARGE), MEMORY)
    slow, slowest = (
        samples(Action.INCREMENTAL, ms, incremental_units(LARGE, LARGE.changed_rows), 1) for ms in (2_000, 73_000)
    )
    assert choose(Mode.AUTO, LARGE, full + slowest, DEFAULTS).reason == "COST"
    assert choose(Mode.AUTO, LARGE, full + slow, DEFAULTS).action == Action.INCREMENTAL

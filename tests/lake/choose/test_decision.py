"""When a refresh is spread: the rule at its borders, who beats whom, and what predictions change."""

from __future__ import annotations

from typing import Any

import pytest

from catchment.lake.choose.parallel import Decision, Prediction, decide, should_parallelize
from catchment.lake.settings import LakeSettings
from catchment.lake.types import Properties

HUGE = 50_000_000


def decided(
    keys: int = HUGE,
    workers: int = 4,
    *,
    seconds: float | None = None,
    memory: float | None = None,
    is_cuttable: bool = True,
    properties: dict[str, Any] | None = None,
    **settings: Any,
) -> Decision:
    return decide(
        Properties(**(properties or {})),
        LakeSettings(**{"lake_memory_limit": "1000MB", **settings}),
        keys=keys,
        workers=workers,
        prediction=Prediction(seconds, memory),
        is_cuttable=is_cuttable,
    )


@pytest.mark.parametrize(
    ("keys", "workers", "expected"),
    [
        (9_999_999, 16, False),
        (10_000_000, 16, True),
        (10_000_000, 2, True),
        (10_000_000, 1, False),
        (10_000_000, 0, False),
        (0, 16, False),
        (10**12, 2, True),
    ],
)
def test_the_rule_of_thumb_at_its_borders(keys: int, workers: int, expected: bool) -> None:
    assert should_parallelize(keys, workers) is expected


def test_at_most_sixteen_workers_and_about_five_million_keys_for_each() -> None:
    assert not should_parallelize(20_000_000, 16, max_workers=1)
    assert not should_parallelize(9_999_999, 16, min_keys=1)
    assert should_parallelize(10_000_000, 16, min_keys=1)
    assert decided(10_000_000, 16).workers == 2
    assert decided(50_000_000, 16).workers == 10
    assert decided(10**9, 64).workers == 16


@pytest.mark.parametrize(("keys", "expected"), [(9_999_999, False), (10_000_000, True)])
def test_the_decision_follows_the_rule_where_nothing_is_predicted(keys: int, expected: bool) -> None:
    assert decided(keys).is_parallel is expected


def test_a_threshold_of_the_table_beats_the_global_one() -> None:
    assert decided(1000, properties={"parallel_threshold": 1000}).is_parallel
    assert not decided(999, properties={"parallel_threshold": 1000}).is_parallel
    assert decided(1000, parallel_min_affected_keys=1000).is_parallel
    assert not decided(1000, parallel_min_affected_keys=1000, properties={"parallel_threshold": 10**9}).is_parallel
    assert decided(2, properties={"parallel_threshold": 0}).is_parallel


def test_off_beats_everything() -> None:
    told = {"parallel_threshold": 0}
    assert decided(properties=told).is_parallel
    off = decided(properties=told, seconds=10_000, memory=10**15, parallel_refresh_enabled=False)
    assert (off.is_parallel, off.workers) == (False, 1)
    assert "CATCHMENT_PARALLEL_REFRESH_ENABLED" in off.reason
    of_table = decided(properties={**told, "allow_parallel_refresh": False}, seconds=10_000, memory=10**15)
    assert not of_table.is_parallel
    assert "allow_parallel_refresh" in of_table.reason


def test_a_key_without_a_hash_is_not_cut() -> None:
    assert decided(is_cuttable=False, memory=10**15) == Decision(False, 1, "KEY_NOT_HASHABLE")


def test_max_parallelism_of_the_table_beats_the_global_one_and_free_workers_bound_both() -> None:
    assert decided(10**9, 16, properties={"max_parallelism": 3}).workers == 3
    assert decided(10**9, 16, properties={"max_parallelism": 12}, parallel_max_workers=4).workers == 12
    assert decided(10**9, 5, properties={"max_parallelism": 12}).workers == 5
    assert decided(10**9, 16, parallel_max_workers=4).workers == 4
    assert not decided(10**9, 16, properties={"max_parallelism": 1}).is_parallel


def test_a_long_refresh_is_spread_whatever_its_keys() -> None:
    assert decided(10, seconds=60).is_parallel
    assert not decided(10, seconds=59.9).is_parallel
    assert not decided(10, workers=1, seconds=10_000).is_parallel


def test_a_short_refresh_is_not_spread_unless_the_table_says_so() -> None:
    assert not decided(HUGE, seconds=9.9).is_parallel
    assert decided(HUGE, seconds=10).is_parallel
    assert decided(HUGE, seconds=0.1, properties={"parallel_threshold": 1000}).is_parallel


def test_what_does_not_fit_into_memory_is_cut_even_for_one_worker() -> None:
    assert not decided(10, workers=1, memory=600e6).is_parallel
    cut = decided(10, workers=1, memory=601e6, seconds=1)
    assert (cut.is_parallel, cut.workers) == (True, 1)

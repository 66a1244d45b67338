"""Random tables that read each other, in rounds, some spread over buckets. Seeds are in the names of the tests."""

from __future__ import annotations

import pytest

from tests.fixtures.lake import LakeCase
from tests.lake.fuzz.together import Together


def play(seed: int, lake_case: LakeCase, *, definitions: int = 6, rounds: int = 6) -> Together:
    run = Together(lake_case, seed, definitions=definitions)
    run.play(rounds)
    assert lake_case.temporary() == []
    assert lake_case.leftovers() == {}
    return run


@pytest.mark.parametrize("seed", [100])
def test_tables_that_read_each_other_equal_their_definitions(seed: int, lake_case: LakeCase) -> None:
    run = play(seed, lake_case, definitions=5, rounds=4)
    assert any(how.endswith("by buckets") for how in run.done)
    assert any(f'"{name}"' in query for query in run.queries.values() for name in run.queries)


@pytest.mark.long
@pytest.mark.parametrize("seed", range(200, 215))
def test_more_tables_that_read_each_other_equal_their_definitions(seed: int, lake_case: LakeCase) -> None:
    play(seed, lake_case)

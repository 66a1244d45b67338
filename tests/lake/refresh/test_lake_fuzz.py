"""Random definitions under random changes on a lake. Seeds are in the names of the tests."""

from __future__ import annotations

import pytest

from tests.fixtures.lake import LakeCase
from tests.lake.fuzz.lakeside import Lakeside

ROUNDS = 4
MORE_ROUNDS = 7


@pytest.mark.parametrize("seed", [11, 13, 14])
def test_tables_of_a_lake_equal_their_definitions(seed: int, lake_case: LakeCase) -> None:
    run = Lakeside(lake_case, seed, definitions=4)
    run.play(ROUNDS)
    assert run.comparisons == 4 * ROUNDS
    assert any(how.startswith("incremental") for how in run.done), f"nothing was done by changes: {run.done}"
    assert lake_case.temporary() == []
    assert lake_case.leftovers() == {}


@pytest.mark.long
@pytest.mark.timeout(900)
@pytest.mark.parametrize("seed", [*range(11, 17), *range(100, 130)])
def test_more_tables_of_a_lake_equal_their_definitions(seed: int, lake_case: LakeCase) -> None:
    Lakeside(lake_case, seed).play(MORE_ROUNDS)

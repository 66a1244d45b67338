"""Random definitions under random changes on a lake. Seeds are in the names of the tests.

``make test-long`` draws new seeds; a failure prints the seed and all that happened. With ``test_together_fuzz``, whose
tables are of these kinds too, ordinary runs have more than 60 comparisons and long ones more than 2,000.
"""

from __future__ import annotations

import random

import pytest

from tests.fixtures.lake_case import LakeCase
from tests.fixtures.often import often
from tests.lake.fuzz.lakeside import Lakeside
from tests.lake.fuzz.strangers import Strangers

ROUNDS = 4
MORE_ROUNDS = 7


@pytest.mark.long
@pytest.mark.parametrize("seed", often(11, now_and_then=[13, 14]))
def test_tables_of_a_lake_equal_their_definitions(seed: int, lake_case: LakeCase) -> None:
    run = Lakeside(lake_case, seed, definitions=4)
    run.play(ROUNDS)
    assert run.comparisons == 4 * ROUNDS
    assert any(how.startswith("incremental") for how in run.done), f"nothing was done by changes: {run.done}"
    assert lake_case.temporary() == []
    assert lake_case.leftovers() == {}


@pytest.mark.timeout(600)
@pytest.mark.parametrize("seed", often(302, now_and_then=[300, 301, 303, 304, 305]))
def test_tables_whose_sources_strangers_write_equal_their_definitions(seed: int, lake_case: LakeCase) -> None:
    with Strangers(lake_case, seed, definitions=5) as run:
        run.play(ROUNDS)
    assert run.comparisons == 5 * (ROUNDS + 1)
    # Whether changes are followed depends on the snapshots that strangers let expire meanwhile.
    assert any(not how.startswith("no_data") for how in run.done), f"nothing was done: {run.done}"
    assert run.left_behind() == {}


@pytest.mark.long
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("place", range(10))
def test_more_tables_of_a_lake_equal_their_definitions(place: int, lake_case: LakeCase) -> None:
    Lakeside(lake_case, new_seed(place)).play(MORE_ROUNDS)


@pytest.mark.long
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("place", range(10))
def test_more_tables_whose_sources_strangers_write(place: int, lake_case: LakeCase) -> None:
    with Strangers(lake_case, new_seed(place)) as run:
        run.play(MORE_ROUNDS)
    assert run.left_behind() == {}


def new_seed(place: int) -> int:
    """Another one in each run; what fails prints it."""
    seed = random.SystemRandom().randrange(10**9)
    print(f"seed {seed} ({place})")
    return seed

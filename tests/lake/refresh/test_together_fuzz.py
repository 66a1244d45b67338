"""Random tables that read each other, in rounds, some spread over buckets. Seeds are in the names of the tests."""

from __future__ import annotations

import pytest

from catchment.lake.files.sweep import sweep
from tests.fixtures.lake_case import LakeCase
from tests.lake.fuzz.overlapping import Overlapping
from tests.lake.fuzz.strangers import StrangersTogether
from tests.lake.fuzz.together import Together
from tests.lake.refresh.test_lake_fuzz import new_seed


def play(seed: int, lake_case: LakeCase, *, definitions: int = 6, rounds: int = 6) -> Together:
    run = Together(lake_case, seed, definitions=definitions)
    run.play(rounds)
    assert lake_case.temporary() == []
    assert lake_case.leftovers() == {}
    return run


@pytest.mark.long
@pytest.mark.parametrize("seed", [102])
def test_tables_that_read_each_other_equal_their_definitions(seed: int, lake_case: LakeCase) -> None:
    run = play(seed, lake_case, definitions=5, rounds=4)
    assert any(how.endswith("by buckets") for how in run.done)
    assert any(f'"{name}"' in query for query in run.queries.values() for name in run.queries)


@pytest.mark.long
@pytest.mark.timeout(600)
@pytest.mark.parametrize("seed", [303])
def test_tables_that_read_each_other_over_sources_of_strangers(seed: int, lake_case: LakeCase) -> None:
    with StrangersTogether(lake_case, seed, definitions=5) as run:
        run.play(2)
    assert run.left_behind() == {}


@pytest.mark.long
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("place", range(10))
def test_more_tables_that_read_each_other_equal_their_definitions(place: int, lake_case: LakeCase) -> None:
    play(new_seed(place), lake_case)


@pytest.mark.long
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("place", range(10))
def test_more_tables_that_read_each_other_over_sources_of_strangers(place: int, lake_case: LakeCase) -> None:
    with StrangersTogether(lake_case, new_seed(place)) as run:
        run.play(7)
    assert run.left_behind() == {}


@pytest.mark.long
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("place", range(6))
def test_rounds_that_overlap_while_definitions_are_replaced(place: int, lake_case: LakeCase) -> None:
    Overlapping(lake_case, new_seed(place), definitions=5).play(60)
    assert lake_case.temporary() == []
    sweep(lake_case.duck, lake_case.control, lake_case.settings)
    assert lake_case.leftovers() == {}


@pytest.mark.long
def test_a_definition_that_has_to_wait_takes_its_place_later(lake_case: LakeCase) -> None:
    run = Overlapping(lake_case, 112271078, definitions=5)
    run.play(60)
    assert run.waited
    assert run.done["SUCCEEDED for create"]

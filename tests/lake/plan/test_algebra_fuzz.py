"""Random definitions under random changes, each refresh compared with the definition. Seeds are in the test's name.

``python -m tests.lake.fuzz --minutes 30`` looks for longer, and makes what it finds small.
"""

from __future__ import annotations

import duckdb
import pytest

from tests.lake.fuzz.case import Tally, run_case
from tests.lake.fuzz.memory import Memory

SEEDS = (1_000, 2_000, 3_000)
CASES = 4
ROUNDS = 12
COMPARISONS = 166
"""There have to be as many in each test: four cases with four definitions and twelve rounds are a few more."""

FIRSTS = [seed + part * CASES for seed in SEEDS for part in range(4)]


def _mark(first: int) -> object:
    """A quarter of the cases of each seed, and the others in the long run."""
    return first if first % 1_000 < CASES else pytest.param(first, marks=pytest.mark.long)


@pytest.mark.parametrize("first", [_mark(first) for first in FIRSTS])
def test_refreshed_tables_equal_their_definitions(first: int, duckdb_in_memory: duckdb.DuckDBPyConnection) -> None:
    memory, tally = Memory(duckdb_in_memory), Tally()
    for seed in range(first, first + CASES):
        run_case(seed, memory, tally, rounds=ROUNDS)
    memory.drop()
    assert tally.comparisons >= COMPARISONS, "the generator makes too few valid definitions"
    assert tally.refreshes["keys"] > tally.comparisons / 4, "most refreshes should really be done by keys"

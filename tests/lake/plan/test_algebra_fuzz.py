"""Random definitions under random changes, each refresh compared with the definition. Seeds are in the test's name.

``python -m tests.lake.fuzz --minutes 30`` looks for longer, and makes what it finds small.
"""

from __future__ import annotations

import duckdb
import pytest

from tests.lake.fuzz.case import Tally, run_case
from tests.lake.fuzz.memory import Memory

SEEDS = (1_000, 2_000, 3_000)
CASES = 16
ROUNDS = 12
COMPARISONS = 2_000
"""So many there have to be in all: three times 16 cases with four definitions and twelve rounds are a few more."""

FIRSTS = [seed + part for seed in SEEDS for part in range(0, CASES, CASES // 4)]


@pytest.mark.parametrize("first", FIRSTS)
def test_refreshed_tables_equal_their_definitions(first: int, duckdb_in_memory: duckdb.DuckDBPyConnection) -> None:
    memory, tally = Memory(duckdb_in_memory), Tally()
    for seed in range(first, first + CASES // 4):
        run_case(seed, memory, tally, rounds=ROUNDS)
    memory.drop()
    assert tally.comparisons >= COMPARISONS / len(FIRSTS), "the generator makes too few valid definitions"
    assert tally.refreshes["keys"] > tally.comparisons / 4, "most refreshes should really be done by keys"

"""Random definitions under random changes, each refresh compared with the definition. Seeds are in the test's name.

``python -m tests.lake.fuzz --minutes 30`` looks for longer, and makes what it finds small.
"""

from __future__ import annotations

import duckdb
import pytest

from tests.fixtures.often import often
from tests.lake.fuzz.case import Tally, run_case
from tests.lake.fuzz.memory import Memory

SEEDS = (1_000, 2_000, 3_000)
CASES = 4
ROUNDS = 3
MORE_ROUNDS = 12
VALID = 0.86
"""The part of four cases with four definitions that has to be compared in each round: some are not valid."""


def _play(first: int, rounds: int, con: duckdb.DuckDBPyConnection) -> None:
    memory, tally = Memory(con), Tally()
    for seed in range(first, first + CASES):
        run_case(seed, memory, tally, rounds=rounds)
    memory.drop()
    assert tally.comparisons >= VALID * CASES * 4 * rounds, "the generator makes too few valid definitions"
    assert tally.refreshes["keys"] > tally.comparisons / 4, "most refreshes should really be done by keys"


@pytest.mark.parametrize("first", often(SEEDS[0], now_and_then=SEEDS[1:]))
def test_refreshed_tables_equal_their_definitions(first: int, duckdb_in_memory: duckdb.DuckDBPyConnection) -> None:
    _play(first, ROUNDS, duckdb_in_memory)


@pytest.mark.long
@pytest.mark.parametrize("first", [seed + part * CASES for seed in SEEDS for part in range(4)])
def test_tables_that_are_refreshed_more_often(first: int, duckdb_in_memory: duckdb.DuckDBPyConnection) -> None:
    _play(first, MORE_ROUNDS, duckdb_in_memory)

"""TPC-H and TPC-DS as dynamic tables: each query is accepted, and its table equals it after changes of all sources."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from catchment.lake.reasons import Reason
from tests.fixtures.lake_case import LakeCase
from tests.fixtures.often import often
from tests.lake.tpc.benchmark import NAMES, Name, queries
from tests.lake.tpc.in_memory import Benchmark
from tests.lake.tpc.on_lake import LakeBenchmark
from tests.lake.tpc.page import PAGE, collect, render

SAMPLE: dict[Name, tuple[int, ...]] = {
    "tpch": (1, 3, 13, 15, 17, 22),
    "tpcds": (1, 7, 12, 16, 28, 38, 77, 87, 96),
}
"""Queries for the ordinary run, and those of TPC-DS for the long one; together they have most of the constructs."""
INCREMENTAL: dict[Name, int] = {"tpch": 22, "tpcds": 95}
"""How many are at least kept up to date by their changes."""


@pytest.fixture(scope="module", params=often(NAMES[0], now_and_then=NAMES[1:]))
def benchmark(request: pytest.FixtureRequest) -> Iterator[Benchmark]:
    found = Benchmark(request.param)
    yield found
    found.memory.con.close()


@pytest.mark.timeout(600)
def test_a_sample_of_the_queries_is_kept_up_to_date(benchmark: Benchmark) -> None:
    wanted = [queries(benchmark.name)[number] for number in SAMPLE[benchmark.name]]
    outcomes = benchmark.refresh(wanted)
    assert [str(outcome.query) for outcome in outcomes if outcome.how.startswith("refused")] == []
    assert sum(outcome.rows > 0 for outcome in outcomes) > len(outcomes) / 2, "most tables should have rows"


@pytest.mark.long
@pytest.mark.timeout(900)
def test_every_query_is_accepted_with_its_true_reason(benchmark: Benchmark) -> None:
    found = Counter[str]()
    for query in queries(benchmark.name).values():
        outcome = benchmark.plan(query)
        assert outcome.is_incremental or outcome.how in Reason.__members__, f"{query}: {outcome.how}"
        assert outcome.how not in (Reason.UNRESOLVED, Reason.SYNTAX), f"{query} is not understood"
        found["incremental" if outcome.is_incremental else outcome.how] += 1
    assert found["incremental"] >= INCREMENTAL[benchmark.name], found


@pytest.mark.long
@pytest.mark.timeout(1800)
def test_the_page_says_what_becomes_of_the_queries() -> None:
    assert render(*collect()) == PAGE.read_text(), "run python -m tests.lake.tpc.page"


@pytest.mark.long
@pytest.mark.timeout(900)
def test_every_query_is_accepted_as_it_is_written(benchmark: Benchmark) -> None:
    for query in queries(benchmark.name).values():
        outcome = benchmark.plan(query, as_on_screen=True)
        assert not outcome.how.startswith("refused"), f"{query}: {outcome.how}"


@pytest.mark.long
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("seed", [1, 2])
def test_every_query_is_kept_up_to_date(benchmark: Benchmark, seed: int) -> None:
    outcomes = benchmark.refresh(queries(benchmark.name).values(), seed=seed)
    assert [str(outcome.query) for outcome in outcomes if outcome.how.startswith("refused")] == []


@pytest.mark.long
def test_some_queries_are_kept_up_to_date_on_a_lake(lake_case: LakeCase, tmp_path: Path) -> None:
    lake = LakeBenchmark("tpch", lake_case, tmp_path, scale=0.001)
    outcomes = lake.refresh([queries("tpch")[number] for number in (1, 4, 13)], rounds=1)
    assert [str(outcome.query) for outcome in outcomes if not outcome.rows] == []
    assert lake_case.leftovers() == {}


@pytest.mark.long
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("name", NAMES)
def test_every_query_is_kept_up_to_date_on_a_lake(name: Name, lake_case: LakeCase, tmp_path: Path) -> None:
    outcomes = LakeBenchmark(name, lake_case, tmp_path).refresh(list(queries(name).values()))
    assert [f"{outcome.query}: {outcome.how}" for outcome in outcomes if outcome.how.startswith("refused")] == []
    assert lake_case.leftovers() == {}

"""The tables of a benchmark in a lake, and its queries as dynamic tables there, with feeds, windows and commits."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from random import Random

import duckdb

from catchment.errors import TableRefused
from catchment.lake.names import literal, quoted
from tests.fixtures.lake_case import LakeCase
from tests.lake.fuzz.memory import compare
from tests.lake.tpc.benchmark import SCALE, Changes, Name, Query, generate
from tests.lake.tpc.in_memory import Outcome


@dataclass
class LakeBenchmark:
    """All source tables of a benchmark in a lake. ``folder``: where they are kept on their way there."""

    name: Name
    case: LakeCase
    folder: Path
    scale: float = SCALE
    columns: dict[str, list[str]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        with duckdb.connect(config={"threads": 1}) as con:
            for table in generate(self.name, con, "generated", scale=self.scale):
                file = literal(str(self.folder / f"{table}.parquet"))
                con.execute(f"COPY generated.{quoted(table)} TO {file}")
                self.case.sql(f"CREATE TABLE {quoted(table)} AS SELECT * FROM read_parquet({file})")
                described = self.case.sql(f"DESCRIBE {quoted('lake', 'main', table)}")
                self.columns[table] = [row[0] for row in described]

    def refresh(self, queries: list[Query], *, rounds: int = 2, seed: int = 1) -> list[Outcome]:
        """Make the tables, change every source and refresh, some times; every table is compared each time."""
        outcomes = [self._create(query) for query in queries]
        random = Random(seed)
        for number in range(rounds + 1):
            if number:
                self._change(random)
            for outcome in outcomes:
                if outcome.how.startswith("refused"):
                    continue
                try:
                    done = self.case.refresh(_name(outcome.query), lake_small_ms=0)
                    self._compare(outcome)
                except Exception as error:
                    raise AssertionError(f"{outcome.query} with seed {seed}: {error}") from error
                if number:
                    outcome.how = done["reason"] or done["action"]
        return outcomes

    def _create(self, query: Query) -> Outcome:
        head = f"CREATE DYNAMIC TABLE {_name(query)} TARGET_LAG = DOWNSTREAM REFRESH_MODE"
        refusal = ""
        for mode in ("INCREMENTAL", "AUTO"):
            try:
                self.case.create(f"{head} = {mode} AS {query.table}")
            except TableRefused as error:
                refusal = f"refused {error.code}"
                continue
            return Outcome(query, mode)
        return Outcome(query, refusal)

    def _change(self, random: Random) -> None:
        for table, columns in self.columns.items():
            [(rows,)] = self.case.sql(f"SELECT count(*) FROM {quoted(table)}")
            for statement in Changes(random, quoted(table), columns, "rowid").statements(rows):
                self.case.sql(statement)

    def _compare(self, outcome: Outcome) -> None:
        table = quoted("lake", "main", _name(outcome.query))
        described = self.case.sql(f"DESCRIBE SELECT * FROM {table}")
        names = [f"c{place}" for place in range(len(described))]
        casts = ", ".join(f"CAST({name} AS {row[1]})" for name, row in zip(names, described, strict=True))
        truth = self.case.sql(f"SELECT {casts} FROM ({outcome.query.table}) AS q({', '.join(names)})")
        mine = self.case.sql(f"SELECT * FROM {table}")
        outcome.rows = max(outcome.rows, len(truth))
        problem = compare(mine, truth)
        assert problem is None, problem


def _name(query: Query) -> str:
    return f"{query.benchmark}_{query.number}"

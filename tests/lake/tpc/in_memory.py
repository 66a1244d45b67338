"""The tables of a benchmark in a plain DuckDB, and its queries refreshed there by the generated SQL."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from random import Random

from catchment.errors import TableRefused
from catchment.lake.delta.analyse import analyse
from catchment.lake.names import quoted
from catchment.lake.types import Definition, Properties, TableRef
from tests.lake.fuzz.memory import Dynamic, Memory
from tests.lake.tpc.benchmark import Changes, Name, Query, generate

SCHEMA = "generated"


@dataclass
class Outcome:
    """What became of one query. ``how``: ``refused CODE``, the reason of a full refresh, or keys or delta."""

    query: Query
    how: str
    rows: int = 0

    @property
    def is_incremental(self) -> bool:
        return self.how in ("keys", "delta")


@dataclass
class Benchmark:
    """All source tables of a benchmark; ``refresh`` keeps many queries up to date through the same changes."""

    name: Name
    memory: Memory = field(default_factory=Memory)

    def __post_init__(self) -> None:
        for table in generate(self.name, self.memory.con, SCHEMA):
            described = self.memory.rows(f"DESCRIBE {SCHEMA}.{quoted(table)}")
            source = self.memory.make(table, {row[0]: row[1] for row in described})
            self.memory.run(f"INSERT INTO {source.new} SELECT row_number() OVER (), * FROM {SCHEMA}.{quoted(table)}")
            self.memory.run(f"DROP TABLE {SCHEMA}.{quoted(table)}")
            [(source.next_rid,)] = self.memory.rows(f"SELECT count(*) + 1 FROM {source.new}")
        self.memory.run(f"DROP SCHEMA {SCHEMA}")
        self.memory.keep()

    def change(self, random: Random) -> None:
        """Change every table."""
        for source in self.memory.sources.values():
            [(rows,)] = self.memory.rows(f"SELECT count(*) FROM {source.new}")
            first = source.next_rid
            source.next_rid += rows
            identity = f"{first} + row_number() OVER (), "
            changes = Changes(random, source.new, list(source.columns), source.rid, identity)
            for statement in changes.statements(rows):
                self.memory.run(statement)

    def plan(self, query: Query, *, as_on_screen: bool = False) -> Outcome:
        """What becomes of a query, without its rows. ``as_on_screen``: with its outermost ORDER BY and LIMIT."""
        text = query.text if as_on_screen else query.table
        definition = Definition(TableRef("main", "planned"), text, Properties())
        try:
            plan = analyse(definition, self.memory)
        except TableRefused as error:
            return Outcome(query, f"refused {error.code}: {error}")
        return Outcome(query, str(plan.reason or plan.strategy))

    def refresh(self, queries: Iterable[Query], *, rounds: int = 2, seed: int = 1) -> list[Outcome]:
        """Make the tables, change every source and refresh, some times; every table is compared each time."""
        random = Random(seed)
        made: list[tuple[Dynamic, Outcome]] = []
        outcomes: list[Outcome] = []
        for query in queries:
            try:
                table = Dynamic(self.memory, query.table, name=f"{query.benchmark}_{query.number}")
                table.check()
            except TableRefused as error:
                outcomes.append(Outcome(query, f"refused {error.code}"))
                continue
            except Exception as error:
                raise AssertionError(f"{query} at its creation: {error}") from error
            outcomes.append(Outcome(query, str(table.plan.reason or table.plan.strategy)))
            made.append((table, outcomes[-1]))
        for _ in range(rounds):
            self.change(random)
            for table, outcome in made:
                try:
                    table.refresh()
                    table.check()
                except Exception as error:
                    raise AssertionError(f"{outcome.query} with seed {seed}: {error}") from error
                [(rows,)] = self.memory.rows(f"SELECT count(*) FROM {table.name}")
                outcome.rows = max(outcome.rows, rows)
            self.memory.keep()
        for table, _ in made:
            self.memory.run(f"DROP TABLE {table.name}")
        return outcomes

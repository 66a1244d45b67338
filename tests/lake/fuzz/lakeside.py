"""Random definitions under random changes on a real lake: feeds, windows, commits and upkeep take part.

What a table has to equal is the text of its definition, run by DuckDB over the tables of the lake as they are; nobody
else writes, so that is the data snapshot of the refresh before it.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from random import Random
from typing import Any

import duckdb

from catchment.errors import TableRefused
from catchment.lake.names import quoted
from tests.fixtures.lake_case import LakeCase
from tests.lake.fuzz.generate import Generator
from tests.lake.fuzz.memory import are_close, without


@dataclass
class Lakeside:
    """The tables of one seed in a lake, and dynamic tables over them."""

    case: LakeCase
    seed: int
    definitions: int = 8
    queries: dict[str, str] = field(default_factory=dict)
    done: Counter[str] = field(default_factory=Counter)
    statements: list[str] = field(default_factory=list)
    generator: Generator = field(init=False)

    def __post_init__(self) -> None:
        self.generator = Generator(Random(self.seed))
        for name, columns in self.generator.schema().items():
            listed = ", ".join(f"{quoted(column)} {kind}" for column, kind in columns.items())
            self._run(f"CREATE TABLE {quoted(name)} ({listed})")
            self._insert(name, 8)
        for _ in range(self.definitions * 5):
            if len(self.queries) < self.definitions:
                self._create(f"dt{len(self.queries)}", self.generator.definition())

    @property
    def random(self) -> Random:
        return self.generator.random

    @property
    def comparisons(self) -> int:
        return self.done.total()

    def play(self, rounds: int) -> None:
        """Change, refresh and compare, so many times."""
        for _ in range(rounds):
            self.edit()
            self.refresh_every()

    def refresh_every(self) -> None:
        """Refresh and compare all tables."""
        for name in self.queries:
            self.refresh(name)

    def refresh(self, name: str) -> None:
        """Refresh one table and compare it; an error says all that is needed to see it again."""
        try:
            found = self.case.refresh(name, lake_small_ms=0)
            self._compare(name)
        except Exception as error:
            raise AssertionError(f"seed {self.seed}, {name}: {error}\n{self.text(name)}") from error
        self.done[f"{found['action']} {found['figures'].get('strategy')} {found['reason'] or ''}".strip()] += 1

    def left_behind(self) -> dict[str, list[str]]:
        """What refreshes have left behind, by kind."""
        found = self.case.leftovers()
        return found | ({"temporary": self.case.temporary()} if self.case.temporary() else {})

    def text(self, name: str) -> str:
        """What happened, as SQL."""
        return ";\n".join([*self.statements, f"-- the definition\n{self.queries[name]}"])

    def _create(self, name: str, query: str) -> None:
        try:
            self.case.sql(query)
        except duckdb.Error:
            # DuckDB does not plan every query: some correlations are not implemented, some trip its optimizer.
            return
        for mode in ("INCREMENTAL", "AUTO"):
            try:
                self.case.create(
                    f"CREATE DYNAMIC TABLE {name} TARGET_LAG = DOWNSTREAM REFRESH_MODE = {mode} AS {query}"
                )
            except TableRefused:
                continue
            self.queries[name] = query
            return

    def _compare(self, name: str) -> None:
        """As DuckDB stores them, so an integer that became a decimal is cast back by the comparison of values."""
        described = self.case.sql(f"DESCRIBE SELECT * FROM {quoted('lake', 'main', name)}")
        names = [f"c{place}" for place in range(len(described))]
        casts = ", ".join(f"CAST({column} AS {row[1]})" for column, row in zip(names, described, strict=True))
        truth = self.case.sql(f"SELECT {casts} FROM ({self.queries[name]}) AS q({', '.join(names)})")
        mine = self.case.sql(f"SELECT * FROM {quoted('lake', 'main', name)}")
        extra, missing = without(mine, truth), without(truth, mine)
        if not are_close(extra, missing):
            raise AssertionError(f"{len(extra)} too many {extra[:5]}, {len(missing)} missing {missing[:5]}")

    def edit(self) -> None:
        """One window: a few statements, each a commit or several in one; now and then upkeep of a table's files."""
        tables = list(self.generator.tables)
        for name in self.random.sample(tables, self.random.choice([0, 1, 1, 2, len(tables), len(tables)])):
            for _ in range(self.random.choice([1, 1, 2, 3])):
                if self.random.random() < 0.15:
                    self._run("BEGIN TRANSACTION")
                    self._statement(name)
                    self._statement(name)
                    self._run("COMMIT")
                else:
                    self._statement(name)
            if self.random.random() < 0.15:
                self._upkeep(name)

    def _statement(self, name: str) -> None:
        table, columns = quoted(name), self.generator.tables[name]
        where = f" WHERE rowid % {self.random.randint(1, 4)} = 0"
        column = self.random.choice(list(columns))
        kind = self.random.choice(["insert"] * 4 + ["update"] * 4 + ["delete", "same", "copy", "clear", "move", "move"])
        if kind == "insert":
            self._insert(name, self.random.randint(1, 3))
        elif kind == "copy":
            self._run(f"INSERT INTO {table} SELECT * FROM {table} ORDER BY ALL LIMIT 3")
        elif kind == "clear":
            self._run(f"DELETE FROM {table} WHERE {quoted('k')} IS NOT DISTINCT FROM {self.generator.value('BIGINT')}")
        elif kind == "delete":
            self._run(f"DELETE FROM {table}{where}")
        elif kind == "same":
            self._run(f"UPDATE {table} SET {quoted(column)} = {quoted(column)}{where}")
        elif kind == "move":
            self._run(f"UPDATE {table} SET {quoted('k')} = {quoted('k')} + 1{where}")
        else:
            self._run(f"UPDATE {table} SET {quoted(column)} = {self.generator.value(columns[column])}{where}")

    def _insert(self, name: str, count: int) -> None:
        rows = ", ".join(f"({self.generator.row(self.generator.tables[name])})" for _ in range(count))
        self._run(f"INSERT INTO {quoted(name)} VALUES {rows}")

    def _upkeep(self, name: str) -> None:
        call = self.random.choice(["ducklake_merge_adjacent_files", "ducklake_rewrite_data_files"])
        more = ", delete_threshold => 0.05" if call == "ducklake_rewrite_data_files" else ""
        self.statements.append(f"-- {call} of {name}")
        self.case.sql(f"CALL {call}('lake', ?{more})", [name])

    def _run(self, sql: str) -> list[tuple[Any, ...]]:
        self.statements.append(sql)
        return self.case.sql(sql)

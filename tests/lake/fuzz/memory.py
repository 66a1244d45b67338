"""Definitions refreshed in a plain DuckDB, as the oracle of the algebra: no lake, no catalog, no engine.

Every source table is kept with row ids, as it is and as it was at the last refresh. The definition's own text reads
plain views over it, so what a table has to equal never goes through the code under test.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any, TypeVar

import duckdb

from catchment.lake.delta.analyse import analyse
from catchment.lake.delta.apply import broken, delta_steps
from catchment.lake.delta.compile import all_rows, difference, fresh_rows, oracle, stored_rows
from catchment.lake.delta.plan import Plan
from catchment.lake.delta.terms import Step, affected
from catchment.lake.duck.extensions import extension_file
from catchment.lake.duck.kinds import function_kinds
from catchment.lake.names import RID, WEIGHT, literal, quoted
from catchment.lake.query.calls import Macro
from catchment.lake.query.parse import refused_query
from catchment.lake.refresh.session import clock_row
from catchment.lake.types import Column, ColumnAt, Definition, Mode, Properties, SourceTable, TableRef, ViewText

BUCKETS = 4
_START = datetime(2024, 6, 1, 12, tzinfo=UTC)
T = TypeVar("T")


def open_duckdb() -> duckdb.DuckDBPyConnection:
    """DuckDB as a refresh uses it, with the extension that has ``murmur3_32``. One thread: the tables are tiny."""
    con = duckdb.connect(config={"threads": 1})
    con.execute(f"LOAD {literal(str(extension_file('ducklake')))}")
    con.execute("SET disabled_optimizers = 'statistics_propagation'")
    return con


class Mismatch(AssertionError):
    """The table is not what its definition gives."""


@dataclass
class Source:
    """A source table; ``number`` names its two versions."""

    number: int
    name: str
    columns: Mapping[str, str]
    next_rid: int = 0

    @property
    def new(self) -> str:
        return f"src{self.number}_new"

    @property
    def old(self) -> str:
        return f"src{self.number}_old"

    @property
    def rid(self) -> str:
        return quoted(RID)

    def insert(self, row: str) -> str:
        self.next_rid += 1
        return f"INSERT INTO {self.new} VALUES ({self.next_rid - 1}, {row})"

    def copy(self, where: str) -> str:
        names, first = ", ".join(quoted(name) for name in self.columns), self.next_rid
        self.next_rid += 1000
        return (
            f"INSERT INTO {self.new} SELECT {first} + row_number() OVER (ORDER BY {self.rid}), {names}"
            f" FROM {self.new} WHERE {where} ORDER BY {self.rid} LIMIT 3"
        )


@dataclass
class Memory:
    """A DuckDB with source tables. Also what the planner asks about them."""

    con: duckdb.DuckDBPyConnection = field(default_factory=lambda: open_duckdb())
    sources: dict[str, Source] = field(default_factory=dict)
    views: dict[str, ViewText] = field(default_factory=dict)
    clock: tuple[datetime, datetime] = (_START, _START)
    last: str = ""

    def make(self, name: str, columns: Mapping[str, str], rows: Sequence[Sequence[Any]] = ()) -> Source:
        """A source table with these rows."""
        source = Source(len(self.sources) + 1, name, columns)
        parts = ", ".join(f"{quoted(column)} {kind}" for column, kind in columns.items())
        for table in (source.new, source.old):
            self.run(f"CREATE OR REPLACE TABLE {table} ({quoted(RID)} BIGINT, {parts})")
        names = ", ".join(quoted(column) for column in columns)
        self.run(f"CREATE OR REPLACE VIEW {quoted(name)} AS SELECT {names} FROM {source.new}")
        self.sources[name.lower()] = source
        self.insert(name, rows)
        return source

    def drop(self) -> None:
        for source in self.sources.values():
            self.run(f"DROP VIEW {quoted(source.name)}")
        self.sources.clear()
        # The next definition must not find the changes of this one.
        for (name,) in self.rows(
            "SELECT table_name FROM duckdb_tables() WHERE temporary AND table_name LIKE 'o%_delta'"
        ):
            self.run(f"DROP TABLE {quoted(name)}")

    def insert(self, name: str, rows: Sequence[Sequence[Any]]) -> None:
        source = self.sources[name.lower()]
        if not rows:
            return
        marks = ", ".join("?" for _ in range(len(source.columns) + 1))
        values: list[list[Any]] = []
        for row in rows:
            values.append([source.next_rid, *row])
            source.next_rid += 1
        self.con.executemany(f"INSERT INTO {source.new} VALUES ({marks})", values)

    def change(self, name: str, sql: str) -> None:
        """Run an UPDATE or DELETE; ``{}`` in it stands for the table."""
        self.run(sql.format(self.sources[name.lower()].new))

    def keep(self) -> None:
        """What is now becomes what was."""
        for source in self.sources.values():
            self.run(f"CREATE OR REPLACE TABLE {source.old} AS SELECT * FROM {source.new}")

    def run(self, sql: str) -> None:
        self._execute(sql)

    def rows(self, sql: str) -> list[tuple[Any, ...]]:
        return self._execute(sql).fetchall()

    def _execute(self, sql: str) -> duckdb.DuckDBPyConnection:
        self.last = sql
        return self.con.execute(sql)

    # What the planner asks.

    def table(self, parts: Sequence[str]) -> SourceTable | None:
        source = self.sources.get(parts[-1].lower())
        if source is None or (len(parts) > 1 and parts[-2].lower() != "main"):
            return None
        columns = {name: ColumnAt(place, kind) for place, (name, kind) in enumerate(source.columns.items())}
        [(count,)] = self.rows(f"SELECT count(*) FROM {source.new}")
        hides_rowid = any(name.lower() == "rowid" for name in source.columns)
        return SourceTable(source.number, TableRef("main", source.name), columns, count, hides_rowid=hides_rowid)

    def view(self, parts: Sequence[str]) -> ViewText | None:
        found = self.views.get(parts[-1].lower())
        return found if found is not None and (len(parts) == 1 or parts[-2].lower() == found.ref.schema) else None

    def describe(self, sql: str) -> list[Column]:
        try:
            found = self.rows(f"DESCRIBE {sql}")
        except duckdb.Error as error:
            raise refused_query(str(error)) from error
        return [Column(row[0], row[1]) for row in found]

    def syntax(self, sql: str) -> str:
        [(found,)] = self.con.execute("SELECT json_serialize_sql(?)", [sql]).fetchall()
        return found

    def unparse(self, serialised: str) -> str:
        [(found,)] = self.con.execute("SELECT json_deserialize_sql(?::JSON)", [serialised]).fetchall()
        return found

    def stability(self, functions: Collection[str]) -> Mapping[str, str]:
        return function_kinds(functions, lambda *query: self.con.execute(*query).fetchall())

    def macros(self) -> Sequence[Macro]:
        """None: what is not in DuckDB itself is in the same catalog as the tables here, and found by both."""
        return ()


@dataclass
class Dynamic:
    """A dynamic table in memory: its plan and its rows, refreshed by the generated SQL."""

    memory: Memory
    query: str
    mode: Mode = Mode.AUTO
    properties: Properties | None = None
    name: str = "dt"
    use_delta: bool = True
    twice: bool = False
    plan: Plan = field(init=False)
    written: tuple[int, int] = (0, 0)
    keys: dict[int, list[tuple[Any, ...]]] = field(default_factory=dict)
    texts: dict[Any, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        properties = self.properties or Properties(refresh_mode=self.mode)
        definition = Definition(TableRef("main", self.name), self.query, properties)
        self.plan = analyse(definition, self.memory)
        made = replace(definition, query=self.plan.query)
        again = analyse(made, self.memory, stored=self.plan.layout) if self.twice else self.plan
        assert again.definition_hash == self.plan.definition_hash
        layout = ", ".join(f"{quoted(column.name)} {column.type}" for column in self.plan.layout.columns)
        self.memory.run(f"CREATE OR REPLACE SEQUENCE {self.name}_ids")
        self.memory.run(f"CREATE OR REPLACE TABLE {self.name} ({quoted(RID)} BIGINT, {layout})")
        self.fill()

    def fill(self) -> None:
        self._views()
        self.memory.run(f"DELETE FROM {self.name}")
        self._add(self._all_rows())

    def refresh(self) -> str:
        """Bring the table up to date from what changed; returns how."""
        self._views()
        changed = self._deltas()
        if self.plan.strategy == "full":
            self._difference(self._all_rows(), stored_rows(self.plan, by_keys=False))
            return "full"
        if not changed:
            return "none"
        if self.plan.strategy == "delta" and self.use_delta:
            self._make(self._text(("delta", changed), lambda: delta_steps(self.plan, changed, buckets=BUCKETS)))
            [(wrong,)] = self.memory.rows(broken(self.plan))
            if wrong:
                raise Mismatch(f"{wrong} groups with impossible counts\n{self.query}")
            self._write()
            return "delta"
        self._make(self._text(("keys", changed), lambda: affected(self.plan, changed)))
        self.keys = {part.number: self.memory.rows(f"SELECT * FROM akeys_{part.number}") for part in self.plan.parts}
        touched = frozenset(number for number, rows in self.keys.items() if rows)
        if not touched:
            return "keys"
        bare = frozenset(number for number in touched if not any(None in row for row in self.keys[number]))
        how: dict[str, Any] = {"without_null": bare, "touched": touched}
        fresh = self._text(("fresh", *how.values()), lambda: fresh_rows(self.plan, buckets=BUCKETS, **how))
        self._difference(fresh, self._text(("stored", *how.values()), lambda: stored_rows(self.plan, **how)))
        return "keys"

    def check(self, *, hidden: bool = True) -> None:
        """The rows are those of the definition, as multisets, floats to nine digits.

        With the hidden columns too: a wrong one shows up only in a later refresh.
        """
        visible = self.plan.layout.visible
        names = [f"c{place}" for place in range(len(visible))]
        casts = ", ".join(f"CAST({name} AS {column.type})" for name, column in zip(names, visible, strict=True))
        query = self.query
        if self.plan.clock is not None:
            for word, name in (("now()", "now"), ("current_date", "today"), ("localtimestamp", "local")):
                query = query.replace(word, f"(SELECT {name} FROM ({clock_row(self.memory.clock[1])}))")
        truth = self.memory.rows(f"SELECT {casts} FROM ({query}) AS q({', '.join(names)})")
        stored = self.memory.rows(f"SELECT * EXCLUDE ({quoted(RID)}) FROM {self.name}")
        self._compare([row[: len(visible)] for row in stored], truth, "rows")
        if hidden:
            self._compare(stored, self.memory.rows(self._all_rows()), "rows with hidden columns")

    def _compare(self, mine: list[tuple[Any, ...]], truth: list[tuple[Any, ...]], what: str) -> None:
        problem = compare(mine, truth)
        if problem is not None:
            raise Mismatch(f"{self.plan.strategy}, {what}: {problem}\n{self.query}\nkeys {self.keys}")

    def check_oracle(self) -> None:
        """The oracle of the compiler is the definition's own text."""
        self._views()
        left, right = self.memory.rows(oracle(self.plan)), self.memory.rows(self.query)
        assert sorted(map(str, left)) == sorted(map(str, right))

    def _views(self) -> None:
        for table in self.plan.tables:
            source = self.memory.sources[table.table.ref.name.lower()]
            names = [*table.used, *([RID] if table.wants_rid else [])]
            listed = ", ".join(quoted(name) for name in names)
            for version, behind in (("new", source.new), ("old", source.old)):
                self.memory.run(
                    f"CREATE OR REPLACE TEMP VIEW o{table.occurrence}_{version} AS SELECT {listed} FROM {behind}"
                )
        if self.plan.clock is not None:
            for version, at in zip(("old", "new"), self.memory.clock, strict=True):
                self.memory.run(f"CREATE OR REPLACE TEMP VIEW o{self.plan.clock}_{version} AS {clock_row(at)}")
        names = ", ".join(quoted(column.name) for column in self.plan.layout.columns)
        self.memory.run(f"CREATE OR REPLACE TEMP VIEW dt_old AS SELECT {quoted(RID)}, {names} FROM {self.name}")

    def _deltas(self) -> frozenset[int]:
        changed: set[int] = set()
        for table in self.plan.tables:
            i = table.occurrence
            columns = [quoted(name) for name in [*table.used, *([RID] if table.wants_rid else [])]]
            names = ", ".join(columns)
            group = ", ".join([*columns, *(f"CAST({name} AS VARCHAR)" for name in columns)])
            self.memory.run(
                f"CREATE OR REPLACE TEMP TABLE o{i}_delta AS SELECT {names}, sum(w)::BIGINT AS {quoted(WEIGHT)} FROM ("
                f"SELECT {names}, 1 AS w FROM o{i}_new UNION ALL SELECT {names}, -1 FROM o{i}_old"
                f") GROUP BY {group} HAVING sum(w) <> 0"
            )
            if self.memory.rows(f"SELECT 1 FROM o{i}_delta LIMIT 1"):
                changed.add(i)
        if self.plan.clock is not None and len(set(self.memory.clock)) > 1:
            changed.add(self.plan.clock)
        return frozenset(changed)

    def _text(self, key: Any, make: Callable[[], T]) -> T:
        """Made once: a definition is refreshed many times, and writing SQL takes longer than these tables do."""
        if key not in self.texts:
            self.texts[key] = make()
        return self.texts[key]

    def _all_rows(self) -> str:
        return self._text("all", lambda: all_rows(self.plan, buckets=BUCKETS))

    def _make(self, steps: Sequence[Step]) -> None:
        for step in steps:
            self.memory.run(f"CREATE OR REPLACE TEMP TABLE {step.name} AS {step.sql}")

    def _difference(self, fresh: str, stored: str) -> None:
        self._make([Step("fresh", fresh), Step("stored", stored)])
        gone, added = self._text("difference", lambda: difference(self.plan))
        self._make([Step("gone", gone), Step("added", added)])
        self._write()

    def _write(self) -> None:
        [(count, distinct)] = self.memory.rows(f"SELECT count(*), count(DISTINCT {quoted(RID)}) FROM gone")
        assert count == distinct
        [(deleted,)] = self.memory.rows(
            f"DELETE FROM {self.name} WHERE {quoted(RID)} IN (SELECT {quoted(RID)} FROM gone)"
        )
        assert deleted == count
        self.written = (deleted, self._add("SELECT * FROM added"))

    def _add(self, sql: str) -> int:
        names = ", ".join(quoted(column.name) for column in self.plan.layout.columns)
        ids = f"nextval({literal(f'{self.name}_ids')})"
        [(count,)] = self.memory.rows(f"INSERT INTO {self.name} SELECT {ids}, {names} FROM ({sql})")
        return count


def compare(mine: list[tuple[Any, ...]], truth: list[tuple[Any, ...]]) -> str | None:
    """How two multisets of rows differ, in words; None if they do not."""
    extra, missing = without(mine, truth), without(truth, mine)
    if are_close(extra, missing):
        return None
    return f"{len(extra)} too many {extra[:5]}, {len(missing)} missing {missing[:5]}"


def without(left: list[tuple[Any, ...]], right: list[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
    """The rows of one side that the other has not, each as often as it has not."""
    rest = Counter(map(repr, right))
    found: list[tuple[Any, ...]] = []
    for row in left:
        rest[repr(row)] -= 1
        if rest[repr(row)] < 0:
            found.append(row)
    return found


def are_close(left: list[tuple[Any, ...]], right: list[tuple[Any, ...]]) -> bool:
    """Whether rows differ only in the last digits of floats."""
    if len(left) != len(right):
        return False
    rest = list(right)
    for row in left:
        match = next((other for other in rest if all(map(_is_close, row, other))), None)
        if match is None:
            return False
        rest.remove(match)
    return True


def _is_close(left: Any, right: Any) -> bool:
    if isinstance(left, float) and isinstance(right, float):
        return math.isclose(left, right, rel_tol=1e-9, abs_tol=1e-12) or (math.isnan(left) and math.isnan(right))
    return bool(left == right)

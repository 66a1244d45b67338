"""Tables and queries of TPC-H and TPC-DS, from the extensions of DuckDB that make them. No text of them is kept here.

The outermost ORDER BY and LIMIT of a query are for the screen: a table has no order, and the first hundred rows of an
order with ties are not one result. ``Query.table`` is the query without them.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from random import Random
from typing import Any, Literal

import duckdb

from catchment.lake.duck.extensions import extension_file
from catchment.lake.names import literal, quoted

Name = Literal["tpch", "tpcds"]
NAMES: tuple[Name, ...] = ("tpch", "tpcds")
SCALE = 0.01
_MAKERS = {"tpch": "dbgen", "tpcds": "dsdgen"}
_SCREEN = ("ORDER_MODIFIER", "LIMIT_MODIFIER")


CALENDAR = frozenset(
    {"d_date", "d_month_seq", "d_week_seq", "d_quarter_seq", "d_year", "d_dow", "d_moy", "d_dom", "d_qoy"}
)
"""Queries take the month or the week of a day as a value: with two of them the query itself would fail."""


@dataclass(frozen=True)
class Query:
    """One query: ``text`` as the benchmark has it, ``table`` without what is for the screen."""

    benchmark: Name
    number: int
    text: str
    table: str

    def __str__(self) -> str:
        return f"{self.benchmark} {self.number}"


@cache
def queries(benchmark: Name) -> dict[int, Query]:
    """All queries of a benchmark, by number."""
    with _generator() as con:
        found = con.execute(f"SELECT query_nr, query FROM {benchmark}_queries() ORDER BY query_nr").fetchall()
        return {number: Query(benchmark, number, _plain(text), _table(con, _plain(text))) for number, text in found}


def generate(benchmark: Name, con: duckdb.DuckDBPyConnection, schema: str, *, scale: float = SCALE) -> list[str]:
    """Make the tables of a benchmark in a schema of a DuckDB in memory; returns their names."""
    con.execute(f"LOAD {literal(str(extension_file(benchmark)))}")
    con.execute(f"CREATE SCHEMA {quoted(schema)}")
    con.execute(f"CALL {_MAKERS[benchmark]}(sf = {scale}, schema = {literal(schema)})")
    return [name for (name,) in con.execute(_TABLES, [schema]).fetchall()]


_TABLES = "SELECT table_name FROM duckdb_tables() WHERE schema_name = ? ORDER BY table_name"


@dataclass
class Changes:
    """Random statements over one table. Values come from other rows of it, so that joins still meet.

    ``rid`` is the expression by which rows are told apart, ``insert`` what stands before the columns of a new row.
    """

    random: Random
    table: str
    columns: list[str]
    rid: str
    insert: str = ""

    def statements(self, rows: int, share: float = 0.01) -> list[str]:
        """One window: some rows go, some change, some come. Small tables change too, but rarely lose their last row."""
        least = max(1, round(rows * share))
        found = [self._update(least)]
        if not CALENDAR & set(self.columns):
            found.append(self._copy(least))
        if rows > 5:
            found.append(f"DELETE FROM {self.table} WHERE {self._some(least)}")
        self.random.shuffle(found)
        return found

    def _some(self, count: int) -> str:
        seed = self.random.randrange(10**6)
        return (
            f"{self.rid} IN (SELECT {self.rid} FROM {self.table} ORDER BY hash({self.rid} + {seed}), {self.rid}"
            f" LIMIT {count})"
        )

    def _update(self, count: int) -> str:
        """Up to three columns each get the value that another row has in them."""
        able = [name for name in self.columns if name not in CALENDAR]
        chosen = self.random.sample(able, min(len(able), self.random.randint(1, 3)))
        sets = ", ".join(f"{quoted(name)} = ({self._value(name)})" for name in chosen)
        return f"UPDATE {self.table} SET {sets} WHERE {self._some(count)}"

    def _value(self, name: str) -> str:
        seed = self.random.randrange(10**6)
        return f"SELECT {quoted(name)} FROM {self.table} ORDER BY hash({self.rid} + {seed}), {self.rid} LIMIT 1"

    def _copy(self, count: int) -> str:
        """New rows: existing ones with one column of another."""
        changed = self.random.choice(self.columns)
        listed = ", ".join(f"({self._value(name)})" if name == changed else quoted(name) for name in self.columns)
        return f"INSERT INTO {self.table} SELECT {self.insert}{listed} FROM {self.table} WHERE {self._some(count)}"


def _generator() -> duckdb.DuckDBPyConnection:
    con = duckdb.connect(config={"threads": 1})
    for name in NAMES:
        con.execute(f"LOAD {literal(str(extension_file(name)))}")
    return con


def _plain(text: str) -> str:
    return text.strip().rstrip(";").strip()


def _table(con: duckdb.DuckDBPyConnection, text: str) -> str:
    [(serialised,)] = con.execute("SELECT json_serialize_sql(?)", [text]).fetchall()
    tree: dict[str, Any] = json.loads(serialised)
    node = tree["statements"][0]["node"]
    kept = [modifier for modifier in node["modifiers"] if modifier["type"] not in _SCREEN]
    if len(kept) == len(node["modifiers"]):
        return text
    node["modifiers"] = kept
    [(again,)] = con.execute("SELECT json_deserialize_sql(?)", [json.dumps(tree)]).fetchall()
    return again

"""One random case: tables, definitions, windows of changes; every refresh is compared with the definition.

A case that fails is kept as a script, which can be played again and made smaller until nothing can be left out.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from random import Random

import duckdb
import sqlglot
from sqlglot import exp

from catchment.errors import TableRefused
from tests.lake.fuzz.edits import edit, fill
from tests.lake.fuzz.generate import Generator
from tests.lake.fuzz.memory import Dynamic, Memory


@dataclass(frozen=True)
class Script:
    """A case with one definition, in words that can be played again."""

    seed: int
    tables: tuple[tuple[str, tuple[tuple[str, str], ...]], ...]
    rows: tuple[str, ...]
    rounds: tuple[tuple[str, ...], ...]
    query: str
    use_delta: bool

    def play(self, memory: Memory) -> str | None:
        """The error that it ends with, if it does."""
        memory.drop()
        for name, columns in self.tables:
            memory.make(name, dict(columns))
        for statement in self.rows:
            memory.run(statement)
        memory.keep()
        try:
            table = Dynamic(memory, self.query, use_delta=self.use_delta)
            table.check()
            for statements in self.rounds:
                for statement in statements:
                    memory.run(statement)
                table.refresh()
                table.check()
                memory.keep()
        except Exception as error:  # whatever it is, it is the finding
            return _words(error)
        return None

    def text(self) -> str:
        """As SQL, for people."""
        lines = [f"-- seed {self.seed}, delta-apply {'on' if self.use_delta else 'off'}"]
        lines += [
            f"-- src{number}: {name} {dict(columns)}" for number, (name, columns) in enumerate(self.tables, start=1)
        ]
        lines += [f"{statement};" for statement in self.rows]
        lines += ["-- the definition", f"{self.query};"]
        for number, statements in enumerate(self.rounds, start=1):
            lines += [f"-- round {number}", *(f"{statement};" for statement in statements)]
        return "\n".join(lines)


class Finding(AssertionError):
    """A table is not what its definition gives, or could not be refreshed."""

    def __init__(self, script: Script, error: str) -> None:
        super().__init__(f"{error}\n{script.text()}")
        self.script = script
        self.error = error


@dataclass
class Tally:
    """What was compared: how each refresh was done, and why some are full."""

    refreshes: Counter[str] = field(default_factory=Counter)
    plans: Counter[str] = field(default_factory=Counter)

    @property
    def comparisons(self) -> int:
        return self.refreshes.total()


def run_case(seed: int, memory: Memory, tally: Tally, *, definitions: int = 4, rounds: int = 8) -> None:
    """Make the case of a seed and refresh it; Finding when something is wrong."""
    generator = Generator(Random(seed))
    memory.drop()
    rows: list[str] = []
    for name, columns in generator.schema().items():
        rows += _run(memory, fill(generator, memory.make(name, columns)))
    memory.keep()
    tables = tuple((source.name, tuple(source.columns.items())) for source in memory.sources.values())
    made: list[tuple[Dynamic, Script]] = []
    for number in range(definitions):
        query = generator.definition()
        script = Script(seed, tables, tuple(rows), (), query, generator.chance(0.7))
        if _is_valid(memory, query):
            made += _create(memory, f"dt{number}", script, tally, twice=generator.chance(0.1))
    for number in range(rounds):
        statements = tuple(_run(memory, edit(generator, list(memory.sources.values()))))
        made = [(table, replace(script, rounds=(*script.rounds, statements))) for table, script in made]
        for table, script in made:
            _refresh(table, script, tally, hidden=number % 4 == 3)
        memory.keep()


def _run(memory: Memory, statements: list[str]) -> list[str]:
    for statement in statements:
        memory.run(statement)
    return statements


def shrink(script: Script, memory: Memory, *, seconds: float = 60) -> Script:
    """The smallest script found that still fails, in this time."""
    until = time.monotonic() + seconds
    is_smaller = True
    while is_smaller and time.monotonic() < until:
        is_smaller = False
        for candidate in _smaller(script):
            if time.monotonic() > until:
                break
            if _is_finding(candidate.play(memory)):
                script, is_smaller = candidate, True
                break
    return script


def _is_valid(memory: Memory, query: str) -> bool:
    """DuckDB itself does not plan every query: some correlations are not implemented, some trip its optimizer."""
    try:
        memory.rows(query)
    except duckdb.Error:
        return False
    return True


def _create(memory: Memory, name: str, script: Script, tally: Tally, *, twice: bool) -> list[tuple[Dynamic, Script]]:
    try:
        table = Dynamic(memory, script.query, name=name, use_delta=script.use_delta, twice=twice)
        table.check()
    except TableRefused as error:
        tally.plans[f"refused {error.code}"] += 1
        return []
    except Exception as error:
        raise Finding(script, f"at create: {_words(error)}") from error
    tally.plans[str(table.plan.reason or table.plan.strategy)] += 1
    return [(table, script)]


def _refresh(table: Dynamic, script: Script, tally: Tally, *, hidden: bool) -> None:
    try:
        how = table.refresh()
        table.check(hidden=hidden)
    except Exception as error:
        raise Finding(script, f"{_words(error)}\nlast statement: {table.memory.last}") from error
    tally.refreshes[how] += 1


def _words(error: Exception) -> str:
    return f"{type(error).__name__}: {str(error).split('Stack Trace')[0]}"


def _is_finding(error: str | None) -> bool:
    """A query that DuckDB refuses is no smaller case, unless that is the finding."""
    return error is not None and error.startswith(
        ("Mismatch", "AssertionError", "ParserException", "InternalException")
    )


def _smaller(script: Script) -> Iterator[Script]:
    for place in range(len(script.rounds)):
        yield replace(script, rounds=script.rounds[:place] + script.rounds[place + 1 :])
    for place, statements in enumerate(script.rounds):
        for number in range(len(statements)):
            shorter = statements[:number] + statements[number + 1 :]
            yield replace(script, rounds=(*script.rounds[:place], shorter, *script.rounds[place + 1 :]))
    for query in _smaller_queries(script.query):
        yield replace(script, query=query)
    for place in range(len(script.rows)):
        yield replace(script, rows=script.rows[:place] + script.rows[place + 1 :])


def _smaller_queries(query: str) -> Iterator[str]:
    """The query with one thing left out."""
    size = len(list(sqlglot.parse_one(query, read="duckdb").walk()))
    for place in range(size):
        for change in (_leave_out, _only_left, _only_right, _only_first):
            tree = sqlglot.parse_one(query, read="duckdb")
            node = list(tree.walk())[place]
            if change(node):
                yield tree.sql(dialect="duckdb")


def _leave_out(node: exp.Expr) -> bool:
    parent = node.parent
    if isinstance(node, (exp.Where, exp.Having, exp.Qualify, exp.Join, exp.Distinct)):
        node.pop()
        return True
    if isinstance(parent, exp.Select) and node.arg_key == "expressions" and len(parent.expressions) > 1:
        node.pop()
        return True
    return False


def _only_left(node: exp.Expr) -> bool:
    return _replace(node, node.args.get("this") if isinstance(node, (exp.Binary, exp.Union, exp.Paren)) else None)


def _only_right(node: exp.Expr) -> bool:
    return _replace(node, node.args.get("expression") if isinstance(node, (exp.Binary, exp.Union)) else None)


def _only_first(node: exp.Expr) -> bool:
    """A call or a CASE by its first argument."""
    if isinstance(node, exp.Case):
        return _replace(node, node.args["ifs"][0].args.get("true"))
    first = node.args.get("this") if isinstance(node, exp.Func) else None
    return _replace(node, first if isinstance(first, exp.Expr) else None)


def _replace(node: exp.Expr, by: object) -> bool:
    if not isinstance(by, exp.Expr) or node.parent is None:
        return False
    node.replace(by.copy())
    return True

"""Random changes of source tables between two refreshes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from catchment.lake.names import quoted
from tests.lake.fuzz.generate import Generator


class Editable(Protocol):
    """A source table in SQL: its name, its row id, and the ways in which it differs from another kind of table."""

    @property
    def new(self) -> str: ...

    @property
    def rid(self) -> str: ...

    @property
    def columns(self) -> Mapping[str, str]: ...

    def insert(self, row: str) -> str:
        """The statement that inserts a row of literals."""
        ...

    def copy(self, where: str) -> str:
        """The statement that inserts rows equal to some of its own, under new row ids."""
        ...


def fill(generator: Generator, source: Editable, *, most: int = 10) -> list[str]:
    """Statements that give a new table its first rows."""
    return _insert(generator, source, generator.random.randint(0, most))


def edit(generator: Generator, sources: Sequence[Editable]) -> list[str]:
    """One window of changes: nothing, one statement or many, in one table or several."""
    random = generator.random
    found: list[str] = []
    for source in random.sample(list(sources), random.choice([0, 1, 1, 2, *[len(sources)] * 4])):
        for _ in range(random.choice([1, 1, 2, 3])):
            found += _statements(generator, source)
    return found


def _statements(generator: Generator, source: Editable) -> list[str]:
    random = generator.random
    kind = random.choice(["insert"] * 4 + ["update"] * 4 + ["delete", "same", "copy", "clear", "move", "move"])
    if kind == "insert":
        return _insert(generator, source, random.randint(1, 3))
    if kind == "copy":
        return [source.copy(f"{source.rid} % 3 = {random.randint(0, 2)}")]
    if kind == "clear":
        where = (
            "" if random.random() < 0.15 else f" WHERE {quoted('k')} IS NOT DISTINCT FROM {generator.value('BIGINT')}"
        )
        return [f"DELETE FROM {source.new}{where}"]
    where = f" WHERE {source.rid} % {random.randint(1, 4)} = 0"
    if kind == "delete":
        return [f"DELETE FROM {source.new}{where}"]
    column = random.choice(list(source.columns))
    if kind == "same":
        return [f"UPDATE {source.new} SET {quoted(column)} = {quoted(column)}{where}"]
    if kind == "move":
        return [f"UPDATE {source.new} SET {quoted('k')} = {quoted('k')} + 1{where}"]
    return [f"UPDATE {source.new} SET {quoted(column)} = {generator.value(source.columns[column])}{where}"]


def _insert(generator: Generator, source: Editable, count: int) -> list[str]:
    return [source.insert(generator.row(dict(source.columns))) for _ in range(count)]

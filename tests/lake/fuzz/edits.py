"""Random changes of source tables between two refreshes."""

from __future__ import annotations

from random import Random

from catchment.lake.names import RID, quoted
from tests.lake.fuzz.generate import Generator
from tests.lake.fuzz.memory import Memory, Source


def fill(memory: Memory, generator: Generator, *, most: int = 10) -> list[str]:
    """Make the tables of a case and give them rows. Returns the statements that did."""
    done: list[str] = []
    for name, columns in generator.schema().items():
        source = memory.make(name, columns)
        done += _insert(memory, generator, source, generator.random.randint(0, most))
    return done


def edit(memory: Memory, generator: Generator) -> list[str]:
    """One window of changes: nothing, one statement or many, in one table or several. Returns the statements."""
    random = generator.random
    done: list[str] = []
    sources = list(memory.sources.values())
    for source in random.sample(sources, random.choice([0, 1, 1, 2, *[len(sources)] * 4])):
        for _ in range(random.choice([1, 1, 2, 3])):
            done += _statement(memory, generator, source)
    return done


def _statement(memory: Memory, generator: Generator, source: Source) -> list[str]:
    random = generator.random
    kind = random.choice(["insert"] * 4 + ["update"] * 4 + ["delete", "same", "copy", "clear", "move", "move"])
    if kind == "insert":
        return _insert(memory, generator, source, random.randint(1, 3))
    if kind == "copy":
        return _copy(memory, source, random)
    if kind == "clear":
        where = (
            "" if random.random() < 0.15 else f" WHERE {quoted('k')} IS NOT DISTINCT FROM {generator.value('BIGINT')}"
        )
        return _run(memory, f"DELETE FROM {source.new}{where}")
    where = f" WHERE {quoted(RID)} % {random.randint(1, 4)} = 0"
    if kind == "delete":
        return _run(memory, f"DELETE FROM {source.new}{where}")
    column = random.choice(list(source.columns))
    if kind == "same":
        return _run(memory, f"UPDATE {source.new} SET {quoted(column)} = {quoted(column)}{where}")
    if kind == "move":
        return _run(memory, f"UPDATE {source.new} SET {quoted('k')} = {quoted('k')} + 1{where}")
    value = generator.value(source.columns[column])
    return _run(memory, f"UPDATE {source.new} SET {quoted(column)} = {value}{where}")


def _insert(memory: Memory, generator: Generator, source: Source, count: int) -> list[str]:
    done: list[str] = []
    for _ in range(count):
        done += _run(
            memory, f"INSERT INTO {source.new} VALUES ({source.next_rid}, {generator.row(dict(source.columns))})"
        )
        source.next_rid += 1
    return done


def _copy(memory: Memory, source: Source, random: Random) -> list[str]:
    """Rows equal to others, under new row ids."""
    names = ", ".join(quoted(name) for name in source.columns)
    first = source.next_rid
    source.next_rid += 1000
    remainder = random.randint(0, 2)
    return _run(
        memory,
        f"INSERT INTO {source.new} SELECT {first} + row_number() OVER (ORDER BY {quoted(RID)}), {names}"
        f" FROM {source.new} WHERE {quoted(RID)} % 3 = {remainder} ORDER BY {quoted(RID)} LIMIT 3",
    )


def _run(memory: Memory, sql: str) -> list[str]:
    memory.run(sql)
    return [sql]

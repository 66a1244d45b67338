"""How rows of a big source are tied to the changes of another one: along plain equalities, from table to table.

A row of a join that a change of one source has made or ended is made of rows that are tied to the changed row. So the
rows of a source that lie on the way from the changes, whatever else the definition asks of them, are all that a term
reads of it (``near``). Only tables and columns are named, so definitions that have nothing else in common have ways in
common.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass

from sqlglot import exp

from catchment.lake.delta.joins import is_clock
from catchment.lake.delta.near import FEW_VALUES, MANY_ROWS, wanted_path
from catchment.lake.delta.paths import rows_of, ties_between
from catchment.lake.delta.plan import Plan
from catchment.lake.delta.relation import Block, Table


@dataclass(frozen=True, slots=True)
class Hop:
    """A column of a table that equals ``other``, a column of the table with the number ``to``."""

    column: str
    to: int
    other: str


Way = tuple[Hop, ...]


@dataclass(frozen=True, slots=True)
class Tied:
    """Rows of a source that meet a changed row of another are found along ``way``; None: not by plain equalities of one
    column each, or by too loose ones. Both are numbers of tables, so each mention of a table counts."""

    source: int
    changed: int
    way: Way | None


def find_ways(plan: Plan, many: int = MANY_ROWS) -> tuple[Tied, ...]:
    """For each source with ``many`` rows of a join whose sums are carried forward, and each other source. If a
    table is mentioned twice, only one mention may be tied: then rows on its way are not all that terms read."""
    block = plan.parts[0].block
    if plan.strategy != "delta" or any(map(is_clock, block.sources)):
        return ()
    ties: list[Tied] = []
    for source in block.sources:
        if not isinstance(source.relation, Table) or rows_of(source.relation) < max(many, MANY_ROWS):
            continue
        for term, changed in enumerate(block.sources):
            if changed is source or not isinstance(changed.relation, Table):
                continue
            wanted = wanted_path(block, source, term)
            way = None if wanted is None else _find_way(block, source.alias, changed.alias, wanted[1].kept)
            ties.append(Tied(source.relation.occurrence, changed.relation.occurrence, way))
    return tuple(dict.fromkeys(ties))


def _find_way(block: Block, start: str, target: str, kept: frozenset[str]) -> Way | None:
    """The shortest way through these sources. One that comes to a table twice needs its own rows to find them."""
    tables = {source.alias: source.relation for source in block.sources}
    before: dict[str, tuple[str, Hop]] = {}
    queue = deque([start])
    while queue and target not in before:
        alias = queue.popleft()
        for other in sorted(kept - {start} - set(before)):
            tie, table = _tightest(block, alias, other), tables[other]
            if tie is not None and isinstance(table, Table):
                before[other] = (alias, Hop(tie[0].name, table.occurrence, tie[1].name))
                queue.append(other)
    if target not in before:
        return None
    hops: list[Hop] = []
    alias = target
    while alias != start:
        alias, hop = before[alias]
        hops.insert(0, hop)
    relation = tables[start]
    visited = [relation.occurrence if isinstance(relation, Table) else 0, *(hop.to for hop in hops)]
    return tuple(hops) if len(set(visited)) == len(visited) else None


def _tightest(block: Block, alias: str, other: str) -> tuple[exp.Column, exp.Column] | None:
    """The pair of equal columns of two sources that has the most values; None where a value has too many rows."""
    values, tie = max(ties_between(block, alias, other), key=lambda tie: tie[0], default=(0, None))
    return tie if values >= FEW_VALUES else None

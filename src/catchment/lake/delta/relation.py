"""A definition as a tree of relations, which is what the algebra of changes works on.

A *block* is one SELECT: its sources in join order, and what is done with their rows. A source is a table of the lake,
another block, a UNION ALL of blocks, or something that is only ever computed as it stands. All trees hold columns
named with their source and quoted identifiers; none holds its own FROM, ``render`` puts that back for one version.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from sqlglot import exp

from catchment.lake.names import RID
from catchment.lake.query import clock
from catchment.lake.query.trees import owners
from catchment.lake.types import SourceTable

JoinKind = Literal["from", "inner", "cross", "left", "full", "semi", "anti"]
BlockKind = Literal["rows", "group", "distinct", "window", "global"]


@dataclass(frozen=True, slots=True, eq=False)
class Table:
    """A table of the lake. Every mention of one table shares its number, so it is read and differenced once.

    SQL text calls it ``o<occurrence>_new``, ``_old`` and ``_delta``; these have the columns in ``used``, and ``__rid``
    when ``wants_rid``.
    """

    occurrence: int
    table: SourceTable
    used: tuple[str, ...] = ()
    wants_rid: bool = False

    @property
    def is_clock(self) -> bool:
        """Whether it stands for the clock: one row, another one at each refresh."""
        return self.table is clock.TABLE


@dataclass(frozen=True, slots=True, eq=False)
class Opaque:
    """A query that is computed as it is written: VALUES, or a whole definition that is refreshed fully."""

    tree: exp.Query | exp.Values
    columns: tuple[str, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Lateral:
    """Rows that are made of each row of the sources before it: UNNEST, or a LATERAL query that reads no table.

    It never changes by itself, and it needs the sources whose columns it mentions.
    """

    tree: exp.Unnest | exp.Lateral

    @property
    def needs(self) -> frozenset[str]:
        """The aliases of the sources that it is made of."""
        return owners([self.tree])


@dataclass(frozen=True, slots=True, eq=False)
class UnionAll:
    """The rows of several blocks; the columns have the names of the first.

    ``is_uniform``: the branches have the same types. Otherwise DuckDB casts them to common ones, and a value of the
    union must not be compared with a column of a branch.
    """

    id: int
    branches: tuple[Block, ...]
    is_uniform: bool

    @property
    def outputs(self) -> tuple[str, ...]:
        return self.branches[0].outputs


@dataclass(frozen=True, slots=True, eq=False)
class Source:
    """A relation under its alias, joined to all sources before it. ``semi`` and ``anti`` only filter these."""

    alias: str
    relation: Relation
    join: JoinKind
    on: exp.Expr | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Block:
    """One SELECT without its FROM.

    ``key`` is computed from source rows, before grouping: the rows of the result that have a key depend on nothing but
    the source rows that have it.
    """

    id: int
    tree: exp.Select
    sources: tuple[Source, ...]
    kind: BlockKind
    key: tuple[exp.Expr, ...]

    @property
    def outputs(self) -> tuple[str, ...]:
        return tuple(projection.alias_or_name for projection in self.tree.expressions)

    def projection(self, name: str) -> exp.Expr:
        """The expression behind an output."""
        return next(item.unalias() for item in self.tree.expressions if item.alias_or_name == name)

    def kept_aliases(self) -> frozenset[str]:
        """Sources whose columns never turn NULL by an outer join: a filter on them may move to their scan."""
        kept = {source.alias for source in self.sources if source.join in ("from", "inner", "cross")}
        if any(source.join == "full" for source in self.sources):
            kept.discard(self.sources[0].alias)
        return frozenset(kept)


Relation = Table | Opaque | Lateral | UnionAll | Block


def tables_below(relation: Relation) -> Iterator[Table]:
    """The tables that a relation reads, each as often as it is mentioned."""
    if isinstance(relation, Table):
        yield relation
    elif isinstance(relation, UnionAll):
        for branch in relation.branches:
            yield from tables_below(branch)
    elif isinstance(relation, Block):
        for source in relation.sources:
            yield from tables_below(source.relation)


def blocks_below(relation: Relation) -> Iterator[Block]:
    """The queries that a relation is made of, itself included."""
    if isinstance(relation, UnionAll):
        for branch in relation.branches:
            yield from blocks_below(branch)
    elif isinstance(relation, Block):
        yield relation
        for source in relation.sources:
            yield from blocks_below(source.relation)


def wants_rid(number: int, blocks: Sequence[Block]) -> bool:
    """Whether the row ids of a table are requested."""
    return any(
        isinstance(source.relation, Table) and source.relation.occurrence == number and _asks_rid(below, source.alias)
        for block in blocks
        for below in blocks_below(block)
        for source in below.sources
    )


def _asks_rid(block: Block, alias: str) -> bool:
    trees = [*block.key, *block.tree.expressions]
    return any(
        mention.name == RID and mention.table == alias for tree in trees for mention in tree.find_all(exp.Column)
    )


def is_changed(relation: Relation, changed: frozenset[int]) -> bool:
    """Whether one of the tables below has changed."""
    return any(table.occurrence in changed for table in tables_below(relation))

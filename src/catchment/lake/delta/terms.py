"""Which keys a change touches.

For every relation there is a *support*: a set of rows that contains each row whose multiplicity differs between the old
and the new version, as it is at one of them. Too many rows are harmless, a missing one leaves the table wrong forever.
The support of a table is its delta. Those of blocks are built from the supports of their sources, one source at a time:
the sources before it are read as they are now, those after it as they were. One side of every join is thus the old one,
which is what finds rows whose partners went in the same window.

An outer join is linear in its preserved side only. For a change of the other side, the preserved rows that meet a
changed row are looked up and joined again, with the other side as it was and as it is: NULL-extended rows that
appear or vanish are among the results.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from sqlglot import exp

from catchment.lake.delta.column_types import ALIKE
from catchment.lake.delta.joins import clock_term, everything, inner_term, is_clock, key_terms, term_weight
from catchment.lake.delta.near import NONE, Reached, find_near
from catchment.lake.delta.plan import Part, Plan
from catchment.lake.delta.relation import Block, Relation, Source, Table, UnionAll, is_changed
from catchment.lake.delta.render import Joined, Keys, Renderer, Version, put_from
from catchment.lake.names import WEIGHT
from catchment.lake.query.trees import (
    add_where,
    attempt,
    cast,
    column,
    last_text,
    named,
    number,
    query_as,
    select,
    table_as,
    text,
    union_all,
)


@dataclass(frozen=True, slots=True)
class Step:
    """A temporary table to make, in order: CREATE TEMP TABLE name AS sql."""

    name: str
    sql: str


def affected(plan: Plan, changed: frozenset[int]) -> list[Step]:
    """The steps that end in ``akeys_<part>`` for every part, with columns k1, k2, … of the stored types."""
    maker = _Maker(Renderer(changed))
    for part in plan.parts:
        maker.part_keys(part, plan.layout.key_types(part.number))
    return maker.steps


def signed_terms(
    block: Block,
    changed: frozenset[int],
    items: Sequence[exp.Expr],
    reached: Mapping[int, Reached] = NONE,
) -> tuple[list[Step], list[exp.Select]]:
    """Queries whose rows, with weight ``__w``, are the exact change of the joined source rows; and the steps before
    them, of which they read.

    Only for inner joins of tables, where the change of a join is the sum of these terms. ``reached`` as in ``near``.
    """
    renderer = Renderer(changed)
    near = find_near(block, renderer, table_delta, reached)
    queries: list[exp.Select] = []
    for index, source in enumerate(block.sources):
        if not is_changed(source.relation, changed):
            continue
        if is_clock(source):
            queries.append(clock_term(block, index, renderer, items, WEIGHT))
            continue
        path = everything(block, [*items, named(term_weight(block, index, renderer, near.ranks), WEIGHT)])
        queries.append(inner_term(block, index, renderer, table_delta, path, near.ranks, near.at(index)))
    return [Step(name, last_text(query)) for name, query in near.tables.items()], queries


@dataclass
class _Maker:
    """Collects steps; equal queries (a CTE that is used twice) share one table."""

    renderer: Renderer
    steps: list[Step] = field(default_factory=list[Step])
    names: dict[str, str] = field(default_factory=dict[str, str])

    def part_keys(self, part: Part, types: Sequence[str]) -> None:
        name, keys = f"akeys_{part.number}", zip(part.block.key, types, strict=True)
        items: list[exp.Expr] = [named(cast(key.copy(), kind), f"k{i}") for i, (key, kind) in enumerate(keys, start=1)]
        if not items:
            items = [named(exp.true(), "k0")]
        self.steps.append(Step(name, last_text(self._projected(part.block, items))))

    def delta(self, relation: Relation) -> str:
        """The name of the table that holds a relation's support."""
        if isinstance(relation, Table):
            return table_delta(relation)
        if isinstance(relation, UnionAll):
            return self._add(f"u{relation.id}_delta", self._union_delta(relation))
        if not isinstance(relation, Block):
            raise TypeError(f"{type(relation).__name__} never changes")
        if relation.kind in ("rows", "distinct"):
            outputs = zip(relation.tree.expressions, relation.outputs, strict=True)
            items = [named(attempt(projection.unalias().copy()), name) for projection, name in outputs]
            return self._add(f"b{relation.id}_delta", self._projected(relation, items, relation.outputs))
        return self._add(f"b{relation.id}_delta", self._recomputed(relation))

    def _add(self, name: str, query: exp.Query) -> str:
        sql = last_text(query)
        if sql not in self.names:
            self.names[sql] = name
            self.steps.append(Step(name, sql))
        return self.names[sql]

    def _projected(self, block: Block, items: Sequence[exp.Expr], outputs: Sequence[str] = ()) -> exp.Query:
        """These expressions over the support of the block's joined source rows, each result once. Two that are alike
        are one key, but two outputs: an expression over them may show the difference."""
        queries: dict[str, exp.Query] = {}
        for term in self._all_terms(block, items):
            queries.setdefault(text(term), term)
        if not queries:
            return add_where(self._nothing(block, items), exp.false())
        source = query_as(union_all(list(queries.values())), "__t")
        if outputs:
            return _once(select([column(name) for name in outputs], source))
        return exp.Select(expressions=[exp.Star()], from_=exp.From(this=source), distinct=exp.Distinct())

    def _all_terms(self, block: Block, items: Sequence[exp.Expr]) -> Iterator[exp.Select]:
        for index, source in enumerate(block.sources):
            if is_changed(source.relation, self.renderer.changed):
                yield from key_terms(block, index, self.renderer, self.delta, items)

    def _nothing(self, block: Block, items: Sequence[exp.Expr]) -> exp.Select:
        query = exp.Select(expressions=[item.copy() for item in items])
        put_from(query, [self._item(source) for source in block.sources])
        return query

    def _item(self, source: Source) -> Joined:
        return Joined(self.renderer.item(source.relation, source.alias, "new")[0], source.join, source.on)

    def _recomputed(self, block: Block) -> exp.Query:
        """The rows of the touched groups that are not the same before and after."""
        keys = None
        if block.key:
            items = [named(key.copy(), f"k{i + 1}") for i, key in enumerate(block.key)]
            table = self._add(f"b{block.id}_keys", self._projected(block, items))
            keys = Keys(table, tuple((f"k{i + 1}", key) for i, key in enumerate(block.key)))
        versions: tuple[tuple[Version, int], ...] = (("new", 1), ("old", -1))
        both = [
            select(
                [exp.Star(), named(number(weight), WEIGHT)], query_as(self.renderer.block(block, version, keys), "__v")
            )
            for version, weight in versions
        ]
        query = _once(select([column(name) for name in block.outputs], query_as(union_all(both), "__t")))
        query.set("having", exp.Having(this=exp.NEQ(this=exp.Sum(this=column(WEIGHT)), expression=number(0))))
        return query

    def _union_delta(self, union: UnionAll) -> exp.Query:
        """The union itself comes first, without a row: it gives the columns their names and common types."""
        whole, _ = self.renderer.item(union, "__u", "new")
        queries: list[exp.Query] = [select([exp.Star()], whole, exp.false())]
        for branch in union.branches:
            if is_changed(branch, self.renderer.changed):
                queries.append(select([exp.Star()], table_as(self.delta(branch), "__v")))
        return union_all(queries)


def _once(query: exp.Select) -> exp.Select:
    """Group the rows by all columns. Values that are alike do not fall into one group; DuckDB leaves the CASE out where
    the type has none."""
    columns = [item.copy() for item in query.expressions]
    texts: list[exp.Expr] = []
    for item in columns:
        is_alike = _call("regexp_matches", _call("typeof", item), exp.Literal.string(ALIKE))
        texts.append(exp.Case(ifs=[exp.If(this=is_alike, true=cast(item.copy(), "VARCHAR"))]))
    query.set("group", exp.Group(expressions=[*columns, *texts]))
    return query


def _call(name: str, *arguments: exp.Expr) -> exp.Expr:
    return exp.Anonymous(this=name, expressions=[argument.copy() for argument in arguments])


def table_delta(relation: Relation) -> str:
    """The name of the table with the changes of a table of the lake."""
    if not isinstance(relation, Table):
        raise TypeError("only a table has its own delta")
    return f"o{relation.occurrence}_delta"

"""The terms of one block for one changed source: FROM and WHERE over deltas, old and new versions.

| the changed source | sources before | itself | sources after | and only rows that |
|---|---|---|---|---|
| from, inner, cross | new | delta | old | |
| left | new | old; new | old | meet a row of the delta |
| semi, anti | new | omitted | old | meet a row of the delta |
| FULL, the left side | | delta LEFT JOIN old; new | old | |
| | | old; new RIGHT JOIN old; new | old | meet a row of the delta |
| the clock, in conditions only | new | old and new | | pass at one of the moments and not at the other |
| FULL, the right side | | old; new RIGHT JOIN delta | old | |
| | | old; new LEFT JOIN old; new | old | meet a row of the delta |
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from types import MappingProxyType

from sqlglot import exp

from catchment.lake.delta.paths import Path, are_plain, equal_in, find_path
from catchment.lake.delta.relation import Block, Relation, Source, Table, is_changed
from catchment.lake.delta.render import Joined, Renderer, Version, narrowed, put_from
from catchment.lake.names import WEIGHT
from catchment.lake.query.trees import (
    add_where,
    all_of,
    column,
    conjuncts,
    exists,
    moved,
    named,
    number,
    owners,
    query_as,
    select,
    table_as,
    union_all,
    where_of,
    with_columns,
)

DeltaName = Callable[[Relation], str]
_DELTA_ALIAS = "__d"
_BEFORE = "__before"
_BOTH: tuple[Version, Version] = ("old", "new")


def key_terms(
    block: Block, index: int, renderer: Renderer, delta: DeltaName, items: Sequence[exp.Expr]
) -> Iterator[exp.Select]:
    """Queries that give the items for all joined rows that a change of one source may touch."""
    source = block.sources[index]
    if source.join == "left" and (direct := _from_delta(block, source, items)) is not None:
        query = exp.Select(expressions=direct)
        put_from(query, [Joined(table_as(delta(source.relation), source.alias), "from")])
        yield query
        return
    if is_clock(source):
        yield clock_term(block, index, renderer, items)
        return
    path = find_path(block, index, items)
    terms = _Terms(block, index, renderer, delta, path)
    if source.join == "full" or (index == 0 and len(block.sources) > 1 and block.sources[1].join == "full"):
        yield from terms.full()
    elif source.join in ("from", "inner", "cross"):
        yield terms.linear()
    elif source.join == "left" and source.alias in path.kept:
        yield from terms.left()
    else:
        yield terms.filtered()


def inner_term(
    block: Block,
    index: int,
    renderer: Renderer,
    delta: DeltaName,
    path: Path,
    ranks: Sequence[int],
    near: Mapping[str, str],
) -> exp.Select:
    """The one term of an inner join. With all its sources and ``term_weight``, its rows are exactly the share of this
    change. ``ranks``: the place of each source in the order of the terms; ``near``: tables that take the place of
    sources as they are now.

    Nothing is read as it was. The rows that a source had are those that it has now, and its changes with the opposite
    weight: one scan serves the terms that want the source as it is and those that want it as it was.
    """
    return _Terms(block, index, renderer, delta, path, ranks, near).linear()


def term_weight(block: Block, index: int, renderer: Renderer, ranks: Sequence[int]) -> exp.Expr:
    """The weight of a row of an inner term: the product of those of the rows that it is made of."""
    later = [
        source.alias
        for place, source in enumerate(block.sources)
        if ranks[place] > ranks[index] and is_changed(source.relation, renderer.changed) and not is_clock(source)
    ]
    weight: exp.Expr = column(WEIGHT, block.sources[index].alias)
    for alias in later:
        weight = exp.Mul(this=weight, expression=column(WEIGHT, alias))
    return weight


def everything(block: Block, items: Sequence[exp.Expr]) -> Path:
    """The path that omits no source."""
    return Path(frozenset(source.alias for source in block.sources), tuple(items))


def is_clock(source: Source) -> bool:
    """Whether a source is the clock."""
    return isinstance(source.relation, Table) and source.relation.is_clock


def clock_term(
    block: Block, index: int, renderer: Renderer, items: Sequence[exp.Expr], weight: str | None = None
) -> exp.Select:
    """The rows that a filter by time lets in or out between the two moments; with their weight, if it is wanted.

    The clock stands in conditions only, so a row that passes at both moments, or at none, is no change.
    """
    source = block.sources[index]
    conditions = conjuncts(where_of(block.tree))
    moving = [part for part in conditions if source.alias in owners([part])]
    now = _passes(moving)
    query = exp.Select(expressions=[item.copy() for item in items])
    if weight is not None:
        sign = exp.Case(ifs=[exp.If(this=now.copy(), true=number(1))], default=exp.Neg(this=number(1)))
        query.append("expressions", named(sign, weight))
    joined = [
        Joined(renderer.item(other.relation, other.alias, "new" if place < index else "old")[0], other.join, other.on)
        for place, other in enumerate(block.sources)
        if place != index
    ]
    joined.append(Joined(renderer.item(source.relation, source.alias, "new")[0], "cross"))
    joined.append(Joined(renderer.item(source.relation, _BEFORE, "old")[0], "cross"))
    put_from(query, joined)
    then = _passes([moved(part, source.alias, _BEFORE) for part in moving])
    still = all_of(part for part in conditions if source.alias not in owners([part]))
    return add_where(query, still, exp.NEQ(this=now, expression=then))


def _passes(conditions: Sequence[exp.Expr]) -> exp.Expr:
    """Whether a row passes conditions: not where one of them is NULL."""
    together = all_of(exp.Paren(this=part.copy()) for part in conditions) or exp.true()
    return exp.Anonymous(this="COALESCE", expressions=[together, exp.false()])


class _Terms:
    def __init__(
        self,
        block: Block,
        index: int,
        renderer: Renderer,
        delta: DeltaName,
        path: Path,
        ranks: Sequence[int] = (),
        near: Mapping[str, str] = MappingProxyType({}),
    ) -> None:
        self.ranks = ranks
        self.near = near
        self.block = block
        self.index = index
        self.source = block.sources[index]
        self.renderer = renderer
        self.delta_of = delta
        self.delta = delta(self.source.relation)
        self.path = path

    def linear(self) -> exp.Select:
        return self._term(Joined(table_as(self.delta, self.source.alias), self.source.join, self.source.on))

    def left(self) -> Iterator[exp.Select]:
        for version in _BOTH:
            yield self._term(self._at(self.source, version), meets=self._meets(self.source.on))

    def filtered(self) -> exp.Select:
        return self._term(None, meets=self._meets(self.source.on))

    def full(self) -> Iterator[exp.Select]:
        left, right = self.block.sources[:2]
        meets = self._meets(right.on)
        changed_is_left = self.index == 0
        for version in _BOTH:
            old_or_new = [self._at(left, version), self._at(right, version)]
            changed = [*old_or_new]
            changed[self.index] = Joined(table_as(self.delta, self.source.alias), self.source.join)
            yield self._full_term(changed, "LEFT" if changed_is_left else "RIGHT", None)
            yield self._full_term(old_or_new, "RIGHT" if changed_is_left else "LEFT", meets)

    def _full_term(self, pair: list[Joined], side: str, meets: Joined | None) -> exp.Select:
        first, second = pair
        items = [first, Joined(second.item, second.join, self.block.sources[1].on, side)]
        items += [self._at(source, "old") for source in self.block.sources[2:]]
        return self._select(items, meets)

    def _term(self, own: Joined | None, meets: Joined | None = None) -> exp.Select:
        items: list[Joined] = []
        for position, source in enumerate(self.block.sources):
            if position == self.index:
                items += [own] if own is not None else []
            elif source.alias in self.path.kept:
                items.append(self._at(source, "new" if self._rank(position) < self._rank(self.index) else "old"))
        return self._select(items, meets)

    def _rank(self, position: int) -> int:
        return self.ranks[position] if self.ranks else position

    def _at(self, source: Source, version: Version) -> Joined:
        """In a term with the delta itself, a derived source is only needed where it can meet the delta."""
        if self.ranks and isinstance(source.relation, Table):
            return Joined(self._inner(source, source.relation, version), source.join, source.on)
        is_linear = self.source.join in ("from", "inner", "cross")
        keys = narrowed(self.block, source, self.source.alias, self.delta) if is_linear else None
        return Joined(self.renderer.item(source.relation, source.alias, version, keys)[0], source.join, source.on)

    def _inner(self, source: Source, table: Table, version: Version) -> exp.Expr:
        now = self.near.get(source.alias, f"o{table.occurrence}_new")
        if version == "new" or not is_changed(table, self.renderer.changed):
            return table_as(now, source.alias)
        if table.is_clock:  # it has no changes to undo, it is one row at either moment
            return table_as(f"o{table.occurrence}_old", source.alias)
        present = select([exp.Star(), named(number(1), WEIGHT)], table_as(now, "__now"))
        undone = named(exp.Neg(this=column(WEIGHT)), WEIGHT)
        back = select([exp.Star(except_=[column(WEIGHT)]), undone], table_as(self.delta_of(table), "__back"))
        return query_as(union_all([present, back]), source.alias)

    def _select(self, items: list[Joined], meets: Joined | None) -> exp.Select:
        """Conditions that mention an omitted source are omitted too."""
        query = exp.Select(expressions=[item.copy() for item in self.path.items])
        present = {item.item.alias_or_name for item in items}
        conditions = [part for part in conjuncts(where_of(self.block.tree)) if owners([part]) <= present]
        joined = [self._reduced(item, present) for item in items]
        if joined and joined[0].join in ("inner", "cross"):
            conditions += conjuncts(joined[0].on)
        if meets is not None and joined and meets.on is not None:
            put_from(query, [*joined, meets])
            return add_where(query, all_of(conditions))
        put_from(query, joined)
        return add_where(query, all_of(conditions), exists(meets.item, meets.on) if meets is not None else None)

    def _reduced(self, item: Joined, present: set[str]) -> Joined:
        if item.join not in ("inner", "cross") or item.on is None:
            return item
        return Joined(item.item, item.join, all_of(part for part in conjuncts(item.on) if owners([part]) <= present))

    def _meets(self, on: exp.Expr | None) -> Joined:
        condition = moved(on, self.source.alias, _DELTA_ALIAS) if on is not None else None
        return Joined(table_as(self.delta, _DELTA_ALIAS), "semi", condition)


def _from_delta(block: Block, source: Source, items: Sequence[exp.Expr]) -> list[exp.Expr] | None:
    """The items over the delta of a nullable side alone, if its condition equates all their columns with its own."""
    pairs = equal_in(source.on, block)
    equals = {(left.table, left.name): right for pair in pairs for left, right in (pair, pair[::-1])}
    equals = {key: other for key, other in equals.items() if other.table == source.alias and key[0] != source.alias}
    needed = {(mention.table, mention.name) for item in items for mention in item.find_all(exp.Column)}
    if not needed or not needed <= set(equals) or not are_plain(items):
        return None
    return [
        with_columns(item, lambda mention: column(equals[mention.table, mention.name].name, source.alias))
        for item in items
    ]

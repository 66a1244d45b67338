"""The joins that take the place of subqueries, put beside the sources of a SELECT."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from sqlglot import exp

from catchment.lake.query.correlation import Apart, Pair, outputs_of, take_apart
from catchment.lake.query.functions import Kinds, aggregates_in
from catchment.lake.query.subquery_values import some, some_null
from catchment.lake.query.trees import all_of, column, from_items, named, own_nodes, part, query_as, select
from catchment.lake.reasons import NotIncremental, Reason

Types = Callable[[exp.Query], list[str]]
"""The types of what a query over tables of the lake gives."""

_EXACT = re.compile(r"U?(TINY|SMALL|BIG)?INT|U?INTEGER|DECIMAL\(\d+,0\)")


@dataclass
class Joining:
    """One SELECT whose sources are normalised. ``name`` makes new aliases, ``normalised`` a whole query."""

    tree: exp.Select
    kinds: Kinds
    types: Types
    name: Callable[[str], str]
    normalised: Callable[[exp.Query], exp.Query]
    outer: list[str] = field(init=False)
    sources: exp.Select = field(init=False)
    known: dict[str, exp.Expr] = field(default_factory=dict[str, exp.Expr])

    def __post_init__(self) -> None:
        self.outer = [item.alias_or_name for item in from_items(self.tree)]
        self.sources = self.tree.copy()

    def member(self, node: exp.In) -> Apart:
        """The subquery of an IN. One that groups is tied to nothing."""
        apart = take_apart(node.args["query"], self.outer)
        if apart.is_tied:
            self.rows_of(apart)
        return apart

    def rows_of(self, apart: Apart, *, is_set: bool = True) -> exp.Select:
        """A tied subquery that gives rows of its sources, so that taking it apart has left them all there. ``is_set``:
        how often a row comes does not matter."""
        query = apart.select()
        is_other = any(query.args.get(name) for name in ("group", "having", "qualify", "limit", "offset"))
        if is_other or any(
            aggregates_in(item, self.kinds) or any(True for _ in own_nodes(item, exp.Window))
            for item in query.expressions
        ):
            raise NotIncremental(Reason.SUBQUERY)
        if is_set:
            query.set("distinct", None)
        elif isinstance(distinct := query.args.get("distinct"), exp.Distinct) and part(distinct, "on") is not None:
            raise NotIncremental(Reason.SUBQUERY)
        return query

    def check_free(self, query: exp.Query) -> None:
        if take_apart(query, self.outer).is_tied:
            raise NotIncremental(Reason.SUBQUERY)

    def emptiness(self, node: exp.In) -> tuple[exp.Expr, exp.Expr]:
        """Whether an IN has no values to compare with, and whether one of them is NULL, for each outer row."""
        apart = self.member(node)
        [value] = outputs_of(apart.query)
        if not apart.is_tied:
            inner, alias = self.name("q"), self.name("q")
            items = [named(some(), "v"), named(some_null(column(value, inner)), "n")]
            self.join(select(items, query_as(apart.query, inner)), alias, "CROSS", [])
            return exp.Not(this=column("v", alias)), column("n", alias)
        query, pairs, alias = apart.select(), apart.pairs(), self.name("q")
        inner = next(item for item in query.expressions if item.alias_or_name == value).unalias()
        query.set("expressions", [named(some_null(inner.copy()), "n")])
        self.group(query, pairs)
        self.join_value(query, alias, pairs)
        return exp.Is(this=column("n", alias), expression=exp.Null()), column("n", alias)

    def met(self, query: exp.Select, pairs: Sequence[Pair]) -> exp.Expr:
        """Whether a row met one of a query that gives its distinct values."""
        alias = self.name("q")
        query.set("expressions", [named(exp.true(), "v")])
        query.set("distinct", exp.Distinct())
        for place, pair in enumerate(pairs, start=1):
            query.append("expressions", named(pair.inner.copy(), f"__t{place}"))
        self.join_value(query, alias, pairs)
        return exp.Not(this=exp.Is(this=column("v", alias), expression=exp.Null()))

    def group(self, query: exp.Select, pairs: Sequence[Pair]) -> None:
        for place, pair in enumerate(pairs, start=1):
            query.append("expressions", named(pair.inner.copy(), f"__t{place}"))
        query.set("group", exp.Group(expressions=[pair.inner.copy() for pair in pairs]))

    def join_value(self, query: exp.Select, alias: str, pairs: Sequence[Pair]) -> None:
        """A left join that meets at most one row: what is compared are the groups, with one type on both sides."""
        inner = self.types(query)[-len(pairs) :]
        wanted = exp.Select(expressions=[named(pair.outer.copy(), f"t{place}") for place, pair in enumerate(pairs)])
        for name in ("from_", "joins"):
            wanted.set(name, self.sources.copy().args.get(name))
        for one, other in zip(inner, self.types(wanted), strict=True):
            if one != other and not (_EXACT.fullmatch(one) and _EXACT.fullmatch(other)):
                raise NotIncremental(Reason.SUBQUERY)
        on = [pair.joined(f"__t{place}", alias) for place, pair in enumerate(pairs, start=1)]
        self.join(query, alias, "LEFT", on)

    def join(self, query: exp.Query, alias: str, kind: str, on: Sequence[exp.Expr]) -> None:
        derived = query_as(self.normalised(query), alias)
        join = exp.Join(this=derived, on=all_of(on))
        join.set("side" if kind == "LEFT" else "kind", kind)
        self.tree.append("joins", join)

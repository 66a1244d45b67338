"""What ties a subquery to the query around it, taken out of it.

A subquery that mentions its outer query in conditions of its WHERE alone becomes a plain query that returns those of
its columns that these conditions refer to; the conditions are then those of a join. For a value for each outer row, the
conditions have to be equalities between the two sides: their inner sides are the groups of the value.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from sqlglot import exp

from catchment.lake.query.scopes import free_columns, unwrapped
from catchment.lake.query.trees import Renaming, all_of, column, conjuncts, from_items, text, where_of, with_columns
from catchment.lake.reasons import NotIncremental, Reason


@dataclass(frozen=True, slots=True)
class Pair:
    """``inner = outer``, or ``inner IS NOT DISTINCT FROM outer``, in the WHERE of a subquery."""

    inner: exp.Expr
    outer: exp.Expr
    is_null_safe: bool

    def joined(self, name: str, alias: str) -> exp.Expr:
        """The condition, where the inner side is an output of a derived table."""
        left, right = column(name, alias), exp.Paren(this=self.outer.copy())
        return exp.NullSafeEQ(this=left, expression=right) if self.is_null_safe else exp.EQ(this=left, expression=right)


@dataclass(frozen=True, slots=True)
class Apart:
    """A subquery without what ties it, and the conditions that did."""

    query: exp.Query
    conditions: tuple[exp.Expr, ...]

    @property
    def is_tied(self) -> bool:
        return bool(self.conditions)

    def pairs(self) -> list[Pair]:
        """The conditions as equalities; NotIncremental when one is something else."""
        tried = [_pair(condition, self.inside()) for condition in self.conditions]
        pairs = [pair for pair in tried if pair is not None]
        if len(pairs) < len(tried):
            raise NotIncremental(Reason.SUBQUERY)
        return pairs

    def inside(self) -> set[str]:
        return {item.alias_or_name for item in from_items(self.query)}

    def select(self) -> exp.Select:
        if not isinstance(self.query, exp.Select):
            raise NotIncremental(Reason.SUBQUERY)
        return self.query

    def exposed(self, alias: str) -> list[exp.Expr]:
        """The conditions over columns of a derived table, which the query is made to give."""
        query, renaming = self.select(), Renaming(self.inside(), alias, lambda _, place: f"__t{place}")
        conditions = [with_columns(condition, renaming) for condition in self.conditions]
        for item in renaming.outputs():
            query.append("expressions", item)
        return conditions


def take_apart(subquery: exp.Expr, outer: Collection[str], *, in_outputs: bool = False) -> Apart:
    """A copy of a subquery without the conditions that mention the query around it, whose sources are ``outer``.

    NotIncremental when it is mentioned anywhere else; ``in_outputs``: what is selected may mention it too.
    """
    query = unwrapped(subquery.copy())
    if not isinstance(query, exp.Query):
        raise NotIncremental(Reason.SUBQUERY)
    if not free_columns(query):
        return Apart(query, ())
    if not isinstance(query, exp.Select) or any(query.args.get(name) for name in ("limit", "offset", "qualify")):
        raise NotIncremental(Reason.SUBQUERY)
    pieces = all_of(piece for item in conjuncts(where_of(query)) for piece in factored(item))
    query.set("where", exp.Where(this=pieces) if pieces is not None else None)
    free = {id(mention) for mention in free_columns(query)}
    tied, kept = list[exp.Expr](), list[exp.Expr]()
    for item in conjuncts(where_of(query)):
        (tied if any(id(mention) in free for mention in item.find_all(exp.Column)) else kept).append(item.copy())
    if any(item.find(exp.Query) for item in tied):
        raise NotIncremental(Reason.SUBQUERY)
    rest = all_of(kept)
    query.set("where", exp.Where(this=rest) if rest is not None else None)
    outputs = {id(mention) for item in query.expressions for mention in item.find_all(exp.Column)}
    if not in_outputs:
        outputs = set[int]()
    others = [mention for mention in free_columns(query) if id(mention) not in outputs]
    inside = {item.alias_or_name for item in from_items(query)}
    owners = {mention.table for item in tied for mention in item.find_all(exp.Column)} - inside
    owners |= {mention.table for mention in free_columns(query)}
    if others or not owners <= set(outer):
        raise NotIncremental(Reason.SUBQUERY)
    return Apart(query, tuple(tied))


def factored(condition: exp.Expr) -> list[exp.Expr]:
    """``(a AND b) OR (a AND c)`` as ``a`` and ``b OR c``; anything else as it is."""
    plain = condition.unnest()
    if not isinstance(plain, exp.Or):
        return [condition]
    branches = [conjuncts(item.unnest()) for item in plain.flatten()]
    common = [item for item in branches[0] if all(text(item) in map(text, branch) for branch in branches[1:])]
    if not common:
        return [condition]
    known = {text(item) for item in common}
    rests = [all_of(item for item in branch if text(item) not in known) for branch in branches]
    either = [exp.Paren(this=rest) for rest in rests if rest is not None]
    if len(either) < len(rests):
        return common
    return [*common, exp.Paren(this=exp.or_(*either, copy=False))]


def _pair(condition: exp.Expr, inside: Collection[str]) -> Pair | None:
    plain = condition.unnest()
    if not isinstance(plain, (exp.EQ, exp.NullSafeEQ)):
        return None
    for inner, outer in ((plain.left, plain.right), (plain.right, plain.left)):
        one = {mention.table for mention in inner.find_all(exp.Column)}
        two = {mention.table for mention in outer.find_all(exp.Column)}
        if one and one <= set(inside) and two and not two & set(inside):
            return Pair(inner.unnest(), outer.unnest(), isinstance(plain, exp.NullSafeEQ))
    return None


def outputs_of(query: exp.Query) -> list[str]:
    """The names of what a query gives."""
    while isinstance(query, (exp.SetOperation, exp.Subquery)):
        query = query.left if isinstance(query, exp.SetOperation) else query.this
    return [item.alias_or_name for item in query.expressions]

"""Subqueries in expressions become joins.

| what stands in the expression | what takes its place |
|---|---|
| EXISTS, IN as a condition of WHERE | SEMI JOIN |
| NOT EXISTS as a condition of WHERE | ANTI JOIN |
| NOT IN as a condition of WHERE | ANTI JOIN, and a join with whether there are rows, and NULLs among them |
| EXISTS, IN inside an expression | LEFT JOIN with the distinct values, and whether it met one |
| an aggregate over a subquery | LEFT JOIN with the aggregate by the columns that tie it to the outer row |
| another subquery that gives a value | the same, with the value of the one row; more than one is an error as by hand |

A subquery that is tied to nothing has one group, which a CROSS JOIN puts beside every row. Every join of a value meets
at most one row: its right side is grouped by all that is compared, and what is compared has one type on both sides.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sqlglot import exp

from catchment.lake.query.correlation import Apart, Pair, outputs_of, take_apart
from catchment.lake.query.functions import aggregates_in
from catchment.lake.query.levels import is_call
from catchment.lake.query.scopes import is_expression, unwrapped
from catchment.lake.query.subquery_joins import Joining
from catchment.lake.query.subquery_values import at_most_one, some, when_empty
from catchment.lake.query.trees import (
    all_of,
    cast,
    column,
    conjuncts,
    equal,
    joins_of,
    named,
    number,
    own_nodes,
    part,
    query_as,
    select,
    text,
    where_of,
)
from catchment.lake.reasons import NotIncremental, Reason

INTRODUCED = frozenset({"any_value", "count", "concat"})
"""Functions that are called in the place of subqueries."""


class Subqueries(Joining):
    """Rewrites one SELECT."""

    def rewrite(self) -> None:
        """Put joins in the place of all subqueries, in the tree itself; NotIncremental when one cannot be."""
        if not any(True for _ in self._found()):
            return
        if not self.outer:
            raise NotIncremental(Reason.SUBQUERY)
        _spell_in(self.tree)
        conditions: list[exp.Expr] = []
        for item in conjuncts(where_of(self.tree)):
            made = self._filter(item)
            conditions += [item.copy()] if made is None else made
        where = all_of(conditions)
        self.tree.set("where", exp.Where(this=where) if where is not None else None)
        while (query := next(self._found(), None)) is not None:
            self._value(query)

    def _found(self) -> Iterator[exp.Query]:
        """The subqueries that are values, in this SELECT itself."""
        return (node for node in own_nodes(self.tree, exp.Query) if node is not self.tree and is_expression(node))

    # Conditions of WHERE.

    def _filter(self, condition: exp.Expr) -> list[exp.Expr] | None:
        """Joins that filter, and the conditions that are left; None for another kind of condition."""
        plain = condition.unnest()
        is_not = isinstance(plain, exp.Not)
        inner = plain.this.unnest() if is_not else plain
        if isinstance(inner, exp.Exists):
            return self._filter_exists(inner, is_not)
        if isinstance(inner, exp.In) and part(inner, "query") is not None and not inner.this.find(exp.Query):
            return self._filter_not_in(inner) if is_not else self._filter_in(inner)
        return None

    def _filter_exists(self, node: exp.Exists, is_not: bool) -> list[exp.Expr] | None:
        apart = take_apart(node.this, self.outer, in_outputs=True)
        if not apart.is_tied:
            return None
        alias = self.name("q")
        query = self.rows_of(apart)
        query.set("expressions", [])
        on = apart.exposed(alias)
        if not query.expressions:
            raise NotIncremental(Reason.SUBQUERY)
        self.join(query, alias, "ANTI" if is_not else "SEMI", on)
        return []

    def _filter_in(self, node: exp.In) -> list[exp.Expr]:
        apart = self.member(node)
        alias = self.name("q")
        names = outputs_of(apart.query)
        values = node.this.unnest()
        left = list(values.expressions) if isinstance(values, exp.Tuple) else [values]
        if len(left) != len(names):
            raise NotIncremental(Reason.SUBQUERY)
        ties = apart.exposed(alias) if apart.is_tied else []
        equals = [equal(item.copy(), column(name, alias)) for item, name in zip(left, names, strict=True)]
        self.join(apart.query, alias, "SEMI", [*equals, *ties])
        return []

    def _filter_not_in(self, node: exp.In) -> list[exp.Expr]:
        """True where no value is equal, no value is NULL and neither is the wanted one; or where there is no value."""
        if isinstance(node.this.unnest(), exp.Tuple):
            raise NotIncremental(Reason.SUBQUERY)
        is_empty, has_null = self.emptiness(node)
        apart, alias = self.member(node), self.name("q")
        [value] = outputs_of(apart.query)
        ties = apart.exposed(alias) if apart.is_tied else []
        self.join(apart.query, alias, "ANTI", [equal(node.this.copy(), column(value, alias)), *ties])
        is_value = exp.Not(this=exp.Is(this=exp.Paren(this=node.this.copy()), expression=exp.Null()))
        otherwise = exp.and_(is_value, exp.Not(this=has_null), copy=False)
        return [exp.Paren(this=exp.or_(is_empty, exp.Paren(this=otherwise), copy=False))]

    # Values.

    def _value(self, query: exp.Expr) -> None:
        """An expression in the place of a subquery; equal ones share a join."""
        holder = self._holder(query)
        if isinstance(holder, exp.Join) or self._is_in_on(query):
            raise NotIncremental(Reason.SUBQUERY)
        sql = text(holder)
        is_truth = _is_truth(holder, self.tree)
        known = self.known.get(f"{is_truth} {sql}")
        if known is None:
            known = self._made(holder, is_truth)
            self.known[f"{is_truth} {sql}"] = known
        holder.replace(exp.Paren(this=known.copy()))

    def _holder(self, query: exp.Expr) -> exp.Expr:
        """What the subquery is part of and is replaced as a whole: EXISTS, IN, or its own parentheses."""
        node = query
        while isinstance(node.parent, (exp.Subquery, exp.Paren)):
            node = node.parent
        parent = node.parent
        if isinstance(parent, exp.Exists) or (isinstance(parent, exp.In) and node.arg_key == "query"):
            return parent
        if isinstance(parent, (exp.Any, exp.All, exp.Array)) or not isinstance(node, (exp.Subquery, exp.Paren)):
            raise NotIncremental(Reason.SUBQUERY)
        return node

    def _is_in_on(self, query: exp.Expr) -> bool:
        joins = {id(join) for join in joins_of(self.tree)}
        node = query.parent
        while node is not None and node is not self.tree:
            if id(node) in joins:
                return True
            node = node.parent
        return False

    def _made(self, holder: exp.Expr, is_truth: bool) -> exp.Expr:
        if isinstance(holder, exp.Exists):
            return self._exists(holder)
        if isinstance(holder, exp.In):
            return self._in(holder, is_truth)
        return self._scalar(holder)

    def _exists(self, node: exp.Exists) -> exp.Expr:
        apart = take_apart(node.this, self.outer, in_outputs=True)
        if not apart.is_tied:
            self.check_free(apart.query)
            alias = self.name("q")
            query = select([named(some(), "v")], query_as(apart.query, self.name("q")))
            self.join(query, alias, "CROSS", [])
            return column("v", alias)
        pairs = apart.pairs()
        query = self.rows_of(apart)
        query.set("expressions", [])
        return self.met(query, pairs)

    def _in(self, node: exp.In, is_truth: bool) -> exp.Expr:
        """TRUE where it met a value; else NULL where a NULL may be equal, unless NULL and FALSE are one here."""
        wanted = node.this.unnest()
        if isinstance(wanted, exp.Tuple):
            raise NotIncremental(Reason.SUBQUERY)
        apart = self.member(node)
        query, pairs = apart.query, apart.pairs()
        [value] = outputs_of(query)
        if apart.is_tied:
            query = apart.select()
            inner = next(item for item in query.expressions if item.alias_or_name == value).unalias()
            query.set("expressions", [])
        else:
            alias = self.name("q")
            query, inner = select([], query_as(query, alias)), column(value, alias)
        met = self.met(query, [Pair(inner, wanted, is_null_safe=False), *pairs])
        if is_truth:
            return met
        is_empty, has_null = self.emptiness(node)
        is_null = exp.Is(this=exp.Paren(this=wanted.copy()), expression=exp.Null())
        unknown = exp.Paren(this=exp.or_(is_null, has_null, copy=False))
        cases = [(met, exp.true()), (is_empty, exp.false()), (unknown, cast(exp.Null(), "BOOLEAN"))]
        return exp.Case(ifs=[exp.If(this=when, true=then) for when, then in cases], default=exp.false())

    def _scalar(self, node: exp.Expr) -> exp.Expr:
        apart = take_apart(node, self.outer, in_outputs=True)
        query = apart.query
        is_global = (
            isinstance(query, exp.Select)
            and not any(query.args.get(name) for name in ("group", "having", "distinct", "limit", "offset", "qualify"))
            and any(aggregates_in(item, self.kinds) for item in query.expressions)
            and not any(True for item in query.expressions for _ in own_nodes(item, exp.Window))
        )
        if len(outputs_of(query)) != 1:
            raise NotIncremental(Reason.SUBQUERY)
        if not apart.is_tied:
            self.check_free(query)
            if is_global:
                alias = self.name("q")
                [value] = outputs_of(query)
                self.join(query, alias, "CROSS", [])
                return column(value, alias)
            return self._single(query, [])
        if is_global:
            return self._aggregate(apart)
        query = self.rows_of(apart, is_set=False)
        self.check_free(query)
        return self._single(query, apart.pairs())

    def _aggregate(self, apart: Apart) -> exp.Expr:
        """The aggregates by what ties them; the expression around them is computed in the outer query."""
        query, pairs, alias = apart.select(), apart.pairs(), self.name("q")
        holder = exp.Paren(this=query.expressions[0].unalias().copy())
        calls: dict[str, str] = {}
        self._exchange_calls(holder.this, calls, alias, apart.inside())
        items = [(name, sql) for sql, name in calls.items()]
        originals = {text(node): node for node in query.expressions[0].walk() if is_call(node, self.kinds)}
        query.set("expressions", [named(originals[sql].copy(), name) for name, sql in items])
        self.group(query, pairs)
        self.join_value(query, alias, pairs)
        return holder

    def _exchange_calls(self, node: exp.Expr, calls: dict[str, str], alias: str, inside: set[str]) -> None:
        if is_call(node, self.kinds):
            sql = text(node)
            calls.setdefault(sql, f"v{len(calls) + 1}")
            node.replace(when_empty(node, column(calls[sql], alias)))
        elif isinstance(node, exp.Query) or (isinstance(node, exp.Column) and node.table in inside):
            raise NotIncremental(Reason.SUBQUERY)
        else:
            for child in list(node.iter_expressions()):
                self._exchange_calls(child, calls, alias, inside)

    def _single(self, query: exp.Query, pairs: Sequence[Pair]) -> exp.Expr:
        """The value of the one row that there may be."""
        [value] = outputs_of(query)
        ties: list[str] = []
        if pairs and isinstance(query, exp.Select):
            ties = [f"__t{place}" for place in range(1, len(pairs) + 1)]
            for name, pair in zip(ties, pairs, strict=True):
                query.append("expressions", named(pair.inner.copy(), name))
        inner, alias = self.name("q"), self.name("q")
        many = exp.GT(this=exp.Count(this=exp.Star(), big_int=True), expression=number(1))
        items = [named(many, "many"), named(exp.AnyValue(this=column(value, inner)), "v")]
        outer = select(items, query_as(query, inner))
        moved = [
            Pair(column(name, inner), pair.outer, pair.is_null_safe) for name, pair in zip(ties, pairs, strict=True)
        ]
        if moved:
            self.group(outer, moved)
            self.join_value(outer, alias, moved)
        else:
            self.join(outer, alias, "CROSS", [])
        return at_most_one(column("many", alias), column("v", alias))


def _spell_in(tree: exp.Select) -> None:
    """``= ANY`` is IN, and ``<> ALL`` is NOT IN."""
    for node in list(own_nodes(tree, exp.EQ, exp.NEQ)):
        right = node.right
        is_all = isinstance(node, exp.NEQ) and isinstance(right, exp.All)
        if not is_all and not (isinstance(node, exp.EQ) and isinstance(right, exp.Any)):
            continue
        if isinstance(unwrapped(right.this), exp.Query):
            made = exp.In(this=node.left.copy(), query=right.this.copy())
            node.replace(exp.Paren(this=exp.Not(this=made)) if is_all else made)


def _is_truth(node: exp.Expr, tree: exp.Select) -> bool:
    """Whether NULL and FALSE are the same here: a condition of WHERE, through AND and OR alone."""
    parent = node.parent
    while isinstance(parent, (exp.And, exp.Or, exp.Paren)):
        parent = parent.parent
    return isinstance(parent, exp.Where) and parent.parent is tree

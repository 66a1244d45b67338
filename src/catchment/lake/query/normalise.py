"""Rewrites that leave fewer shapes to think about. None changes the result.

- CTEs are put where they are used, each use a copy.
- UNION becomes DISTINCT over UNION ALL, DISTINCT over a GROUP BY or a window a separate SELECT.
- RIGHT JOIN becomes LEFT JOIN with its sides exchanged. What stands left of RIGHT or FULL becomes a separate query when
it is more than one source, so that FULL is only ever the first join of a SELECT.
- Subqueries in expressions become joins (``subqueries``), aggregates below a window a separate query (``levels``),
  GROUPING SETS a union (``groupings``), INTERSECT and EXCEPT joins (``set_operations``).
- GROUP BY ALL is spelled out, named windows too, and ORDER BY that orders nothing is dropped.
- UNNEST among the outputs becomes a source beside the others.
- COALESCE that stands for a USING column is the column of the side that is always there.
- A SELECT over nothing but a derived table without groups is a SELECT over the sources of that (``merged``).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from sqlglot import exp

from catchment.lake.query.functions import Kinds, aggregates_in
from catchment.lake.query.groupings import has_sets, keys_of, spread
from catchment.lake.query.levels import needs_level, split
from catchment.lake.query.merged import merge
from catchment.lake.query.set_operations import as_join, by_name
from catchment.lake.query.subqueries import Subqueries
from catchment.lake.query.subquery_joins import Types
from catchment.lake.query.trees import (
    Renaming,
    column,
    conjuncts,
    from_item,
    from_items,
    joins_of,
    named,
    number,
    own_nodes,
    owners,
    part,
    parts,
    query_as,
    text,
    union_all,
)
from catchment.lake.reasons import NotIncremental, Reason


def normalise(tree: exp.Query, kinds: Kinds, types: Types) -> exp.Query:
    """The same query in fewer shapes; ``tree`` has all columns named with their source. ``types`` tells the types of
    what a query gives."""
    return _Normaliser(kinds, types).query(_inline(tree.copy()))


def _inline(query: exp.Query) -> exp.Query:
    """Put copies of CTEs where they are mentioned. Their names are unique, so no scope has to be watched."""
    ctes: dict[str, exp.Query] = {}
    for with_ in [*query.find_all(exp.With)]:
        ctes |= {cte.alias: cte.this for cte in with_.expressions}
        with_.pop()
    _expand(query, ctes)
    return query


def _expand(query: exp.Query, ctes: dict[str, exp.Query]) -> None:
    """A CTE only mentions others that come before it, so this ends."""
    nodes = [node for node in query.find_all(exp.Table) if not node.db and node.name in ctes]
    for node in nodes:
        body = ctes[node.name].copy()
        _expand(body, ctes)
        node.replace(query_as(body, node.alias_or_name))


@dataclass
class _Normaliser:
    kinds: Kinds
    types: Types
    made: int = field(default=0)
    known: dict[str, exp.Query] = field(default_factory=dict[str, exp.Query])

    def query(self, tree: exp.Query) -> exp.Query:
        """A CTE that is mentioned twice is rewritten once, so that both mentions stay the same query."""
        sql = text(tree)
        if sql not in self.known:
            self.known[sql] = self._query(tree)
        return self.known[sql].copy()

    def _query(self, tree: exp.Query) -> exp.Query:
        if isinstance(tree, exp.Subquery):
            return self.query(tree.this)
        if isinstance(tree, exp.SetOperation):
            return self.union(tree)
        if not isinstance(tree, exp.Select):
            raise NotIncremental(Reason.UNRESOLVED)
        return self.select(tree)

    def union(self, tree: exp.SetOperation) -> exp.Query:
        _drop_order(tree)
        if not isinstance(tree, exp.Union):
            types = self.types(tree)
            sides = [(side, self.types(side)) for side in (tree.left, tree.right)]
            return as_join(tree, [(self.query(side), own_types) for side, own_types in sides], types, self._name)
        if tree.args.get("by_name"):
            tree = by_name(tree, self.types(tree), self._name)
        both = exp.Union(this=self.query(tree.left), expression=self.query(tree.right), distinct=False)
        if not tree.args.get("distinct"):
            return both
        return self._distinct(both, [item.alias_or_name for item in _first_select(both).expressions])

    def select(self, tree: exp.Select) -> exp.Query:
        _drop_order(tree)
        _spell_windows(tree)
        self._spell_group(tree)
        if needs_level(tree, self.kinds):
            return self.select(split(tree, self.kinds, self._name("l")))
        if has_sets(tree):
            return self._spread(tree)
        for item in from_items(tree):
            if isinstance(item, exp.Subquery):
                item.set("this", self.query(item.this))
        Subqueries(tree, self.kinds, self.types, self._name, self.query).rewrite()
        self._move_unnest(tree)
        _simplify_using(tree)
        self._turn_joins(tree)
        merge(tree, self.kinds)
        if tree.args.get("distinct") and (
            tree.args.get("group") or any(own_nodes(tree, exp.Window)) or aggregates_in(tree, self.kinds)
        ):
            tree.set("distinct", None)
            return self._distinct(tree, [item.alias_or_name for item in tree.expressions])
        return tree

    def _spread(self, tree: exp.Select) -> exp.Query:
        """A SELECT with grouping sets, as a union."""
        keys = keys_of(tree)
        described = exp.Select(expressions=[named(key.copy(), f"t{place}") for place, key in enumerate(keys.values())])
        for name in ("from_", "joins"):
            described.set(name, tree.copy().args.get(name))
        is_distinct = tree.args.get("distinct") is not None
        tree.set("distinct", None)
        branches = spread(tree, dict(zip(keys, self.types(described), strict=True)), self.kinds)
        both = union_all([self.select(branch) for branch in branches])
        return self._distinct(both, [item.alias_or_name for item in tree.expressions]) if is_distinct else both

    def _name(self, prefix: str) -> str:
        self.made += 1
        return f"__{prefix}{self.made}"

    def _distinct(self, inner: exp.Query, names: list[str]) -> exp.Select:
        if len(set(names)) < len(names):
            raise NotIncremental(Reason.UNRESOLVED)
        alias = self._name("u")
        items = [named(column(name, alias), name) for name in names]
        return exp.Select(expressions=items, from_=exp.From(this=query_as(inner, alias)), distinct=exp.Distinct())

    def _spell_group(self, tree: exp.Select) -> None:
        """GROUP BY ALL means the outputs with columns. Constants do not group: without rows there is still one."""
        group = part(tree, "group")
        if group is None or not group.args.get("all"):
            return
        plain = [item.unalias() for item in tree.expressions if not aggregates_in(item, self.kinds)]
        keys = [item for item in plain if item.find(exp.Column)]
        tree.set("group", exp.Group(expressions=[key.copy() for key in keys]) if keys else None)

    def _move_unnest(self, tree: exp.Select) -> None:
        """``SELECT unnest(l) FROM t`` is ``SELECT u.x FROM t, UNNEST(l) AS u(x)``. Several would be read side by side,
        and over groups or windows it comes after them: these stay where they are."""
        calls = {text(call): call for item in tree.expressions for call in item.find_all(exp.Func) if _is_unnest(call)}
        is_plain = (
            not any(tree.args.get(name) for name in ("group", "having", "qualify")) and from_item(tree) is not None
        )
        if len(calls) != 1 or not is_plain or tree.find(exp.Window) or aggregates_in(tree, self.kinds):
            return
        [call] = calls.values()
        if len(call.expressions) != 1:
            return
        alias = self._name("n")
        names = exp.TableAlias(
            this=exp.to_identifier(alias, quoted=True), columns=[exp.to_identifier("x", quoted=True)]
        )
        made = exp.Unnest(expressions=[call.expressions[0].copy()], alias=names)

        def exchange(node: exp.Expr) -> exp.Expr:
            return column("x", alias) if _is_unnest(node) else node

        tree.set("expressions", [item.transform(exchange) for item in tree.expressions])
        tree.append("joins", exp.Join(this=made))

    def _turn_joins(self, tree: exp.Select) -> None:
        """Work through the joins from the left; what was joined so far is ``start`` and ``joined``."""
        start, joined = from_item(tree), list[exp.Join]()
        if start is None:
            return
        for join in joins_of(tree):
            if join.side in ("RIGHT", "FULL"):
                if any(_is_comma(before) for before in joined):
                    raise NotIncremental(Reason.NESTED_JOIN)
                if joined:
                    start, joined = self._fold(tree, start, joined), []
                if join.side == "RIGHT":
                    start, join = join.this, exp.Join(this=start, side="LEFT", on=part(join, "on"))
            joined.append(join)
        tree.set("from_", exp.From(this=start))
        tree.set("joins", joined)

    def _fold(self, tree: exp.Select, start: exp.Expr, joined: list[exp.Join]) -> exp.Subquery:
        """``start`` with its joins as a separate query; columns of it elsewhere in the SELECT get their new names."""
        alias = self._name("j")
        inside = [start.alias_or_name, *(item.alias_or_name for item in joined)]
        renaming = Renaming(inside, alias, lambda mention, _: f"{inside.index(mention.table)}_{mention.name}")
        kept = {id(node) for item in (start, *joined) for node in item.walk()}
        _rename_outside(tree, kept, renaming)
        items = renaming.outputs() or [named(number(1), "one")]
        inner = exp.Select(expressions=items, from_=exp.From(this=start), joins=joined)
        return query_as(inner, alias)


def _rename_outside(tree: exp.Select, kept: set[int], rename: Callable[[exp.Column], exp.Expr | None]) -> None:
    """Exchange columns of this SELECT, but not those inside derived tables (they cannot mean it) or in ``kept``."""
    derived = {id(node) for item in from_items(tree) for node in item.walk()}
    for mention in list(tree.find_all(exp.Column)):
        if id(mention) in kept or id(mention) in derived:
            continue
        new = rename(mention)
        if new is not None:
            mention.replace(new)


def _first_select(query: exp.Query) -> exp.Select:
    while isinstance(query, (exp.SetOperation, exp.Subquery)):
        query = query.left if isinstance(query, exp.SetOperation) else query.this
    if not isinstance(query, exp.Select):
        raise NotIncremental(Reason.UNRESOLVED)
    return query


def _is_unnest(node: exp.Expr) -> bool:
    return isinstance(node, exp.Anonymous) and node.name.lower() == "unnest"


def _is_comma(join: exp.Join) -> bool:
    return not (join.args.get("on") or join.side or join.kind or join.method)


def _drop_order(tree: exp.Query) -> None:
    """Only LIMIT and DISTINCT ON make an order of rows matter, and these are refreshed fully."""
    tree.set("order", None)


def _spell_windows(tree: exp.Select) -> None:
    by_name = {window.name: window for window in parts(tree, "windows")}
    for window in list(own_nodes(tree, exp.Window)):
        alias = part(window, "alias")
        if alias is None:
            continue
        base = by_name.get(alias.name)
        if base is None or part(base, "alias") is not None:
            raise NotIncremental(Reason.UNRESOLVED)
        if not parts(window, "partition_by"):
            window.set("partition_by", [item.copy() for item in parts(base, "partition_by")])
        for name in ("order", "spec"):
            inherited = part(base, name)
            if part(window, name) is None and inherited is not None:
                window.set(name, inherited.copy())
        window.set("alias", None)
    tree.set("windows", None)


def _simplify_using(tree: exp.Select) -> None:
    """``COALESCE(a.k, b.k)`` is ``a.k`` where a row of b only comes with the row of a that it equals.

    DuckDB types such a column by its left side, so this is also what makes the types agree.
    """
    first = from_item(tree)
    sure = [first.alias_or_name] if first is not None else []
    follows: dict[str, str] = {}
    for join in joins_of(tree):
        alias = join.this.alias_or_name
        if join.side in ("RIGHT", "FULL"):
            return
        if join.side == "LEFT":
            follows |= _equals(join, alias, sure)
        elif not join.is_semi_or_anti_join:
            follows |= _equals(join, alias, sure)
            sure.append(alias)
    for call in list(tree.find_all(exp.Coalesce)):
        left, *others = [call.this, *call.expressions]
        if owners([left]) <= set(sure) and all(follows.get(text(other)) == text(left) for other in others):
            call.replace(left.copy())


def _equals(join: exp.Join, alias: str, sure: list[str]) -> dict[str, str]:
    """Columns of the joined source that equal a column of one that is always there."""
    equals: dict[str, str] = {}
    for item in conjuncts(part(join, "on")):
        if isinstance(item, exp.EQ) and isinstance(item.left, exp.Column) and isinstance(item.right, exp.Column):
            for left, right in ((item.left, item.right), (item.right, item.left)):
                if right.table == alias and left.table in sure:
                    equals[text(right)] = text(left)
    return equals

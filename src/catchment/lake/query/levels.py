"""The aggregates of a SELECT as a level below it, where something stands above them: a window, or a subquery.

    SELECT note, sum(sum(amount)) OVER (PARTITION BY note) FROM orders GROUP BY note, customer_id

is the window over ``SELECT note AS g1, sum(amount) AS a1 FROM orders GROUP BY note, customer_id``. HAVING filters the
rows of that level, so it becomes a WHERE when it holds a subquery, and stays where it is otherwise.
"""

from __future__ import annotations

from collections.abc import Collection

from sqlglot import exp

from catchment.lake.query.functions import Kinds, name_of, window_of
from catchment.lake.query.functions import is_aggregate as is_aggregate_call
from catchment.lake.query.scopes import free_columns, is_expression
from catchment.lake.query.trees import (
    column,
    from_items,
    named,
    own_nodes,
    part,
    query_as,
    text,
)
from catchment.lake.reasons import NotIncremental, Reason

GROUPINGS = ("grouping", "grouping_id")
"""What tells the sets of GROUPING SETS apart; like an aggregate, it has a value for each group."""

_WRAPPERS = (exp.Filter, exp.IgnoreNulls, exp.RespectNulls, exp.WithinGroup)


def needs_level(tree: exp.Select, kinds: Kinds) -> bool:
    """Whether a window or a subquery stands above an aggregate or a group. One that is part of a key stands below."""
    if not is_grouped(tree, kinds):
        return False
    keys = {text(key) for key in _keys_of(tree)}
    above = [*tree.expressions, *(item for name in ("having", "qualify") if (item := part(tree, name)))]
    return any(
        isinstance(node, exp.Window) or (is_expression(node) and not _inside(node, tree, keys, kinds))
        for item in above
        for node in own_nodes(item, exp.Window, exp.Query)
    )


def is_grouped(tree: exp.Select, kinds: Kinds) -> bool:
    """Whether a SELECT has groups, one for all rows included."""
    if tree.args.get("group") or tree.args.get("having"):
        return True
    places = [*tree.expressions, part(tree, "qualify")]
    return any(_is_call(node, kinds) for item in places if item is not None for node in own_nodes(item, exp.Func))


def split(tree: exp.Select, kinds: Kinds, alias: str) -> exp.Select:
    """The SELECT over its aggregates: a new tree, whose one source is the level below."""
    return _Split(tree, kinds, alias).made()


class _Split:
    def __init__(self, tree: exp.Select, kinds: Kinds, alias: str) -> None:
        self.tree = tree
        self.kinds = kinds
        self.alias = alias
        self.own = {item.alias_or_name for item in from_items(tree)}
        self.keys: dict[str, str] = {}
        self.items: dict[str, exp.Expr] = {}

    def made(self) -> exp.Select:
        for item in _keys_of(self.tree):
            self.keys.setdefault(text(item), self._item(item, "g"))
        having = part(self.tree, "having")
        is_above = having is not None and any(is_expression(node) for node in own_nodes(having, exp.Query))
        outputs = [named(self._above(item.unalias()), item.alias_or_name) for item in self.tree.expressions]
        outer = exp.Select(expressions=outputs)
        if having is not None and is_above:
            outer.set("where", exp.Where(this=self._above(having.this)))
        qualify = part(self.tree, "qualify")
        if qualify is not None:
            outer.set("qualify", exp.Qualify(this=self._above(qualify.this)))
        outer.set("distinct", self.tree.args.get("distinct"))
        outer.set("from_", exp.From(this=query_as(self._below(with_having=not is_above), self.alias)))
        return outer

    def _below(self, *, with_having: bool) -> exp.Select:
        inner = self.tree.copy()
        for name in ("qualify", "distinct", "windows", *(() if with_having else ("having",))):
            inner.set(name, None)
        items = [named(tree.copy(), name) for name, tree in self.items.items()] or [named(exp.true(), "one")]
        inner.set("expressions", items)
        return inner

    def _item(self, tree: exp.Expr, prefix: str) -> str:
        name = f"{prefix}{len(self.items) + 1}"
        self.items[name] = tree
        return name

    def _above(self, tree: exp.Expr) -> exp.Expr:
        """A copy of an expression, over the outputs of the level below."""
        holder = exp.Paren(this=tree.copy())
        self._exchange(holder.this)
        return holder.this

    def _exchange(self, node: exp.Expr) -> None:
        name = self._name_of(node)
        if name is not None:
            node.replace(column(name, self.alias))
        elif isinstance(node, exp.Query):
            self._exchange_free(node)
        elif isinstance(node, exp.Column):
            raise NotIncremental(Reason.UNRESOLVED)
        else:
            for child in list(node.iter_expressions()):
                self._exchange(child)

    def _name_of(self, node: exp.Expr) -> str | None:
        sql = text(node)
        if sql in self.keys:
            return self.keys[sql]
        if not is_call(node, self.kinds):
            return None
        known = next((name for name, tree in self.items.items() if text(tree) == sql), None)
        return known or self._item(node.copy(), "a")

    def _exchange_free(self, query: exp.Query) -> None:
        """A subquery that mentions the SELECT around it can only mean its groups."""
        for mention in free_columns(query):
            if mention.table not in self.own:
                continue
            name = self.keys.get(text(mention))
            if name is None:
                raise NotIncremental(Reason.SUBQUERY)
            mention.replace(column(name, self.alias))


def _keys_of(tree: exp.Select) -> list[exp.Expr]:
    """Each key once, those within GROUPING SETS too."""
    group = part(tree, "group")
    return [key for item in (group.expressions if group is not None else []) for key in group_keys(item)]


def group_keys(item: exp.Expr) -> list[exp.Expr]:
    """The expressions of an item of GROUP BY, those of grouping sets one by one."""
    inner = item if isinstance(item, exp.Subquery) else item.unnest()
    if isinstance(inner, (exp.GroupingSets, exp.Rollup, exp.Cube, exp.Tuple)):
        return [key for each in inner.expressions for key in group_keys(each)]
    return [inner]


def is_call(node: exp.Expr, kinds: Kinds) -> bool:
    """Whether a node is an aggregate with all that belongs to it (FILTER, WITHIN GROUP), or tells groups apart."""
    inner = node
    while isinstance(inner, _WRAPPERS):
        inner = inner.this
    return _is_call(inner, kinds)


def _is_call(node: exp.Expr, kinds: Kinds) -> bool:
    is_grouping = isinstance(node, exp.Func) and name_of(node) in GROUPINGS
    return is_grouping or is_aggregate_call(node, kinds)


def _inside(query: exp.Expr, tree: exp.Select, keys: Collection[str], kinds: Kinds) -> bool:
    """Whether a subquery stands in the argument of an aggregate or in a key: then it belongs to the rows below."""
    node: exp.Expr | None = query
    while node is not None and node is not tree:
        if text(node) in keys or (is_call(node, kinds) and window_of(node) is None):
            return True
        node = node.parent
    return False

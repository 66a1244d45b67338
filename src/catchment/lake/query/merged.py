"""``SELECT f(q.a) FROM (SELECT g(t.x) AS a FROM t, u WHERE …) AS q`` is ``SELECT f(g(t.x)) FROM t, u WHERE …``.

People write a derived table to name an expression before they group by it. Without it, the sums of the group are over
tables and can be carried forward; with it, the touched groups would be computed again.

Only a derived table that stands alone in FROM is merged: beside others, each of its sources would be one more term of
the join.
"""

from __future__ import annotations

from sqlglot import exp

from catchment.lake.query.functions import ROW_MAKERS, Kinds, aggregates_in, name_of
from catchment.lake.query.trees import (
    add_where,
    from_item,
    from_items,
    joins_of,
    own_nodes,
    part,
    parts,
    where_of,
    with_columns,
)

_MORE_THAN_ROWS = ("group", "having", "qualify", "distinct", "limit", "offset", "windows", "sample")


def merge(tree: exp.Select, kinds: Kinds) -> None:
    """Put the sources of a derived table that is the only source in its place; ``tree`` is normalised."""
    item = from_item(tree)
    if joins_of(tree) or not isinstance(item, exp.Subquery) or not isinstance(item.this, exp.Select):
        return
    inner = item.this
    if not _is_rows(inner, kinds) or item.alias_column_names or item.args.get("sample"):
        return
    outputs = {output.alias_or_name: output.unalias() for output in inner.expressions}
    mentions = [mention for mention in tree.find_all(exp.Column) if not _is_below(mention, item)]
    mentioned = {mention.name for mention in mentions}
    # A constant is another thing where it stands: GROUP BY 1 means the first output.
    if len(outputs) < len(inner.expressions) or not all(
        mention.table == item.alias and mention.name in outputs for mention in mentions
    ):
        return
    if not all(outputs[name].find(exp.Column) for name in mentioned):
        return
    for name in [*tree.args]:
        if name in ("from_", "joins"):
            continue
        if several := parts(tree, name) if isinstance(tree.args[name], list) else []:
            tree.set(name, [_with(child, outputs) for child in several])
        elif (one := part(tree, name)) is not None:
            tree.set(name, _with(one, outputs))
    add_where(tree, *([where.copy()] if (where := where_of(inner)) is not None else []))
    tree.set("from_", part(inner, "from_"))
    tree.set("joins", inner.args.get("joins"))


def _is_rows(inner: exp.Select, kinds: Kinds) -> bool:
    """Whether it makes one row at most of each joined row, of tables and queries alone."""
    if any(inner.args.get(name) for name in _MORE_THAN_ROWS) or from_item(inner) is None:
        return False
    if not all(isinstance(source, (exp.Table, exp.Subquery)) for source in from_items(inner)):
        return False
    if any(join.side in ("RIGHT", "FULL") or join.args.get("using") for join in joins_of(inner)):
        return False
    calls = [name_of(call) for output in inner.expressions for call in own_nodes(output, exp.Func)]
    return not (any(own_nodes(inner, exp.Window)) or aggregates_in(inner, kinds) or set(calls) & ROW_MAKERS)


def _is_below(node: exp.Expr, ancestor: exp.Expr) -> bool:
    above = node.parent
    while above is not None and above is not ancestor:
        above = above.parent
    return above is not None


def _with(value: exp.Expr, outputs: dict[str, exp.Expr]) -> exp.Expr:
    """A part of the SELECT over the sources. Inside an expression, parentheses keep what is put there whole."""

    def exchange(mention: exp.Column) -> exp.Expr:
        output = outputs[mention.name].copy()
        is_whole = mention.parent is None or isinstance(mention.parent, (exp.Alias, exp.Group, exp.Paren))
        return output if is_whole or isinstance(output, (exp.Column, exp.Paren)) else exp.Paren(this=output)

    return with_columns(value, exchange)

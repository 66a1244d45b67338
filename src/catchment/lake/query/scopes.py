"""Which SELECT a column of a subquery means: its own, or one around it."""

from __future__ import annotations

from sqlglot import exp

from catchment.lake.query.trees import from_items


def free_columns(query: exp.Expr) -> list[exp.Column]:
    """The columns in a query that mean a source of a query around it."""
    return [mention for mention in query.find_all(exp.Column) if _is_free(mention, query)]


def _is_free(mention: exp.Column, root: exp.Expr) -> bool:
    node: exp.Expr | None = mention
    while node is not None:
        if isinstance(node, exp.Select) and any(item.alias_or_name == mention.table for item in from_items(node)):
            return False
        if node is root:
            return True
        node = node.parent
    return True


def is_expression(query: exp.Expr) -> bool:
    """Whether a query is a value, not a source of rows."""
    holder = query.parent
    while isinstance(holder, exp.Subquery):
        holder = holder.parent
    sources = (exp.From, exp.Join, exp.CTE, exp.SetOperation, exp.Pivot, exp.Lateral)
    return holder is not None and not isinstance(holder, sources)


def unwrapped(query: exp.Expr) -> exp.Expr:
    """A query without the parentheses around it."""
    while isinstance(query, (exp.Subquery, exp.Paren)) and not query.args.get("joins"):
        query = query.this
    return query

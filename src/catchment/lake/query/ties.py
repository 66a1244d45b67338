"""Which of several rows ``arg_max`` and its like mean, when they have the same maximum.

DuckDB takes the one that it meets first, which is another one after the next refresh. In a definition the value itself
decides: among rows with the greatest ``y``, ``arg_max(x, y)`` is the greatest ``x``, and ``arg_min`` the smallest. So
the result follows from the data alone, and is one of those that DuckDB may give.
"""

from __future__ import annotations

from sqlglot import exp

from catchment.lake.query.functions import name_of
from catchment.lake.query.trees import own

CHOOSING = frozenset(["arg_max", "arg_min", "argmax", "argmin", "max_by", "min_by", "arg_max_null", "arg_min_null"])


def decided(tree: exp.Query) -> exp.Query:
    """A copy in which every such call has one value only."""
    result = tree.copy()
    for call in [node for node in result.find_all(exp.Func) if is_choosing(node)]:
        value, by, *_ = call.expressions
        is_value = exp.Not(this=exp.Is(this=exp.Paren(this=by.copy()), expression=exp.Null()))
        by.replace(exp.Tuple(expressions=[by.copy(), value.copy()]))
        _filter(call, is_value)
    return result


def is_choosing(node: exp.Expr) -> bool:
    """Whether a node is a call that chooses one row of many, and says nothing else about them."""
    if not isinstance(node, (exp.Anonymous, exp.AnonymousAggFunc)) or name_of(node) not in CHOOSING:
        return False
    return len(node.expressions) >= 2 and not any(
        isinstance(item, (exp.Distinct, exp.Order, exp.Star)) for item in node.expressions
    )


def _filter(call: exp.Expr, condition: exp.Expr) -> None:
    """A row is never NULL, so a FILTER skips rows without a value to compare by."""
    holder = call.parent
    if isinstance(holder, exp.Filter) and call.arg_key == "this":
        holder.set("expression", exp.Where(this=exp.and_(own(holder.expression.this), condition)))
    else:
        call.replace(exp.Filter(this=call.copy(), expression=exp.Where(this=condition)))

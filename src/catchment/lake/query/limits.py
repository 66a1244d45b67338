"""LIMIT on a query that has at most one row anyway: it is dropped, since it leaves nothing out."""

from __future__ import annotations

from collections.abc import Iterator

from sqlglot import exp

from catchment.lake.query.functions import ROW_MAKERS, Kinds, is_aggregate, name_of
from catchment.lake.query.trees import from_items, part


def without_needless(tree: exp.Query, kinds: Kinds) -> exp.Query:
    """The tree, or a copy without the limits that leave nothing out."""
    if not any(query.args.get("limit") for query in tree.find_all(exp.Query)):
        return tree
    result = tree.copy()
    for query in list(result.find_all(exp.Query)):
        if _is_open(query) or (_allows_one(query) and has_one_row(query, kinds)):
            query.set("limit", None)
    return result


def has_one_row(query: exp.Query, kinds: Kinds) -> bool:
    """Whether a query gives one row at most, whatever its tables hold."""
    if isinstance(query, exp.Subquery):
        return isinstance(query.this, exp.Query) and has_one_row(query.this, kinds)
    if not isinstance(query, exp.Select) or query.args.get("laterals") or _makes_rows(query):
        return False
    if part(query, "group") is not None:
        return False
    own = list(_own_nodes(query))
    if any(is_aggregate(node, kinds) for node in own) or part(query, "having") is not None:
        return True
    return all(_is_one_row(item, query, kinds) for item in from_items(query))


def _is_one_row(item: exp.Expr, query: exp.Query, kinds: Kinds) -> bool:
    if isinstance(item, exp.Subquery):
        return not any(item.args.get(name) for name in ("joins", "pivots")) and has_one_row(item, kinds)
    if isinstance(item, exp.Table) and not item.db and not item.args.get("joins"):
        # The names of CTEs are unique once a query is resolved.
        ctes = (cte for cte in query.root().find_all(exp.CTE) if cte.alias == item.name)
        cte = next(ctes, None)
        return cte is not None and isinstance(cte.this, exp.Query) and has_one_row(cte.this, kinds)
    return False


def _is_open(query: exp.Query) -> bool:
    """``LIMIT ALL``."""
    limit = part(query, "limit")
    return limit is not None and isinstance(part(limit, "expression"), exp.Var) and not query.args.get("offset")


def _allows_one(query: exp.Query) -> bool:
    """Whether it has a LIMIT that a single row always passes."""
    limit = part(query, "limit")
    if limit is None or query.args.get("offset") or limit.args.get("limit_options"):
        return False
    value = part(limit, "expression")
    return isinstance(limit, exp.Limit) and isinstance(value, exp.Literal) and value.is_int and int(value.name) >= 1


def _makes_rows(query: exp.Select) -> bool:
    """Whether one of its functions makes several rows of one."""
    return any(isinstance(node, exp.Func) and name_of(node) in ROW_MAKERS for node in _own_nodes(query))


def _own_nodes(query: exp.Select) -> Iterator[exp.Expr]:
    """The nodes of a SELECT that belong to no other query inside it, nor to its FROM."""
    waiting: list[exp.Expr] = [*query.expressions]
    waiting += [clause for name in ("having", "qualify", "order") if (clause := part(query, name)) is not None]
    while waiting:
        node = waiting.pop()
        if isinstance(node, exp.Query):
            continue
        yield node
        waiting.extend(child for child in node.iter_expressions())

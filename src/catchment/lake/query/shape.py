"""What in the shape of a query asks for a full refresh, found before anything is resolved."""

from __future__ import annotations

from collections.abc import Iterator

from sqlglot import exp

from catchment.lake.query.trees import joins_of
from catchment.lake.reasons import Reason, refused


def reasons(tree: exp.Query) -> Iterator[Reason]:
    """The reasons, each at most once; TableRefused for LIMIT without ORDER BY, which has no definite result."""
    if any(_limits(query) for query in tree.find_all(exp.Query)):
        yield Reason.LIMIT
    if tree.find(exp.TableSample) or any(query.args.get("sample") for query in tree.find_all(exp.Select)):
        yield Reason.SAMPLE
    if any(with_.recursive for with_ in tree.find_all(exp.With)):
        yield Reason.RECURSIVE_CTE
    if tree.find(exp.Pivot):
        yield Reason.PIVOT
    if any(join.method in ("ASOF", "POSITIONAL") for join in tree.find_all(exp.Join)):
        yield Reason.ASOF_JOIN
    if any(item.find(exp.Table) for item in tree.find_all(exp.Lateral)) or tree.find(exp.Explode):
        yield Reason.LATERAL
    if has_nested_join(tree):
        yield Reason.NESTED_JOIN
    if any(distinct.args.get("on") for distinct in tree.find_all(exp.Distinct)):
        yield Reason.DISTINCT_ON
    if tree.find(exp.Collate):
        yield Reason.COLLATION
    if any(_has_risky_using(query) for query in tree.find_all(exp.Select)):
        yield Reason.UNRESOLVED


def _limits(query: exp.Query) -> bool:
    if not any(query.args.get(part) for part in ("limit", "offset", "fetch")):
        return False
    if not query.args.get("order") and not isinstance(query.parent, exp.Exists):
        raise refused(Reason.LIMIT_WITHOUT_ORDER, "LIMIT or OFFSET stands in a query without ORDER BY")
    return True


def has_nested_join(tree: exp.Expr) -> bool:
    """Whether a join stands on one side of another, in parentheses or by its place."""
    return any(_is_nested_join(node) for node in tree.find_all(exp.Table, exp.Subquery))


def _is_nested_join(node: exp.Expr) -> bool:
    """``a JOIN (b JOIN c ON …) ON …``, with or without its parentheses."""
    if isinstance(node, exp.Table):
        return bool(node.args.get("joins"))
    return isinstance(node, exp.Subquery) and not isinstance(node.this, exp.Query)


def _has_risky_using(query: exp.Select) -> bool:
    """After RIGHT or FULL, a USING column is no plain column of one side, and a further USING compares with it."""
    joins = joins_of(query)
    using = [join for join in joins if join.args.get("using") or join.method == "NATURAL"]
    return len(using) > 1 and any(join.side in ("RIGHT", "FULL") for join in joins)

"""The clock as a source: ``now()`` and ``current_date`` in filters are columns of a table with one row.

A refresh reads it at two moments, those of the rounds before and now, so that rows which a filter lets in or out as
time goes by are found like any other change. All tables of a round have the same moment. Anywhere but in a filter the
clock changes every row, so such a definition is computed as a whole, at that moment.
"""

from __future__ import annotations

from collections.abc import Callable

from sqlglot import exp

from catchment.lake.query.functions import CLOCKS, name_of
from catchment.lake.query.resolve import SOURCES
from catchment.lake.query.trees import column, joins_of, part, table_as
from catchment.lake.types import ColumnAt, SourceTable, TableRef

ALIAS = "__clock"
NOW, TODAY, LOCAL = "now", "today", "local"
TABLE = SourceTable(
    -1,
    TableRef("", "clock"),
    {NOW: ColumnAt(1, "TIMESTAMP WITH TIME ZONE"), TODAY: ColumnAt(2, "DATE"), LOCAL: ColumnAt(3, "TIMESTAMP")},
    rows=1,
)
"""What stands for the clock among the tables of a definition."""

_COLUMNS = {
    **dict.fromkeys(("now", "current_timestamp", "get_current_timestamp", "transaction_timestamp"), NOW),
    **dict.fromkeys(("current_date", "today"), TODAY),
    **dict.fromkeys(("localtimestamp", "current_localtimestamp"), LOCAL),
}


def asks_the_clock(tree: exp.Query) -> bool:
    """Whether a query asks the clock, and only by functions that the table stands for."""
    calls = [node for node in tree.find_all(exp.Func) if _is_clock(node)]
    return bool(calls) and all(name_of(call) in _COLUMNS for call in calls)


def only_filters_by_time(tree: exp.Query) -> bool:
    """Whether all of these calls stand in conditions that let rows in or out."""
    return all(_filtered_by(node) is not None for node in tree.find_all(exp.Func) if _is_clock(node))


def with_values(tree: exp.Query, number: int) -> exp.Query:
    """A copy in which the clock is read as a value, from the table of this number: the definition itself."""

    def value(name: str) -> exp.Expr:
        query = exp.Select(expressions=[column(name, ALIAS)], from_=exp.From(this=_table(number)))
        return exp.Subquery(this=query)

    result = tree.copy()
    _exchange(result, value)
    return result


def with_source(tree: exp.Query, number: int) -> exp.Query:
    """A copy of a qualified tree in which the clock is one more source of every SELECT that filters by it."""
    result = tree.copy()
    selects = {id(select): select for call in result.find_all(exp.Func) if (select := _filtered_by(call)) is not None}
    _exchange(result, lambda name: column(name, ALIAS))
    for select in selects.values():
        for join in joins_of(select):
            on = part(join, "on")
            if on is not None and any(mention.table == ALIAS for mention in on.find_all(exp.Column)):
                select.where(on.copy(), copy=False)
                join.set("on", exp.true())
        select.append("joins", exp.Join(this=_table(number)))
    return result


def _table(number: int) -> exp.Table:
    table = table_as(f"o{number}", ALIAS)
    table.set("db", exp.to_identifier(SOURCES, quoted=True))
    return table


def _exchange(tree: exp.Query, by: Callable[[str], exp.Expr]) -> None:
    for node in list(tree.find_all(exp.Func)):
        if _is_clock(node):
            node.replace(by(_COLUMNS[name_of(node)]))


def _is_clock(node: exp.Expr) -> bool:
    return isinstance(node, exp.Func) and (name_of(node) in CLOCKS or name_of(node) == "age")


def _filtered_by(call: exp.Expr) -> exp.Select | None:
    """The SELECT whose WHERE, or the condition of whose inner join, a call of a clock stands in."""
    if not _is_clock(call):
        return None
    child: exp.Expr = call
    while (parent := child.parent) is not None:
        if isinstance(parent, exp.Select):
            return parent if isinstance(child, exp.Where) else None
        if isinstance(parent, exp.Join):
            holder = parent.parent
            if child.arg_key == "on" and isinstance(holder, exp.Select) and _filters(parent, holder):
                return holder
            return None
        if isinstance(parent, exp.Query):
            return None
        child = parent
    return None


def _filters(join: exp.Join, select: exp.Select) -> bool:
    """Whether the condition of a join could as well stand in WHERE: an inner one, with no join after it that brings
    back what it removed."""
    joins = joins_of(select)
    after = joins[[id(item) for item in joins].index(id(join)) + 1 :]
    is_inner = not join.side and not join.method and join.kind in ("", "INNER")
    return is_inner and not any(item.side in ("RIGHT", "FULL") for item in after)

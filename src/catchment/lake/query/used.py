"""Which columns of each source a definition reads. Changes of others do not concern it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sqlglot import exp

from catchment.lake.query.parse import put_query
from catchment.lake.query.resolve import number_of, numbered_tables
from catchment.lake.query.trees import column, from_items, is_counted, select
from catchment.lake.types import SourceTable

Used = dict[int, tuple[str, ...]]


def used_columns(tree: exp.Query, tables: Sequence[SourceTable]) -> Used | None:
    """The columns that a query with qualified columns mentions, by the number of their table; None as below."""
    if _reads_unnamed(tree):
        return None
    names: dict[int, set[str]] = {}
    for mention in tree.find_all(exp.Column):
        source = _source(mention)
        if isinstance(source, exp.Table):
            names.setdefault(number_of(source), set()).add(mention.name.lower())
    return _spelled(names, tables)


def named_columns(tree: exp.Query, tables: Sequence[SourceTable]) -> Used | None:
    """Every column whose name occurs anywhere in the query; None if it may read columns that it does not name."""
    aliases = {node.alias_or_name.lower() for node in numbered_tables(tree)}
    names = {node.name.lower() for node in tree.find_all(exp.Identifier)}
    is_open = any(not is_counted(star) for star in tree.find_all(exp.Star)) or any(
        join.method == "NATURAL" for join in tree.find_all(exp.Join)
    )
    has_row = any(not item.table and item.name.lower() in aliases for item in tree.find_all(exp.Column))
    if is_open or has_row or _reads_unnamed(tree):
        return None
    return _spelled(dict.fromkeys(range(1, len(tables) + 1), names), tables)


def has_whole_row(resolved: exp.Query) -> bool:
    """Whether a query with qualified columns uses a row of a source as a value: ``hash(orders)``.

    Rows as we read them have other columns: fewer, or the row id too.
    """
    return resolved.find(exp.TableColumn) is not None


def _reads_unnamed(tree: exp.Query) -> bool:
    """PIVOT groups by the columns that it does not name, COLUMNS and UNPIVOT choose columns by a pattern."""
    calls = (node.name.lower() for node in tree.find_all(exp.Anonymous))
    return tree.find(exp.Pivot, exp.Columns, exp.TableColumn) is not None or "columns" in calls


def explicit(tree: exp.Query, used: Mapping[int, Sequence[str]]) -> exp.Query:
    """A copy in which every mention of a table is a query for its used columns."""
    result = tree.copy()
    for node in list(numbered_tables(result)):
        plain = node.copy()
        for name in ("joins", "pivots", "sample"):
            plain.set(name, None)
        put_query(node, select([column(name) for name in used[number_of(node)]], plain))
    return result


def _source(mention: exp.Column) -> exp.Expr | None:
    """The FROM item that a column belongs to: the innermost one of its alias around it."""
    node: exp.Expr | None = mention
    while node is not None:
        if isinstance(node, exp.Select):
            item = next((item for item in from_items(node) if item.alias_or_name == mention.table), None)
            if item is not None:
                is_table = isinstance(item, exp.Table) and next(numbered_tables(item), None) is item
                return item if is_table else None
        node = node.parent
    return None


def _spelled(mentioned: Mapping[int, set[str]], tables: Sequence[SourceTable]) -> Used:
    """In the order and spelling of the table; at least one column, since nothing can be read without any."""
    used: Used = {}
    for number, table in enumerate(tables, start=1):
        names = [name for name in table.columns if name.lower() in mentioned.get(number, set())]
        used[number] = tuple(names or list(table.columns)[:1])
    return used

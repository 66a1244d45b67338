"""Small pieces of SQL as syntax trees. Text is made from them in one place, ``text``, with every name quoted."""

from __future__ import annotations

import sys
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import TypeVar

from sqlglot import exp

from catchment.lake.query.dialect import Verbatim
from catchment.lake.reasons import Reason, refused

DIALECT = Verbatim()
T = TypeVar("T", bound=exp.Expr)

# A level of a tree takes about a dozen frames, and DuckDB reads up to a thousand levels.
sys.setrecursionlimit(max(sys.getrecursionlimit(), 20_000))


def text(tree: exp.Expr) -> str:
    """The SQL of a tree, for DuckDB."""
    return tree.sql(dialect=DIALECT)


def last_text(tree: exp.Expr) -> str:
    """The SQL of a tree that is not used any more: writing it may change it, and saves a copy of it.

    So no part of it may belong to another tree; ``own`` sees to that where trees are put together.
    """
    return tree.sql(dialect=DIALECT, copy=False)


def without_notes(tree: T) -> T:
    """The tree without comments and places in the text, in place: they are copied with every copy."""
    for node in tree.walk():
        node.comments = None
        node.type = None
        node._meta = None  # pyright: ignore[reportPrivateUsage]  # the property cannot be set back to nothing
    return tree


def own(tree: T) -> T:
    """The tree, or a copy if it is part of another one already."""
    return tree if tree.parent is None else tree.copy()


def column(name: str, table: str | None = None) -> exp.Column:
    """``"table"."name"``."""
    owner = exp.to_identifier(table, quoted=True) if table is not None else None
    return exp.Column(this=exp.to_identifier(name, quoted=True), table=owner)


def named(tree: exp.Expr, name: str) -> exp.Alias:
    """``tree AS "name"``."""
    return exp.Alias(this=tree, alias=exp.to_identifier(name, quoted=True))


def table_as(name: str, alias: str) -> exp.Table:
    """``"name" AS "alias"``."""
    return exp.Table(this=exp.to_identifier(name, quoted=True), alias=_alias(alias))


def query_as(query: exp.Query | exp.Values, alias: str, columns: Sequence[str] = ()) -> exp.Subquery:
    """``(query) AS "alias"``."""
    return exp.Subquery(this=query, alias=_alias(alias, columns))


def number(value: int) -> exp.Expr:
    """An integer literal."""
    return exp.Literal.number(value)


def cast(tree: exp.Expr, type_text: str) -> exp.Expr:
    """``CAST(tree AS type)``, the type as DuckDB writes it."""
    return exp.Cast(this=tree, to=data_type(type_text))


def data_type(type_text: str) -> exp.DataType:
    """A type from its text; TableRefused when it is none that can be written back."""
    return _data_type(type_text).copy()


@cache
def _data_type(type_text: str) -> exp.DataType:
    """Parsed once: there are few types, and every cast names one."""
    try:
        built = exp.DataType.build(type_text, dialect=DIALECT, udt=True)
    except Exception as error:  # sqlglot raises what its parser raises: ParseError, ValueError, TokenError
        raise refused(Reason.UNSUPPORTED_TYPE, f"the type {type_text!r} is not understood") from error
    return built


def conjuncts(condition: exp.Expr | None) -> list[exp.Expr]:
    """The parts of a condition that are joined by AND."""
    if condition is None:
        return []
    return [part.unnest() for part in condition.unnest().flatten()] if _is_and(condition) else [condition]


def _is_and(condition: exp.Expr) -> bool:
    return isinstance(condition.unnest(), exp.And)


def all_of(conditions: Iterable[exp.Expr]) -> exp.Expr | None:
    """The conditions joined by AND; None when there are none."""
    copies = [condition.copy() for condition in conditions]
    return exp.and_(*copies, copy=False) if copies else None


def own_nodes(tree: exp.Expr, *kinds: type[T]) -> Iterator[T]:
    """The nodes of these kinds in a tree, without what is inside the queries that are parts of it."""
    for node in tree.walk(prune=lambda node: isinstance(node, exp.Query) and node is not tree):
        if isinstance(node, kinds):
            yield node


def owners(trees: Iterable[exp.Expr]) -> frozenset[str]:
    """The aliases whose columns occur in the trees."""
    return frozenset(mention.table for tree in trees for mention in tree.find_all(exp.Column))


def moved(tree: exp.Expr, alias: str, to: str) -> exp.Expr:
    """A copy in which the columns of one alias belong to another."""
    return with_columns(tree, lambda mention: column(mention.name, to) if mention.table == alias else None)


def with_columns(tree: exp.Expr, change: Callable[[exp.Column], exp.Expr | None]) -> exp.Expr:
    """A copy in which columns are exchanged; a column for which the change is None stays."""

    def exchange(node: exp.Expr) -> exp.Expr:
        return (change(node) or node) if isinstance(node, exp.Column) else node

    return tree.copy().transform(exchange, copy=False)


@dataclass
class Renaming:
    """New names for the columns of some sources, which become the outputs of one query. ``label`` makes a name from the
    first mention of a column and its number, counted from one."""

    sources: Collection[str]
    alias: str
    label: Callable[[exp.Column, int], str]
    names: dict[tuple[str, str], str] = field(default_factory=dict[tuple[str, str], str])

    def __call__(self, mention: exp.Column) -> exp.Expr | None:
        """The column that takes the place of a mention; None for one of another source."""
        if mention.table not in self.sources:
            return None
        name = self.names.setdefault((mention.table, mention.name), self.label(mention, len(self.names) + 1))
        return column(name, self.alias)

    def outputs(self) -> list[exp.Expr]:
        """What the query has to give for the columns that were mentioned."""
        return [named(column(name, table), label) for (table, name), label in self.names.items()]


def equal(left: exp.Expr, right: exp.Expr) -> exp.Expr:
    """``left = right``: not true where one of them is NULL."""
    return exp.EQ(this=_operand(left), expression=_operand(right))


def same(left: exp.Expr, right: exp.Expr) -> exp.Expr:
    """``left IS NOT DISTINCT FROM right``: equal, or both NULL. DuckDB makes a hash join of it."""
    return exp.NullSafeEQ(this=_operand(left), expression=_operand(right))


def attempt(tree: exp.Expr) -> exp.Expr:
    """The expression, or NULL where it fails: for expressions that are computed on more rows than the definition has.

    DuckDB applies a filter on them before joins and conditions that may have kept away the rows on which they fail.
    Where such a row is not kept away, the definition itself fails too.
    """
    is_safe = isinstance(tree, (exp.Column, exp.Literal, exp.Null, exp.Boolean))
    return tree if is_safe else exp.Anonymous(this="TRY", expressions=[tree])


def _operand(tree: exp.Expr) -> exp.Expr:
    """In parentheses, unless it cannot be torn apart by what stands beside it."""
    is_whole = isinstance(tree, (exp.Column, exp.Literal, exp.Cast, exp.Paren, exp.Null, exp.Boolean, exp.Anonymous))
    return tree if is_whole else exp.Paren(this=tree)


def exists(item: exp.Expr, condition: exp.Expr | None) -> exp.Exists:
    """``EXISTS (SELECT 1 FROM item WHERE condition)``."""
    inner = exp.Select(expressions=[number(1)], from_=exp.From(this=item))
    if condition is not None:
        inner.set("where", exp.Where(this=condition))
    return exp.Exists(this=inner)


def select(items: Sequence[exp.Expr], source: exp.Expr, where: exp.Expr | None = None) -> exp.Select:
    """``SELECT items FROM source WHERE where``."""
    made = exp.Select(expressions=list(items), from_=exp.From(this=source))
    if where is not None:
        made.set("where", exp.Where(this=where))
    return made


def add_where(query: exp.Select, *conditions: exp.Expr | None) -> exp.Select:
    """Adds conditions to a SELECT of ours, in place."""
    owned = [own(condition) for condition in conditions if condition is not None]
    present = where_of(query)
    if present is not None:
        owned.insert(0, present)
    if owned:
        query.set("where", exp.Where(this=exp.and_(*owned, copy=False)))
    return query


def is_counted(star: exp.Star) -> bool:
    """Whether it is the star of ``count(*)``, which stands for no columns."""
    holder = star.parent
    is_call = isinstance(holder, (exp.Anonymous, exp.AnonymousAggFunc)) and holder.name.lower() == "count"
    return is_call or isinstance(holder, exp.Count)


def part(tree: exp.Expr, name: str) -> exp.Expr | None:
    """An argument of a node that is a tree, if it is there."""
    value = tree.args.get(name)
    return value if isinstance(value, exp.Expr) else None


def parts(tree: exp.Expr, name: str) -> list[exp.Expr]:
    """An argument of a node that is a list of trees."""
    values: list[exp.Expr] = tree.args.get(name) or []
    return list(values)


def joins_of(query: exp.Expr) -> list[exp.Join]:
    """The joins of a SELECT, in order."""
    return [join for join in parts(query, "joins") if isinstance(join, exp.Join)]


def from_item(query: exp.Expr) -> exp.Expr | None:
    """What stands first in FROM."""
    clause = part(query, "from_")
    return part(clause, "this") if clause is not None else None


def from_items(query: exp.Expr) -> list[exp.Expr]:
    """Everything in FROM, in order."""
    first = from_item(query)
    return [*([first] if first is not None else []), *(join.this for join in joins_of(query))]


def where_of(query: exp.Expr) -> exp.Expr | None:
    """The condition in WHERE."""
    clause = part(query, "where")
    return part(clause, "this") if clause is not None else None


def union_all(queries: Sequence[exp.Query]) -> exp.Query:
    """The queries joined by UNION ALL."""
    result = queries[0]
    for query in queries[1:]:
        result = exp.Union(this=result, expression=query, distinct=False)
    return result


def _alias(name: str, columns: Sequence[str] = ()) -> exp.TableAlias:
    made = exp.TableAlias(this=exp.to_identifier(name, quoted=True))
    if columns:
        made.set("columns", [exp.to_identifier(part, quoted=True) for part in columns])
    return made

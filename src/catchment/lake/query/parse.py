"""The text of a definition becomes a tree whose tables are known.

Every table of the lake is renamed to ``"__s"."o<i>"``, one number for one table, and every CTE to ``"__c<n>"``; the
names that the definition gave them stay as aliases. So no name of a user can hide a name of ours, and the rest of the
planner never looks a table up again. ``SchemaView`` is all that the planner knows about the lake.
"""

from __future__ import annotations

import logging
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import sqlglot
from sqlglot import exp
from sqlglot.errors import ParseError, TokenError
from sqlglot.optimizer.normalize_identifiers import normalize_identifiers

from catchment.errors import TableRefused
from catchment.lake.names import ALIAS, HIDDEN
from catchment.lake.query.calls import NOT_OURS, Macro, has_catalog
from catchment.lake.query.faithful import difference, syntax_error
from catchment.lake.query.trees import DIALECT, cast, last_text, named, parts, query_as, text, without_notes
from catchment.lake.reasons import Reason, refused
from catchment.lake.types import Column, SourceTable

SOURCES = "__s"
"""The schema under which a tree names the tables of the lake."""

_UNKNOWN_COLUMN = ("Referenced column", "does not have a column named", "not found in FROM clause")
_UNKNOWN_ALIAS = ("Ambiguous reference to table", "Referenced table")
_ANOTHER_WAY = "Write that part in another way: a function instead of an operator or a special form."
_ALIASES = "Give each table an alias with AS, and write columns as alias.column, without a schema."
_FORBIDDEN = (
    exp.Summarize,
    exp.Describe,
    exp.Show,
    exp.Insert,
    exp.Update,
    exp.Delete,
    exp.Merge,
    exp.DDL,
    exp.Command,
    exp.Into,
    exp.Lock,
)
_CONSTANT_FUNCTIONS = ("range", "generate_series", "unnest", "repeat_row")


class SchemaView(Protocol):
    """What the planner asks about the lake. Tests answer from a plain DuckDB."""

    def table(self, parts: Sequence[str]) -> SourceTable | None:
        """The table of this name (1 to 3 parts, as written; case does not matter), without hidden columns.

        The name of a dynamic table gives its content. None when there is none; TableRefused VIEW_SOURCE for a view.
        """
        ...

    def describe(self, sql: str) -> list[Column]:
        """Names and types of a query's result. It reads no table; ``refused_query`` if DuckDB does not accept it."""
        ...

    def syntax(self, sql: str) -> str:
        """What ``json_serialize_sql`` makes of a text: DuckDB's own syntax tree, or its error, as JSON."""
        ...

    def stability(self, functions: Collection[str]) -> Mapping[str, str]:
        """The kind of each function, as ``kinds`` has it; names that are no function are left out."""
        ...

    def macros(self) -> Sequence[Macro]:
        """The macros of the lake, in all its schemas, and DuckDB's own."""
        ...


@dataclass(frozen=True, slots=True, eq=False)
class Parsed:
    """A query whose tables are numbered.

    ``tree`` has its identifiers folded as DuckDB compares them. ``columns`` are the outputs as DuckDB names and types
    them. ``is_untracked``: it reads something that is no table of the lake, or calls a function of a named catalog;
    ``is_constant``: but that never changes.
    """

    tree: exp.Query
    tables: tuple[SourceTable, ...]
    columns: tuple[Column, ...]
    is_untracked: bool
    is_constant: bool


def parse(query: str, schema: SchemaView) -> Parsed:
    """Read a definition and find its tables; TableRefused when it is not one SELECT over existing tables."""
    serialised = schema.syntax(query)
    problem = syntax_error(serialised)
    if problem is not None:
        raise refused(Reason.PARSE_ERROR, f"the query is not understood: {problem}", hint="Correct the query.")
    written = parse_query(query)
    _check_faithful(query, written, schema)
    for name in written.find_all(exp.Identifier):
        name.set("quoted", True)
    for index, node in enumerate(written.find_all(exp.Table)):
        node.meta["index"] = index
    folded = normalize_identifiers(written.copy(), dialect=DIALECT)
    resolver = _Resolver(schema)
    resolver.visit(written)
    for tree in (written, folded):
        resolver.rename(tree)
    columns = schema.describe(last_text(with_typed_tables(written, resolver.tables)))
    is_named = has_catalog(serialised)
    return Parsed(
        tree=without_notes(folded),
        tables=tuple(resolver.tables),
        columns=tuple(columns),
        is_untracked=resolver.is_untracked or is_named,
        is_constant=resolver.is_constant and not is_named,
    )


def parse_query(query: str) -> exp.Query:
    """The tree of one SELECT or set operation, as it is written."""
    logging.getLogger("sqlglot").setLevel(logging.ERROR)  # it warns about what it cannot parse; here that is refused
    try:
        statements = [tree for tree in sqlglot.parse(query, read=DIALECT) if tree is not None]
    except (ParseError, TokenError) as error:
        raise refused(Reason.PARSE_ERROR, f"the query is not understood: {_where(error)}") from error
    if len(statements) != 1:
        raise refused(Reason.NOT_A_SELECT, f"expected one SELECT, found {len(statements)} statements")
    tree = statements[0].unnest() if isinstance(statements[0], exp.Subquery) else statements[0]
    found_other = tree.find(*_FORBIDDEN)
    if found_other is not None or not isinstance(tree, (exp.Select, exp.SetOperation)):
        raise refused(
            Reason.NOT_A_SELECT,
            f"a dynamic table is defined by a SELECT, not by {type(found_other or tree).__name__.upper()}",
            hint="Write SELECT * FROM (…), and list the values of PIVOT with IN."
            if isinstance(tree, exp.Pivot)
            else None,
        )
    _check_names(tree)
    return without_notes(tree)


def _check_faithful(query: str, written: exp.Query, schema: SchemaView) -> None:
    differs = difference(schema.syntax(query), schema.syntax(text(written)))
    if differs is not None and any(_takes_columns_from_data(node) for node in written.find_all(exp.Pivot)):
        raise refused(Reason.PIVOT_WITHOUT_IN, "the columns of a PIVOT without a list of values depend on the data")
    if differs is not None:
        raise refused(
            Reason.PARSE_ERROR,
            f"a part of the query is not understood as DuckDB understands it ({differs})",
            hint=_ANOTHER_WAY,
        )


def _takes_columns_from_data(pivot: exp.Pivot) -> bool:
    """``PIVOT t ON a``, also ``ON a IN (SELECT …)``: DuckDB reads the data before it knows the query."""
    lists = [*pivot.expressions, *parts(pivot, "fields")]
    return not pivot.unpivot and any(not isinstance(item, exp.In) or item.find(exp.Query) for item in lists)


def refused_query(message: str) -> TableRefused:
    """The error for a query that DuckDB does not accept, from DuckDB's own words."""
    first = message.split("\n\nLINE")[0].strip()
    if first.startswith("Parser Error"):  # the text of the user has been parsed already
        return refused(Reason.PARSE_ERROR, f"a part of the query is not understood: {first}", hint=_ANOTHER_WAY)
    is_column = any(part in first for part in _UNKNOWN_COLUMN)
    hint = _ALIASES if any(part in first for part in _UNKNOWN_ALIAS) else None
    return refused(Reason.UNKNOWN_COLUMN if is_column else Reason.QUERY, f"the query is not valid: {first}", hint=hint)


def with_typed_tables(tree: exp.Query, tables: Sequence[SourceTable]) -> exp.Query:
    """A copy that reads no table: each is an empty query with the columns and types of the table."""
    result = tree.copy()
    for node in list(numbered_tables(result)):
        columns = {name: at.type for name, at in tables[number_of(node) - 1].columns.items()}
        put_query(node, typed_nothing(columns))
    return result


def put_query(node: exp.Table, query: exp.Query) -> None:
    """A query in the place of a mentioned table, with all that is said about the table there."""
    made = query_as(query, node.alias_or_name)
    for name in ("joins", "pivots", "sample"):
        made.set(name, node.args.get(name))
    node.replace(made)


def typed_nothing(columns: Mapping[str, str]) -> exp.Select:
    """A query with these columns and no row."""
    items = [named(cast(exp.Null(), type_text), name) for name, type_text in columns.items()]
    return exp.Select(expressions=items, where=exp.Where(this=exp.false()))


def numbered_tables(tree: exp.Expr) -> Iterator[exp.Table]:
    """The mentions of lake tables in a tree that went through ``parse``."""
    return (node for node in tree.find_all(exp.Table) if node.db == SOURCES)


def number_of(node: exp.Table) -> int:
    """The number of a mentioned table."""
    return int(node.name.removeprefix("o"))


class _Resolver:
    """Decides for each table node of a tree whether it is a CTE, a table of the lake or something else."""

    def __init__(self, schema: SchemaView) -> None:
        self.schema = schema
        self.tables: list[SourceTable] = []
        self.numbers: dict[int, int] = {}
        self.ctes: dict[int, int] = {}
        self.is_untracked = False
        self.is_constant = True

    def visit(self, tree: exp.Query) -> None:
        definitions = list(tree.find_all(exp.CTE))
        for node in tree.find_all(exp.Table):
            cte = _cte_of(node)
            if cte is not None:
                self.ctes[node.meta["index"]] = definitions.index(cte)
            elif isinstance(node.this, exp.Identifier):
                self._table(node)
            else:
                self.is_untracked = True
                self.is_constant = self.is_constant and node.this.name.lower() in _CONSTANT_FUNCTIONS

    def _table(self, node: exp.Table) -> None:
        if node.args.get("version") or node.args.get("when"):
            raise refused(
                Reason.PARSE_ERROR,
                f"{node.name} is read AT a version",
                hint="Leave AT away: a dynamic table follows the newest version.",
            )
        parts = [part.name for part in node.parts]
        if len(parts) > 3 or (len(parts) == 3 and parts[0].lower() != ALIAS):
            self.is_untracked, self.is_constant = True, False
            return
        if len(parts) == 2 and parts[0].lower() in NOT_OURS:
            raise _ambiguous(*parts)
        source = self.schema.table(parts)
        if source is None:
            raise refused(
                Reason.UNKNOWN_TABLE,
                f"there is no table {'.'.join(parts)} in the lake",
                hint="Create it first, or name its schema: schema.table.",
            )
        known = [table.table_id for table in self.tables]
        if source.table_id not in known:
            self.tables.append(source)
            known.append(source.table_id)
        self.numbers[node.meta["index"]] = known.index(source.table_id) + 1

    def rename(self, tree: exp.Query) -> None:
        """Give the table nodes and CTEs of a tree their new names, in place."""
        definitions = list(tree.find_all(exp.CTE))
        nodes = list(tree.find_all(exp.Table))
        self._shorten_columns(tree, nodes)
        for index, cte in enumerate(definitions):
            cte.args["alias"].set("this", exp.to_identifier(f"__c{index}", quoted=True))
        for node in nodes:
            index = node.meta["index"]
            if index in self.ctes:
                _rename(node, f"__c{self.ctes[index]}", None)
            elif index in self.numbers:
                _rename(node, f"o{self.numbers[index]}", SOURCES)

    def _shorten_columns(self, tree: exp.Query, nodes: Sequence[exp.Table]) -> None:
        """``main.orders.id`` becomes ``orders.id``: with the table renamed, the long form would not be found."""
        long_names = {
            tuple(part.name.lower() for part in node.parts)
            for node in nodes
            if node.db and not node.alias and node.meta["index"] in self.numbers
        }
        for mention in tree.find_all(exp.Column):
            owner = tuple(part.name.lower() for part in mention.parts[:-1])
            if len(owner) > 1 and owner in long_names:
                mention.set("db", None)
                mention.set("catalog", None)


def _ambiguous(first: str, name: str) -> TableRefused:
    schema = "main" if first.lower() == ALIAS else first
    return refused(
        Reason.AMBIGUOUS_NAME,
        f"{first}.{name} is not a table of the schema {first} alone: DuckDB itself has that name",
        hint=f"Write {ALIAS}.{schema}.{name}.",
    )


def _rename(node: exp.Table, name: str, schema: str | None) -> None:
    alias = node.args.get("alias")
    if alias is None or not alias.name:
        node.set("alias", exp.TableAlias(this=node.this.copy(), columns=alias.args.get("columns") if alias else None))
    node.set("this", exp.to_identifier(name, quoted=True))
    node.set("db", exp.to_identifier(schema, quoted=True) if schema else None)
    node.set("catalog", None)
    names = node.args["alias"].args.get("columns")
    if schema and names:
        inner = node.copy()
        inner.set("alias", exp.TableAlias(this=node.args["alias"].this.copy()))
        node.replace(
            exp.Subquery(
                this=exp.Select(expressions=[exp.Star()], from_=exp.From(this=inner)), alias=node.args["alias"]
            )
        )


def _cte_of(node: exp.Table) -> exp.CTE | None:
    """The CTE that a table node means: the innermost one of that name which is visible from there."""
    if node.db or not isinstance(node.this, exp.Identifier):
        return None
    name = node.name.lower()
    child: exp.Expr = node
    inside: exp.CTE | None = None
    while (parent := child.parent) is not None:
        if isinstance(child, exp.CTE):
            inside = child
        with_ = parent if isinstance(parent, exp.With) else parent.args.get("with_")
        if isinstance(with_, exp.With) and (isinstance(parent, exp.With) or child is not with_):
            cte = _visible(with_, inside if isinstance(parent, exp.With) else None, name)
            if cte is not None:
                return cte
        child = parent
    return None


def _visible(with_: exp.With, inside: exp.CTE | None, name: str) -> exp.CTE | None:
    """A CTE sees those before it, and itself when it is recursive."""
    for cte in with_.expressions:
        if cte is inside and not with_.recursive:
            return None
        if cte.alias.lower() == name:
            return cte
        if cte is inside:
            return None
    return None


def _check_names(tree: exp.Query) -> None:
    for node in tree.find_all(exp.Identifier):
        if node.name.startswith(HIDDEN):
            raise refused(Reason.RESERVED_NAME, f"the name {node.name!r} starts with two underscores")
        if "\0" in node.name:
            raise refused(Reason.PARSE_ERROR, f"the name {node.name!r} holds a NUL", hint="Choose another name.")
    for node in tree.find_all(exp.PositionalColumn):
        raise refused(
            Reason.PARSE_ERROR, f"a column is named by its place: {text(node)}", hint="Write its name instead."
        )
    for node in tree.find_all(exp.Placeholder, exp.Parameter):
        raise refused(Reason.PARSE_ERROR, f"the query has the parameter {text(node)}", hint="Write the value instead.")


def _where(error: ParseError | TokenError) -> str:
    if isinstance(error, ParseError) and error.errors:
        first = error.errors[0]
        return f"line {first.get('line')}, column {first.get('col')}: {first.get('description')}"
    return str(error)

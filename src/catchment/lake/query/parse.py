"""The text of a definition becomes a tree whose tables are known; ``resolve`` finds and renames them."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass

import sqlglot
from sqlglot import exp
from sqlglot.errors import ParseError, TokenError
from sqlglot.optimizer.normalize_identifiers import normalize_identifiers

from catchment.errors import TableRefused
from catchment.lake.names import HIDDEN
from catchment.lake.query.calls import has_catalog
from catchment.lake.query.faithful import difference, syntax_error
from catchment.lake.query.resolve import Resolver, SchemaView, Sources, number_of, numbered_tables
from catchment.lake.query.shape import has_nested_join
from catchment.lake.query.syntax import has_one_select
from catchment.lake.query.trees import DIALECT, cast, last_text, named, parts, query_as, text, without_notes
from catchment.lake.query.written import as_written
from catchment.lake.reasons import Reason, refused
from catchment.lake.types import Column, SourceTable

_UNKNOWN_COLUMN = ("Referenced column", "does not have a column named", "not found in FROM clause")
_UNKNOWN_ALIAS = ("Ambiguous reference to table", "Referenced table")
_PERHAPS_OURS = (Reason.PARSE_ERROR, Reason.QUERY, Reason.UNKNOWN_COLUMN)
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


@dataclass(frozen=True, slots=True, eq=False)
class Parsed:
    """A query whose tables are numbered; ``tree`` is ``Written`` when it is run as it was written.

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
    problem = syntax_error(serialised, query)
    if problem is not None:
        raise refused(Reason.PARSE_ERROR, f"the query is not understood: {problem}", hint="Correct the query.")
    written = _faithful(query, serialised, schema)
    if written is None:
        return _parsed_as_written(serialised, schema)
    try:
        return _parsed(written, serialised, schema)
    except TableRefused as error:
        if error.code not in _PERHAPS_OURS:
            raise
        # DuckDB refused what we made of it. If it accepts what the user wrote, that is run as it is.
        with suppress(TableRefused):
            return _parsed_as_written(serialised, schema)
        raise


def _faithful(query: str, serialised: str, schema: SchemaView) -> exp.Query | None:
    """The tree of a query that survives being written back: from the text itself, or from the text that DuckDB makes of
    it.

    DuckDB's text comes first where it is plainer: it spells named windows out, and leaves needless parentheses away.
    """
    own = _read(query, serialised, schema)
    if own is not None and not _is_plainer_elsewhere(own):
        return own
    if not has_one_select(serialised):
        return own
    return _read(schema.unparse(serialised), serialised, schema) or own


def _read(query: str, serialised: str, schema: SchemaView) -> exp.Query | None:
    try:
        tree = parse_query(query)
    except TableRefused as error:
        if error.code not in (Reason.PARSE_ERROR, Reason.NOT_A_SELECT) or not has_one_select(serialised):
            raise
        return None
    if difference(serialised, schema.syntax(text(tree))) is None:
        return tree
    if any(_takes_columns_from_data(node) for node in tree.find_all(exp.Pivot)):
        raise refused(Reason.PIVOT_WITHOUT_IN, "the columns of a PIVOT without a list of values depend on the data")
    return None


def _is_plainer_elsewhere(tree: exp.Query) -> bool:
    return any(query.args.get("windows") for query in tree.find_all(exp.Select)) or has_nested_join(tree)


def _parsed(written: exp.Query, serialised: str, schema: SchemaView) -> Parsed:
    for name in written.find_all(exp.Identifier):
        name.set("quoted", True)
    _name_values(written)
    for index, node in enumerate(written.find_all(exp.Table)):
        node.meta["index"] = index
    folded = normalize_identifiers(written.copy(), dialect=DIALECT)
    resolver = Resolver(schema)
    resolver.visit(written)
    for tree in (written, folded):
        resolver.rename(tree)
    columns = schema.describe(last_text(with_typed_tables(written, resolver.sources.tables)))
    return _with_sources(without_notes(folded), columns, resolver.sources, serialised)


def _name_values(tree: exp.Query) -> None:
    """The columns of VALUES that have no names are col0, col1, …; said aloud, they can be traced."""
    for values in tree.find_all(exp.Values):
        if not values.alias_column_names and values.expressions:
            width = len(values.expressions[0].expressions)
            columns = [exp.to_identifier(f"col{place}", quoted=True) for place in range(width)]
            name = exp.to_identifier(values.alias or "valueslist", quoted=True)
            values.set("alias", exp.TableAlias(this=name, columns=columns))


def _parsed_as_written(serialised: str, schema: SchemaView) -> Parsed:
    tree, sources = as_written(serialised, schema)
    columns = schema.describe(over_nothing(text(tree), sources.tables))
    return _with_sources(tree, columns, sources, serialised)


def _with_sources(tree: exp.Query, columns: Sequence[Column], sources: Sources, serialised: str) -> Parsed:
    is_named = has_catalog(serialised)
    return Parsed(
        tree=tree,
        tables=tuple(sources.tables),
        columns=numbered_names(columns),
        is_untracked=sources.is_untracked or is_named,
        is_constant=sources.is_constant and not is_named,
    )


def numbered_names(columns: Sequence[Column]) -> tuple[Column, ...]:
    """Columns of one name get a number, as DuckDB does when it makes a table of a query: a, a_1, a_2."""
    seen: Counter[str] = Counter()
    numbered: list[Column] = []
    for item in columns:
        name, folded = item.name, item.name.lower()
        while name.lower() in seen:
            name = f"{item.name}_{seen[folded]}"
            seen[folded] += 1
        seen[name.lower()] += 1
        numbered.append(Column(name, item.type))
    return tuple(numbered)


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


def over_nothing(sql: str, tables: Sequence[SourceTable], extra: Mapping[str, str] | None = None) -> str:
    """A query over ``o<i>_new``, with these as empty queries of the columns and types of each table."""
    if not tables:
        return sql
    ctes: list[exp.Expr] = []
    for number, table in enumerate(tables, start=1):
        nothing = typed_nothing({**{name: at.type for name, at in table.columns.items()}, **(extra or {})})
        alias = exp.TableAlias(this=exp.to_identifier(f"o{number}_new", quoted=True))
        ctes.append(exp.CTE(this=nothing, alias=alias))
    return f"{text(exp.With(expressions=ctes))} SELECT * FROM ({sql})"


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

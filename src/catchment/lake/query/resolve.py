"""What the names of a query mean: a table of the lake, a CTE, or something else.

Every table of the lake is renamed to ``"__s"."o<i>"``, one number for one table, and every CTE to ``"__c<n>"``; the
names that the definition gave them stay as aliases. So no name of a user can hide a name of ours, and the rest of the
planner never looks a table up again. ``SchemaView`` is all that the planner knows about the lake.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Protocol

from sqlglot import exp

from catchment.errors import TableRefused
from catchment.lake.names import ALIAS
from catchment.lake.query.calls import MAIN, NOT_OURS, Macro
from catchment.lake.reasons import Reason, refused
from catchment.lake.types import Column, SourceTable, ViewText

SOURCES = "__s"
"""The schema under which a tree names the tables of the lake."""

_CONSTANT_FUNCTIONS = ("range", "generate_series", "unnest", "repeat_row")


class SchemaView(Protocol):
    """What the planner asks about the lake. Tests answer from a plain DuckDB."""

    def table(self, parts: Sequence[str]) -> SourceTable | None:
        """The table of this name (1 to 3 parts, as written; case does not matter), without hidden columns.

        The name of a dynamic table gives its content. None when there is none; TableRefused VIEW_SOURCE for a view.
        """
        ...

    def view(self, parts: Sequence[str]) -> ViewText | None:
        """The view of this name; None when there is none, or when it is the name of a dynamic table."""
        ...

    def describe(self, sql: str) -> list[Column]:
        """Names and types of a query's result. It reads no table; ``refused_query`` if DuckDB does not accept it."""
        ...

    def syntax(self, sql: str) -> str:
        """What ``json_serialize_sql`` makes of a text: DuckDB's own syntax tree, or its error, as JSON."""
        ...

    def unparse(self, serialised: str) -> str:
        """The text of a syntax tree: what ``json_deserialize_sql`` makes of it."""
        ...

    def stability(self, functions: Collection[str]) -> Mapping[str, str]:
        """The kind of each function, as ``kinds`` has it; names that are not functions are skipped."""
        ...

    def macros(self) -> Sequence[Macro]:
        """The macros of the lake, in all its schemas, and DuckDB's own."""
        ...


def numbered_tables(tree: exp.Expr) -> Iterator[exp.Table]:
    """The mentions of lake tables in a tree that a ``Resolver`` has renamed."""
    return (node for node in tree.find_all(exp.Table) if node.db == SOURCES)


def number_of(node: exp.Table) -> int:
    """The number of a mentioned table."""
    return int(node.name.removeprefix("o"))


class Sources:
    """The tables of the lake that a query reads, one number for one table, and whether it reads anything else."""

    def __init__(self, schema: SchemaView) -> None:
        self.schema = schema
        self.tables: list[SourceTable] = []
        self.is_untracked = False
        self.is_constant = True

    def number(self, parts: Sequence[str]) -> int | None:
        """The number of the table of this name; None when it is in another catalog."""
        if len(parts) > 3 or (len(parts) == 3 and parts[0].lower() != ALIAS):
            self.is_untracked, self.is_constant = True, False
            return None
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
        return known.index(source.table_id) + 1

    def read_function(self, name: str) -> None:
        """Note a table function."""
        self.is_untracked = True
        self.is_constant = self.is_constant and name.lower() in _CONSTANT_FUNCTIONS


def at_a_version(name: str) -> TableRefused:
    """The error for a table that is read AT one version."""
    return refused(
        Reason.PARSE_ERROR,
        f"{name} is read AT a version",
        hint="Leave AT away: a dynamic table follows the newest version.",
    )


class Resolver:
    """Decides for each table node of a tree whether it is a CTE, a table of the lake or something else."""

    def __init__(self, schema: SchemaView) -> None:
        self.sources = Sources(schema)
        self.numbers: dict[int, int] = {}
        self.ctes: dict[int, int] = {}

    def visit(self, tree: exp.Query) -> None:
        definitions = list(tree.find_all(exp.CTE))
        for node in tree.find_all(exp.Table):
            cte = _cte_of(node)
            if cte is not None:
                self.ctes[node.meta["index"]] = definitions.index(cte)
            elif isinstance(node.this, exp.Identifier):
                self._table(node)
            else:
                self.sources.read_function(node.this.name)

    def _table(self, node: exp.Table) -> None:
        if node.args.get("version") or node.args.get("when"):
            raise at_a_version(node.name)
        number = self.sources.number([part.name for part in node.parts])
        if number is not None:
            self.numbers[node.meta["index"]] = number

    def rename(self, tree: exp.Query) -> None:
        """Give the table nodes and CTEs of a tree their new names, in place."""
        definitions = list(tree.find_all(exp.CTE))
        nodes = list(tree.find_all(exp.Table))
        self._shorten_columns(tree, nodes)
        for index, cte in enumerate(definitions):
            cte.args["alias"].set("this", exp.to_identifier(f"__c{index}", quoted=True))
            # DuckDB may copy it to each mention, and in a copy a table of the lake is not of the version that is read.
            if list(self.ctes.values()).count(index) > 1:
                cte.set("materialized", True)
        for node in nodes:
            index = node.meta["index"]
            if index in self.ctes:
                _rename(node, f"__c{self.ctes[index]}", None)
            elif index in self.numbers:
                _rename(node, f"o{self.numbers[index]}", SOURCES)

    def _shorten_columns(self, tree: exp.Query, nodes: Sequence[exp.Table]) -> None:
        """``main.orders.id`` becomes ``orders.id``: with the table renamed, the long form would not be found."""
        long_names = {
            name
            for node in nodes
            if not node.alias and node.meta["index"] in self.numbers
            for name in long_names_of([part.name for part in node.parts])
        }
        for mention in tree.find_all(exp.Column):
            owner = tuple(part.name.lower() for part in mention.parts[:-1])
            if len(owner) > 1 and owner in long_names:
                mention.set("db", None)
                mention.set("catalog", None)


def long_names_of(parts: Sequence[str]) -> list[tuple[str, ...]]:
    """How columns may name their table with its schema, in lower case; a table without one is in ``main``."""
    schema, name = (parts[-2] if len(parts) > 1 else MAIN).lower(), parts[-1].lower()
    return [(schema, name), (ALIAS, schema, name)]


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

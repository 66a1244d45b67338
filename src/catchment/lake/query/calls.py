"""Whether the functions of a definition are the same in a refresh and by hand.

By hand, in a session that uses the lake, DuckDB looks for a function in the lake first. A refresh looks in DuckDB first
(see ``duck``). Where the two would differ, or where a word may be a catalog, a schema or a column, the definition is
refused; written with catalog and schema, a name means one thing everywhere. Macros are looked into, because what they
call is looked for in the session that uses them.

All of it is read from DuckDB's own syntax tree, which has the functions behind operators too: a macro may be called +.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from catchment.lake.names import ALIAS
from catchment.lake.query.syntax import Node, nodes
from catchment.lake.reasons import Reason, refused

MAIN = "main"
CATALOGS = frozenset({ALIAS, "memory", "system", "temp"})
"""The catalogs of a session. As the first of two parts, each may also be a schema."""

NOT_OURS = CATALOGS | {"pg_catalog", "information_schema"}
"""What a table name of two parts cannot begin with: by hand it is not, or not only, a schema of the lake."""

_OF_SESSION = frozenset({
    "current_catalog", "current_database", "current_query", "current_schema", "current_schemas", "current_setting",
    "getvariable", "in_search_path",
})  # fmt: skip
_WITHOUT_PARENTHESES = frozenset({"current_catalog", "current_schema"})
_BY_TEXT = frozenset({"query", "query_table"})


@dataclass(frozen=True, slots=True)
class Macro:
    """A macro of the lake or of DuckDB, or one of several that share its name.

    ``is_hidden``: it is the lake's, and DuckDB has a function of that name.
    """

    catalog: str
    schema: str
    name: str
    body: str
    is_table: bool
    is_hidden: bool


@dataclass(frozen=True, slots=True)
class _Call:
    catalog: str
    schema: str
    name: str


def has_catalog(serialised: str) -> bool:
    """Whether a query calls a function that it names with its catalog; such a function is not looked into further."""
    return any(call.catalog in CATALOGS for call in _calls(json.loads(serialised)))


def check_calls(serialised: str, macros: Sequence[Macro], syntax: Callable[[str], str]) -> None:
    """TableRefused when a query, given as ``json_serialize_sql`` has it, calls what is not the same everywhere."""
    _Check(macros, syntax).tree(json.loads(serialised), "the query")


class _Check:
    def __init__(self, macros: Sequence[Macro], syntax: Callable[[str], str]) -> None:
        self.syntax = syntax
        self.macros: dict[tuple[str, str], list[Macro]] = {}
        self.built_in: dict[tuple[str, str], list[Macro]] = {}
        for macro in macros:
            known = self.macros if macro.catalog == ALIAS else self.built_in
            known.setdefault((macro.schema.lower(), macro.name.lower()), []).append(macro)
        self.seen: set[tuple[str, str]] = set()
        self.seen_built_in: set[str] = set()

    def tree(self, tree: Node, where: str) -> None:
        for call in _calls(tree):
            self._call(call, where)
        for node in nodes(tree):
            names: list[str] = node.get("column_names") or []
            if len(names) == 1 and names[0].lower() in _WITHOUT_PARENTHESES:
                raise refused(
                    Reason.SESSION_FUNCTION,
                    f"{where} mentions {names[0]}, which belongs to a session",
                    hint="Write the value instead; a column of that name is written with its table.",
                )

    def _call(self, call: _Call, where: str) -> None:
        if call.catalog == ALIAS:
            self._enter(call.schema, call.name)
            return
        if call.name in _OF_SESSION:
            raise refused(Reason.SESSION_FUNCTION, f"{where} calls {call.name}, whose value belongs to a session")
        if call.name in _BY_TEXT:
            raise refused(
                Reason.AMBIGUOUS_NAME,
                f"{where} calls {call.name}, which finds names in a text",
                hint="Write the query, or the name of the table, in its place.",
            )
        if call.catalog in CATALOGS:
            self._enter_built_in(call.name)
            return
        # With any other catalog it is a column with its table: ``orders.note.upper()``.
        owner = "" if call.catalog else call.schema
        if owner in CATALOGS or (owner not in ("", MAIN) and (owner, call.name) in self.macros):
            raise refused(
                Reason.AMBIGUOUS_NAME,
                f"{where} calls {owner}.{call.name}, where {owner} may be a catalog, a schema or a column",
                hint=f"Write {ALIAS}.{MAIN if owner == ALIAS else owner}.{call.name}(…) for a macro of the lake, "
                f"{call.name}({owner}, …) for a column.",
            )
        macros = self.macros.get((MAIN, call.name), [])
        if any(macro.is_hidden for macro in macros):
            raise refused(
                Reason.AMBIGUOUS_NAME,
                f"{where} calls {call.name}, which is a function of DuckDB and a macro of the lake",
                hint=f"Write {ALIAS}.{MAIN}.{call.name}(…) for the macro, system.{MAIN}.{call.name}(…) for DuckDB's.",
            )
        if macros:
            self._enter(MAIN, call.name)
        else:
            self._enter_built_in(call.name)

    def _enter_built_in(self, name: str) -> None:
        """By hand, what DuckDB's own macros call is found in the lake too: ``round_even`` calls ``round``."""
        if name in self.seen_built_in:
            return
        self.seen_built_in.add(name)
        for macro in self.built_in.get((MAIN, name), []):
            for call in _calls(json.loads(self.syntax(macro.body if macro.is_table else f"SELECT {macro.body}"))):
                if any(rival.is_hidden for rival in self.macros.get((MAIN, call.name), [])):
                    raise refused(
                        Reason.AMBIGUOUS_NAME,
                        f"{name} of DuckDB calls {call.name}, which by hand is a macro of the lake",
                        hint=f"Give the macro {ALIAS}.{MAIN}.{call.name} another name.",
                    )
                self._enter_built_in(call.name)

    def _enter(self, schema: str, name: str) -> None:
        if (schema, name) in self.seen:
            return
        self.seen.add((schema, name))
        for macro in self.macros.get((schema, name), []):
            where = f"the macro {schema}.{name}"
            syntax: Node = json.loads(self.syntax(macro.body if macro.is_table else f"SELECT {macro.body}"))
            if syntax.get("error"):
                raise refused(Reason.AMBIGUOUS_NAME, f"{where} cannot be looked into: {syntax.get('error_message')}")
            self.tree(syntax, where)
            _check_tables(syntax, where)


def _check_tables(tree: Node, where: str) -> None:
    """A refresh has temporary tables, which a macro would find before those of the lake."""
    ctes = {str(node["key"]).lower() for node in nodes(tree) if "key" in node}
    for node in nodes(tree):
        name = str(node.get("table_name"))
        if node.get("type") != "BASE_TABLE" or node.get("catalog_name") or name.lower() in ctes:
            continue
        schema = node.get("schema_name") or MAIN
        raise refused(
            Reason.AMBIGUOUS_NAME,
            f"{where} reads {name} without naming its catalog",
            hint=f"Write {ALIAS}.{schema}.{name} in the macro.",
        )


def _calls(tree: Any) -> Iterator[_Call]:
    for node in nodes(tree):
        if "function_name" in node:
            yield _Call(*(str(node.get(part) or "").lower() for part in ("catalog", "schema", "function_name")))

"""Queries that are run as they are written, because the parser does not read them as DuckDB does.

DuckDB's own syntax tree is taken: the tables of the lake in it are renamed to ``o<i>_new``, and DuckDB writes it back.
Nothing else is looked into, so such a query is refreshed as a whole. What is refused elsewhere is refused here too.
"""

from __future__ import annotations

import json
from collections.abc import Sequence

from catchment.lake.names import HIDDEN
from catchment.lake.query.dialect import Written
from catchment.lake.query.faithful import difference
from catchment.lake.query.resolve import SchemaView, Sources, at_a_version, long_names_of
from catchment.lake.query.syntax import Node, ctes_of, nodes, parts_of, tables
from catchment.lake.reasons import Reason, refused
from catchment.lake.types import SourceTable

_LIMITS = ("LIMIT_MODIFIER", "LIMIT_PERCENT_MODIFIER")


def as_written(serialised: str, schema: SchemaView) -> tuple[Written, Sources]:
    """The query over ``o<i>_new``, and the tables behind them; TableRefused as for any other query."""
    tree: Node = json.loads(serialised)
    _check(tree)
    sources = Sources(schema)
    mentioned: list[tuple[Node, int]] = []
    for node in nodes(tree):
        if node.get("type") == "TABLE_FUNCTION":
            sources.read_function(str(node["function"]["function_name"]))
    for node in tables(tree):
        if node.get("at_clause"):
            raise at_a_version(node["table_name"])
        number = sources.number(parts_of(node))
        if number is not None:
            mentioned.append((node, number))
    _shorten_columns(tree, [node for node, _ in mentioned])
    for node, number in mentioned:
        node["alias"] = node["alias"] or node["table_name"]
        node["catalog_name"], node["schema_name"], node["table_name"] = "", "", f"o{number}_new"
    _check_free(tree, sources.tables)
    changed = json.dumps(tree)
    text = schema.unparse(changed)
    differs = difference(changed, schema.syntax(text))
    if differs is not None:
        raise refused(Reason.PARSE_ERROR, f"DuckDB does not write a part of the query as it reads it ({differs})")
    return Written(this=text), sources


def _check(tree: Node) -> None:
    for node in nodes(tree):
        if node.get("type") == "SHOW_REF":
            raise refused(Reason.NOT_A_SELECT, "a dynamic table is defined by a SELECT, not by DESCRIBE or SUMMARIZE")
        if node.get("class") == "PARAMETER":
            raise refused(Reason.PARSE_ERROR, "the query has a parameter", hint="Write the value instead.")
        given: list[Node] = node.get("modifiers") or []
        modifiers = {str(modifier["type"]) for modifier in given}
        if modifiers & set(_LIMITS) and "ORDER_MODIFIER" not in modifiers:
            raise refused(Reason.LIMIT_WITHOUT_ORDER, "LIMIT or OFFSET stands in a query without ORDER BY")
        for name in _names(node):
            if name.startswith(HIDDEN):
                raise refused(Reason.RESERVED_NAME, f"the name {name!r} starts with two underscores")


def _names(node: Node) -> list[str]:
    lists: list[list[str]] = [node.get("column_names") or [], node.get("column_name_alias") or []]
    plain = [node.get("alias"), node.get("table_name"), node.get("key")]
    return [name for name in [*plain, *(name for names in lists for name in names)] if isinstance(name, str)]


def _shorten_columns(tree: Node, mentioned: Sequence[Node]) -> None:
    """``main.orders.id`` becomes ``orders.id``, which is still its name when the table has another."""
    long_names = {name for node in mentioned if not node["alias"] for name in long_names_of(parts_of(node))}
    aliases = {str(node.get("alias")).lower() for node in nodes(tree)}
    for node in nodes(tree):
        names: list[str] = node.get("column_names") or []
        for size in (3, 2):
            owner = tuple(name.lower() for name in names[:size])
            if len(names) > size and owner in long_names and owner[0] not in aliases:
                node["column_names"] = names[size - 1 :]
                break


def _check_free(tree: Node, known: Sequence[SourceTable]) -> None:
    """A CTE with the name under which a table is read would hide it; a column would be taken for it."""
    taken = {f"o{number}_new" for number, _ in enumerate(known, start=1)}
    for node in nodes(tree):
        names: list[str] = node.get("column_names") or []
        for name in [*(str(entry["key"]) for entry in ctes_of(node)), *names]:
            if name.lower() in taken:
                raise refused(Reason.RESERVED_NAME, f"the name {name!r} is used by refreshes")

"""Views of the lake as sources: their queries stand in their place when a table is made.

So a table keeps meaning the same when a view is replaced later, as it does when a macro is. Inside a view names are
looked for in the schema of the view, then in ``main``; here they are written out.
"""

from __future__ import annotations

import json
from collections.abc import Sequence

from catchment.lake.names import ALIAS
from catchment.lake.query.calls import MAIN, NOT_OURS
from catchment.lake.query.faithful import difference
from catchment.lake.query.resolve import SchemaView, at_a_version
from catchment.lake.query.syntax import Node, is_qualified, parts_of, tables
from catchment.lake.reasons import Reason, refused
from catchment.lake.types import TableRef, ViewText


def with_views(query: str, schema: SchemaView) -> str:
    """The query with the queries of views in their place; the text itself when it reads none.

    TableRefused when a view cannot be read in this way.
    """
    tree: Node = json.loads(schema.syntax(query))
    if tree.get("error") or not _replace(tree, schema, ()):
        return query
    changed = json.dumps(tree)
    text = schema.unparse(changed)
    if difference(changed, schema.syntax(text)) is not None:
        raise refused(Reason.VIEW_SOURCE, "a view cannot be written out: DuckDB does not write it as it reads it")
    return text


def _replace(tree: Node, schema: SchemaView, around: tuple[TableRef, ...]) -> bool:
    """Replace the views of a tree, in place; whether there were any."""
    has_views = False
    for node in list(tables(tree)):
        parts = parts_of(node)
        if not _is_ours(parts):
            continue
        view = schema.view(parts)
        if view is None:
            continue
        if node.get("at_clause"):
            raise at_a_version(parts[-1])
        if view.ref in around:
            raise refused(Reason.VIEW_SOURCE, f"the view {view.ref} reads itself")
        _put(node, view, _body(view, schema, (*around, view.ref)))
        has_views = True
    return has_views


def _is_ours(parts: Sequence[str]) -> bool:
    if len(parts) == 3:
        return parts[0].lower() == ALIAS
    return len(parts) == 1 or parts[0].lower() not in NOT_OURS


def _body(view: ViewText, schema: SchemaView, around: tuple[TableRef, ...]) -> Node:
    tree: Node = json.loads(schema.syntax(view.sql))
    if tree.get("error") or len(tree["statements"]) != 1:
        raise refused(Reason.VIEW_SOURCE, f"the view {view.ref} is not one query: {tree.get('error_message')}")
    for node in tables(tree):
        if not node["catalog_name"]:
            node["schema_name"] = node["schema_name"] if is_qualified(node) else _schema_of(node, view, schema)
            node["catalog_name"] = ALIAS
            node["alias"] = node["alias"] or node["table_name"]
    _replace(tree, schema, around)
    return tree["statements"][0]["node"]


def _schema_of(node: Node, view: ViewText, schema: SchemaView) -> str:
    if view.ref.schema.lower() == MAIN:
        return MAIN
    parts = [ALIAS, view.ref.schema, str(node["table_name"])]
    is_there = schema.view(parts) is not None or schema.table(parts) is not None
    return view.ref.schema if is_there else MAIN


def _put(node: Node, view: ViewText, body: Node) -> None:
    names = list(view.columns)
    given: list[str] = node["column_name_alias"]
    names[: len(given)] = given
    alias, sample, place = node["alias"] or node["table_name"], node["sample"], node["query_location"]
    node.clear()
    node |= {
        "type": "SUBQUERY",
        "alias": alias,
        "sample": sample,
        "query_location": place,
        "subquery": {"node": body, "named_param_map": []},
        "column_name_alias": names,
    }

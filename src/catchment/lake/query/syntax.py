"""DuckDB's own syntax tree, as ``json_serialize_sql`` writes it: what it is made of, and which tables it names."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, cast

Node = dict[str, Any]


def has_one_select(serialised: str) -> bool:
    """Whether DuckDB reads a text as exactly one query."""
    tree: Node = json.loads(serialised)
    return not tree.get("error") and len(tree["statements"]) == 1


def nodes(tree: Any) -> Iterator[Node]:
    """The objects of a tree, from the root on."""
    waiting: list[Any] = [tree]
    while waiting:
        node = waiting.pop()
        if isinstance(node, dict):
            one = cast("Node", node)
            yield one
            waiting.extend(one.values())
        elif isinstance(node, list):
            waiting.extend(cast("list[Any]", node))


def tables(tree: Any, ctes: frozenset[str] = frozenset()) -> Iterator[Node]:
    """The nodes that name a table, not a CTE that is visible from there, in the order of the text."""
    if isinstance(tree, list):
        for item in cast("list[Any]", tree):
            yield from tables(item, ctes)
    if not isinstance(tree, dict):
        return
    node = cast("Node", tree)
    if node.get("type") == "BASE_TABLE":
        if is_qualified(node) or str(node["table_name"]).lower() not in ctes:
            yield node
        return
    for entry in ctes_of(node):
        name = str(entry["key"]).lower()
        body: Node = entry["value"]["query"]["node"]
        yield from tables(entry["value"], ctes | {name} if body["type"] == "RECURSIVE_CTE_NODE" else ctes)
        ctes |= {name}
    for part, value in node.items():
        if part != "cte_map":
            yield from tables(value, ctes)


def ctes_of(node: Node) -> list[Node]:
    """The CTEs that a query node defines, in order: ``key`` is the name, ``value`` has the query."""
    tables: Node = node.get("cte_map") or {}
    return tables.get("map") or []


def is_qualified(table: Node) -> bool:
    """Whether a table is named with its schema."""
    return bool(table["schema_name"] or table["catalog_name"])


def parts_of(table: Node) -> list[str]:
    """The name of a table as it is written."""
    return [str(part) for part in (table["catalog_name"], table["schema_name"], table["table_name"]) if part]

"""Whether a query means the same after it was parsed and written back: DuckDB reads both, and the trees are compared.

The SQL of a dynamic table is written from a parsed tree, so a construct that the parser misreads would be wrong in the
table and in everything that checks it. A definition that does not survive is run as it is written (see ``written``).
"""

from __future__ import annotations

import json
import re
from typing import Any, cast

_Node = dict[str, Any]

_SYNONYMS = {"^": "**", "pow": "**", "power": "**", "starts_with": "^@", "@": "abs", "strpos": "position"}
_NOT_COMPARED = ("query_location", "is_operator", "width")
_UNNAMED = ("valueslist", "_values", "")
"""What DuckDB and the parser call VALUES that has no name."""
_STAR_PARTS = (
    "relation_name", "exclude_list", "replace_list", "columns", "expr", "qualified_exclude_list", "rename_list"
)  # fmt: skip
_FIRST = ("class", "type", "function_name")
_INTERVAL = re.compile(r"\s*(-?\d+)\s+([a-z]+?)s?\s*", re.IGNORECASE)


def syntax_error(serialised: str, text: str) -> str | None:
    """Why and where DuckDB cannot parse a text, from what ``json_serialize_sql`` made of it; None when it can."""
    parsed: _Node = json.loads(serialised)
    if not parsed.get("error") or parsed.get("error_type") != "parser":
        return None
    position = str(parsed.get("position") or "")
    if not position.isdecimal():
        return str(parsed.get("error_message"))
    before = text.encode()[: int(position)].decode(errors="replace").split("\n")
    return f"line {len(before)}, column {len(before[-1]) + 1}: {parsed.get('error_message')}"


def difference(written: str, again: str) -> str | None:
    """What DuckDB reads differently in two texts, from ``json_serialize_sql`` of both; None when they are one query."""
    one: _Node = json.loads(written)
    two: _Node = json.loads(again)
    if one.get("error"):
        return f"DuckDB does not read it as one query: {one.get('error_message')}"
    if two.get("error"):
        return f"it was written back as something that DuckDB refuses: {two.get('error_message')}"
    return _first_difference(_canonical(one["statements"]), _canonical(two["statements"]), "query")


def _canonical(node: Any) -> Any:
    """A tree without places in the text, with one spelling for what can be spelled in several ways."""
    if isinstance(node, list):
        return [_canonical(item) for item in cast("list[Any]", node)]
    if not isinstance(node, dict):
        return node.lower() if isinstance(node, str) else node
    given = cast("_Node", node)
    canonical: _Node = {name: _canonical(value) for name, value in given.items() if name not in _NOT_COMPARED}
    kind = canonical.get("class") or ("order" if "null_order" in canonical else canonical.get("type"))
    return _CANONICAL.get(str(kind), _as_it_is)(canonical, given)


def _as_it_is(node: _Node, _: _Node) -> _Node:
    return node


def _order(node: _Node, _: _Node) -> _Node:
    """What is not said means ascending with NULLs last: refreshes never set another default."""
    kind = "ascending" if node["type"] == "order_default" else node["type"]
    nulls = "nulls last" if node["null_order"] == "order_default" else node["null_order"]
    return {**node, "type": kind, "null_order": nulls}


def _subquery(node: _Node, _: _Node) -> _Node:
    """``(VALUES …)`` and ``(SELECT * FROM (VALUES …))`` are one, as long as nothing can tell them apart by name."""
    inner: _Node = node["subquery"]["node"] if "subquery" in node else {}
    values: _Node = inner.get("from_table") or {}
    is_plain = node.get("alias") in _UNNAMED and not node.get("column_name_alias") and not node.get("sample")
    if not is_plain or values.get("type") != "expression_list" or not _is_all(inner):
        return node
    return {**values, "alias": _UNNAMED[0]}


def _is_all(query: _Node) -> bool:
    """Whether it is ``SELECT * FROM …`` and no more."""
    [star, *others] = query["select_list"]
    is_star = star.get("type") == "star" and not any(star.get(name) for name in _STAR_PARTS)
    more = (
        query.get(name) for name in ("where_clause", "group_expressions", "having", "sample", "qualify", "modifiers")
    )
    return is_star and not others and not any(more) and not query["cte_map"]["map"]


def _constant(node: _Node, given: _Node) -> _Node:
    """Only names are folded to lower case, not texts."""
    node["value"]["value"] = given["value"].get("value")
    return node


def _operator(node: _Node, _: _Node) -> _Node:
    """``NOT x IS NULL`` is ``x IS NOT NULL``."""
    inner: _Node = node["children"][0]
    if node["type"] == "operator_not" and inner.get("type") == "operator_is_null":
        return {**inner, "type": "operator_is_not_null", "alias": node["alias"]}
    return node


def _function(node: _Node, _: _Node) -> _Node:
    node["function_name"] = _SYNONYMS.get(node["function_name"], node["function_name"])
    node["schema"] = ""
    if node["function_name"] in ("->", "->>"):
        _spell_path(node["children"][-1])
    return _interval(node)


def _arrow(node: _Node, _: _Node) -> _Node:
    _spell_path(node["expr"])
    return node


def _spell_path(path: _Node) -> None:
    """``j -> 'a'`` is ``j -> '$.a'``."""
    name = path["value"].get("value") if path.get("class") == "constant" else None
    if isinstance(name, str) and re.fullmatch(r"\w+", name):
        path["value"]["value"] = f"$.{name}"


def _cast(node: _Node, _: _Node) -> _Node:
    """``INTERVAL '3 hours'`` is a text with its unit inside; the number of the other form is a text or a number."""
    child: _Node = node["child"]
    value = child["value"].get("value") if child.get("class") == "constant" else None
    target = node["cast_type"]["id"]
    if target == "double" and re.fullmatch(r"-?[\d.]+", str(value)):
        return {"class": "number", "value": float(str(value))}
    match = _INTERVAL.fullmatch(value) if target == "interval" and isinstance(value, str) else None
    if match is None:
        return node
    return {"class": "interval", "value": float(match.group(1)), "unit": f"to_{match.group(2).lower()}s"}


def _interval(node: _Node) -> _Node:
    """``to_hours(CAST(trunc(number) AS …))`` is what INTERVAL with a unit beside the number means."""
    children: list[_Node] = node["children"]
    inner: _Node = (children[0].get("child") or {}) if len(children) == 1 else {}
    numbers: list[_Node] = inner.get("children", [])
    if not node["function_name"].startswith("to_") or inner.get("function_name") != "trunc":
        return node
    if len(numbers) != 1 or numbers[0].get("class") != "number":
        return node
    return {"class": "interval", "value": numbers[0]["value"], "unit": node["function_name"]}


_CANONICAL = {
    "constant": _constant,
    "operator": _operator,
    "function": _function,
    "lambda": _arrow,
    "cast": _cast,
    "order": _order,
    "subquery": _subquery,
}


def _first_difference(one: Any, two: Any, where: str) -> str | None:
    if isinstance(one, dict) and isinstance(two, dict):
        left, right = cast("_Node", one), cast("_Node", two)
        for name in sorted({*left, *right}, key=lambda name: (name not in _FIRST, name)):
            deeper = _first_difference(left.get(name), right.get(name), name)
            if deeper is not None:
                return deeper
        return None
    if isinstance(one, list) and isinstance(two, list):
        left_items, right_items = cast("list[Any]", one), cast("list[Any]", two)
        if len(left_items) == len(right_items):
            pairs = zip(left_items, right_items, strict=True)
            return next((deeper for a, b in pairs if (deeper := _first_difference(a, b, where))), None)
    if one == two:
        return None
    is_whole = isinstance(one, (dict, list)) or isinstance(two, (dict, list))
    return f"its {where}" if is_whole else f"{where}: {one!r:.80} was read as {two!r:.80}"

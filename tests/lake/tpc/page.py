"""Writes docs/reference/benchmark-queries.md: ``python -m tests.lake.tpc.page``. What becomes of the queries, by
construct."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path

from catchment.lake.query.syntax import Node, ctes_of, nodes
from tests.lake.tpc.benchmark import NAMES, Query, queries
from tests.lake.tpc.in_memory import Benchmark, Outcome

PAGE = Path(__file__).parents[3] / "docs" / "reference" / "benchmark-queries.md"
TITLES = {"tpch": "TPC-H", "tpcds": "TPC-DS"}
HEAD = """\
# TPC-H and TPC-DS as dynamic tables

Every query of both benchmarks is accepted as a dynamic table. The tables below say how they are refreshed, without
their outermost ORDER BY and LIMIT: those are for the screen, and a table has no order. The long tests change rows of
every source, refresh, and compare each table with its query, in memory and on a lake.

This page is written by `python -m tests.lake.tpc.page`; a test compares it. `python -m tests.lake.tpc` shows the
queries one by one, `python -m tests.lake.tpc.measure` the times of full, incremental and chosen refreshes.
"""
_AGGREGATES = {"avg", "count", "count_star", "max", "min", "stddev_samp", "sum"}


def render(outcomes: list[Outcome], trees: dict[str, Node]) -> str:
    """The page."""
    lines = [HEAD, "## By benchmark", "", "| | queries | by changes | fully |", "|---|---|---|---|"]
    for name in NAMES:
        own = [outcome for outcome in outcomes if outcome.query.benchmark == name]
        by_changes = sum(outcome.is_incremental for outcome in own)
        lines.append(f"| {TITLES[name]} | {len(own)} | {by_changes} | {len(own) - by_changes} |")
    lines += ["", "## By construct", "", "A query counts for each construct that it has.", ""]
    lines += ["| construct | TPC-H | TPC-DS | by changes | fully |", "|---|---|---|---|---|"]
    found: defaultdict[str, list[Outcome]] = defaultdict(list)
    for outcome in outcomes:
        for construct in constructs(trees[str(outcome.query)]):
            found[construct].append(outcome)
    for construct in CONSTRUCTS:
        counts = Counter(outcome.query.benchmark for outcome in found[construct])
        by_changes = sum(outcome.is_incremental for outcome in found[construct])
        rest = len(found[construct]) - by_changes
        lines.append(f"| {construct} | {counts['tpch']} | {counts['tpcds']} | {by_changes} | {rest} |")
    reasons = Counter(outcome.how for outcome in outcomes if not outcome.is_incremental)
    lines += ["", "## Refreshed fully", ""]
    if not reasons:
        lines.append("None.")
    else:
        lines += ["| reason | queries |", "|---|---|"]
        for reason, _ in sorted(reasons.items(), key=lambda item: (-item[1], item[0])):
            numbers = ", ".join(f"{TITLES[o.query.benchmark]} {o.query.number}" for o in outcomes if o.how == reason)
            lines.append(f"| [`{reason}`](tables.md#reasons) | {numbers} |")
    return "\n".join(lines) + "\n"


def constructs(tree: Node) -> Iterator[str]:
    """The constructs of a query, from DuckDB's own syntax tree."""
    everything = list(nodes(tree))
    return (name for name, is_there in CONSTRUCTS.items() if any(is_there(node) for node in everything))


def _subquery(*kinds: str) -> Callable[[Node], bool]:
    return lambda node: node.get("class") == "SUBQUERY" and node.get("subquery_type") in kinds


def _set_operation(*kinds: str) -> Callable[[Node], bool]:
    return lambda node: node.get("type") == "SET_OPERATION_NODE" and node.get("setop_type") in kinds


def _own(node: Node) -> Iterator[Node]:
    """The expressions of a SELECT, without those of queries inside them."""
    waiting: list[object] = [node.get("select_list")]
    while waiting:
        item = waiting.pop()
        if isinstance(item, list):
            waiting.extend(item)
        elif isinstance(item, dict) and item.get("class") != "SUBQUERY":
            yield item
            waiting.extend(item.values())


def _has_window(node: Node) -> bool:
    return any(item.get("class") == "WINDOW" for item in _own(node))


def _is_window_over_groups(node: Node) -> bool:
    return bool(node.get("group_expressions")) and _has_window(node)


def _is_global(node: Node) -> bool:
    calls = {str(item.get("function_name")) for item in _own(node) if item.get("class") == "FUNCTION"}
    return "select_list" in node and not node.get("group_expressions") and bool(calls & _AGGREGATES)


CONSTRUCTS: dict[str, Callable[[Node], bool]] = {
    "join": lambda node: node.get("type") == "JOIN",
    "outer join": lambda node: node.get("type") == "JOIN" and node.get("join_type") in ("LEFT", "RIGHT", "FULL"),
    "query in FROM": lambda node: node.get("type") == "SUBQUERY" and node.get("class") is None,
    "WITH": lambda node: bool(ctes_of(node)),
    "GROUP BY": lambda node: bool(node.get("group_expressions")),
    "GROUPING SETS, ROLLUP, CUBE": lambda node: len(node.get("group_sets") or []) > 1,
    "aggregate without GROUP BY": _is_global,
    "HAVING": lambda node: bool(node.get("having")),
    "DISTINCT in an aggregate": lambda node: node.get("class") == "FUNCTION" and bool(node.get("distinct")),
    "IN, ANY, ALL over a query": _subquery("ANY"),
    "EXISTS": _subquery("EXISTS", "NOT_EXISTS"),
    "query as a value": _subquery("SCALAR"),
    "window": _has_window,
    "window over groups": _is_window_over_groups,
    "UNION": _set_operation("UNION"),
    "INTERSECT, EXCEPT": _set_operation("INTERSECT", "EXCEPT"),
}


def collect() -> tuple[list[Outcome], dict[str, Node]]:
    """What becomes of every query, and its syntax tree."""
    outcomes: list[Outcome] = []
    trees: dict[str, Node] = {}
    for name in NAMES:
        benchmark = Benchmark(name)
        for query in queries(name).values():
            outcomes.append(benchmark.plan(query))
            trees[str(query)] = _tree(benchmark, query)
        benchmark.memory.con.close()
    return outcomes, trees


def _tree(benchmark: Benchmark, query: Query) -> Node:
    return json.loads(benchmark.memory.syntax(query.table))


if __name__ == "__main__":
    PAGE.write_text(render(*collect()))

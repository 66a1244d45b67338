"""Which statements of users only read, and only the lake. Pure: DuckDB's answers come in as values.

The kind of a statement is known from its text. What it reads is not: a view or a macro can hide anything. So its plan,
in which these are written out, is looked at.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any, cast

from duckdb import Statement, StatementType

from catchment.errors import RequestRefused

_ATTACH = "With all rights: lake.query() in Python, or any DuckDB, by what 'catchment table attach' prints."
_LOAD = f"Rows of files come by 'catchment table load FILE --into NAME'. {_ATTACH}"
_HINTS = {
    StatementType.INSERT: _LOAD,
    StatementType.COPY: f"--csv, --json and --parquet FILE write the result of a query. {_LOAD}",
    StatementType.DROP: f"A dynamic table is dropped by 'catchment table drop'. {_ATTACH}",
    StatementType.ALTER: f"A dynamic table is changed by 'catchment table alter'. {_ATTACH}",
}
_DYNAMIC = re.compile(r"\s*create\s+(or\s+\w+\s+)?dynamic\b", re.IGNORECASE)

_EXPLAIN = re.compile(r"\s*explain(\s+analyze)?(\s*\([\w\s,]*\))?\s+", re.IGNORECASE)
_PIVOT = re.compile(r"\bpivot\b", re.IGNORECASE)

# Leaves of a plan that read nothing but the lake or the query itself.
_LEAVES = frozenset(
    {
        *("DUCKLAKE_SCAN", "COLUMN_DATA_SCAN", "DUMMY_SCAN", "EMPTY_RESULT", "CTE_SCAN", "REC_CTE_SCAN", "DELIM_SCAN"),
        *("EXPRESSION_SCAN", "CHUNK_SCAN", "RECURSIVE_CTE_SCAN", "HASH_GROUP_BY"),
        *("RANGE", "GENERATE_SERIES", "UNNEST", "REPEAT", "REPEAT_ROW", "SUMMARY", "JSON_EACH", "JSON_TREE"),
        *("DUCKDB_TABLES", "DUCKDB_COLUMNS", "DUCKDB_VIEWS", "DUCKDB_SCHEMAS", "DUCKDB_TYPES", "DUCKDB_FUNCTIONS"),
        *("DUCKDB_KEYWORDS", "DUCKDB_CONSTRAINTS", "PRAGMA_VERSION", "PRAGMA_TABLE_INFO", "SHOW_TABLES"),
        *("DUCKLAKE_SNAPSHOTS", "DUCKLAKE_TABLE_INFO", "DUCKLAKE_CURRENT_SNAPSHOT", "DUCKLAKE_OPTIONS"),
        *("DUCKLAKE_TABLE_INSERTIONS", "DUCKLAKE_TABLE_DELETIONS", "DUCKLAKE_LIST_FILES", "DUCKLAKE_CHANGES"),
    }
)

Node = dict[str, Any]


def check_statement(sql: str, extract: Callable[[str], Sequence[Statement]]) -> Statement:
    """The one statement of a text, if it only reads. Raises ``RequestRefused``, and DuckDB's errors for what cannot be
    parsed."""
    if _DYNAMIC.match(sql):
        raise RequestRefused(
            "CREATE DYNAMIC TABLE makes a table, and only queries are run here",
            hint="Use: catchment table create FILE, or lake.create() in Python.",
        )
    if "\0" in sql:
        raise RequestRefused("the query has a NUL character", hint="Write chr(0) where you mean one.")
    statements = list(extract(sql))
    if not statements:
        raise RequestRefused("there is no query in the text", hint="Such as: SELECT count(*) FROM orders")
    for statement in statements:
        if statement.type not in (StatementType.SELECT, StatementType.EXPLAIN):
            raise _writing(statement)
    if len(statements) > 1:
        raise RequestRefused(
            f"the text has {len(statements)} statements, and one is run at a time", hint="Run them one by one."
        )
    return statements[0]


def explained(statement: Statement) -> str:
    """The query that an EXPLAIN explains; it is run as well if it says ANALYZE. Raises ``RequestRefused``."""
    explain = _EXPLAIN.match(statement.query)
    if explain is None:
        raise RequestRefused("the EXPLAIN is not understood", hint="Write EXPLAIN or EXPLAIN ANALYZE, and the query.")
    return statement.query[explain.end() :]


def _writing(statement: Statement) -> RequestRefused:
    word = re.match(r"[a-zA-Z]+", statement.query.strip())
    if word is None and _PIVOT.search(statement.query):
        return RequestRefused(
            "a PIVOT without its values makes a type of them, and only queries are run here",
            hint="Name them: PIVOT t ON kind IN ('a', 'b') USING sum(amount)",
        )
    said = word[0].upper() if word else statement.type.name
    return RequestRefused(
        f"{said} does more than read, and only queries are run here", hint=_HINTS.get(statement.type, _ATTACH)
    )


def check_plan(plan: Any) -> None:
    """Refuse a plan that reads something else than the lake. Raises ``RequestRefused``."""
    for name in sorted(set(_leaves(plan))):
        if name not in _LEAVES:
            raise not_of_the_lake(name.lower())


def not_of_the_lake(what: str) -> RequestRefused:
    """The refusal of a query that reads this."""
    return RequestRefused(
        f"the query reads {what}, and only tables of the lake can be read here",
        hint=f"Files become tables by 'catchment table load FILE --into NAME'. {_ATTACH}",
    )


def _leaves(plan: Any) -> Iterator[str]:
    if isinstance(plan, list):
        for item in cast("list[Any]", plan):
            yield from _leaves(item)
    if not isinstance(plan, dict):
        return
    node = cast("Node", plan)
    children: list[Any] = node.get("children") or []
    if children:
        yield from _leaves(children)
    else:
        yield str(node.get("name", "")).strip().upper()

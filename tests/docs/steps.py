"""Cuts a page into blocks, and its blocks into steps with what the page says they do."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

import psycopg
import pytest
from psycopg import Connection
from psycopg.sql import SQL

ROOT = Path(__file__).parents[2]
HOW_TO = ROOT / "docs" / "how-to"
COMPARE = ROOT / "docs" / "compare"
SAVEPOINTS = {
    "begin;": "savepoint shown;",
    "commit;": "release savepoint shown;",
    "rollback;": "rollback to savepoint shown;",
}

# Pages with workers: their blocks of all languages run in order, in a database of their own.
LIVE_PAGES = [
    ROOT / "docs" / "tutorial.md",
    # What other systems' users would write is in blocks of the language py, which are not run.
    *(
        COMPARE / f"{name}.md"
        for name in ("airflow-prefect", "celery", "dbos", "dynamic-tables", "procrastinate", "temporal")
    ),
    HOW_TO / "create-a-dynamic-table.md",
    HOW_TO / "deploy-workers.md",
    HOW_TO / "install.md",
    HOW_TO / "enqueue-in-your-transaction.md",
    HOW_TO / "keep-things-in-order.md",
    HOW_TO / "limit-work.md",
    HOW_TO / "load-files.md",
    HOW_TO / "operate-dynamic-tables.md",
    HOW_TO / "query-the-lake.md",
    HOW_TO / "refresh-a-huge-table.md",
    HOW_TO / "retry-and-give-up.md",
    HOW_TO / "run-a-worker-in-your-program.md",
    HOW_TO / "ship-your-own-schema.md",
    HOW_TO / "split-an-app-into-modules.md",
    HOW_TO / "use-pgbouncer.md",
    HOW_TO / "write-in-one-transaction.md",
    HOW_TO / "write-source-tables.md",
]
# A page that needs a store besides.
S3_PAGE = HOW_TO / "put-the-lake-on-s3.md"
# Pages about processes: see test_process_pages.py, and the tests of each part.
PROCESS_PAGES = [
    HOW_TO / "deploy-on-kubernetes.md",
    HOW_TO / "read-the-logs.md",
    HOW_TO / "report-errors-to-sentry.md",
    HOW_TO / "run-on-ray.md",
    HOW_TO / "use-the-embedded-server.md",
    HOW_TO / "use-with-django.md",
    HOW_TO / "use-with-fastapi.md",
    HOW_TO / "watch-in-production.md",
]
# Calls for type checkers: see tests/typing.
TYPED_PAGE = HOW_TO / "check-your-calls.md"
# Pages whose SQL runs in one transaction that is rolled back.
SQL_PAGES = [
    page for page in sorted(HOW_TO.glob("*.md")) if page not in (*LIVE_PAGES, S3_PAGE, *PROCESS_PAGES, TYPED_PAGE)
]


@dataclass(frozen=True)
class Block:
    """A fenced block: its language, the line of the page it begins at, its text."""

    language: str
    line: int
    text: str


@dataclass
class Step:
    """Code up to an expectation, or to the end of its block."""

    line: int
    lines: list[str] = field(default_factory=list[str])
    returns: list[str] = field(default_factory=list[str])
    raises: str | None = None

    @property
    def code(self) -> str:
        return "\n".join(self.lines)


def read_blocks(text: str) -> Iterator[Block]:
    """Every fenced block of a page."""
    for found in re.finditer(r"^```(\w+)\n(.*?)^```", text, re.MULTILINE | re.DOTALL):
        yield Block(found[1], text.count("\n", 0, found.start(2)) + 1, found[2])


def cut(block: Block) -> Iterator[Step]:
    """The steps of a block, cut after each expectation: ``returns:`` in SQL, ``prints:`` in Python, ``raises:``."""
    step = Step(block.line)
    for number, line in enumerate(block.text.splitlines(), block.line):
        expected = re.match(r"(?:--|#) (returns|prints|raises): ?(.*)", line)
        if expected is None:
            if step.returns or step.raises is not None:
                yield step
                step = Step(number)
            step.lines.append(line)
        elif expected[1] == "raises":
            step.raises = expected[2].strip()
        else:
            step.returns.append(expected[2].strip())
    yield step


def run_sql(conn: Connection[Any], sql: str) -> list[str]:
    """Run statements; the rows of the last one, as psql prints them."""
    # The text comes from our own pages.
    cursor = conn.execute(SQL(cast(Any, sql)))
    while cursor.nextset():
        pass
    result = cursor.pgresult
    if result is None or cursor.description is None:
        return []
    values = [[result.get_value(r, c) for c in range(result.nfields)] for r in range(result.ntuples)]
    return [" | ".join("null" if v is None else v.decode() for v in row) for row in values]


def check_sql(conn: Connection[Any], step: Step, *, is_rolled_back: bool = True) -> None:
    """Run a step. Where the page is one transaction, its own transactions become savepoints."""
    lines = (SAVEPOINTS.get(line.strip(), line) for line in step.lines) if is_rolled_back else step.lines
    sql = "\n".join(lines)
    if step.raises is not None:
        code, _, words = step.raises.partition(" ")
        with pytest.raises(psycopg.Error) as caught, conn.transaction():
            run_sql(conn, sql)
        assert (caught.value.sqlstate, words in str(caught.value)) == (code, True), caught.value
        return
    rows = run_sql(conn, sql)
    if step.returns:
        assert rows == step.returns, f"it returned:\n{rows}"

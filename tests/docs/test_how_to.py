"""The SQL in the pages runs as it stands there and returns what the pages say.

A page is one transaction, rolled back at its end; its blocks run in order. Below a statement, ``-- returns: a | b``
is a row of its result as psql prints it (null for a null), one line per row, and ``-- raises: CM002 text`` the error
it ends with. ``begin;`` and ``rollback;`` on lines of their own become a savepoint, so that a page can show a
rolled-back test.
"""

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
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs" / "how-to").glob("*.md"))]
SAVEPOINTS = {"begin;": "savepoint shown;", "rollback;": "rollback to savepoint shown;"}


@dataclass
class Step:
    """Statements up to an expectation, or to the end of their block."""

    line: int
    lines: list[str] = field(default_factory=list[str])
    returns: list[str] = field(default_factory=list[str])
    raises: str | None = None

    @property
    def sql(self) -> str:
        return "\n".join(SAVEPOINTS.get(line.strip(), line) for line in self.lines)


def read_steps(text: str) -> Iterator[Step]:
    """The statements of every sql block, cut after each expectation."""
    for block in re.finditer(r"^```sql\n(.*?)^```", text, re.MULTILINE | re.DOTALL):
        first = text.count("\n", 0, block.start(1)) + 1
        step = Step(first)
        for number, line in enumerate(block[1].splitlines(), first):
            expected = re.match(r"-- (returns|raises): ?(.*)", line)
            if expected is None:
                if step.returns or step.raises is not None:
                    yield step
                    step = Step(number)
                step.lines.append(line)
            elif expected[1] == "returns":
                step.returns.append(expected[2].strip())
            else:
                step.raises = expected[2].strip()
        yield step


def run(conn: Connection[Any], sql: str) -> list[str]:
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


def check(conn: Connection[Any], step: Step) -> None:
    if step.raises is not None:
        code, _, words = step.raises.partition(" ")
        with pytest.raises(psycopg.Error) as caught, conn.transaction():
            run(conn, step.sql)
        assert (caught.value.sqlstate, words in str(caught.value)) == (code, True), caught.value
        return
    rows = run(conn, step.sql)
    if step.returns:
        assert rows == step.returns


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_the_sql_of_a_page_runs_and_returns_what_the_page_says(page: Path, tx: Connection[Any]) -> None:
    for step in read_steps(page.read_text(encoding="utf-8")):
        try:
            check(tx, step)
        except (AssertionError, psycopg.Error) as problem:
            pytest.fail(f"{page.relative_to(ROOT)}:{step.line}\n{step.sql}\n\n{problem}", pytrace=False)
    assert tx.execute("select * from worker.check_invariants()").fetchall() == []


def test_a_page_that_says_something_else_is_caught(tx: Connection[Any]) -> None:
    (wrong,) = read_steps("```sql\nselect 1;\n-- returns: 2\n```\n")
    with pytest.raises(AssertionError):
        check(tx, wrong)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_every_page_shows_results_that_are_checked(page: Path) -> None:
    assert any(step.returns for step in read_steps(page.read_text(encoding="utf-8")))

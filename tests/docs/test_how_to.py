"""The SQL in the pages runs as it stands there and returns what the pages say.

A page is one transaction, rolled back at its end; its blocks run in order. Below a statement, ``-- returns: a | b``
is a row of its result as psql prints it (null for a null), one line per row, and ``-- raises: CM002 text`` the error
it ends with. ``begin;``, ``commit;`` and ``rollback;`` on lines of their own become a savepoint, so that a page can
show a transaction, or a rolled-back test.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest
from psycopg import Connection

from tests.docs.steps import ROOT, SQL_PAGES, Step, check_sql, cut, read_blocks


def read_steps(text: str) -> Iterator[Step]:
    """The statements of every sql block, cut after each expectation."""
    for block in read_blocks(text):
        if block.language == "sql":
            yield from cut(block)


@pytest.mark.parametrize("page", SQL_PAGES, ids=lambda page: page.stem)
def test_the_sql_of_a_page_runs_and_returns_what_the_page_says(page: Path, tx: Connection[Any]) -> None:
    for step in read_steps(page.read_text(encoding="utf-8")):
        try:
            check_sql(tx, step)
        except (AssertionError, psycopg.Error) as problem:
            pytest.fail(f"{page.relative_to(ROOT)}:{step.line}\n{step.code}\n\n{problem}", pytrace=False)
    assert tx.execute("select * from worker.check_invariants()").fetchall() == []


def test_a_page_that_says_something_else_is_caught(tx: Connection[Any]) -> None:
    (wrong,) = read_steps("```sql\nselect 1;\n-- returns: 2\n```\n")
    with pytest.raises(AssertionError):
        check_sql(tx, wrong)


@pytest.mark.parametrize("page", SQL_PAGES, ids=lambda page: page.stem)
def test_every_page_shows_results_that_are_checked(page: Path) -> None:
    assert any(step.returns for step in read_steps(page.read_text(encoding="utf-8")))

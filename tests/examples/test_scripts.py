"""The examples without a web framework."""

from __future__ import annotations

from pathlib import Path

import psycopg
import pytest

from tests.examples.programs import example
from tests.testing.test_plugin import LOADED


def test_plain(db: str, tmp_path: Path) -> None:
    with example("plain", db, tmp_path) as books:
        printed = books.run("books.py")
        assert "2 passed" in books.run("-m", "pytest", "-p", "no:cacheprovider", *LOADED)
    assert printed.count(": 303 words") == 2
    with psycopg.connect(db) as conn:
        assert conn.execute("select title, words from books order by 1").fetchall() == [
            ("Letters", 303),
            ("Notes", 303),
        ]
        assert conn.execute("select count(*) from worker.tasks where command = 'ship'").fetchall() == [(2,)]


@pytest.mark.long
def test_sqlalchemy(db: str, tmp_path: Path) -> None:
    with example("sqlalchemy", db, tmp_path) as invoices:
        invoices.start("-m", "catchment", "worker", "--app", "invoices:app", until="serves")
        assert invoices.run("invoices.py", "Ada", "1250", "300").endswith(": 1550 cents\nbilled: Ada\n")
        assert invoices.run("invoices.py", "Bob", "1").endswith(": 1 cents\nbilled: Ada, Bob\n")
        invoices.stop()

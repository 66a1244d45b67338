"""Fixtures for pytest: ``pytest_plugins = ["catchment.testing.fixtures"]`` in a ``conftest.py``."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import psycopg
import pytest
from psycopg import Connection

from catchment.store import embedded
from catchment.store.connect import connect
from catchment.store.migrate import migrate


@pytest.fixture(scope="session")
def catchment_dsn(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A database with the schema, on an embedded server of this test run. Override it to use another one."""
    folder = tmp_path_factory.mktemp("catchment") / "postgres"
    dsn = embedded.start(folder)
    try:
        with connect(dsn) as conn:
            migrate(conn)
        yield dsn
    finally:
        embedded.stop(folder)


@pytest.fixture
def catchment_tx(catchment_dsn: str) -> Iterator[Connection[Any]]:
    """A connection in a transaction that is rolled back after the test; for ``catchment.testing.drain``."""
    with psycopg.connect(catchment_dsn) as conn:
        yield conn
        conn.rollback()

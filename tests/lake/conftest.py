"""Source tables in a plain DuckDB, empty again after each test."""

from __future__ import annotations

from collections.abc import Generator

import duckdb
import pytest

from tests.lake.fuzz.memory import Memory, open_duckdb


@pytest.fixture(scope="session")
def duckdb_in_memory() -> Generator[duckdb.DuckDBPyConnection]:
    con = open_duckdb()
    yield con
    con.close()


@pytest.fixture
def memory(duckdb_in_memory: duckdb.DuckDBPyConnection) -> Generator[Memory]:
    found = Memory(duckdb_in_memory)
    yield found
    found.drop()

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


@pytest.fixture
def shop(memory: Memory) -> Memory:
    """Orders of customers in countries; one order without customer, one customer without orders or country."""
    memory.make(
        "orders",
        {"order_id": "BIGINT", "customer_id": "BIGINT", "amount": "DECIMAL(10,2)", "note": "VARCHAR"},
        [[1, 42, 10, "a"], [2, 42, 5, None], [3, 43, 7, "c"], [4, None, 1, None]],
    )
    memory.make(
        "customers",
        {"customer_id": "BIGINT", "region": "VARCHAR", "country_id": "INTEGER"},
        [[42, "r1", 1], [43, "r2", 1], [44, None, None]],
    )
    memory.make("country", {"country_id": "INTEGER", "name": "VARCHAR"}, [[1, "NO"], [2, "SE"]])
    memory.keep()
    return memory

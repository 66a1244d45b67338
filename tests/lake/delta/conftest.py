"""A small shop in a plain DuckDB, as most definitions need it."""

from __future__ import annotations

import pytest

from tests.lake.fuzz.memory import Memory


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

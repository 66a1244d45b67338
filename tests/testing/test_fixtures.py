"""The fixtures that applications get."""

from __future__ import annotations

import pytest

pytest_plugins = ["pytester"]

CONFTEST = 'pytest_plugins = ["catchment.testing.fixtures"]'
TESTS = """
from catchment import App
from catchment.testing import drain

app = App("host=nowhere.invalid")


@app.command
async def greet(name: str) -> str:
    return f"hello {name}"


def test_greet(catchment_tx):
    task = greet.sync.using(conn=catchment_tx).enqueue(name="you").id
    assert drain(app, catchment_tx) == {"completed": 1}


def test_nothing_is_left(catchment_tx):
    assert catchment_tx.execute("select count(*) from worker.tasks").fetchone() == (0,)
"""


def test_a_test_gets_a_transaction_with_the_schema_that_is_rolled_back(pytester: pytest.Pytester) -> None:
    pytester.makeconftest(CONFTEST)
    pytester.makepyfile(TESTS)
    pytester.runpytest_subprocess("-p", "no:cacheprovider").assert_outcomes(passed=2)

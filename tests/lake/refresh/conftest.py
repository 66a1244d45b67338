"""A small shop, as most definitions need it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.fixtures.lake import LakeStates
from tests.fixtures.lake_case import LakeCase
from tests.lake.refresh.test_incremental import REGIONS, filled


@pytest.fixture
def shop(lake_states: LakeStates, tmp_path: Path) -> Iterator[LakeCase]:
    """Orders of customers in countries; one order without customer, one customer without orders or country."""
    with lake_states.copy(_shop, tmp_path / "lake") as case:
        yield case


@pytest.fixture
def regions(lake_states: LakeStates, tmp_path: Path) -> Iterator[LakeCase]:
    """The shop with the table of ``REGIONS``, filled."""
    with lake_states.copy(_regions, tmp_path / "lake") as case:
        yield case


def _regions(lake_case: LakeCase) -> None:
    _shop(lake_case)
    filled(lake_case, REGIONS)


def _shop(lake_case: LakeCase) -> None:
    lake_case.make(
        "orders",
        "order_id BIGINT, customer_id BIGINT, amount DECIMAL(10,2), note VARCHAR",
        [[1, 42, 10, "a"], [2, 42, 5, None], [3, 43, 7, "c"], [4, None, 1, None]],
    )
    lake_case.make(
        "customers",
        "customer_id BIGINT, region VARCHAR, country_id INTEGER",
        [[42, "r1", 1], [43, "r2", 1], [44, None, None]],
    )
    lake_case.make("country", "country_id INTEGER, name VARCHAR", [[1, "NO"], [2, "SE"]])

"""The dynamic tables that tests of the dashboard begin with."""

from __future__ import annotations

import pytest

from tests.fixtures.lake_case import LakeCase

HOSTILE = "<script>alert(1)</script>"


def build(case: LakeCase) -> None:
    """daily reads orders, totals reads daily; visits is by itself. All are filled."""
    case.make("orders", "id BIGINT, price VARCHAR", [(1, "10"), (2, "20")])
    case.make("clicks", "id BIGINT", [(1,)])
    case.create("CREATE DYNAMIC TABLE daily TARGET_LAG = '1 hour' AS SELECT id, price::INTEGER AS price FROM orders")
    case.create("CREATE DYNAMIC TABLE totals TARGET_LAG = '2 hours' AS SELECT sum(price) AS price FROM daily")
    case.create("CREATE DYNAMIC TABLE visits TARGET_LAG = '1 hour' AS SELECT count(*) AS n FROM clicks")
    case.refresh("totals")
    case.refresh("visits")


def ids_of(case: LakeCase) -> dict[str, int]:
    return {name: case.find(name) for name in ("daily", "totals", "visits")}


def fail_daily(case: LakeCase) -> None:
    """A refresh of totals fails in daily, which it reads."""
    case.add("orders", [(3, HOSTILE)])
    with pytest.raises(Exception, match="convert"):
        case.refresh("totals")

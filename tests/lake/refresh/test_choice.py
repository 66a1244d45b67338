"""The way that is chosen is really taken."""

from __future__ import annotations

import pytest

from tests.fixtures.lake_case import LakeCase
from tests.lake.refresh.test_incremental import filled


def test_table_chooses_by_itself(shop: LakeCase) -> None:
    auto = "CREATE DYNAMIC TABLE dt TARGET_LAG = '1 minute' AS"
    filled(shop, f"{auto} SELECT customer_id, max(amount) AS most FROM orders GROUP BY 1")
    shop.sql("INSERT INTO orders SELECT i, i, i, NULL FROM range(100, 300) AS r(i)")
    assert shop.refresh("dt", lake_small_ms=10**9)["reason"] == "SMALL_TABLE"
    shop.sql("INSERT INTO orders VALUES (9, 42, 99, NULL)")
    found = shop.refresh("dt", lake_small_ms=0)
    assert (found["action"], found["keys"]) == ("incremental", 1)
    assert found["figures"]["predicted_full_ms"] > 0
    shop.sql("UPDATE orders SET amount = amount + 1 WHERE order_id < 300")
    shop.control.add_sample(shop.find("dt"), "incremental", 10, 10**6)
    found = shop.refresh("dt", lake_small_ms=0)
    assert (found["action"], found["reason"]) == ("full", "COST")
    shop.check("dt")
    actions = [row[0] for row in shop.control.cost_samples(shop.find("dt"))]
    assert sorted(actions) == ["full", "full", "incremental", "incremental", "reinitialize"]
    # What it took to choose is told of each.
    assert shop.pg("select count(*), count(*) filter (where plan_ms > 0) from lake.refreshes") == [(4, 4)]


@pytest.mark.long
def test_one_row_of_a_small_dimension_that_touches_few_keys(shop: LakeCase) -> None:
    shop.sql("INSERT INTO orders SELECT i, i, i, NULL FROM range(100, 300) AS r(i)")
    filled(
        shop,
        "CREATE DYNAMIC TABLE dt TARGET_LAG = '1 minute' AS SELECT o.order_id, max(c.region) AS region"
        " FROM orders o LEFT JOIN customers c USING (customer_id) GROUP BY 1",
    )
    shop.sql("UPDATE customers SET region = 'r9' WHERE customer_id = 42")
    found = shop.refresh("dt", lake_small_ms=0)
    assert (found["action"], found["keys"]) == ("incremental", 2)
    shop.check("dt")


@pytest.mark.long
def test_one_changed_row_that_touches_most_keys(shop: LakeCase) -> None:
    shop.sql("INSERT INTO customers SELECT i, 'r', 1 FROM range(100, 400) AS r(i)")
    shop.sql("INSERT INTO country SELECT i, 'c' FROM range(10, 100) AS r(i)")
    filled(
        shop,
        "CREATE DYNAMIC TABLE dt TARGET_LAG = '1 minute' AS SELECT c.customer_id, max(n.name) AS name"
        " FROM customers c JOIN country n USING (country_id) GROUP BY 1",
    )
    shop.sql("UPDATE country SET name = 'Norge' WHERE country_id = 1")
    found = shop.refresh("dt", lake_small_ms=0)
    assert (found["action"], found["reason"], found["keys"]) == ("full", "COST", None)
    shop.check("dt")

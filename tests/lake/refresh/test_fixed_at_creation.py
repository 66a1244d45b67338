"""What a definition means is fixed when its table is made: ``*``, and the queries of views."""

from __future__ import annotations

import pytest

from tests.fixtures.lake_case import LakeCase
from tests.lake.refresh.test_incremental import TABLE, filled, refreshed


def columns(case: LakeCase) -> list[str]:
    return [row[0] for row in case.sql("DESCRIBE SELECT * FROM lake.main.dt")]


@pytest.mark.long
def test_a_column_that_is_added_later_is_no_part_of_the_star(shop: LakeCase) -> None:
    filled(
        shop, f"{TABLE} SELECT o.*, c.* EXCLUDE (customer_id) FROM orders o LEFT JOIN customers c USING (customer_id)"
    )
    before = columns(shop)
    shop.sql("ALTER TABLE orders ADD COLUMN extra INTEGER")
    shop.sql("ALTER TABLE customers ADD COLUMN extra INTEGER")
    shop.sql("INSERT INTO orders VALUES (9, 43, 4, 'n', 7)")
    found = refreshed(shop)
    assert (found["state"], found["action"], columns(shop)) == ("SUCCEEDED", "incremental", before)
    shop.check("dt")
    shop.create(f"{TABLE.replace('CREATE', 'CREATE OR REPLACE')} SELECT * FROM orders")
    shop.refresh("dt")
    assert "extra" in columns(shop)
    shop.check("dt")


@pytest.mark.long
def test_a_column_that_is_added_before_the_first_refresh_is_not_read(shop: LakeCase) -> None:
    shop.create(f"{TABLE} SELECT * FROM orders")
    shop.sql("ALTER TABLE orders ADD COLUMN extra INTEGER")
    assert shop.refresh("dt")["state"] == "SUCCEEDED"
    shop.check("dt")


@pytest.mark.long
def test_a_natural_join_goes_on_with_the_columns_it_had(shop: LakeCase) -> None:
    filled(shop, f"{TABLE} SELECT order_id, region FROM orders NATURAL JOIN customers")
    shop.sql("ALTER TABLE orders ADD COLUMN region VARCHAR")
    shop.sql("UPDATE customers SET region = 'r9' WHERE customer_id = 42")
    refreshed(shop)
    assert shop.rows("dt") == [(1, "r9"), (2, "r9"), (3, "r2")]


def test_a_table_over_views_follows_the_tables_behind_them(shop: LakeCase) -> None:
    shop.sql("CREATE SCHEMA other")
    shop.sql(
        "CREATE VIEW other.big(id, who, worth) AS"
        " SELECT order_id, customer_id, amount FROM main.orders WHERE amount > 4"
    )
    shop.sql(
        "CREATE VIEW regions AS"
        " SELECT c.region, b.worth FROM other.big AS b JOIN customers AS c ON c.customer_id = b.who"
    )
    filled(shop, f"{TABLE} SELECT region, sum(worth) AS worth, count(*) AS n FROM regions GROUP BY region")
    assert shop.rows("dt") == [("r1", 15, 2), ("r2", 7, 1)]
    shop.sql("UPDATE orders SET amount = 1 WHERE order_id = 1")
    shop.sql("INSERT INTO orders VALUES (8, 44, 9, NULL)")
    found = refreshed(shop)
    assert found["action"] == "incremental"
    assert shop.rows("dt") == [("r1", 5, 1), ("r2", 7, 1), (None, 9, 1)]
    shop.check("dt")


@pytest.mark.long
def test_a_view_that_is_replaced_later_changes_nothing(shop: LakeCase) -> None:
    shop.sql("CREATE VIEW seen AS SELECT order_id, amount FROM orders")
    filled(shop, f"{TABLE} SELECT * FROM seen")
    shop.sql("CREATE OR REPLACE VIEW seen AS SELECT customer_id FROM customers")
    shop.sql("INSERT INTO orders VALUES (8, 44, 9, NULL)")
    refreshed(shop)
    assert len(shop.rows("dt")) == 5
    shop.check("dt")
    shop.sql("DROP VIEW seen")
    shop.sql("DELETE FROM orders WHERE order_id = 8")
    refreshed(shop)
    assert len(shop.rows("dt")) == 4


@pytest.mark.long
def test_a_view_may_read_a_dynamic_table(shop: LakeCase) -> None:
    filled(shop, f"{TABLE} SELECT customer_id, sum(amount) AS total FROM orders GROUP BY customer_id")
    shop.sql("CREATE VIEW rich AS SELECT customer_id, total FROM dt WHERE total > 5")
    shop.create("CREATE DYNAMIC TABLE top TARGET_LAG = DOWNSTREAM AS SELECT count(*) AS n FROM rich")
    shop.sql("INSERT INTO orders VALUES (8, 44, 9, NULL)")
    shop.refresh("top")
    assert shop.rows("top") == [(3,)]
    assert [row[0] for row in shop.pg("select source_dt_id from lake.source where source_dt_id is not null")] == [
        shop.find("dt")
    ]

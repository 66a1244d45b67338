"""Changes carried to a table on a lake, for each shape of definition. After every refresh the table is compared with
its definition; the counts tell that it was really done by the changes."""

from __future__ import annotations

from typing import Any

import pytest

from catchment.lake.refresh.session import Work
from tests.fixtures.lake_case import LakeCase
from tests.fixtures.often import often

TABLE = "CREATE DYNAMIC TABLE dt TARGET_LAG = '1 minute' REFRESH_MODE = INCREMENTAL AS"
REGIONS = (
    f"{TABLE} SELECT c.region, max(o.amount) AS most FROM orders o JOIN customers c USING (customer_id) GROUP BY 1"
)


def refreshed(case: LakeCase, *statements: str) -> dict[str, Any]:
    """Change the sources, refresh the table, compare it."""
    for statement in statements:
        case.sql(statement)
    found = case.refresh("dt")
    case.check("dt")
    assert case.temporary() == []
    return found


def filled(case: LakeCase, ddl: str) -> LakeCase:
    case.create(ddl)
    assert refreshed(case)["reason"] == "FIRST_FILL"
    return case


def test_only_touched_groups_are_written(regions: LakeCase) -> None:
    done = refreshed(regions, "INSERT INTO orders VALUES (5, 43, 70, NULL)")
    assert (done["action"], done["keys"], done["inserted"], done["deleted"]) == ("incremental", 1, 1, 1)


@pytest.mark.long
def test_order_and_customer_deleted_in_one_window(regions: LakeCase) -> None:
    done = refreshed(
        regions,
        "DELETE FROM orders WHERE customer_id = 42",
        "DELETE FROM customers WHERE customer_id = 42",
        "INSERT INTO orders VALUES (6, 43, 8, NULL)",
    )
    assert (done["action"], done["inserted"], done["deleted"]) == ("incremental", 1, 2)
    assert regions.rows("dt") == [("r2", 8)]


def test_foreign_key_moves_an_order_to_another_group(regions: LakeCase) -> None:
    done = refreshed(regions, "UPDATE orders SET customer_id = 43 WHERE order_id = 1")
    assert done["keys"] == 2
    assert regions.rows("dt") == [("r1", 5), ("r2", 10)]


@pytest.mark.long
def test_key_of_a_dimension_changes(regions: LakeCase) -> None:
    refreshed(regions, "UPDATE customers SET customer_id = 99 WHERE customer_id = 42")
    assert regions.rows("dt") == [("r2", 7)]


@pytest.mark.long
def test_group_with_a_null_key(shop: LakeCase) -> None:
    filled(shop, f"{TABLE} SELECT note, max(amount) AS most FROM orders GROUP BY note")
    refreshed(shop, "UPDATE orders SET amount = 100 WHERE order_id = 4")
    assert shop.rows("dt")[-1] == (None, 100)
    refreshed(shop, "DELETE FROM orders WHERE note IS NULL")
    assert len(shop.rows("dt")) == 2


@pytest.mark.parametrize("kind", often("FULL", now_and_then=["LEFT", "RIGHT"]))
def test_row_without_partner_dies_and_is_born_again(kind: str, shop: LakeCase) -> None:
    query = f"SELECT o.order_id, c.region FROM orders o {kind} JOIN customers c ON o.customer_id = c.customer_id"
    filled(shop, f"{TABLE} {query}")
    for statement in (
        "INSERT INTO customers VALUES (45, 'r3', 2)",
        "INSERT INTO orders VALUES (7, 45, 1, NULL)",
        "DELETE FROM customers WHERE customer_id = 45",
        "DELETE FROM orders WHERE order_id = 7",
        "UPDATE customers SET customer_id = NULL WHERE customer_id = 42",
    ):
        assert refreshed(shop, statement)["action"] in ("incremental", "no_data")


@pytest.mark.long
def test_several_commits_in_one_window(shop: LakeCase) -> None:
    filled(shop, f"{TABLE} SELECT customer_id, count(*) AS n, sum(amount) AS total FROM orders GROUP BY 1")
    done = refreshed(
        shop,
        "INSERT INTO orders VALUES (10, 42, 1, NULL), (11, 50, 2, NULL)",
        "UPDATE orders SET amount = amount * 2 WHERE order_id = 10",
        "DELETE FROM orders WHERE order_id = 11",
        "UPDATE orders SET amount = amount WHERE order_id = 3",
    )
    assert done["figures"]["strategy"] == "delta"
    assert (done["keys"], done["inserted"], done["deleted"]) == (1, 1, 1)


@pytest.mark.long
def test_sum_is_null_without_values_and_a_group_goes_with_its_rows(shop: LakeCase) -> None:
    filled(shop, f"{TABLE} SELECT customer_id, sum(amount) AS total, avg(amount) AS mean FROM orders GROUP BY 1")
    refreshed(shop, "UPDATE orders SET amount = NULL WHERE customer_id = 43")
    assert (43, None, None) in shop.rows("dt")
    refreshed(shop, "INSERT INTO orders VALUES (20, 42, -15, NULL)")
    assert next(row for row in shop.rows("dt") if row[0] == 42)[1] == 0
    refreshed(shop, "DELETE FROM orders WHERE customer_id = 42")
    assert 42 not in [row[0] for row in shop.rows("dt")]


SHAPES = [
    "SELECT customer_id FROM orders UNION SELECT customer_id FROM customers",
    "WITH t AS (SELECT customer_id, sum(amount) AS s FROM orders GROUP BY 1)"
    " SELECT a.s, b.s AS other FROM t a JOIN t b USING (customer_id)",
    "SELECT n.name, count(o.order_id) AS orders FROM country n LEFT JOIN customers c USING (country_id)"
    " LEFT JOIN orders o USING (customer_id) GROUP BY 1",
    "SELECT count(*) AS n, sum(amount) AS total FROM orders",
]
MORE_SHAPES = [
    "SELECT DISTINCT region FROM customers",
    "SELECT customer_id FROM orders UNION ALL SELECT customer_id FROM customers",
    "SELECT customer_id, sum(amount) AS total FROM orders GROUP BY 1 HAVING sum(amount) > 7",
    "SELECT *, row_number() OVER (PARTITION BY customer_id ORDER BY amount, order_id) AS place FROM orders",
    "SELECT * FROM orders QUALIFY row_number() OVER (PARTITION BY customer_id ORDER BY amount, order_id) = 1",
    "SELECT total, count(*) AS n FROM (SELECT customer_id, sum(amount) AS total FROM orders GROUP BY 1) GROUP BY 1",
    "SELECT o.* FROM orders o SEMI JOIN customers c USING (customer_id)",
    "SELECT o.* FROM orders o ANTI JOIN customers c USING (customer_id)",
]


@pytest.mark.parametrize("query", often(SHAPES[1], now_and_then=[SHAPES[0], *SHAPES[2:], *MORE_SHAPES]))
def test_shapes_of_definitions(query: str, shop: LakeCase) -> None:
    filled(shop, f"{TABLE} {query}")
    done = refreshed(
        shop,
        "INSERT INTO orders VALUES (5, 44, 3, NULL), (6, 42, 10, 'a')",
        "UPDATE customers SET region = 'r1' WHERE customer_id = 43",
    )
    assert done["action"] in ("incremental", "no_data")
    refreshed(shop, "DELETE FROM orders WHERE order_id IN (1, 3)", "DELETE FROM customers WHERE customer_id = 44")
    refreshed(shop, "UPDATE orders SET customer_id = 44 WHERE order_id = 2", "UPDATE country SET name = 'DK'")


def test_change_of_an_unused_column_moves_the_frontier_alone(regions: LakeCase) -> None:
    head = regions.head()
    done = refreshed(regions, "UPDATE orders SET note = 'z'")
    assert (done["action"], done["inserted"], done["deleted"], done["commit_snapshot"]) == ("no_data", 0, 0, None)
    assert regions.head() == head + 1


def test_result_that_stays_equal_makes_no_snapshot(regions: LakeCase) -> None:
    head = regions.head()
    done = refreshed(regions, "INSERT INTO orders VALUES (9, 42, 1, NULL)")
    assert (done["action"], done["keys"], done["commit_snapshot"]) == ("incremental", 1, None)
    assert regions.head() == head + 1


def test_table_over_table_follows_the_same_snapshot(shop: LakeCase) -> None:
    shop.create(
        "CREATE DYNAMIC TABLE per_customer TARGET_LAG = DOWNSTREAM REFRESH_MODE = INCREMENTAL AS"
        " SELECT customer_id, sum(amount) AS total FROM orders GROUP BY 1"
    )
    filled(
        shop,
        f"{TABLE} SELECT c.region, max(p.total) AS most FROM per_customer p JOIN customers c USING (customer_id)"
        " GROUP BY 1",
    )
    done = refreshed(shop, "INSERT INTO orders VALUES (5, 43, 70, NULL)", "UPDATE customers SET region = 'r9'")
    assert done["action"] == "incremental"
    shop.check("per_customer")
    assert shop.rows("dt") == [("r9", 77)]


@pytest.mark.long
def test_sources_that_were_compacted_are_no_change(regions: LakeCase) -> None:
    refreshed(regions, "INSERT INTO orders VALUES (5, 43, 70, NULL)", "DELETE FROM orders WHERE order_id = 1")
    regions.sql("CALL ducklake_rewrite_data_files('lake', 'orders', delete_threshold => 0.05)")
    regions.sql("CALL ducklake_merge_adjacent_files('lake', 'orders')")
    done = refreshed(regions, "INSERT INTO orders VALUES (6, 43, 71, NULL)")
    assert (done["action"], done["keys"]) == ("incremental", 1)


@pytest.mark.long
def test_sums_that_do_not_fit_are_computed_again(shop: LakeCase) -> None:
    """In DECIMAL(38, 0) the sums on the way overflow, though those of the groups do not."""
    shop.make("big", "g INTEGER, v DECIMAL(38,0)", [[1, 1], [2, 2]])
    filled(shop, f"{TABLE} SELECT g, sum(v) AS total, count(*) AS n FROM big GROUP BY g")
    largest = 10**38 - 1
    shop.sql(f"INSERT INTO big VALUES (3, {largest})")
    done = refreshed(shop)
    assert done["state"] == "SUCCEEDED"
    done = refreshed(shop, f"INSERT INTO big VALUES (3, -{largest})", f"INSERT INTO big VALUES (3, {largest - 5})")
    assert (3, largest - 5, 3) in shop.rows("dt")
    assert done["action"] in ("incremental", "full")


def test_nothing_temporary_is_left_after_an_error(regions: LakeCase, monkeypatch: pytest.MonkeyPatch) -> None:
    regions.sql("INSERT INTO orders VALUES (5, 43, 70, NULL)")
    make = Work.make

    def failing(work: Work, name: str, sql: str, parameters: Any = ()) -> int:
        if name == "added":
            raise OSError("the machine is on fire")
        return make(work, name, sql, parameters)

    monkeypatch.setattr(Work, "make", failing)
    with pytest.raises(OSError, match="fire"):
        regions.refresh("dt")
    assert regions.temporary() == []
    monkeypatch.undo()
    refreshed(regions)

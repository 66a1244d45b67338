"""A table computed as a whole: what is written is what differs."""

from __future__ import annotations

import pytest

from catchment.errors import LakeError
from catchment.lake.refresh.audit import audit
from tests.fixtures.lake_case import LakeCase

ORDERS = "order_id BIGINT, customer_id BIGINT, amount DECIMAL(10,2)"
FULL = "CREATE DYNAMIC TABLE spending TARGET_LAG = '1 minute' REFRESH_MODE = FULL AS"
QUERY = "SELECT customer_id, sum(amount) AS amount, count(*) AS orders FROM orders GROUP BY customer_id"


def make_orders(case: LakeCase, count: int = 100) -> None:
    case.make("orders", ORDERS)
    case.sql(f"INSERT INTO orders SELECT i, i % 10, i FROM range({count}) AS r(i)")


def test_first_fill_holds_the_result_of_the_query(lake_case: LakeCase) -> None:
    make_orders(lake_case)
    lake_case.create(f"{FULL} {QUERY}")
    done = lake_case.refresh("spending")
    assert (done["state"], done["action"], done["reason"]) == ("SUCCEEDED", "reinitialize", "FIRST_FILL")
    assert lake_case.rows("spending")[3] == (3, 480, 10)
    lake_case.check("spending")
    assert lake_case.temporary() == []
    assert lake_case.leftovers() == {}


def test_a_table_that_was_never_filled_cannot_be_audited(lake_case: LakeCase) -> None:
    make_orders(lake_case)
    dt_id = lake_case.create(f"{FULL} {QUERY}")
    with pytest.raises(LakeError, match="no content") as caught:
        audit(lake_case.duck, lake_case.control, dt_id)
    assert caught.value.code == "NOT_FILLED"


def test_full_refresh_writes_only_rows_that_differ(lake_case: LakeCase) -> None:
    make_orders(lake_case)
    lake_case.create(f"{FULL} {QUERY}")
    lake_case.refresh("spending")
    lake_case.add("orders", [[1000, 3, 5]])
    done = lake_case.refresh("spending")
    assert (done["action"], done["reason"]) == ("full", "MODE_FULL")
    assert (done["inserted"], done["deleted"], done["rows_after"]) == (1, 1, 10)
    lake_case.check("spending")


def test_full_refresh_without_difference_makes_no_snapshot(lake_case: LakeCase) -> None:
    make_orders(lake_case)
    lake_case.create(f"{FULL} SELECT count(*) AS n FROM orders")
    lake_case.refresh("spending")
    head = lake_case.head()
    lake_case.sql("UPDATE orders SET amount = 0 WHERE order_id = 1")
    done = lake_case.refresh("spending")
    assert (done["inserted"], done["deleted"], done["commit_snapshot"]) == (0, 0, None)
    assert lake_case.head() == head + 1
    lake_case.check("spending")


@pytest.mark.long
def test_a_macro_that_is_made_later_does_not_change_what_a_table_means(lake_case: LakeCase) -> None:
    make_orders(lake_case)
    lake_case.sql("CREATE MACRO twice(a) AS a * 2")
    lake_case.create(f"{FULL} SELECT order_id, twice(order_id) AS two, abs(order_id) AS one FROM orders")
    lake_case.sql("CREATE MACRO abs(a) AS a * 3")
    done = lake_case.refresh("spending")
    assert done["state"] == "SUCCEEDED"
    assert lake_case.rows("spending")[5] == (5, 10, 5)
    lake_case.check("spending")
    assert lake_case.pg("select reason from lake.dt") == [("UNTRACKED_SOURCE",)]

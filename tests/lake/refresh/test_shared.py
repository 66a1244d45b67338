"""Tables of one round that read the same changes of a source: the process reads them from the files once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from catchment.lake.duck.changed_files import changed_files
from catchment.lake.refresh import feed, shared
from tests.fixtures.lake_case import LakeCase

LAG = "TARGET_LAG = '1 minute' REFRESH_MODE"
QUERIES = {
    "most": "SELECT customer_id, max(amount) AS most FROM orders GROUP BY customer_id",
    "notes": "SELECT note, count(*) AS n, sum(amount) AS amount FROM orders GROUP BY note",
    "rows": "SELECT order_id, note FROM orders WHERE customer_id IS NOT NULL",
}
NAMES = tuple(QUERIES)


@pytest.fixture
def crowd(shop: LakeCase) -> LakeCase:
    """The shop with three tables over its orders, filled in one round."""
    for name, query in QUERIES.items():
        shop.create(f"CREATE DYNAMIC TABLE {name} {LAG} = INCREMENTAL AS {query}")
    together(shop)
    return shop


def together(case: LakeCase, names: Sequence[str] = NAMES) -> dict[str, dict[str, Any]]:
    """One round of these tables, each compared; returns the rows of their refreshes."""
    finish(case, request(case, names))
    found = {name: case.refreshed(newest(case, name)) for name in names}
    for name in names:
        case.check(name)
    return found


def request(case: LakeCase, names: Sequence[str] = NAMES) -> int:
    round_id = case.control.request_round([case.find(name) for name in names])
    ((refresh_id,),) = case.pg("select min(id) from lake.refresh where round_id = %s", round_id)
    return refresh_id


def finish(case: LakeCase, refresh_id: int) -> None:
    assert case.finish_round(refresh_id)["state"] == "SUCCEEDED"
    assert case.temporary() == []


def newest(case: LakeCase, name: str) -> int:
    ((refresh_id,),) = case.pg("select max(id) from lake.refresh where dt_id = %s", case.find(name))
    return refresh_id


@pytest.fixture
def looked(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The sources, by their id, whose files were looked at."""
    tables = list[int]()

    def noted(conn: Any, table_id: int, *rest: Any, **options: Any) -> Any:
        tables.append(table_id)
        return changed_files(conn, table_id, *rest, **options)

    monkeypatch.setattr("catchment.lake.refresh.feed.changed_files", noted)
    return tables


def test_a_round_reads_the_changes_of_a_source_once(crowd: LakeCase, looked: list[int]) -> None:
    crowd.sql("UPDATE orders SET amount = amount + 1, note = 'b' WHERE order_id < 3")
    crowd.sql("DELETE FROM orders WHERE order_id = 4")
    done = together(crowd)
    assert [row["action"] for row in done.values()] == ["incremental"] * 3
    assert len(looked) == 1


def test_the_next_round_reads_its_own_changes(crowd: LakeCase, looked: list[int]) -> None:
    for amount in (8, 9, 10):
        crowd.sql("UPDATE orders SET amount = ?, note = 'd' WHERE order_id = 2", [amount])
        together(crowd)
    assert len(looked) == 3


def test_a_table_that_was_refreshed_in_between_reads_its_own_changes(crowd: LakeCase, looked: list[int]) -> None:
    crowd.sql("DELETE FROM orders WHERE order_id = 1")
    crowd.refresh("notes")
    crowd.sql("UPDATE orders SET note = 'e'")
    together(crowd)
    assert len(looked) == 3


def test_commits_after_the_snapshot_of_the_round_do_not_matter(crowd: LakeCase, looked: list[int]) -> None:
    crowd.sql("UPDATE orders SET amount = 6 WHERE order_id = 2")
    refresh_id = request(crowd)
    crowd.sql("DELETE FROM orders WHERE order_id IN (2, 3)")
    finish(crowd, refresh_id)
    assert crowd.rows("most") == [(42, 10), (43, 7), (None, 1)]
    for name in NAMES:
        crowd.check(name)
    assert len(looked) == 1


def test_a_wanted_column_that_was_replaced_is_not_taken(crowd: LakeCase) -> None:
    """The name is the same and the column another one: the tables that use it are computed as a whole."""
    crowd.sql("ALTER TABLE orders RENAME note TO remark")
    crowd.sql("ALTER TABLE orders ADD COLUMN note VARCHAR")
    crowd.sql("UPDATE orders SET note = 'f', remark = 'g' WHERE order_id = 3")
    done = together(crowd)
    assert {name: row["action"] for name, row in done.items()} == {
        "most": "no_data",
        "notes": "reinitialize",
        "rows": "reinitialize",
    }


def test_a_refresh_that_fails_leaves_the_changes_for_the_others(
    crowd: LakeCase, looked: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    plain, left = feed.read_files, [1]

    def failing(*arguments: Any, **options: Any) -> Any:
        found = plain(*arguments, **options)
        if left and left.pop():
            raise OSError("the disk is gone")
        return found

    monkeypatch.setattr(feed, "read_files", failing)
    crowd.sql("UPDATE orders SET amount = 6, note = NULL WHERE order_id = 2")
    refresh_id = request(crowd)
    with pytest.raises(OSError, match="gone"):
        crowd.finish_round(refresh_id)
    crowd.finish_round(refresh_id)
    assert crowd.temporary() == []
    crowd.check("notes")
    crowd.check("rows")
    assert len(looked) == 1


def test_many_changes_are_not_kept(crowd: LakeCase, looked: list[int], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shared, "MOST_ROWS", 3)
    crowd.sql("UPDATE orders SET note = 'h'")
    together(crowd)
    assert len(looked) == 3


def test_nothing_is_kept_for_a_table_that_is_refreshed_fully(
    crowd: LakeCase, looked: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    crowd.create(f"CREATE DYNAMIC TABLE whole {LAG} = FULL AS SELECT note FROM orders")
    together(crowd, ["most", "whole"])
    crowd.sql("UPDATE orders SET amount = 90 WHERE order_id = 2")
    kept = list[object]()
    monkeypatch.setattr(shared, "keep", lambda *arguments: kept.append(arguments))
    done = together(crowd, ["most", "whole"])
    assert (done["most"]["keys"], len(looked), kept) == (1, 1, [])

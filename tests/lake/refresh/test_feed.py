"""The two ways to read what changed in a source: from the files of both versions, and from DuckLake's feed."""

from __future__ import annotations

from typing import Any

import pytest

from catchment.lake.refresh import feed
from tests.fixtures.lake_case import LakeCase
from tests.lake.refresh.test_incremental import TABLE, filled, refreshed

SUMS = f"{TABLE} SELECT customer_id, count(*) AS n, max(amount) AS most FROM orders GROUP BY customer_id"
ROWS = f"{TABLE} SELECT order_id, amount FROM orders WHERE amount > 0"
NEW = "INSERT INTO orders VALUES (9, 42, 3, NULL)"

WINDOWS = {
    "rows of a file": ["DELETE FROM orders WHERE order_id = 2"],
    "update": ["UPDATE orders SET amount = amount + 1 WHERE customer_id = 42"],
    "the same rows twice": ["UPDATE orders SET amount = 8", "UPDATE orders SET amount = 9 WHERE order_id < 3"],
    "a whole file": [NEW, "DELETE FROM orders WHERE order_id < 5"],
    "came and went": [
        "INSERT INTO orders VALUES (9, 42, 3, NULL), (10, 42, 4, NULL)",
        "DELETE FROM orders WHERE order_id = 9",
    ],
    "a file came and went": [
        "INSERT INTO orders VALUES (9, 42, 3, NULL)",
        "DELETE FROM orders WHERE order_id IN (1, 9)",
    ],
}


def only_files(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: Any, **__: Any) -> None:
        raise AssertionError("the feed was asked")

    monkeypatch.setattr(feed, "read_feed", refuse)


def fed(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of the tables that were read from the feed, from now on."""
    plain, names = feed.read_feed, list[str]()

    def noted(work: Any, source: Any, name: str, *rest: Any, **options: Any) -> feed.Changes:
        names.append(source.read.ref.name)
        return plain(work, source, name, *rest, **options)

    monkeypatch.setattr(feed, "read_feed", noted)
    return names


@pytest.mark.parametrize("window", WINDOWS)
@pytest.mark.parametrize("ddl", [SUMS, ROWS], ids=["groups", "rows"])
def test_files_have_the_difference(window: str, ddl: str, shop: LakeCase, monkeypatch: pytest.MonkeyPatch) -> None:
    filled(shop, ddl)
    only_files(monkeypatch)
    assert refreshed(shop, *WINDOWS[window])["action"] == "incremental"


def test_deletes_of_other_windows_are_not_taken_again(shop: LakeCase, monkeypatch: pytest.MonkeyPatch) -> None:
    """A delete file lists what went in all commits: those of before the window, and those of after it."""
    filled(shop, SUMS)
    only_files(monkeypatch)
    refreshed(shop, "DELETE FROM orders WHERE order_id = 1")
    found = refreshed(shop, "DELETE FROM orders WHERE order_id = 3")
    assert (found["figures"]["rows_in"], found["keys"]) == (1, 1)
    shop.sql("UPDATE orders SET amount = 50 WHERE order_id = 2")
    refresh_id = shop.request("dt")
    shop.sql("DELETE FROM orders WHERE order_id = 4")
    shop.carry_out(shop.begin(refresh_id))
    assert shop.refreshed(refresh_id)["figures"]["rows_in"] == 2
    assert shop.rows("dt") == [(42, 1, 50), (None, 1, 1)]
    assert refreshed(shop)["figures"]["rows_in"] == 1


@pytest.mark.parametrize("scans", [0, 32], ids=["one scan", "a scan for each run"])
def test_places_of_deleted_rows_far_apart(scans: int, lake_case: LakeCase, monkeypatch: pytest.MonkeyPatch) -> None:
    lake_case.sql(
        "CREATE TABLE orders AS SELECT range AS order_id, range % 7 AS customer_id, 1 AS amount FROM range(400000)"
    )
    filled(lake_case, SUMS)
    only_files(monkeypatch)
    monkeypatch.setattr(feed, "MOST_SCANS", scans)
    monkeypatch.setattr(feed, "ROWS_PER_SCAN", 1)
    found = refreshed(lake_case, "UPDATE orders SET amount = 2 WHERE order_id IN (3, 4, 200000, 399999)")
    assert (found["action"], found["figures"]["rows_in"]) == ("incremental", 8)


def test_places_of_deleted_rows_in_several_files(lake_case: LakeCase, monkeypatch: pytest.MonkeyPatch) -> None:
    lake_case.make("orders", "order_id INTEGER, customer_id INTEGER, amount INTEGER")
    for first in (0, 1000, 2000):
        lake_case.sql(f"INSERT INTO orders SELECT i, i % 7, 1 FROM range({first}, {first} + 1000) AS r(i)")
    filled(lake_case, SUMS)
    only_files(monkeypatch)
    fewest, found = feed._fewest, list[int]()

    def noted(blocks: Any) -> Any:
        found.append(len(blocks))
        return fewest(blocks)

    monkeypatch.setattr(feed, "_fewest", noted)
    for condition in ("order_id % 1000 IN (3, 999)", "order_id IN (5, 1006, 1007)"):
        assert refreshed(lake_case, f"UPDATE orders SET amount = 2 WHERE {condition}")["action"] == "incremental"
    assert found == [3, 2]


def test_files_are_scanned_together_where_that_reads_less() -> None:
    near = [("a", 0, 10, 90), ("b", 0, 20, 95), ("b", 9, 600_000, 600_001)]
    assert feed._fewest(near) == [feed._Run(("a", "b"), 10, 95), feed._Run(("b",), 600_000, 600_001)]
    far = [("a", 0, 10, 90), ("b", 2, 190_000, 190_001), ("c", 4, 300_000, 300_001)]
    assert [run.files for run in feed._fewest(far)] == [("a",), ("b",), ("c",)]


def test_the_feed_is_read_after_upkeep(shop: LakeCase, monkeypatch: pytest.MonkeyPatch) -> None:
    filled(shop, SUMS)
    names = fed(monkeypatch)
    shop.sql(NEW)
    shop.sql("CALL ducklake_merge_adjacent_files('lake')")
    assert refreshed(shop, "UPDATE orders SET amount = 11 WHERE order_id = 1")["action"] == "incremental"
    assert names == ["orders"]


def test_the_feed_is_read_where_a_column_hides_the_file(lake_case: LakeCase, monkeypatch: pytest.MonkeyPatch) -> None:
    lake_case.make("orders", "customer_id BIGINT, amount BIGINT, FileName VARCHAR", [[1, 2, "a"], [2, 3, "b"]])
    filled(lake_case, SUMS)
    names = fed(monkeypatch)
    assert refreshed(lake_case, "UPDATE orders SET amount = 5 WHERE customer_id = 1")["action"] == "incremental"
    assert names == ["orders"]


def test_the_feed_is_read_where_files_and_catalog_disagree(shop: LakeCase, monkeypatch: pytest.MonkeyPatch) -> None:
    """Here: another client has registered the name of a file in another way."""
    filled(shop, SUMS)
    names = fed(monkeypatch)
    monkeypatch.setattr(feed, "changed_files", _misnamed)
    assert refreshed(shop, "UPDATE orders SET amount = 5 WHERE order_id = 1")["action"] == "incremental"
    assert names == ["orders"]


_plain = feed.changed_files


def _misnamed(*arguments: Any, **options: Any) -> Any:
    files = _plain(*arguments, **options)
    assert files is not None
    return type(files)(tuple(f"{name}x" for name in files.new), files.came, files.ended, files.went, files.deletes)

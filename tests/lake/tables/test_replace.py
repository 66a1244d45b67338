"""CREATE OR REPLACE and CREATE OR ALTER: readers see the old rows until the new ones are there, in one commit."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import suppress
from datetime import timedelta
from pathlib import Path

import pytest

from catchment.errors import LakeError, TableRefused
from catchment.lake.facade import Lake
from catchment.lake.files.sweep import sweep
from tests.fixtures.lake import LakeStates
from tests.fixtures.lake_case import LakeCase, foreign_client
from tests.lake.refresh.inline import refresh_in_buckets

ALL = "SELECT region, sum(amount) AS amount FROM orders GROUP BY region"
MOST = "SELECT region, max(amount) AS amount FROM orders GROUP BY region"
WRONG = "SELECT region, CAST('x' || region AS BIGINT) AS amount FROM orders GROUP BY region"
OLD = [("n", 12), ("s", 1)]
NEW = [("n", 7), ("s", 1)]


def totals(query: str = ALL, how: str = "OR REPLACE", properties: str = "TARGET_LAG = '1 hour'") -> str:
    return f"CREATE {how} DYNAMIC TABLE totals {properties} AS {query}"


def _filled(case: LakeCase) -> None:
    case.make("orders", "id BIGINT, region VARCHAR, amount DECIMAL(10,2)", [(1, "n", 5), (2, "n", 7), (3, "s", 1)])
    with Lake(case.dsn, settings=case.settings) as lake:
        lake.create(totals(how=""))
        lake.create("CREATE DYNAMIC TABLE above TARGET_LAG = '1 hour' AS SELECT sum(amount) AS amount FROM totals")


@pytest.fixture
def lake_case(lake_states: LakeStates, tmp_path: Path) -> Iterator[LakeCase]:
    """A lake with a filled table of totals, and one above it."""
    with lake_states.copy(_filled, tmp_path / "lake") as case:
        yield case


@pytest.fixture
def lake(lake_case: LakeCase) -> Iterator[Lake]:
    with Lake(lake_case.dsn, settings=lake_case.settings) as found:
        yield found


@pytest.mark.long
def test_readers_see_the_old_rows_until_the_new_ones_are_there(lake: Lake, lake_case: LakeCase) -> None:
    seen: set[tuple[object, ...]] = set()
    is_over, has_read = threading.Event(), threading.Event()

    def read() -> None:
        with foreign_client(lake_case) as client:
            while not is_over.is_set():
                seen.add(tuple(client.execute("SELECT * FROM theirs.totals ORDER BY ALL").fetchall()))
                has_read.set()

    reader = threading.Thread(target=read)
    reader.start()
    try:
        assert has_read.wait(60)
        (made,) = lake.create(totals(MOST))
    finally:
        is_over.set()
        reader.join()
    assert seen <= {tuple(OLD), tuple(NEW)}
    assert (made.change, made.generation, made.is_new) == ("replaced", 2, True)
    assert lake_case.rows("totals") == NEW
    assert lake.describe("totals").definition == MOST
    lake_case.check("totals")
    # What reads it follows with its next refresh.
    lake_case.refresh("above")
    lake_case.check("above")
    assert lake_case.rows("above") == [(8,)]
    assert lake_case.leftovers() == {}


@pytest.mark.long
def test_a_definition_that_fails_leaves_the_table_as_it_was(lake: Lake, lake_case: LakeCase) -> None:
    with pytest.raises(LakeError, match=r"main\.totals is not replaced: .* is FAILED") as raised:
        lake.create(totals(WRONG))
    assert "keeps its rows" in (raised.value.hint or "")
    assert lake_case.rows("totals") == OLD
    found = lake.describe("totals")
    assert (found.definition, found.generation, found.is_filled) == (ALL, 1, True)
    # It continues as before, and history has what was tried.
    assert "FAILED" in [entry.state for entry in lake.history("totals")]
    lake_case.add("orders", [(4, "s", 2)])
    lake_case.refresh("totals")
    lake_case.check("totals")
    assert lake_case.leftovers() == {}
    assert [row.name for row in lake.tables()] == ["main.above", "main.totals"]
    (made,) = lake.create(totals(MOST))
    assert made.generation == 3
    lake_case.check("totals")


@pytest.mark.long
def test_a_definition_without_rows_takes_its_place_too(lake: Lake, lake_case: LakeCase) -> None:
    lake.create(totals(f"SELECT * FROM ({ALL}) WHERE amount > 1000"))
    assert lake_case.rows("totals") == []
    lake_case.add("orders", [(4, "s", 2000)])
    lake_case.refresh("totals")
    lake_case.check("totals")
    assert lake_case.leftovers() == {}


@pytest.mark.long
def test_a_new_definition_can_be_filled_in_buckets(lake: Lake, lake_case: LakeCase) -> None:
    lake_case.sql("INSERT INTO orders SELECT i, 'r' || i % 100, i FROM range(1000) AS r(i)")
    lake.create(totals(MOST.replace("max", "min"), properties="TARGET_LAG = '1 hour' INITIALIZE = ON_SCHEDULE"))
    assert lake_case.rows("totals") == OLD
    ((refresh_id,),) = lake_case.pg("select id from lake.refresh where finished_at is null")
    row = refresh_in_buckets(lake_case, refresh_id)
    assert row["state"] == "SUCCEEDED"
    assert len(lake_case.rows("totals")) == 102
    lake_case.check("totals")
    assert lake_case.leftovers() == {}


@pytest.mark.long
def test_the_same_statement_again_changes_nothing(lake: Lake, lake_case: LakeCase) -> None:
    head = lake_case.head()
    (made,) = lake.create(totals())
    assert (made.change, made.is_new, made.generation) == ("unchanged", False, 1)
    assert lake_case.head() == head
    assert lake_case.pg("select count(*) from lake.round where trigger = 'create'") == [(2,)]
    # Another property is another table, and so is a star over other columns.
    (made,) = lake.create(totals(properties="TARGET_LAG = '2 hours'"))
    assert (made.change, made.generation) == ("replaced", 2)
    lake.create("CREATE DYNAMIC TABLE copy TARGET_LAG = '1 hour' AS SELECT * FROM orders")
    lake_case.sql("ALTER TABLE orders ADD COLUMN note VARCHAR")
    (made,) = lake.create("CREATE OR REPLACE DYNAMIC TABLE copy TARGET_LAG = '1 hour' AS SELECT * FROM orders")
    assert made.change == "replaced"
    assert [column.name for column in lake.describe("copy").columns] == ["id", "region", "amount", "note"]


@pytest.mark.long
def test_or_alter_computes_only_what_another_query_asks_for(lake: Lake, lake_case: LakeCase) -> None:
    head = lake_case.head()
    (made,) = lake.create(totals(how="OR ALTER", properties="TARGET_LAG = '2 hours' COMMENT = 'by region'"))
    assert (made.change, made.is_new, made.generation) == ("altered", False, 1)
    assert lake_case.head() == head
    found = lake.describe("totals")
    assert (found.comment, found.properties.target_lag) == ("by region", timedelta(hours=2))
    (made,) = lake.create(totals(how="OR ALTER", properties="TARGET_LAG = '2 hours' COMMENT = 'by region'"))
    assert made.change == "unchanged"
    words = "TARGET_LAG = '2 hours' COMMENT = 'by region' INITIALIZE = ON_SCHEDULE"
    (made,) = lake.create(totals(how="OR ALTER", properties=words))
    assert made.change == "unchanged"
    (made,) = lake.create(totals(MOST, how="OR ALTER"))
    assert (made.change, lake_case.rows("totals")) == ("replaced", NEW)
    (made,) = lake.create(totals(how="OR ALTER").replace("totals", "fresh", 1))
    assert (made.change, lake_case.rows("fresh")) == ("created", OLD)


@pytest.mark.long
def test_a_table_that_is_being_replaced_can_be_dropped_or_replaced_again(lake: Lake, lake_case: LakeCase) -> None:
    lake.create("CREATE DYNAMIC TABLE other TARGET_LAG = '1 hour' AS SELECT region FROM orders")
    lake.create(totals(MOST), wait=False)
    with pytest.raises(TableRefused, match=r"main\.totals is being replaced"):
        lake.alter("totals", target_lag="2 hours")
    with pytest.raises(TableRefused, match=r"main\.totals is being replaced"):
        lake.rename("totals", "other")
    lake.create(totals(MOST.replace("max", "min")), wait=False)
    lake_case.fill_replacement()
    assert lake_case.rows("totals") == [("n", 5), ("s", 1)]
    lake.create(totals(MOST), wait=False)
    # No circle through a definition that is not in force yet.
    lake.create("CREATE OR REPLACE DYNAMIC TABLE other TARGET_LAG = '1 hour' AS SELECT region FROM totals", wait=False)
    with pytest.raises(TableRefused, match="would read itself"):
        lake.create(totals("SELECT region, 1 AS amount FROM other"))
    lake.drop("totals", cascade=True)
    assert [row.name for row in lake.tables()] == ["main.other"]
    assert lake_case.leftovers() == {}


def test_cancelling_gives_the_new_definition_up(lake: Lake, lake_case: LakeCase) -> None:
    lake.create(totals(MOST), wait=False)
    assert lake.cancel("totals") == 1
    assert sweep(lake_case.duck, lake_case.control, lake_case.settings) == 0
    assert lake_case.rows("totals") == OLD
    assert lake_case.leftovers() == {}
    assert lake_case.pg("select count(*) from lake.dt") == [(2,)]


@pytest.mark.long
def test_a_refresh_of_the_old_definition_does_not_outlive_it(lake: Lake, lake_case: LakeCase) -> None:
    lake_case.add("orders", [(4, "s", 2)])
    order = lake_case.begin(lake_case.request("totals"))
    lake.create(totals(MOST), wait=False)
    lake_case.fill_replacement()
    with suppress(Exception):
        lake_case.carry_out(order)
    assert lake_case.refreshed(order.refresh_id)["state"] == "CANCELLED"
    assert lake_case.rows("totals") == [("n", 7), ("s", 2)]
    lake_case.check("totals")


@pytest.mark.long
def test_a_suspended_table_stays_suspended(lake: Lake, lake_case: LakeCase) -> None:
    lake.suspend("totals")
    lake.create(totals(MOST))
    assert lake.describe("totals").scheduling_state == "SUSPENDED"
    assert lake_case.rows("totals") == NEW

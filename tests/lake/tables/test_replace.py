"""CREATE OR REPLACE and CREATE OR ALTER: readers see the old rows until the new ones are there, in one commit."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from catchment.errors import LakeError, TableNotFound, TableRefused
from catchment.lake.control.control import Control
from catchment.lake.facade import Lake
from catchment.lake.files.sweep import sweep
from tests.fixtures.lake import LakeStates
from tests.fixtures.lake_case import LakeCase, foreign_client
from tests.fixtures.worker import wait_until
from tests.lake.refresh.inline import refresh_in_buckets

ALL = "SELECT region, sum(amount) AS amount FROM orders GROUP BY region"
MOST = "SELECT region, max(amount) AS amount FROM orders GROUP BY region"
TWICE = "SELECT region, sum(2 * amount) AS amount FROM orders GROUP BY region"
WRONG = "SELECT region, CAST('x' || region AS BIGINT) AS amount FROM orders GROUP BY region"
WAITING = """
select count(*) from pg_stat_activity
 where datname = current_database() and wait_event = %s
   and clock_timestamp() - query_start > 1.5 * current_setting('deadlock_timeout')::interval
"""
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
def test_what_reads_a_replaced_table_is_compared_with_what_it_has_read(lake: Lake, lake_case: LakeCase) -> None:
    lake_case.sql("INSERT INTO orders SELECT i, 'r' || i % 9, i FROM range(90) AS r(i)")
    lake_case.refresh("above")
    before = lake_case.rows("above")
    lake_case.sql("DELETE FROM orders WHERE id % 4 = 0")
    lake.create(totals(MOST))
    lake_case.check("above")
    assert lake_case.rows("above") == before
    explained = lake.explain("above")
    assert explained.next is not None
    assert (explained.next.action, explained.next.reason) == ("reinitialize", "SOURCE_REPLACED")
    lake_case.refresh("above")
    lake_case.check("above")
    assert lake_case.rows("above") != before


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
    assert lake_case.carry_out(order) is None
    assert lake_case.refreshed(order.refresh_id)["state"] == "SKIPPED"
    assert lake_case.rows("totals") == [("n", 7), ("s", 2)]
    assert lake_case.finish_round(order.refresh_id)["state"] == "SUCCEEDED"
    lake_case.check("totals")


@pytest.mark.parametrize("step", ["asked for", "ready", "begun"])
def test_what_was_asked_of_a_replaced_table_and_of_those_below_continues(
    lake: Lake, lake_case: LakeCase, step: str
) -> None:
    """Among it the first refresh of another definition."""
    lake_case.add("orders", [(4, "s", 2)])
    if step != "asked for":
        lake_case.refresh("totals")
    rounds = [lake_case.control.request_round([lake_case.find(name)]) for name in ("above", "totals", "above")]
    lake.create(
        "CREATE OR REPLACE DYNAMIC TABLE above TARGET_LAG = '1 hour' AS SELECT max(amount) AS amount FROM totals",
        wait=False,
    )
    ((asked,),) = lake_case.pg("select id from lake.refresh where round_id = %s and dt_id = %s", rounds[0], 2)
    if step == "begun":
        lake_case.begin(asked)
    made = lake.create(totals(TWICE), wait=False)[0]
    ((fill,),) = lake_case.pg("select id from lake.refresh where dt_id = %s", made.dt_id)
    lake_case.finish_round(fill)
    while ready := lake_case.pg(
        "select id from lake.refresh where finished_at is null and task_id is not null limit 1"
    ):
        lake_case.finish_round(ready[0][0])
    assert lake_case.pg("select count(*) from lake.refresh where finished_at is null") == [(0,)]
    assert lake_case.finish_round(asked)["state"] == "SUCCEEDED"
    for name, rows in (("totals", [("n", 24), ("s", 6)]), ("above", [(24,)])):
        lake_case.check(name)
        assert lake_case.rows(name) == rows
    states = lake_case.pg("select distinct state from lake.refresh where finished_at is not null")
    assert {state for (state,) in states} == {"SUCCEEDED", "SKIPPED"}
    assert lake_case.leftovers() == {}


def test_a_round_reads_one_definition_of_a_table(lake: Lake, lake_case: LakeCase) -> None:
    """Both definitions have content for the snapshot of the round: of two tables beside each other, one is refreshed
    before the commit of the new definition, the other after it."""
    lag = "TARGET_LAG = '1 hour'"
    lake_case.create(f"CREATE DYNAMIC TABLE kind {lag} AS SELECT 'old' AS kind, sum(amount) AS amount FROM orders")
    for name in ("one", "two"):
        lake_case.create(f"CREATE DYNAMIC TABLE {name} {lag} AS SELECT kind, amount FROM kind")
    lake_case.create(f"CREATE DYNAMIC TABLE both {lag} AS SELECT one.kind, two.kind AS other FROM one, two")
    lake_case.refresh("both")
    lake_case.add("orders", [(4, "s", 2)])
    lake.create(
        f"CREATE OR REPLACE DYNAMIC TABLE kind {lag} AS SELECT 'new' AS kind, sum(amount) AS amount FROM orders",
        wait=False,
    )
    asked = lake_case.request("both")

    def put_in_force(name: str) -> None:
        if name == "one" and lake_case.pg("select 1 from lake.dt where replaces is not null"):
            lake_case.fill_replacement()

    assert lake_case.finish_round(asked, between=put_in_force)["state"] == "SUCCEEDED"
    assert lake_case.rows("both") == [("new", "new")]
    for name in ("kind", "one", "two", "both"):
        lake_case.check(name)


@pytest.mark.long
def test_a_suspended_table_stays_suspended(lake: Lake, lake_case: LakeCase) -> None:
    lake.suspend("totals")
    lake.create(totals(MOST))
    assert lake.describe("totals").scheduling_state == "SUSPENDED"
    assert lake_case.rows("totals") == NEW


def test_a_refresh_without_work_meets_the_commit_of_a_replacement(lake: Lake, lake_case: LakeCase) -> None:
    """It has seen the old content; neither waits for the other for ever, and the new content stays readable."""
    lake.create(totals(MOST), wait=False)
    lake_case.sql("CREATE TABLE unrelated AS SELECT 1 AS x")
    failures: list[Exception] = []

    def carefully(step: Callable[[], object]) -> None:
        try:
            step()
        except Exception as error:
            failures.append(error)

    steps: list[Callable[[], object]] = [
        lake_case.fill_replacement,
        lambda: lake_case.control.request_round([lake_case.find("totals")]),
    ]
    threads = [threading.Thread(target=carefully, args=(step,)) for step in steps]
    with lake_case.control.connection() as holder, holder.transaction():
        # The commit has moved the frontier when it writes here.
        holder.execute("lock table lake.cost_sample in share mode")
        for thread, event in zip(threads, ["relation", "transactionid"], strict=True):
            thread.start()
            # So long that it has looked for a deadlock, and the other one would be its victim.
            wait_until(lambda event=event: lake_case.pg(WAITING, event) == [(1,)])
    for thread in threads:
        thread.join()
    assert failures == []
    assert lake_case.refresh("above")["state"] == "SUCCEEDED"
    lake_case.check("totals")
    lake_case.check("above")


@pytest.mark.parametrize("verb", ["create", "refresh"])
def test_who_waits_for_a_table_that_is_dropped_is_told(lake: Lake, verb: str) -> None:
    def drop(_refreshes: object) -> None:
        if lake.tables():
            lake.drop("totals", cascade=True)

    with pytest.raises(TableNotFound, match=r"dropped while it was refreshed: (main\.)?totals"):
        getattr(lake, verb)(totals(MOST) if verb == "create" else "totals", on_progress=drop)


def test_a_definition_whose_first_refresh_nobody_asks_for_is_cancelled(
    lake: Lake, lake_case: LakeCase, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its session died before it did."""
    lake.create("CREATE DYNAMIC TABLE other TARGET_LAG = '1 hour' AS SELECT region, amount FROM orders")
    with monkeypatch.context() as patch:
        patch.setattr(Control, "request_round", _interrupt)
        with pytest.raises(KeyboardInterrupt):
            lake.create(totals(MOST.replace("orders", "other")))
    with pytest.raises(TableRefused, match=r"main\.totals is being replaced"):
        lake.alter("totals", target_lag="2 hours")
    with pytest.raises(TableRefused, match=r"main\.other is read by the new definition of main\.totals"):
        lake.drop("other")
    assert lake.cancel("totals") == 1
    assert lake.cancel("totals") == 0
    lake.alter("totals", target_lag="2 hours")
    lake.drop("other")
    assert lake_case.rows("totals") == OLD
    assert lake_case.leftovers() == {}


def _interrupt(*_: object) -> None:
    raise KeyboardInterrupt

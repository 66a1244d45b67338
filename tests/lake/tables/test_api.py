"""The Python API, with refreshes as tasks: in this process, or by workers."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from catchment.errors import LakeError, SourceChanged, TableNotFound, TableRefused
from catchment.lake import Lake, RefreshTimeout
from catchment.lake.tables.answers import ChangeCount, Forecast
from catchment.lake.types import Column
from tests.fixtures.lake_case import LakeCase
from tests.fixtures.worker import StartWorker, wait_until

SQL = """
CREATE DYNAMIC TABLE totals TARGET_LAG = '1 hour' AS SELECT region, sum(amount) AS amount FROM orders GROUP BY region;
CREATE DYNAMIC TABLE top TARGET_LAG = DOWNSTREAM AS SELECT region FROM totals WHERE amount > 5;
"""


@pytest.fixture
def lake(lake_case: LakeCase) -> Iterator[Lake]:
    """The lake of the test, with a table of orders."""
    lake_case.make("orders", "id BIGINT, region VARCHAR, amount DECIMAL(10,2)", [(1, "n", 5), (2, "n", 7), (3, "s", 1)])
    with Lake(lake_case.dsn, settings=lake_case.settings) as found:
        yield found


def test_tables_are_filled_refreshed_and_described_without_a_worker(lake: Lake, lake_case: LakeCase) -> None:
    assert [item.name for item in lake.create(SQL)] == ["main.totals", "main.top"]
    assert lake.read("top").rows() == [("n",)]
    lake_case.add("orders", [(4, "s", 10)])
    told: list[str] = []
    found = lake.refresh("top", on_progress=lambda items: told.extend(item.state for item in items))
    assert [(item.name, item.state, item.data_snapshot) for item in found] == [
        ("main.totals", "SUCCEEDED", lake_case.head() - 2),
        ("main.top", "SUCCEEDED", lake_case.head() - 2),
    ]
    assert {"EXECUTING", "SUCCEEDED"} & set(told)
    assert sorted(lake.read("top")) == [("n",), ("s",)]
    for name in ("totals", "top"):
        lake_case.check(name)
        assert lake.audit(name).is_equal
    # Nothing has changed: no task, and still an answer.
    assert [item.action for item in lake.refresh("totals", "top")] == ["no_data", "no_data"]
    history = lake.history("totals", with_idle=False)
    assert [row.reason for row in history][-1] == "FIRST_FILL"
    assert history[0].changed_inputs in ((), ("main.orders",))
    assert [row.name for row in lake.graph()[1].reads] == ["main.totals"]
    assert lake.lag("totals")[0].within_target == 1.0


@pytest.mark.long
def test_a_first_refresh_that_fails_is_raised_and_the_table_stays(lake: Lake) -> None:
    with pytest.raises(LakeError, match=r"main\.bad is created, but its first refresh is FAILED") as raised:
        lake.create("CREATE DYNAMIC TABLE bad TARGET_LAG = '1 hour' AS SELECT CAST(region AS INTEGER) AS r FROM orders")
    assert raised.value.code == "QUERY"
    assert "catchment table refresh main.bad" in (raised.value.hint or "")
    found = lake.describe("bad")
    assert (found.is_filled, found.last_state, found.last_error_code) == (False, "FAILED", "QUERY")
    with pytest.raises(LakeError, match="has not been filled yet") as raised:
        lake.read("bad")
    assert raised.value.code == "NOT_FILLED"
    (again,) = lake.refresh("bad")
    assert (again.state, again.error_code) == ("FAILED", "QUERY")


@pytest.mark.long
def test_workers_do_the_work_where_there_are_some(
    lake: Lake, lake_case: LakeCase, start_lake_worker: StartWorker
) -> None:
    start_lake_worker("--app", "catchment.lake.tasks.app:app", "--queue", "lake", "--queue", "lake_schedule")
    wait_until(lambda: lake_case.control.count_workers() == 1, seconds=60)
    lake.create(SQL.replace("1 hour", "1 second"), timeout=100)
    # Nobody else has ever come to this database.
    assert lake_case.pg("select last_value from worker.worker_worker_id_seq") == [(1,)]
    # The schedule takes it from here.
    lake_case.add("orders", [(4, "s", 10)])
    wait_until(lambda: ("s", 11) in lake.read("totals").rows(), seconds=60)
    assert lake_case.pg("select count(*) > 0 from lake.round where trigger = 'scheduled'") == [(True,)]
    lake_case.check("totals")


def test_waiting_ends_and_the_refresh_goes_on(lake: Lake, lake_case: LakeCase) -> None:
    lake.create(SQL.replace("AS SELECT", "INITIALIZE = ON_SCHEDULE AS SELECT"))
    # A worker that never comes to it.
    lake_case.pg("select * from worker.register_worker('busy', '{lake}', 1, '1 hour', false, '{lake}')")
    with pytest.raises(RefreshTimeout, match="is not over after"):
        lake.refresh("totals", timeout=0.2)
    assert lake_case.pg("select count(*) from lake.refresh where finished_at is null") == [(1,)]
    assert lake.cancel("totals") == 1
    assert lake.history("totals")[0].state == "CANCELLED"


@pytest.mark.long
def test_explaining_says_how_and_why(lake: Lake, lake_case: LakeCase) -> None:
    lake.create(SQL.replace("AS SELECT", "INITIALIZE = ON_SCHEDULE AS SELECT"))
    found = lake.explain("totals")
    assert found.next is not None
    assert (found.strategy, found.reason, found.next.reason) == ("delta", None, "FIRST_FILL")
    assert found.parts[0].key == (Column("region", "VARCHAR"),)
    lake_case.refresh("top")
    assert lake.explain("totals").next == Forecast("no_data", None)
    lake_case.add("orders", [(4, "s", 10)])
    found = lake.explain("totals")
    assert found.sources[0].changed == ChangeCount(inserted=1, deleted=0)
    assert found.next is not None
    assert found.next.changed_rows == 1
    # The catalog counts what was deleted of a file ever.
    lake_case.add("orders", [(number, "s", 1) for number in range(10, 30)])
    lake_case.sql("DELETE FROM orders WHERE id BETWEEN 10 AND 19")
    lake_case.refresh("totals")
    lake_case.sql("DELETE FROM orders WHERE id = 20")
    found = lake.explain("totals")
    assert found.sources[0].changed == ChangeCount(inserted=0, deleted=1)
    assert found.next is not None
    assert found.next.changed_rows == 1
    (found,) = lake.explain_sql("CREATE DYNAMIC TABLE x TARGET_LAG = '1 hour' AS SELECT * FROM top ORDER BY 1 LIMIT 2")
    assert (found.strategy, found.reason) == ("full", "LIMIT")
    assert "Leave LIMIT to the query" in (found.reason_text or "")
    assert found.sources[0].name == "main.top"
    assert [row.name for row in lake.tables()] == ["main.top", "main.totals"]


def test_explaining_a_table_whose_source_lost_a_column_names_it(lake: Lake, lake_case: LakeCase) -> None:
    lake.create(SQL)
    lake_case.sql("ALTER TABLE orders DROP COLUMN amount")
    with pytest.raises(SourceChanged, match=r"'amount' of main\.orders") as caught:
        lake.explain("totals")
    assert caught.value.code == "SOURCE_COLUMN_MISSING"
    lake_case.sql("DROP TABLE orders")
    with pytest.raises(SourceChanged, match=r"main\.orders, which is no table of the lake"):
        lake.explain("totals")


@pytest.mark.long
def test_explaining_says_what_the_refresh_then_does(lake: Lake, lake_case: LakeCase) -> None:
    """Whatever happened to the sources."""
    lake_case.sql("INSERT INTO orders SELECT i, 'r' || i % 100, 1 FROM range(100, 2000) AS r(i)")
    lake_case.make("names", "region VARCHAR, name VARCHAR", [(f"r{i}", "a") for i in range(100)])
    lake.create(
        "CREATE DYNAMIC TABLE named TARGET_LAG = '1 hour' AS SELECT n.name, region, sum(amount) AS amount"
        " FROM orders JOIN names AS n USING (region) GROUP BY ALL"
    )
    changes = {
        "nothing": "SELECT 1",
        "a few rows": "INSERT INTO orders VALUES (5000, 'r1', 1)",
        "half of the keys": "UPDATE names SET name = 'b' WHERE region < 'r5'",
        "no key": "INSERT INTO orders VALUES (5001, 'nowhere', 1)",
        "another table": "CREATE OR REPLACE TABLE orders AS SELECT * FROM orders",
        "another type": "ALTER TABLE orders ALTER COLUMN amount TYPE DECIMAL(12,2)",
    }
    not_small = lake_case.settings.model_copy(update={"lake_small_ms": 0})
    with Lake(lake_case.dsn, settings=not_small) as told:
        for what, statement in changes.items():
            lake_case.sql(statement)
            if what == "half of the keys":
                lake_case.control.add_sample(lake_case.find("named"), "incremental", 10, 10**6)
            said = told.explain("named").next
            done = lake_case.refresh("named", lake_small_ms=0)
            assert said is not None
            assert (said.action, said.reason) == (done["action"], done["reason"]), what
    assert [row.action for row in lake.history("named")][:2] == ["reinitialize", "reinitialize"]
    assert {"full", "incremental"} <= {row.action for row in lake.history("named")}


def test_unknown_tables_and_invalid_names_are_distinguished(lake: Lake) -> None:
    with pytest.raises(TableNotFound, match=r"no dynamic table main\.nope"):
        lake.refresh("nope")
    for name in ("", "a b", "a.b.c", '"open'):
        with pytest.raises(TableRefused):
            lake.describe(name)


def test_a_connection_of_ones_own_reads_and_writes_the_lake(lake: Lake, lake_case: LakeCase) -> None:
    lake.create(SQL.replace("AS SELECT", "INITIALIZE = ON_SCHEDULE AS SELECT"))
    mine = lake.connection()
    try:
        with lake.commit_lock():
            mine.execute("DELETE FROM orders WHERE id = 1")
        lake_case.refresh("totals")
        assert mine.execute("SELECT amount FROM totals WHERE region = 'n'").fetchall() == [(7,)]
    finally:
        mine.close()

"""Other clients of the lake: any DuckDB with DuckLake reads dynamic tables, and reads and writes their sources."""

from __future__ import annotations

from collections.abc import Iterator

import duckdb
import pytest

from catchment.lake.duck import extensions
from catchment.lake.facade import Lake
from catchment.lake.sql import LAKE
from catchment.store.fetch import fetch_rows
from tests.fixtures.lake_case import LakeCase, foreign_client


@pytest.fixture
def lake(lake_case: LakeCase) -> Iterator[Lake]:
    """The lake of the test, with a dynamic table over orders that was filled."""
    lake_case.make("orders", "id BIGINT, region VARCHAR, amount DECIMAL(10,2)", [(1, "n", 5), (2, "n", 7), (3, "s", 1)])
    with Lake(lake_case.dsn, settings=lake_case.settings) as found:
        found.create(
            "CREATE DYNAMIC TABLE totals TARGET_LAG = '1 hour' INITIALIZE = ON_SCHEDULE"
            " AS SELECT region, sum(amount) AS amount, count(*) AS n FROM orders GROUP BY region"
        )
        lake_case.refresh("totals")
        yield found


def test_a_client_that_knows_nothing_of_us_reads_the_table_under_any_alias(lake: Lake, lake_case: LakeCase) -> None:
    with foreign_client(lake_case, "elsewhere") as client:
        assert client.execute("SELECT * FROM elsewhere.totals ORDER BY ALL").fetchall() == [("n", 12, 2), ("s", 1, 1)]
        # What we keep beside the result is hidden.
        described = client.execute("DESCRIBE elsewhere.totals").fetchall()
        assert [row[0] for row in described] == ["region", "amount", "n"]
        head = client.execute("SELECT max(snapshot_id) FROM ducklake_snapshots('elsewhere')").fetchall()[0][0]
        lake_case.add("orders", [(4, "w", 1)])
        lake_case.refresh("totals")
        at = f"SELECT count(*) FROM elsewhere.totals AT (VERSION => {head})"
        assert client.execute(at).fetchall() == [(2,)]
        assert client.execute("SELECT count(*) FROM elsewhere.totals").fetchall() == [(3,)]


def test_what_it_writes_into_a_source_is_followed(lake: Lake, lake_case: LakeCase) -> None:
    with foreign_client(lake_case) as client:
        client.execute("INSERT INTO theirs.orders VALUES (4, 'w', 3)")
        client.execute("UPDATE theirs.orders SET region = 's' WHERE id = 1")
        client.execute("DELETE FROM theirs.orders WHERE id = 2")
        assert lake_case.refresh("totals")["state"] == "SUCCEEDED"
        lake_case.check("totals")
        assert client.execute("SELECT * FROM theirs.totals ORDER BY ALL").fetchall() == [("s", 6, 2), ("w", 3, 1)]


def test_a_dynamic_table_is_a_view_to_it_and_cannot_be_written(lake: Lake, lake_case: LakeCase) -> None:
    with foreign_client(lake_case) as client, pytest.raises(duckdb.Error):
        client.execute("INSERT INTO theirs.totals VALUES ('x', 1, 1)")
    assert lake_case.refresh("totals")["action"] == "no_data"


def test_rows_written_behind_the_view_are_taken_out_again(lake: Lake, lake_case: LakeCase) -> None:
    physical = f"t{lake_case.find('totals')}g1"
    with foreign_client(lake_case) as client:
        client.execute(f"DELETE FROM theirs.dt.\"{physical}\" WHERE region = 'n'")
        client.execute(f'UPDATE theirs.dt."{physical}" SET __b = 5')
    found = lake_case.refresh("totals")
    assert (found["action"], found["reason"]) == ("repair", "FOREIGN_WRITE")
    lake_case.check("totals")
    assert lake_case.sql(f'SELECT DISTINCT __b FROM lake.dt."{physical}"') == [(0,)]


@pytest.mark.long
def test_the_printed_statement_attaches_the_lake(lake: Lake) -> None:
    instance = extensions.take_instance()
    try:
        instance.execute(lake.attach_statement("mine"))
        assert instance.execute("SELECT count(*) FROM mine.totals").fetchall() == [(2,)]
        instance.execute("DETACH mine")
    finally:
        extensions.give_back(instance)


def findings(case: LakeCase) -> list[str]:
    with case.control.connection() as conn:
        return [row["finding"] for row in fetch_rows(conn, LAKE.query("doctor")) if row["subject"] == "main.totals"]


def test_a_view_that_was_dropped_is_reported_and_made_again(lake: Lake, lake_case: LakeCase) -> None:
    assert findings(lake_case) == []
    with foreign_client(lake_case) as client:
        client.execute("DROP VIEW theirs.totals")
        (found,) = findings(lake_case)
        assert "was dropped by another client" in found
        assert sorted(lake.read("totals")) == [("n", 12, 2), ("s", 1, 1)]
        # Upkeep asks for it.
        lake_case.pg("update lake.lake set maintained_at = null")
        lake_case.pg("select lake.request_upkeep()")
        asked = "select count(*) from worker.tasks where command = 'lake_maintain'"
        assert lake_case.pg(asked) == [(1,)]
        lake.maintain("totals")
        assert client.execute("SELECT * FROM theirs.totals ORDER BY ALL").fetchall() == [("n", 12, 2), ("s", 1, 1)]
    assert findings(lake_case) == []


@pytest.mark.long
def test_what_was_made_under_the_name_of_a_table_is_not_taken_for_it(lake: Lake, lake_case: LakeCase) -> None:
    with foreign_client(lake_case) as client:
        client.execute("DROP VIEW theirs.totals")
        client.execute("CREATE TABLE theirs.totals AS SELECT 'mine' AS region, 1 AS amount, 1 AS n")
        assert sorted(lake.read("totals")) == [("n", 12, 2), ("s", 1, 1)]
        (found,) = findings(lake_case)
        assert "made a table with its name" in found
        lake_case.add("orders", [(4, "w", 1)])
        assert lake_case.refresh("totals")["state"] == "SUCCEEDED"
        assert len(lake.read("totals").rows()) == 3
        lake.maintain("totals")
        assert client.execute("SELECT region FROM theirs.totals").fetchall() == [("mine",)]
        client.execute("DROP TABLE theirs.totals")
        client.execute("CREATE VIEW theirs.totals AS SELECT 1 AS one")
        (found,) = findings(lake_case)
        assert "made a view with its name" in found
        client.execute("DROP VIEW theirs.totals")
        lake.maintain("totals")
        assert client.execute("SELECT count(*) FROM theirs.totals").fetchall() == [(3,)]

"""What is checked before changes are trusted. Each trap of the build is first seen to be there, so that a build without
it is noticed; then the table is right all the same, and the history says why."""

from __future__ import annotations

from typing import Any

import pytest

from catchment.errors import SourceChanged
from catchment.lake.refresh import compute
from catchment.lake.refresh.session import Work
from tests.fixtures.lake_case import LakeCase, foreign_client
from tests.lake.refresh.test_incremental import REGIONS, TABLE, filled, refreshed

ROWS = f"{TABLE} SELECT order_id, amount FROM orders WHERE amount > 0"


def outcome(found: dict[str, Any]) -> tuple[str, str | None]:
    return found["action"], found["reason"]


def test_delete_that_was_overtaken_is_found_by_counting(regions: LakeCase) -> None:
    """The feed of the commit lacks the row, and the version before it has changed after the fact."""
    refreshed(regions, "DELETE FROM orders WHERE order_id = 4")
    with foreign_client(regions) as client:
        client.execute("BEGIN TRANSACTION")
        client.execute("DELETE FROM theirs.main.orders WHERE order_id = 1")
        regions.sql("INSERT INTO country VALUES (9, 'XX')")
        overtaking = regions.head()
        refreshed(regions)
        client.execute("COMMIT")
    feed = "SELECT count(*) FROM ducklake_table_deletions('lake', 'main', 'orders', ?, ?)"
    assert regions.sql(feed, [regions.head(), regions.head()]) == [(0,)], "this build dates the delete right"
    assert regions.sql(feed, [overtaking, overtaking]) == [(1,)]

    found = refreshed(regions)
    assert outcome(found) == ("repair", "FEED_MISMATCH")
    assert "3 rows" in found["figures"]["detail"]
    assert regions.rows("dt") == [("r1", 5), ("r2", 7)]
    assert outcome(refreshed(regions, "INSERT INTO orders VALUES (8, 42, 50, NULL)")) == ("incremental", None)


@pytest.mark.long
def test_version_that_changes_while_it_is_read_is_read_again(
    regions: LakeCase, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The overtaken delete is committed while the refresh computes from the version that it is dated into."""
    refreshed(regions, "DELETE FROM orders WHERE order_id = 4")
    with foreign_client(regions) as client:
        client.execute("BEGIN TRANSACTION")
        client.execute("DELETE FROM theirs.main.orders WHERE order_id = 1")
        regions.sql("UPDATE customers SET region = 'r2' WHERE customer_id = 42")
        plain, raced = compute.difference, list[int]()

        def racing(work: Work, *, is_ours: bool = True) -> compute.Difference:
            found = plain(work, is_ours=is_ours)
            if not raced:
                raced.append(1)
                client.execute("COMMIT")
            return found

        monkeypatch.setattr(compute, "difference", racing)
        found = regions.refresh("dt")
    monkeypatch.undo()
    # In another round, at a snapshot at which the feed has the delete.
    assert outcome(found) == ("incremental", None)
    assert regions.pg("select count(*) from lake.round where moved_from is not null") == [(1,)]
    regions.check("dt")
    assert regions.rows("dt") == [("r2", 7)]
    refreshed(regions)
    assert regions.rows("dt") == [("r2", 7)]


def test_inlined_changes_are_not_used(regions: LakeCase) -> None:
    with foreign_client(regions) as client:
        client.execute(
            "CALL theirs.set_option('data_inlining_row_limit', 10, schema => 'main', table_name => 'orders')"
        )
        client.execute("INSERT INTO theirs.main.orders VALUES (8, 42, 50, NULL)")
        client.execute("DELETE FROM theirs.main.orders WHERE order_id = 3")
    assert regions.pg("select 1 from public.ducklake_snapshot_changes where changes_made like '%%inlined%%'"), (
        "not inlined"
    )
    assert outcome(refreshed(regions)) == ("repair", "FEED_INLINED")
    assert regions.rows("dt") == [("r1", 50)]


@pytest.mark.long
def test_row_ids_that_are_not_unique(shop: LakeCase) -> None:
    """A row that is inserted and updated in one transaction gets an id that others have too."""
    filled(shop, ROWS)
    for order_id in (10, 11):
        shop.sql("BEGIN TRANSACTION")
        shop.sql("INSERT INTO orders VALUES (?, 42, 1, NULL)", [order_id])
        shop.sql("UPDATE orders SET amount = 2 WHERE order_id = ?", [order_id])
        shop.sql("COMMIT")
    ids = shop.sql("SELECT rowid FROM orders WHERE order_id >= 10")
    assert ids == [(10**18,), (10**18,)], "this build gives such rows ids of their own"
    assert outcome(refreshed(shop)) == ("full", "ROWID_NOT_UNIQUE")
    # As a key such an id stands for all rows that have it, so rows at rest do no harm.
    assert refreshed(shop, "UPDATE orders SET amount = 3 WHERE order_id = 1")["action"] == "incremental"
    assert outcome(refreshed(shop, "UPDATE orders SET amount = 9 WHERE order_id = 11")) == ("full", "ROWID_NOT_UNIQUE")
    assert outcome(refreshed(shop, "DELETE FROM orders WHERE order_id = 10")) == ("full", "ROWID_NOT_UNIQUE")


@pytest.mark.long
def test_first_fill_over_row_ids_that_are_not_unique(shop: LakeCase) -> None:
    for order_id in (10, 11):
        shop.sql("BEGIN TRANSACTION")
        shop.sql("INSERT INTO orders VALUES (?, 42, 1, NULL)", [order_id])
        shop.sql("UPDATE orders SET amount = 2 WHERE order_id = ?", [order_id])
        shop.sql("COMMIT")
    assert shop.sql("SELECT count(DISTINCT rowid) FROM orders WHERE order_id >= 10") == [(1,)]
    filled(shop, ROWS)
    # The two share a key, and all others are known by one of their own.
    found = refreshed(shop, "UPDATE orders SET amount = 9 WHERE order_id = 1", "DELETE FROM orders WHERE order_id = 3")
    assert (outcome(found), found["keys"], found["inserted"], found["deleted"]) == (("incremental", None), 2, 1, 2)
    assert outcome(refreshed(shop, "DELETE FROM orders WHERE order_id = 10")) == ("full", "ROWID_NOT_UNIQUE")
    assert refreshed(shop, "INSERT INTO orders VALUES (12, 42, 3, NULL)")["action"] == "incremental"


@pytest.mark.long
def test_groups_do_not_need_row_ids(shop: LakeCase) -> None:
    filled(shop, f"{TABLE} SELECT customer_id, sum(amount) AS total FROM orders GROUP BY 1")
    shop.sql("BEGIN TRANSACTION")
    shop.sql("INSERT INTO orders VALUES (10, 42, 1, NULL), (11, 42, 1, NULL)")
    shop.sql("UPDATE orders SET amount = 2 WHERE order_id >= 10")
    shop.sql("COMMIT")
    assert outcome(refreshed(shop)) == ("incremental", None)


def test_replaced_source(regions: LakeCase) -> None:
    regions.sql("CREATE OR REPLACE TABLE customers AS SELECT 42 AS customer_id, 'r7' AS region")
    assert outcome(refreshed(regions)) == ("reinitialize", "SOURCE_REPLACED")
    assert regions.rows("dt") == [("r7", 10)]
    assert outcome(refreshed(regions, "INSERT INTO customers VALUES (43, 'r8')")) == ("incremental", None)


@pytest.mark.long
def test_replaced_source_without_another_result_writes_nothing(regions: LakeCase) -> None:
    regions.sql("CREATE OR REPLACE TABLE customers AS SELECT * FROM customers")
    found = refreshed(regions)
    assert (outcome(found), found["commit_snapshot"]) == (("reinitialize", "SOURCE_REPLACED"), None)


def test_missing_source(regions: LakeCase) -> None:
    before = regions.rows("dt")
    regions.sql("ALTER TABLE customers RENAME TO clients")
    with pytest.raises(SourceChanged, match=r"main\.customers, which is no table of the lake") as caught:
        regions.refresh("dt")
    assert caught.value.code == "SOURCE_MISSING"
    assert regions.rows("dt") == before
    regions.sql("ALTER TABLE clients RENAME TO customers")
    assert refreshed(regions, "UPDATE customers SET region = 'r5' WHERE customer_id = 42")["state"] == "SUCCEEDED"


@pytest.mark.long
def test_columns_that_are_not_used_may_come_and_go(regions: LakeCase) -> None:
    regions.sql("ALTER TABLE orders ADD COLUMN extra INTEGER")
    regions.sql("ALTER TABLE orders DROP COLUMN note")
    done = refreshed(regions, "INSERT INTO orders VALUES (8, 42, 50, 1)")
    assert outcome(done) == ("incremental", None)


def test_column_that_is_gone(regions: LakeCase) -> None:
    regions.sql("ALTER TABLE orders DROP COLUMN amount")
    with pytest.raises(SourceChanged, match=r"'amount' of main\.orders") as caught:
        regions.refresh("dt")
    assert caught.value.code == "SOURCE_COLUMN_MISSING"
    assert caught.value.hint is not None
    assert "CREATE OR REPLACE" in caught.value.hint


@pytest.mark.long
def test_column_that_was_recreated(regions: LakeCase) -> None:
    regions.sql("ALTER TABLE customers DROP COLUMN region")
    regions.sql("ALTER TABLE customers ADD COLUMN region VARCHAR")
    assert outcome(refreshed(regions)) == ("reinitialize", "SOURCE_RETYPED")
    assert regions.rows("dt") == [(None, 10)]


@pytest.mark.long
def test_type_that_grew_without_changing_the_result(shop: LakeCase) -> None:
    filled(shop, f"{TABLE} SELECT country_id, count(*) AS n FROM customers GROUP BY 1")
    shop.sql("ALTER TABLE orders ALTER COLUMN customer_id SET TYPE BIGINT")
    shop.sql("ALTER TABLE customers ALTER COLUMN country_id SET TYPE BIGINT")
    with pytest.raises(SourceChanged, match="country_id BIGINT, the table has country_id INTEGER") as caught:
        shop.refresh("dt")
    assert caught.value.code == "TYPE_CHANGED"


@pytest.mark.long
def test_type_that_grew_behind_an_aggregate(shop: LakeCase) -> None:
    filled(shop, f"{TABLE} SELECT region, count(country_id) AS n FROM customers GROUP BY 1")
    shop.sql("ALTER TABLE customers ALTER COLUMN country_id SET TYPE BIGINT")
    assert outcome(refreshed(shop)) == ("reinitialize", "SOURCE_RETYPED")


def test_expired_version(regions: LakeCase) -> None:
    regions.sql("INSERT INTO orders VALUES (8, 42, 50, NULL)")
    regions.sql("INSERT INTO orders VALUES (9, 42, 60, NULL)")
    ((old,),) = regions.pg("select min(snapshot) from lake.read")
    # With the first of the two inserts: up to there nothing is the same.
    gone = list(range(old, regions.head()))
    regions.sql(f"CALL ducklake_expire_snapshots('lake', versions => {gone})")
    assert outcome(refreshed(regions)) == ("reinitialize", "SNAPSHOT_EXPIRED")
    assert outcome(refreshed(regions, "INSERT INTO orders VALUES (10, 43, 61, NULL)")) == ("incremental", None)


@pytest.mark.long
def test_first_snapshot_of_a_window_has_expired(regions: LakeCase) -> None:
    ((old,),) = regions.pg("select min(snapshot) from lake.read")
    for order_id in (8, 9, 10):
        regions.sql("INSERT INTO orders VALUES (?, 42, 50, NULL)", [order_id])
    commits = regions.pg("select snapshot_id from lake.ducklake_snapshot where snapshot_id > %s order by 1", old)
    regions.sql(f"CALL ducklake_expire_snapshots('lake', versions => [{commits[0][0]}, {commits[1][0]}])")
    assert outcome(refreshed(regions)) == ("incremental", None)
    assert regions.rows("dt")[0] == ("r1", 50)


@pytest.mark.long
def test_snapshots_that_expired_before_anybody_looked(regions: LakeCase) -> None:
    """The catalog no longer says which tables they changed."""
    regions.sql("INSERT INTO orders VALUES (8, 42, 50, NULL)")
    changed = regions.head()
    regions.sql("INSERT INTO country VALUES (9, 'XX')")
    regions.sql(f"CALL ducklake_expire_snapshots('lake', versions => [{changed}])")
    assert outcome(refreshed(regions)) == ("incremental", None)
    assert regions.rows("dt")[0] == ("r1", 50)


def test_another_client_wrote_to_the_content(regions: LakeCase) -> None:
    ((physical,),) = regions.pg("select format('t%sg%s', id, generation) from lake.dt where name = 'dt'")
    regions.sql(f"DELETE FROM lake.dt.\"{physical}\" WHERE region = 'r1'")
    regions.sql(f'INSERT INTO lake.dt."{physical}" SELECT * FROM lake.dt."{physical}"')
    found = regions.refresh("dt")
    assert outcome(found) == ("repair", "FOREIGN_WRITE")
    regions.check("dt")
    assert (found["inserted"], found["deleted"]) == (1, 1)
    assert outcome(refreshed(regions, "INSERT INTO orders VALUES (8, 42, 50, NULL)")) == ("incremental", None)


@pytest.mark.long
def test_replaced_definition_is_filled_again(regions: LakeCase) -> None:
    regions.create(REGIONS.replace("CREATE", "CREATE OR REPLACE").replace("max", "min"))
    ((newest,),) = regions.pg("select max(id) from lake.refresh")
    assert outcome(regions.refreshed(newest)) == ("reinitialize", "DEFINITION_CHANGED")
    assert regions.rows("dt") == [("r1", 5), ("r2", 7)]
    assert outcome(refreshed(regions, "INSERT INTO orders VALUES (8, 42, 1, NULL)"))[0] == "incremental"
    assert regions.leftovers() == {}


@pytest.mark.long
def test_replaced_table_above(shop: LakeCase) -> None:
    upper = "DYNAMIC TABLE upper TARGET_LAG = DOWNSTREAM AS SELECT customer_id, amount"
    shop.create(f"CREATE {upper} FROM orders")
    filled(shop, f"{TABLE} SELECT customer_id, max(amount) AS most FROM upper GROUP BY 1")
    shop.create(
        f"CREATE OR REPLACE {upper.replace('amount', 'CAST(amount * 2 AS DECIMAL(10,2)) AS amount')} FROM orders"
    )
    assert outcome(refreshed(shop)) == ("reinitialize", "SOURCE_REPLACED")
    assert (42, 20) in shop.rows("dt")
    assert outcome(refreshed(shop, "INSERT INTO orders VALUES (8, 42, 50, NULL)"))[0] == "incremental"


def test_frontier_is_what_was_read_not_what_came_meanwhile(regions: LakeCase) -> None:
    """A commit between the round and its refresh belongs to the next window."""
    regions.sql("INSERT INTO orders VALUES (8, 42, 50, NULL)")
    refresh_id = regions.request("dt")
    regions.sql("INSERT INTO orders VALUES (9, 42, 60, NULL)")
    regions.carry_out(regions.begin(refresh_id))
    regions.check("dt")
    assert regions.rows("dt")[0] == ("r1", 50)
    assert outcome(refreshed(regions)) == ("incremental", None)
    assert regions.rows("dt")[0] == ("r1", 60)


@pytest.mark.long
def test_merged_files_give_rows_other_ids(shop: LakeCase) -> None:
    """Rows that were updated lose their ids when their file is merged with another, in older versions too."""
    filled(shop, ROWS)
    refreshed(shop, "UPDATE orders SET amount = 70 WHERE order_id = 3", "INSERT INTO orders VALUES (8, 42, 50, NULL)")
    before = shop.sql("SELECT order_id, rowid FROM orders ORDER BY order_id")
    shop.sql("CALL ducklake_merge_adjacent_files('lake', 'orders')")
    assert shop.sql("SELECT order_id, rowid FROM orders ORDER BY order_id") != before, "this build keeps the ids"
    # Nothing has changed for the table until there is another change; and that one has to remember the merge.
    assert shop.refresh("dt")["action"] == "no_data"
    shop.pg("select lake.forget_history()")
    assert outcome(refreshed(shop, "UPDATE orders SET amount = 71 WHERE order_id = 3")) == ("full", "ROWID_CHANGED")
    assert outcome(refreshed(shop, "UPDATE orders SET amount = 72 WHERE order_id = 3")) == ("incremental", None)


@pytest.mark.long
def test_rewritten_files_keep_row_ids(shop: LakeCase) -> None:
    filled(shop, ROWS)
    refreshed(shop, "UPDATE orders SET amount = 70 WHERE order_id = 3", "DELETE FROM orders WHERE order_id = 1")
    before = shop.sql("SELECT order_id, rowid FROM orders ORDER BY order_id")
    shop.sql("CALL ducklake_rewrite_data_files('lake', 'orders', delete_threshold => 0.05)")
    assert shop.sql("SELECT order_id, rowid FROM orders ORDER BY order_id") == before
    assert outcome(refreshed(shop, "UPDATE orders SET amount = 71 WHERE order_id = 3")) == ("incremental", None)


@pytest.mark.long
def test_feed_of_deletes_is_read_without_a_filter(regions: LakeCase) -> None:
    """A filter on the snapshot makes it lose rows of files that several commits have deleted from."""
    for order_id in (1, 2, 3):
        regions.sql("DELETE FROM orders WHERE order_id = ?", [order_id])
    head = regions.head()
    feed = f"SELECT snapshot_id FROM ducklake_table_deletions('lake', 'main', 'orders', {head - 2}, {head})"
    assert len(regions.sql(feed)) == 3
    assert regions.sql(f"{feed} WHERE snapshot_id > {head - 1}") == [], "this build filters right"
    assert outcome(refreshed(regions)) == ("incremental", None)
    assert regions.rows("dt") == []


@pytest.mark.long
def test_source_with_a_column_of_the_feed(shop: LakeCase) -> None:
    """A column called snapshot_id hides the one that says which commit a change is from."""
    shop.make("seen", "snapshot_id VARCHAR, v BIGINT", [["a", 1], ["b", 2], ["c", 3]])
    filled(shop, f"{TABLE} SELECT snapshot_id, sum(v) AS v FROM seen GROUP BY 1")
    done = refreshed(shop, *(f"UPDATE seen SET v = {v} WHERE snapshot_id = 'a'" for v in (7, 8)))
    assert (outcome(done), done["keys"]) == (("incremental", None), 1)
    shop.sql("INSERT INTO seen VALUES ('a', 1)")
    shop.sql("INSERT INTO seen VALUES ('b', 1)")
    gone = [
        row[0]
        for row in shop.pg(
            "select snapshot_id from lake.ducklake_snapshot where snapshot_id > "
            "(select snapshot from lake.read) and snapshot_id < %s",
            shop.head(),
        )
    ]
    shop.sql(f"CALL ducklake_expire_snapshots('lake', versions => {gone})")
    assert outcome(refreshed(shop)) == ("reinitialize", "SNAPSHOT_EXPIRED")
    assert shop.rows("dt") == [("a", 9), ("b", 3), ("c", 3)]

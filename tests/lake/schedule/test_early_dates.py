"""A delete that another commit overtook is dated before its own commit, into versions that others read. No table shows
a part of it: the tables of a round read their sources as they were when the round was opened, or the round moves."""

from __future__ import annotations

from typing import Any

import pytest
from duckdb import DuckDBPyConnection

from catchment.lake.refresh.window import ReadingBroken
from tests.fixtures.lake_case import LakeCase, foreign_client
from tests.fixtures.often import often
from tests.lake.refresh.inline import spread

ROWS = 1000
LAG = "TARGET_LAG = '1 hour'"
DIAMOND = {
    "b": "SELECT k, count(*) AS n, sum(v) AS v FROM orders GROUP BY k",
    "c": "SELECT k, count(*) AS n, sum(v) AS v FROM orders GROUP BY k",
    "d": "SELECT b.k, b.n AS bn, c.n AS cn, b.v AS bv, c.v AS cv FROM b FULL JOIN c ON b.k = c.k",
}
DELETE = "DELETE FROM theirs.orders WHERE id BETWEEN 10 AND 19"
UPDATE = "UPDATE theirs.orders SET v = 1 WHERE id BETWEEN 10 AND 19"


def prepare(case: LakeCase) -> None:
    """One file with deleted rows, in which another delete may be dated early; every row has v = 1."""
    case.make("other", "i BIGINT")
    case.make("orders", "id BIGINT, k BIGINT, v BIGINT")
    case.sql(f"INSERT INTO orders SELECT i, 0, 1 FROM range({ROWS + 1}) AS r(i)")
    case.sql("DELETE FROM orders WHERE id = 0")
    for name, query in DIAMOND.items():
        case.create(f"CREATE DYNAMIC TABLE {name} {LAG} AS {query}")


def begin(case: LakeCase, client: DuckDBPyConnection, statement: str) -> None:
    """A transaction that is open when another commit overtakes it."""
    client.execute("BEGIN TRANSACTION")
    client.execute(statement)
    case.add("other", [(1,)])


def whole(rows: int) -> list[tuple[Any, ...]]:
    return [(0, rows, rows, rows, rows)]


def history(case: LakeCase, name: str) -> list[tuple[Any, ...]]:
    return case.pg(
        "select r.state, r.error_text is not null from lake.refresh as r where r.dt_id = %s order by r.id",
        case.find(name),
    )


@pytest.mark.parametrize("is_filled", often(True, now_and_then=[False]), ids=["changes", "first fill"])
@pytest.mark.parametrize(
    ("statement", "left"),
    [pytest.param(DELETE, ROWS - 10, id="delete"), pytest.param(UPDATE, ROWS, id="update", marks=pytest.mark.long)],
)
@pytest.mark.parametrize("when", often("after b", now_and_then=["before b"]))
def test_a_diamond_shows_one_moment_when_a_commit_is_dated_into_its_round(
    lake_case: LakeCase, when: str, statement: str, left: int, is_filled: bool
) -> None:
    prepare(lake_case)
    if is_filled:
        lake_case.refresh("d")
        lake_case.add("orders", [(ROWS + 1, 0, 1)])
        left += 1
    with foreign_client(lake_case) as client:
        begin(lake_case, client, statement)
        refresh_id = lake_case.request("d")
        snapshot = lake_case.head()
        before = lake_case.sql(f"SELECT count(*) FROM orders AT (VERSION => {snapshot})")
        if when == "before b":
            client.execute("COMMIT")

        committed = when == "before b"

        def commit_after_b(name: str) -> None:
            nonlocal committed
            if name == "b" and not committed:
                client.execute("COMMIT")
                committed = True

        done = lake_case.finish_round(refresh_id, between=commit_after_b)
    after = lake_case.sql(f"SELECT count(*) FROM orders AT (VERSION => {snapshot})")
    assert after != before, "this build dates the commit right"
    assert done["state"] == "SUCCEEDED"
    assert lake_case.rows("d") == whole(left)
    for name in DIAMOND:
        lake_case.check(name)
    late = "c" if when == "after b" else "b"
    assert history(lake_case, late)[-2:] == [("SKIPPED", True), ("SUCCEEDED", False)]
    ((open_rounds,),) = lake_case.pg("select count(*) from lake.round where closed_at is null")
    assert open_rounds == 0


@pytest.mark.long
def test_tables_that_do_not_read_the_source_stay_in_their_round(lake_case: LakeCase) -> None:
    prepare(lake_case)
    lake_case.create(f"CREATE DYNAMIC TABLE apart {LAG} AS SELECT count(*) AS n FROM other")
    lake_case.create(f"CREATE DYNAMIC TABLE above {LAG} AS SELECT n FROM apart")
    with foreign_client(lake_case) as client:
        begin(lake_case, client, DELETE)
        wanted = [lake_case.find(name) for name in ("d", "above")]
        round_id = lake_case.control.request_round(wanted)
        ((refresh_id,),) = lake_case.pg(
            "select id from lake.refresh where round_id = %s and dt_id = %s", round_id, wanted[0]
        )
        client.execute("COMMIT")
        lake_case.finish_round(refresh_id)
    assert history(lake_case, "apart") == history(lake_case, "above") == [("SUCCEEDED", False)]
    assert history(lake_case, "d") == [("SKIPPED", True), ("SUCCEEDED", False)]
    assert lake_case.rows("d") == whole(ROWS - 10)


@pytest.mark.long
def test_two_diamonds_with_one_source_show_the_same_moment(lake_case: LakeCase) -> None:
    prepare(lake_case)
    for name, query in DIAMOND.items():
        other = query.replace("b.", "b2.").replace("c.", "c2.").replace("FROM b ", "FROM b2 ")
        lake_case.create(f"CREATE DYNAMIC TABLE {name}2 {LAG} AS {other.replace('JOIN c ', 'JOIN c2 ')}")
    committed = list[str]()
    with foreign_client(lake_case) as client:
        begin(lake_case, client, DELETE)
        wanted = [lake_case.find(name) for name in ("d", "d2")]
        round_id = lake_case.control.request_round(wanted)
        ((refresh_id,),) = lake_case.pg(
            "select id from lake.refresh where round_id = %s and dt_id = %s", round_id, wanted[0]
        )

        def commit_once(name: str) -> None:
            if not committed:
                client.execute("COMMIT")
                committed.append(name)

        lake_case.finish_round(refresh_id, between=commit_once)
    assert lake_case.rows("d") == lake_case.rows("d2") == whole(ROWS - 10)


@pytest.mark.long
def test_a_parallel_refresh_moves_its_round(lake_case: LakeCase) -> None:
    """Subtasks have read before and after the commit; the join notices."""
    prepare(lake_case)
    with foreign_client(lake_case) as client:
        begin(lake_case, client, DELETE)
        one = spread(lake_case, "b", parallel_min_buckets=2, parallel_max_buckets=2, parallel_buckets_per_worker=1)
        one.compute_all()
        client.execute("COMMIT")
        with pytest.raises(ReadingBroken) as broken:
            one.publish()
    fence = lake_case.control.refresh_state(one.refresh_id).fence
    lake_case.control.move_round(one.refresh_id, fence, broken.value.tables, "moved", 10)
    lake_case.finish_round(one.refresh_id)
    assert lake_case.rows("b") == [(0, ROWS - 10, ROWS - 10)]
    assert one.sweep() == 0
    assert lake_case.leftovers() == {}


def test_a_round_is_not_moved_forever(lake_case: LakeCase) -> None:
    prepare(lake_case)
    order = lake_case.begin(lake_case.request("b"))
    source = order.reads[0].table_id
    moved = lake_case.control.move_round(order.refresh_id, order.fence, [source], "moved", 1)
    ((refresh_id,),) = lake_case.pg("select id from lake.refresh where round_id = %s", moved)
    again = lake_case.begin(refresh_id)
    assert lake_case.control.move_round(again.refresh_id, again.fence, [source], "moved", 1) is None
    assert lake_case.control.refresh_state(again.refresh_id).state == "EXECUTING"


@pytest.mark.long
def test_the_rows_of_a_reading_are_those_of_the_source(lake_case: LakeCase) -> None:
    """Whatever has been done to it: deletes, updates, whole files that went, merged and rewritten files."""
    prepare(lake_case)
    steps = [
        "INSERT INTO orders SELECT 2000 + i, 0, 1 FROM range(50) AS r(i)",
        "DELETE FROM orders WHERE id BETWEEN 100 AND 149",
        "UPDATE orders SET v = 1 WHERE id BETWEEN 200 AND 249",
        "DELETE FROM orders WHERE id BETWEEN 2000 AND 2049",
        "CALL ducklake_rewrite_data_files('lake', 'orders', delete_threshold => 0.01)",
        "INSERT INTO orders SELECT 3000 + i, 0, 1 FROM range(50) AS r(i)",
        "CALL ducklake_merge_adjacent_files('lake', 'orders')",
        "DELETE FROM orders WHERE id > 3040",
    ]
    for step in steps:
        lake_case.sql(step)
        round_id = lake_case.control.request_round([lake_case.find("b")])
        ((rows,),) = lake_case.pg("select rows from lake.reading where round_id = %s", round_id)
        assert [(rows,)] == lake_case.sql("SELECT count(*) FROM orders"), step
        lake_case.control.cancel_refreshes(lake_case.find("b"), "only looked at")


@pytest.mark.long
def test_tables_over_a_source_with_inlined_rows_share_the_first_count(lake_case: LakeCase) -> None:
    prepare(lake_case)
    with foreign_client(lake_case) as client:
        client.execute(
            "CALL theirs.set_option('data_inlining_row_limit', 10, schema => 'main', table_name => 'orders')"
        )
        client.execute("INSERT INTO theirs.orders VALUES (2000, 0, 1), (2001, 0, 1)")
        begin(lake_case, client, "UPDATE theirs.orders SET v = 1 WHERE id < 100")
        committed = list[str]()

        def commit_after_b(name: str) -> None:
            if not committed:
                client.execute("COMMIT")
                committed.append(name)

        lake_case.finish_round(lake_case.request("d"), between=commit_after_b)
    assert lake_case.rows("d") == whole(ROWS + 2)
    assert lake_case.pg("select rows from lake.reading order by round_id desc limit 1") == [(ROWS + 2,)]

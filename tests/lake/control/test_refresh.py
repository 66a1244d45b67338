"""The life of a refresh in the control schema: begun, taken over, published, finished, failed."""

from __future__ import annotations

import psycopg
import pytest

from catchment.errors import ClaimLost, LakeError, PublishVetoed
from catchment.lake.names import lake_name
from catchment.lake.types import Created
from tests.fixtures.lake_case import LakeCase
from tests.lake.control.support import (
    add_table,
    begin,
    commit,
    content,
    frontier,
    publication,
    publish,
    refresh,
    start,
    state,
)


@pytest.fixture
def table(lake_case: LakeCase) -> Created:
    """A dynamic table over a table with one row."""
    lake_case.make("s", "k BIGINT, n BIGINT", [(1, 10)])
    return add_table(lake_case, "d", ["s"])


def test_an_order_says_all_that_is_to_be_done(lake_case: LakeCase, table: Created) -> None:
    source = lake_case.pg("select table_id from lake.source")[0][0]
    order = begin(lake_case, start(lake_case, table))
    (read,) = order.reads
    assert (read.table_id, str(read.ref), read.old, read.new, read.rows_old) == (
        source,
        "main.s",
        None,
        lake_case.head(),
        None,
    )
    assert (order.state, order.trigger, order.buckets, order.rows) == ("EXECUTING", "manual", 1, None)
    assert str(order.physical) == f"dt.t{table.dt_id}g1"
    assert order.stored_snapshot == lake_case.head()
    assert order.deadline_at is not None
    assert order.deadline_at > order.data_at


def test_the_next_order_starts_where_the_last_one_ended(lake_case: LakeCase, table: Created) -> None:
    first = refresh(lake_case, table, [(1, 10)])
    lake_case.add("s", [(2, 20)])
    order = begin(lake_case, start(lake_case, table))
    (read,) = order.reads
    assert (read.old, read.new) == (first.data_snapshot, lake_case.head())
    assert {name: column.type for name, column in read.columns_old.items()} == {"k": "BIGINT", "n": "BIGINT"}
    assert (order.forced, order.rows, order.epoch) == (None, 1, first.epoch + 1)


def test_a_finished_refresh_closes_its_round_and_leaves_figures(lake_case: LakeCase, table: Created) -> None:
    order = begin(lake_case, start(lake_case, table))
    publish(lake_case, order, [(1, 10)], figures={"a": 1})
    lake_case.control.finish_refresh(order.refresh_id, order.fence, {"cost_units": 100, "cost_ms": 5})
    assert lake_case.pg(
        "select state, action, inserted, deleted, rows_after, figures, finished_at is not null from lake.refresh"
    ) == [("SUCCEEDED", "full", 1, 0, 1, {"a": 1, "cost_ms": 5, "cost_units": 100}, True)]
    assert lake_case.pg("select closed_at is not null from lake.round") == [(True,)]
    assert lake_case.control.cost_samples(table.dt_id) == [("full", 100.0, 5.0)]
    assert lake_case.pg("select expected_ms > 0 from lake.dt") == [(True,)]


@pytest.mark.long
def test_twenty_samples_of_an_action_are_kept(lake_case: LakeCase, table: Created) -> None:
    for number in range(25):
        lake_case.control.add_sample(table.dt_id, "full", number, number)
    lake_case.control.add_sample(table.dt_id, "incremental", 1, 1)
    samples = lake_case.control.cost_samples(table.dt_id)
    assert [units for action, units, _ in samples if action == "full"] == list(range(24, 4, -1))
    assert len(samples) == 21


def test_a_newer_attempt_takes_over_and_the_older_one_is_refused(lake_case: LakeCase, table: Created) -> None:
    refresh_id = start(lake_case, table)
    old = begin(lake_case, refresh_id)
    new = begin(lake_case, refresh_id)
    control = lake_case.control
    for call in (
        lambda: control.store_plan(refresh_id, old.fence, {}, 1),
        lambda: control.prepare_publish(refresh_id, old.fence, publication(lake_case, old, 0)),
        lambda: control.finish_refresh(refresh_id, old.fence, {}),
        lambda: control.fail_refresh(refresh_id, old.fence, "QUERY", "no"),
        lambda: control.begin_refresh(refresh_id, old.fence, new.data_at - new.data_at),
    ):
        with pytest.raises(ClaimLost, match=f"refresh {refresh_id} is not held under fence {old.fence}"):
            call()
    assert state(lake_case, refresh_id) == "EXECUTING"


def test_an_attempt_that_died_after_its_commit_leaves_only_the_end_to_do(lake_case: LakeCase, table: Created) -> None:
    refresh_id = start(lake_case, table)
    publish(lake_case, begin(lake_case, refresh_id), [(1, 10)])
    again = begin(lake_case, refresh_id)
    assert again.state == "PUBLISHED"
    lake_case.control.finish_refresh(refresh_id, again.fence, {})
    assert state(lake_case, refresh_id) == "SUCCEEDED"
    assert content(lake_case, "d") == [(1, 10)]


def test_an_attempt_that_died_before_its_commit_is_done_again(lake_case: LakeCase, table: Created) -> None:
    refresh_id = start(lake_case, table)
    dead = begin(lake_case, refresh_id)
    lake_case.control.prepare_publish(refresh_id, dead.fence, publication(lake_case, dead, 1))
    again = begin(lake_case, refresh_id)
    assert (again.state, again.forced) == ("EXECUTING", "FIRST_FILL")
    publish(lake_case, again, [(1, 10)])
    assert content(lake_case, "d") == [(1, 10)]


def test_nothing_to_write_moves_the_frontier_without_a_snapshot(lake_case: LakeCase, table: Created) -> None:
    first = refresh(lake_case, table, [(1, 10)])
    lake_case.add("s", [(2, 20)])
    order = begin(lake_case, start(lake_case, table))
    before = lake_case.head()
    lake_case.control.prepare_publish(order.refresh_id, order.fence, publication(lake_case, order, 0))
    lake_case.control.move_frontier(order.refresh_id, order.fence)
    found = frontier(lake_case, table)
    assert lake_case.head() == before
    assert (found["data_snapshot"], found["rows"]) == (before, 1)
    # Between the two snapshots the query may have had another result: of that nothing is known.
    assert lake_case.pg("select data_from, data_to, commit_snapshot from lake.version order by data_from") == [
        (first.data_snapshot, first.data_snapshot, found["commit_snapshot"]),
        (before, before, found["commit_snapshot"]),
    ]
    with pytest.raises(PublishVetoed):
        lake_case.control.move_frontier(order.refresh_id, order.fence)


@pytest.mark.long
def test_a_first_fill_without_rows_can_be_read_where_the_table_was_found_empty(
    lake_case: LakeCase, table: Created
) -> None:
    order = begin(lake_case, start(lake_case, table))
    lake_case.control.prepare_publish(order.refresh_id, order.fence, publication(lake_case, order, 0))
    lake_case.control.move_frontier(order.refresh_id, order.fence)
    found = frontier(lake_case, table)
    assert (found["commit_snapshot"], found["rows"]) == (order.stored_snapshot, 0)
    assert lake_case.sql(
        f"SELECT count(*) FROM {lake_name(order.physical)} AT (VERSION => {found['commit_snapshot']})"
    ) == [(0,)]


def test_a_table_that_is_as_new_already_is_skipped(lake_case: LakeCase, table: Created) -> None:
    first, second = start(lake_case, table), start(lake_case, table)
    publish(lake_case, begin(lake_case, second), [(1, 10)])
    assert begin(lake_case, first).state == "SKIPPED"
    assert state(lake_case, first) == "SKIPPED"
    assert lake_case.pg("select closed_at is not null from lake.round order by id") == [(True,), (False,)]
    with pytest.raises(ClaimLost):
        begin(lake_case, first)


def test_a_plan_is_kept_for_the_one_who_publishes_it_and_forgotten_by_a_new_attempt(
    lake_case: LakeCase, table: Created
) -> None:
    refresh_id = start(lake_case, table)
    order = begin(lake_case, refresh_id)
    lake_case.control.store_plan(refresh_id, order.fence, {"total": 8}, 1000)
    assert lake_case.control.read_order(refresh_id).plan == {"total": 8}
    join = begin(lake_case, refresh_id, keep_plan=True)
    assert (join.plan, join.epoch, join.stored_snapshot) == ({"total": 8}, order.epoch, order.stored_snapshot)
    assert begin(lake_case, refresh_id).plan is None


@pytest.mark.long
def test_a_plan_made_from_an_older_frontier_cannot_be_published(lake_case: LakeCase, table: Created) -> None:
    slow, quick = start(lake_case, table), start(lake_case, table)
    order = begin(lake_case, slow)
    lake_case.control.store_plan(slow, order.fence, {}, 1)
    add_table(lake_case, "d", ["s"], old=order.physical, or_replace=True)
    join = begin(lake_case, slow, keep_plan=True)
    lake_case.control.prepare_publish(slow, join.fence, publication(lake_case, join, 0))
    with pytest.raises(PublishVetoed, match="which has moved on"):
        lake_case.control.move_frontier(slow, join.fence)
    assert begin(lake_case, quick).forced == "DEFINITION_CHANGED"


def test_a_failure_keeps_its_code_and_text(lake_case: LakeCase, table: Created) -> None:
    order = begin(lake_case, start(lake_case, table))
    assert lake_case.control.fail_refresh(order.refresh_id, order.fence, "QUERY", "division\0by zero") == "FAILED"
    assert lake_case.pg("select error_code, error_text from lake.refresh") == [("QUERY", "division by zero")]
    assert lake_case.pg("select closed_at is not null from lake.round") == [(True,)]


def test_a_cancelled_refresh_is_no_failure(lake_case: LakeCase, table: Created) -> None:
    order = begin(lake_case, start(lake_case, table, trigger="scheduled"))
    assert lake_case.control.fail_refresh(order.refresh_id, order.fence, "CANCELLED", "by hand") == "CANCELLED"
    assert lake_case.pg("select error_streak from lake.dt") == [(0,)]


def test_what_is_published_cannot_fail_any_more(lake_case: LakeCase, table: Created) -> None:
    order = begin(lake_case, start(lake_case, table))
    publish(lake_case, order, [(1, 10)])
    assert lake_case.control.fail_refresh(order.refresh_id, order.fence, "INTERNAL", "too late") == "SUCCEEDED"
    assert lake_case.pg("select state, error_code from lake.refresh") == [("SUCCEEDED", None)]


def test_five_scheduled_failures_in_a_row_suspend_a_table_and_those_below(lake_case: LakeCase, table: Created) -> None:
    below = add_table(lake_case, "e", ["d"])
    beside = add_table(lake_case, "f", ["s"])

    def fail(trigger: str) -> None:
        order = begin(lake_case, start(lake_case, table, trigger=trigger))
        lake_case.control.fail_refresh(order.refresh_id, order.fence, "QUERY", "no")

    for _ in range(4):
        fail("scheduled")
    for _ in range(3):
        fail("manual")
    assert lake_case.pg("select state, error_streak from lake.dt where id = %s", table.dt_id) == [("active", 4)]
    refresh(lake_case, table, [(1, 10)])
    assert lake_case.pg("select error_streak from lake.dt where id = %s", table.dt_id) == [(0,)]
    for _ in range(5):
        lake_case.add("s", [(2, 2)])
        fail("scheduled")
    assert lake_case.pg("select id, state, suspended_by from lake.dt order by id") == [
        (table.dt_id, "suspended", "failures"),
        (below.dt_id, "suspended", "upstream"),
        (beside.dt_id, "active", None),
    ]


@pytest.mark.long
def test_a_table_above_without_content_for_the_snapshot_is_a_failed_dependency(
    lake_case: LakeCase, table: Created
) -> None:
    below = add_table(lake_case, "e", ["d"])
    refresh_id = start(lake_case, below)
    with pytest.raises(LakeError, match=r"main\.\w+, which is read, has no content") as raised:
        begin(lake_case, refresh_id)
    assert raised.value.code == "DEPENDENCY"
    assert state(lake_case, refresh_id) == "EXECUTING"


@pytest.mark.long
def test_a_table_above_is_read_at_the_commit_that_has_the_rounds_content(lake_case: LakeCase, table: Created) -> None:
    below = add_table(lake_case, "e", ["d"])
    round_id = lake_case.control.request_round([below.dt_id])
    refreshes = dict(lake_case.pg("select dt_id, id from lake.refresh where round_id = %s", round_id))
    assert set(refreshes) == {table.dt_id, below.dt_id}
    committed = publish(lake_case, begin(lake_case, refreshes[table.dt_id]), [(1, 10)])
    lake_case.add("s", [(2, 20)])
    (read,) = begin(lake_case, refreshes[below.dt_id]).reads
    assert (str(read.ref), read.dt_id, read.new) == (f"dt.t{table.dt_id}g1", table.dt_id, committed)


@pytest.mark.long
def test_rows_that_another_client_wrote_are_noticed(lake_case: LakeCase, table: Created) -> None:
    first = refresh(lake_case, table, [(1, 10)])
    lake_case.sql(f"INSERT INTO {lake_name(first.physical)} VALUES (666, 0, 0)")
    order = begin(lake_case, start(lake_case, table))
    assert order.forced == "FOREIGN_WRITE"
    assert lake_case.sql(
        f"SELECT k FROM {lake_name(order.physical)} AT (VERSION => {order.stored_snapshot}) ORDER BY k"
    ) == [(1,), (666,)]
    lake_case.control.prepare_publish(order.refresh_id, order.fence, publication(lake_case, order, 0, 1))
    delete = f"DELETE FROM {lake_name(order.physical)} WHERE k = 666"
    commit(lake_case, delete, refresh=order.refresh_id, fence=order.fence)
    lake_case.add("s", [(2, 20)])
    assert begin(lake_case, start(lake_case, table)).forced is None


def test_rows_written_by_another_client_while_a_refresh_ran_are_noticed_by_the_next(
    lake_case: LakeCase, table: Created
) -> None:
    order = begin(lake_case, start(lake_case, table))
    lake_case.sql(f"INSERT INTO {lake_name(order.physical)} VALUES (666, 0, 0)")
    publish(lake_case, order, [(1, 10)])
    lake_case.add("s", [(2, 20)])
    assert begin(lake_case, start(lake_case, table)).forced == "FOREIGN_WRITE"


@pytest.mark.long
def test_upkeep_of_the_files_is_no_foreign_write(lake_case: LakeCase, table: Created) -> None:
    refresh(lake_case, table, [(1, 10)])
    lake_case.add("s", [(2, 20)])
    refresh(lake_case, table, [(2, 20)])
    name = f"t{table.dt_id}g1"
    assert lake_case.sql("CALL ducklake_merge_adjacent_files('lake', ?, schema => 'dt')", [name]) != []
    lake_case.add("s", [(3, 30)])
    assert begin(lake_case, start(lake_case, table)).forced is None


@pytest.mark.long
def test_a_source_that_was_replaced_is_followed_to_its_new_table(lake_case: LakeCase, table: Created) -> None:
    refresh(lake_case, table, [(1, 10)])
    ((old,),) = lake_case.pg("select table_id from lake.source")
    lake_case.sql("CREATE OR REPLACE TABLE s (k BIGINT, n BIGINT)")
    ((new,),) = lake_case.pg("select max(table_id) from lake.ducklake_table where table_name = 's'")
    order = begin(lake_case, start(lake_case, table))
    prepared = publication(lake_case, order, 0)
    (done,) = prepared.reads
    moved = type(done)(new, done.snapshot, 0, done.columns, replaces=old)
    prepared = type(prepared)(prepared.action, None, 0, 0, 0, None, (moved,))
    lake_case.control.prepare_publish(order.refresh_id, order.fence, prepared)
    lake_case.control.move_frontier(order.refresh_id, order.fence)
    assert lake_case.pg("select table_id from lake.source") == [(new,)]
    assert lake_case.pg("select table_id from lake.read") == [(new,)]


@pytest.mark.long
def test_a_new_number_of_buckets_comes_into_force_with_the_commit(lake_case: LakeCase, table: Created) -> None:
    order = begin(lake_case, start(lake_case, table))
    publish(lake_case, order, [(1, 10)], buckets=8)
    assert lake_case.pg("select buckets from lake.dt") == [(8,)]


def test_only_members_of_catchment_worker_can_refresh(lake_case: LakeCase, table: Created) -> None:
    with psycopg.connect(lake_case.dsn, autocommit=True) as conn:
        conn.execute("set role catchment_read")
        assert conn.execute("select count(*) from lake.dt").fetchone() == (1,)
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            conn.execute("select lake.request_round(%s)", [[table.dt_id]])
        conn.execute("set role catchment_worker")
        assert conn.execute("select lake.request_round(%s)", [[table.dt_id]]).fetchone() is not None
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            conn.execute("update lake.frontier set epoch = 7")

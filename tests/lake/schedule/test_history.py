"""What is told about refreshes and tables."""

from __future__ import annotations

from typing import Any

from tests.fixtures.lake_case import LakeCase
from tests.lake.control.support import begin, publish
from tests.lake.schedule.support import add, tick, work


def _row(case: LakeCase, text: str) -> dict[str, Any]:
    ((found,),) = case.pg(text)
    return found


def test_the_history_has_a_refresh_from_its_beginning_to_its_end(lake_case: LakeCase) -> None:
    lake_case.make("s", "k BIGINT, n BIGINT", [(1, 1)])
    table = add(lake_case, "d", "s")
    lake_case.control.request_round([table.dt_id])
    newest = "select to_jsonb(r) from lake.refreshes as r order by id desc limit 1"
    found = _row(lake_case, newest)
    assert (found["state"], found["trigger"], found["started_at"]) == ("SCHEDULED", "manual", None)
    pending = "select dynamic_table, status, trigger from lake.pending_refreshes"
    assert lake_case.pg(pending) == [("main.d", "pending", "manual")]
    order = begin(lake_case, found["id"])
    assert lake_case.pg(pending) == [("main.d", "claimed", "manual")]
    publish(lake_case, order, [(1, 1)], figures={"changed_inputs": [order.reads[0].table_id]})
    # Committed, but not yet over: for others that is one state.
    assert _row(lake_case, newest)["state"] == "EXECUTING"
    lake_case.control.finish_refresh(order.refresh_id, order.fence, {})
    found = _row(lake_case, newest)
    assert (found["state"], found["action"], found["reason"]) == ("SUCCEEDED", "full", "FIRST_FILL")
    assert (found["inserted"], found["deleted"], found["rows_after"]) == (1, 0, 1)
    assert found["changed_inputs"] == ["main.s"]
    assert found["data_snapshot"] == order.data_snapshot
    assert found["queued_ms"] >= 0
    assert found["execute_ms"] > 0
    assert lake_case.pg(pending) == []


def test_a_table_is_described_with_its_state_its_data_and_its_last_refresh(lake_case: LakeCase) -> None:
    lake_case.make("s", "k BIGINT, n BIGINT", [(1, 1)])
    add(lake_case, "d", "s", comment="orders by day")
    found = _row(lake_case, "select to_jsonb(t) from lake.tables as t")
    assert (found["dynamic_table"], found["scheduling_state"], found["is_filled"]) == ("main.d", "ACTIVE", False)
    assert (found["lag"], found["rows"], found["last_state"], found["comment"]) == (None, None, None, "orders by day")
    tick(lake_case)
    assert _row(lake_case, "select to_jsonb(t) from lake.tables as t")["open_state"] == "SCHEDULED"
    work(lake_case, [(1, 1), (2, 2)])
    found = _row(lake_case, "select to_jsonb(t) from lake.tables as t")
    assert (found["is_filled"], found["rows"], found["last_state"], found["last_action"]) == (
        True,
        2,
        "SUCCEEDED",
        "full",
    )
    assert found["bytes"] > 0
    assert found["open_refresh_id"] is None
    lake_case.add("s", [(2, 2)])
    tick(lake_case, 16)
    work(lake_case, fail=["d"])
    found = _row(lake_case, "select to_jsonb(t) from lake.tables as t")
    assert (found["last_state"], found["last_error_code"], found["last_error"], found["error_streak"]) == (
        "FAILED",
        "QUERY",
        "no",
        1,
    )


def test_readers_see_history_and_change_nothing(lake_case: LakeCase) -> None:
    lake_case.make("s", "k BIGINT, n BIGINT", [(1, 1)])
    table = add(lake_case, "d", "s")
    with lake_case.control.connection() as conn:
        conn.execute("set role catchment_read")
        for view in ("tables", "refreshes", "pending_refreshes", "effective_lag"):
            conn.execute(f"select * from lake.{view}")
        conn.execute("select * from lake.lag_stats(%s, now())", [table.dt_id])
        for call in ("lake.tick()", "lake.resume(1)", "lake.set_tick()"):
            ((allowed,),) = conn.execute(
                "select has_function_privilege(%s, 'execute')",
                [call.replace("(1)", "(bigint)")],
            ).fetchall()
            assert not allowed, call
        conn.execute("reset role")

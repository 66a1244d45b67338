"""Rounds: tables in the order they read each other, all at one snapshot."""

from __future__ import annotations

import threading
from datetime import timedelta

import pytest
from psycopg.types.json import Jsonb

from catchment.lake.types import Created
from tests.fixtures.lake_case import LakeCase
from tests.fixtures.worker import wait_until
from tests.lake.control.support import begin, publish
from tests.lake.schedule.support import START, add, at, snapshots, states, tasks, tick, work


@pytest.fixture
def diamond(lake_case: LakeCase) -> dict[str, Created]:
    """a reads s, b and c read a, d reads b and c."""
    lake_case.make("s", "k BIGINT, n BIGINT", [(1, 1)])
    made = {"a": add(lake_case, "a", "s")}
    for name, sources in {"b": ["a"], "c": ["a"], "d": ["b", "c"]}.items():
        made[name] = add(lake_case, name, *sources)
    return made


def test_a_round_goes_down_in_waves_at_one_snapshot(lake_case: LakeCase, diamond: dict[str, Created]) -> None:
    tick(lake_case)
    assert tasks(lake_case) == 1
    head = lake_case.head()
    assert work(lake_case) == ["a", "b", "c", "d"]
    # Refreshes commit to the lake themselves; the round's snapshot stays.
    assert lake_case.head() > head
    assert set(snapshots(lake_case).values()) == {head}
    assert lake_case.pg("select count(*), count(closed_at) from lake.round") == [(1, 1)]


def test_tables_read_the_version_of_their_round_though_a_newer_one_has_begun(
    lake_case: LakeCase, diamond: dict[str, Created]
) -> None:
    first = lake_case.control.request_round([diamond["d"].dt_id])
    refreshes = {
        (round_id, name): refresh_id
        for round_id, name, refresh_id in lake_case.pg(
            "select r.round_id, d.name, r.id from lake.refresh as r join lake.dt as d on d.id = r.dt_id"
        )
    }
    order = begin(lake_case, refreshes[first, "a"])
    old = publish(lake_case, order, [(1, 1)])
    lake_case.control.finish_refresh(order.refresh_id, order.fence, {})
    lake_case.add("s", [(2, 2)])
    # Only a moves on, and b of the first round has not begun yet.
    second = lake_case.control.request_round([diamond["a"].dt_id])
    ((refresh_id,),) = lake_case.pg("select id from lake.refresh where round_id = %s", second)
    order = begin(lake_case, refresh_id)
    new = publish(lake_case, order, [(2, 2)])
    lake_case.control.finish_refresh(order.refresh_id, order.fence, {})
    (read,) = begin(lake_case, refreshes[first, "b"]).reads
    assert read.new == old != new


@pytest.mark.long
def test_refreshes_of_a_table_run_one_after_another_in_the_order_of_their_snapshots(
    lake_case: LakeCase, diamond: dict[str, Created]
) -> None:
    rounds = []
    for number in range(3):
        lake_case.add("s", [(number, number)])
        rounds.append(lake_case.control.request_round([diamond["b"].dt_id]))
    # One task: that of a in the first round.
    assert lake_case.pg("select round_id from lake.refresh where task_id is not null") == [(rounds[0],)]
    work(lake_case)
    found = lake_case.pg(
        "select o.id, o.snapshot, f.state from lake.round as o join lake.refresh as f on f.round_id = o.id"
        " join lake.dt as d on d.id = f.dt_id where d.name = 'b' order by f.started_at"
    )
    assert [row[0] for row in found] == rounds
    assert [row[1] for row in found] == sorted(row[1] for row in found)
    assert {row[2] for row in found} == {"SUCCEEDED"}


def test_below_a_failure_nothing_runs_and_beside_it_all_does(lake_case: LakeCase, diamond: dict[str, Created]) -> None:
    tick(lake_case)
    assert work(lake_case, fail=["b"]) == ["a", "b", "c"]
    assert states(lake_case) == {"a": "SUCCEEDED", "b": "FAILED", "c": "SUCCEEDED", "d": "UPSTREAM_FAILED"}
    assert lake_case.pg("select error_text from lake.refresh where state = 'UPSTREAM_FAILED'") == [
        ("what it reads was not refreshed: main.b",)
    ]
    # What failed above is no failure of its own.
    assert lake_case.pg("select error_streak from lake.dt where name = 'd'") == [(0,)]


def test_a_cancelled_refresh_stops_what_is_below(lake_case: LakeCase, diamond: dict[str, Created]) -> None:
    lake_case.control.request_round([diamond["d"].dt_id])
    ((task,),) = lake_case.pg("select task_id from lake.refresh where task_id is not null")
    assert lake_case.control.cancel_refreshes(diamond["a"].dt_id, "not now") == 1
    assert set(states(lake_case).values()) == {"CANCELLED", "UPSTREAM_FAILED"}
    assert lake_case.pg("select state from worker.tasks where id = %s", task) == [("cancelled",)]
    assert lake_case.pg("select count(*) from lake.round where closed_at is null") == [(0,)]


def test_a_task_that_settled_without_its_refresh_settles_it(lake_case: LakeCase, diamond: dict[str, Created]) -> None:
    for mark, state, code in ((None, "CANCELLED", "CANCELLED"), ("TIMEOUT", "FAILED", "TIMEOUT")):
        round_id = lake_case.control.request_round([diamond["a"].dt_id])
        lake_case.pg("update lake.refresh set cancel_code = %s where round_id = %s", mark, round_id)
        lake_case.pg("select worker.cancel(task_id) from lake.refresh where round_id = %s", round_id)
        lake_case.control.advance()
        found = lake_case.pg("select state, error_code from lake.refresh where round_id = %s", round_id)
        assert found == [(state, code)]
    assert lake_case.pg("select count(*) from lake.round where closed_at is null") == [(0,)]


ERRORS = {
    "INTERRUPTED": {"kind": "interrupted", "message": "worker died 5 times"},
    "MEMORY": {"kind": "LakeOutOfMemory", "message": "too much"},
    "INTERNAL": {"kind": "ValueError", "message": "odd"},
}


def test_a_failed_task_leaves_its_error_with_the_refresh(lake_case: LakeCase, diamond: dict[str, Created]) -> None:
    with lake_case.control.connection() as conn:
        ((worker_id, _),) = conn.execute("select * from worker.register_worker('w', '{lake}')").fetchall()
        for code, error in ERRORS.items():
            round_id = lake_case.control.request_round([diamond["a"].dt_id])
            ((claimed,),) = conn.execute(
                "select to_jsonb(c) from worker.claim_tasks(%s, '{lake}', 1) as c", [worker_id]
            ).fetchall()
            conn.execute(
                "select worker.fail_task(%s, %s, %s)",
                [claimed["id"], claimed["fence"], Jsonb(error | {"retryable": False})],
            )
            lake_case.control.advance()
            found = lake_case.pg("select state, error_code, error_text from lake.refresh where round_id = %s", round_id)
            assert found == [("FAILED", code, error["message"])]


def test_a_refresh_past_its_deadline_is_cancelled(lake_case: LakeCase, diamond: dict[str, Created]) -> None:
    lake_case.control.request_round([diamond["a"].dt_id])
    ((refresh_id,),) = lake_case.pg("select id from lake.refresh where task_id is not null")
    lake_case.control.begin_refresh(refresh_id, 1, timedelta(hours=1))
    lake_case.control.tick()
    assert states(lake_case) == {"a": "EXECUTING"}
    lake_case.pg("update lake.refresh set deadline_at = clock_timestamp() - interval '1 second'")
    lake_case.control.tick()
    assert lake_case.pg("select state, error_code from lake.refresh where id = %s", refresh_id) == [
        ("FAILED", "TIMEOUT")
    ]


def test_a_round_is_advanced_by_many_at_once_and_each_task_is_made_once(
    lake_case: LakeCase, diamond: dict[str, Created]
) -> None:
    with lake_case.control.connection() as holder:
        with holder.transaction():
            # Keeps the others waiting, so that they all start from the same state.
            holder.execute("lock table lake.round in exclusive mode")
            threads = [threading.Thread(target=lake_case.control.request_round, args=([diamond["b"].dt_id],))]
            threads += [threading.Thread(target=lake_case.control.advance) for _ in range(2)]
            for thread in threads:
                thread.start()
            wait_until(
                lambda: (
                    lake_case.pg(
                        "select count(*) from pg_locks where not granted and relation = 'lake.round'::regclass"
                    )[0][0]
                    >= 1
                )
            )
        for thread in threads:
            thread.join()
    assert tasks(lake_case) == 1


@pytest.mark.long
def test_finishing_in_one_round_lets_another_one_go_on(lake_case: LakeCase, diamond: dict[str, Created]) -> None:
    lake_case.control.request_round([diamond["a"].dt_id])
    lake_case.add("s", [(2, 2)])
    later = lake_case.control.request_round([diamond["a"].dt_id])
    ((refresh_id,),) = lake_case.pg("select id from lake.refresh where task_id is not null")
    order = begin(lake_case, refresh_id)
    publish(lake_case, order, [(1, 1)])
    lake_case.control.finish_refresh(refresh_id, order.fence, {})
    assert lake_case.pg("select task_id is not null from lake.refresh where round_id = %s", later) == [(True,)]


def test_a_table_that_was_dropped_meanwhile_is_skipped(lake_case: LakeCase) -> None:
    lake_case.make("s", "k BIGINT, n BIGINT", [(1, 1)])
    table = add(lake_case, "d", "s")
    lake_case.control.request_round([table.dt_id])
    lake_case.add("s", [(2, 2)])
    second = lake_case.control.request_round([table.dt_id])
    lake_case.control.drop_table(table.dt_id)
    work(lake_case, fail=["d"])
    assert states(lake_case, second) == {"d": "SKIPPED"}


@pytest.mark.long
def test_components_follow_who_reads_whom(lake_case: LakeCase, diamond: dict[str, Created]) -> None:
    add(lake_case, "alone", "s")
    components = "select array_agg(name order by name) from lake.dt group by component order by 1"
    assert lake_case.pg(components) == [(["a", "b", "c", "d"],), (["alone"],)]
    add(lake_case, "bridge", "alone", "d")
    assert lake_case.pg(components) == [(["a", "alone", "b", "bridge", "c", "d"],)]


@pytest.mark.long
def test_old_history_goes_and_what_is_needed_stays(lake_case: LakeCase, diamond: dict[str, Created]) -> None:
    tick(lake_case)
    work(lake_case)
    for number in range(1, 4):
        tick(lake_case, 16 * number)
    lake_case.add("s", [(2, 2)])
    tick(lake_case, 64)
    work(lake_case)
    day = START + timedelta(days=2)
    at(lake_case, day, "select lake.forget_history()")
    kept = lake_case.pg("select distinct action from lake.refresh order by 1")
    assert kept == [("full",)]
    later = START + timedelta(days=40)
    at(lake_case, later, "select lake.forget_history()")
    # Only what says how each table is now.
    assert lake_case.pg("select count(*) from lake.refresh") == [(4,)]
    assert lake_case.pg("select count(*) from lake.version") == [(4,)]
    assert lake_case.pg("select count(*) from lake.change where snapshot_id < lake.pinned_snapshot()") == [(0,)]
    lake_case.add("s", [(3, 3)])
    tick(lake_case, 80)
    assert work(lake_case) == ["a", "b", "c", "d"]

"""A round as a tree of tasks: its stages in their order, their children, what follows what."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

from tests.fixtures.register_driver import Register
from tests.register.agreement import assert_agreement, failed

STAGES = [
    "collect_changes",
    "derive_statistical_unit",
    "derive_statistical_unit_continue",
    "statistical_unit_flush_staging",
    "derive_reports",
    "derive_statistical_history",
    "derive_statistical_unit_facet",
    "statistical_unit_facet_reduce",
    "derive_statistical_history_facet",
]
CHILDREN = {
    "derive_statistical_unit": "statistical_unit_refresh_batch",
    "derive_statistical_history": "derive_statistical_history_period",
    "derive_statistical_unit_facet": "derive_statistical_unit_facet_partition",
    "derive_statistical_history_facet": "derive_statistical_history_facet_period",
}


def tasks(reg: Register) -> list[dict[str, Any]]:
    return reg.rows("select * from worker.tasks where queue = 'analytics' order by process_start_at, id")


def test_a_round_runs_its_stages_one_after_the_other(reg: Register) -> None:
    reg.lu("1", "2025-01-01")
    reg.derive()
    top = [t for t in tasks(reg) if t["parent_id"] is None]
    assert [t["command"] for t in top] == STAGES
    assert not failed(reg)
    for task, following in pairwise(top):
        assert task["completed_at"] <= following["process_start_at"]


def test_each_stage_is_followed_by_what_it_asked_for(reg: Register) -> None:
    reg.lu("1", "2025-01-01")
    reg.derive()
    by_id = {t["id"]: t["command"] for t in tasks(reg)}
    follows = {t["command"]: by_id[t["follows_id"]] for t in tasks(reg) if t["follows_id"] is not None}
    assert follows == {
        "derive_statistical_unit": "collect_changes",
        "derive_statistical_unit_continue": "derive_statistical_unit",
        "statistical_unit_flush_staging": "derive_statistical_unit",
        "derive_reports": "derive_statistical_unit",
        "derive_statistical_history": "derive_reports",
        "derive_statistical_unit_facet": "derive_statistical_history",
        "statistical_unit_facet_reduce": "derive_statistical_unit_facet",
        "derive_statistical_history_facet": "derive_statistical_unit_facet",
    }


def test_parents_have_the_children_of_their_kind(reg: Register) -> None:
    reg.conn.execute("update register.settings set batch_enterprises = 1, partition_count_target = 3")
    for ident in "1234":
        reg.lu(ident, "2025-01-01", region="03.01", employees=int(ident))
    reg.derive()
    by_id = {t["id"]: t["command"] for t in tasks(reg)}
    children = [(by_id[t["parent_id"]], t["command"]) for t in tasks(reg) if t["parent_id"] is not None]
    assert set(children) == set(CHILDREN.items())
    assert children.count(("derive_statistical_unit", "statistical_unit_refresh_batch")) == 4
    assert children.count(("derive_statistical_unit_facet", "derive_statistical_unit_facet_partition")) == 3


def test_a_small_round_needs_no_children(reg: Register) -> None:
    reg.conn.execute("update register.settings set rebuild_share = 1")
    for ident in "12":
        reg.lu(ident, "2025-01-01", region="03.01", employees=int(ident))
    reg.derive()
    before = reg.value("select max(id) from worker.tasks")
    reg.conn.execute("update register.stat_for_unit set value_int = 9")
    reg.derive()
    assert [t["command"] for t in tasks(reg) if t["id"] > before] == STAGES
    assert not failed(reg)
    assert_agreement(reg)


def test_children_of_reports_share_out_periods_and_slots(reg: Register) -> None:
    reg.lu("1", "2025-11-01")
    reg.derive()
    payloads = {c: [t["payload"] for t in tasks(reg) if t["command"] == c] for c in CHILDREN.values()}
    expected = sorted(["2025", "2025-11", "2025-12", "2026", "2026-01", "2026-02"])
    for command in ("derive_statistical_history_period", "derive_statistical_history_facet_period"):
        assert sorted(p for one in payloads[command] for p in one["periods"]) == expected
    slots = [one["slots"] for one in payloads["derive_statistical_unit_facet_partition"]]
    assert reg.value("select range_agg(s::int4multirange)::text from unnest(%s::text[]) as s", slots) == "{[0,16384)}"
    reg.conn.execute("update register.settings set rebuild_share = 1")
    reg.conn.execute("update register.legal_unit set name = 'Another'")
    ready = "select payload from worker.tasks where command = 'derive_statistical_unit_facet' and state = 'pending'"
    for _ in range(10):
        reg.conn.execute("call worker.process_tasks(p_queue => 'analytics', p_batch_size => 1)")
        if reg.value(f"{ready} and waits_for is null"):
            break
    parts = reg.value("select register.plan_partitions(%s)", reg.value(ready)["round_id"])
    assert len(parts) == 1
    last = parts[0]["slots"]
    marked = reg.value("select count(*) from unnest(%s::int4multirange) as s", last)
    assert marked == 2, "the slots of the legal unit and of its enterprise"


def test_statistics_for_the_planner_are_made_once_a_round_and_not_in_batches(reg: Register) -> None:
    reg.conn.execute("update register.settings set batch_enterprises = 1")
    for ident in "123":
        reg.lu(ident, "2025-01-01")
    reg.derive()
    ran = [t["command"] for t in tasks(reg)]
    assert ran.count("derive_statistical_unit_continue") == 1
    assert ran.index("derive_statistical_unit_continue") > max(
        n for n, c in enumerate(ran) if c == "statistical_unit_refresh_batch"
    )
    analyzing = reg.rows(
        "select proname from pg_proc where pronamespace = 'register'::regnamespace and prosrc ~* 'analyze register'"
    )
    assert {row["proname"] for row in analyzing} <= {
        "derive_statistical_unit_continue",
        "publish_first",
        "import_prepare",
    }, "batches run side by side, and ANALYZE of one table does not"


def test_a_parent_waits_for_its_children_and_then_completes(reg: Register) -> None:
    """Derivation of units alone, asked for by hand, one task at a time."""
    reg.lu("1", "2025-01-01")
    reg.derive()
    reg.value("select worker.enqueue_derive_statistical_unit()")
    step = "call worker.process_tasks(p_queue => 'analytics', p_batch_size => 1)"
    state = "select state from worker.tasks where command = 'derive_statistical_unit' order by id desc limit 1"
    assert reg.value(state) == "pending"
    reg.conn.execute(step)
    assert reg.value(state) == "waiting"
    reg.conn.execute(step)
    assert reg.value(state) == "completed"
    reg.derive()
    assert_agreement(reg)


def test_edits_during_a_round_go_into_the_next_one(reg: Register) -> None:
    reg.lu("1", "2025-01-01")
    step = "call worker.process_tasks(p_queue => 'analytics', p_batch_size => 1)"
    for _ in range(3):
        reg.conn.execute(step)
    assert reg.value("select count(*) from register.round where state = 'open'") == 1
    reg.conn.execute("delete from register.collect_request")
    reg.lu("2", "2025-01-01")
    reg.derive()
    assert [r["state"] for r in reg.rows("select state from register.round order by id")] == ["done", "done"]
    top = [t["command"] for t in tasks(reg) if t["parent_id"] is None]
    assert top == STAGES * 2, "the second round begins after the first one's last stage"
    assert_agreement(reg)

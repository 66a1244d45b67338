"""What random histories are made of: the queues and commands they use, and strategies for what is asked for."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from hypothesis import strategies as st

WORKERS = 2
OPEN_SLOTS = 2

# Under a fence that was lost; each must be refused.
LATE_VERBS = {
    "complete": "select worker.complete_task(%s, %s)",
    "spawn": """select worker.complete_task(%s, %s, p_spawns => '[{"command": "work", "payload": {}}]')""",
    "fail": "select worker.fail_task(%s, %s, '{}')",
    "release": "select worker.release_task(%s, %s)",
    "snooze": "select worker.snooze_task(%s, %s, worker.now())",
    "progress": "select worker.report_progress(%s, %s, '{}')",
}
# What the workers and operators do for all.
UPKEEP = {
    "promote_due": "select worker.promote_due()",
    "admit_arrivals": "select worker.admit_arrivals()",
    "admit_to_gates": "select worker.admit_to_gates()",
    "age_ready": "select worker.age_ready()",
    "sweep_cancelled": "select worker.sweep_cancelled()",
    "skip_halted": "select worker.skip_halted(queue, lane) from worker.lanes where halted_at is not null",
    "delete_settled": "select worker.delete_settled(worker.now(), worker.now() - interval '5 minutes', 2)",
}


@dataclass(frozen=True)
class Request:
    command: str
    lane: str | None
    key: int
    priority: int | None
    delay: int


@dataclass(frozen=True)
class Spawn:
    command: str
    key: int
    delay: int
    is_sibling: bool


@dataclass(frozen=True)
class Offspring:
    spawns: list[Spawn]
    child_mode: str
    on_failure: str
    follow_ups: list[Request]


QUEUES = {"line": {"mode": "serial"}, "flow": {"mode": "concurrent", "max_depth": 3}}
COMMANDS: dict[str, dict[str, Any]] = {
    "step": {"queue": "line", "max_attempts": 2},
    "work": {"queue": "flow", "max_attempts": 2},
    "fold": {"queue": "flow", "max_attempts": 2, "dedup": ["key"], "merge": {"ids": "union"}},
    "line_fold": {"queue": "line", "dedup": ["key"], "merge": {"ids": "union"}},
    "joined": {"queue": "flow", "join_procedure": "in Python", "max_attempts": 2},
    "careless": {"queue": "flow", "on_failure": "continue"},
    "brittle": {"queue": "flow", "on_failure": "cancel_rest"},
    "line_halt": {"queue": "line", "on_failure": "halt"},
    "limited": {"queue": "flow", "max_attempts": 2, "limit_key": ["key"], "max_running": 1},
    "narrow": {"queue": "flow", "max_attempts": 2, "limit_key": [], "max_running": 2},
}
# What UPDATE of worker.tasks sets: minutes until the task is due (none: at once), the priority, the key.
CHANGES = ("scheduled_at", "priority", "key")
# A parent keeps its place while it waits: one whose descendants need the same place would wait for ever. So "limited"
# is never a child, and "narrow" never a parent.
LIMITED = ("limited", "narrow")

index = st.integers(0, 10_000)
root_command = st.sampled_from(sorted(COMMANDS))
child_command = st.sampled_from(sorted(COMMANDS.keys() - {"limited"}))
queue = st.sampled_from(["flow", "flow", "line"])
lane = st.sampled_from([None, None, "a", "b"])
key = st.integers(0, 1)
minutes = st.sampled_from([0, 0, 0, 5])
worker = st.integers(0, WORKERS - 1)

asked = st.builds(Request, root_command, lane, key, st.sampled_from([None, None, 10]), minutes)
request = asked.map(lambda r: replace(r, lane=None) if r.command in LIMITED else r)  # limits per key and lanes exclude
spawn = st.builds(Spawn, child_command, key, minutes, st.sampled_from([False, False, True]))
offspring = st.builds(
    Offspring,
    st.lists(spawn, max_size=4),
    st.sampled_from(["concurrent", "concurrent", "serial"]),
    st.sampled_from(["wait", "wait", "cancel_siblings"]),
    st.lists(request, max_size=2),
)
fate = st.one_of(
    offspring, offspring, st.sampled_from(["complete", "complete", "fail", "give up", "release", "snooze"])
)

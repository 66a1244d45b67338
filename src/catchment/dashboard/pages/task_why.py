"""Why a task waits, on its page: the answer of ``worker.explain``, the tasks that it names, and the actions of the
dashboard that do what it suggests."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

from pydantic import Field

from catchment.dashboard.database import Reader
from catchment.dashboard.screen import Answer, sql
from catchment.model.remedy import ways_of
from catchment.model.why import Condition, Why

# Where evidence has the id of a task.
_IDS = ("child_id", "failed_first", "follows", "merged_into", "parent_id", "task_id")


class Act(Answer):
    """An action of this dashboard: its name, and the fields that it takes."""

    action: str
    label: str
    values: dict[str, int | str]


class Remedy(Answer):
    """A line to type, and what it does."""

    command: str
    what: str


class ConditionAnswer(Answer):
    """One thing that holds the task back, or that there is to say: see ``worker.explain``."""

    kind: str
    is_blocking: bool
    words: str
    evidence: dict[str, Any]
    remedy: str | None = Field(description="A command of the shell that changes it, or several, one per line.")
    remedies: list[Remedy] = Field(description="The lines of the remedy.")
    tasks: list[int] = Field(description="The tasks that it names.")
    acts: list[Act] = Field(description="Actions of the dashboard that change it.")


class WhyAnswer(Answer):
    """Why a task waits: what ``catchment task why`` says."""

    headline: str
    conditions: list[ConditionAnswer]


async def read_why(reader: Reader, task_id: int) -> WhyAnswer:
    """Raises ``TaskNotFound``."""
    rows = await reader.rows(sql("task_why"), id=task_id)
    why = Why(task_id, tuple(Condition(**row) for row in rows))
    ordered = sorted(why.conditions, key=lambda condition: not condition.is_blocking)
    return WhyAnswer(headline=why.headline, conditions=[_shown(condition, task_id) for condition in ordered])


def _shown(condition: Condition, task_id: int) -> ConditionAnswer:
    evidence = dict(condition.evidence)
    return ConditionAnswer(
        kind=condition.kind,
        is_blocking=condition.is_blocking,
        words=condition.words,
        evidence=evidence,
        remedy=condition.remedy,
        remedies=[Remedy(command=way.command, what=way.what) for way in ways_of(condition.remedy)],
        tasks=_tasks(evidence),
        acts=_acts(condition, task_id),
    )


def _tasks(evidence: Mapping[str, Any]) -> list[int]:
    named: list[Any] = [evidence.get(key) for key in _IDS]
    holders = cast("list[Any]", evidence.get("holders") or [])
    for one in (evidence.get("task"), *holders):
        if isinstance(one, Mapping):
            named.append(cast("Mapping[str, Any]", one).get("id"))
    return list(dict.fromkeys(int(one) for one in named if isinstance(one, int) or str(one).isdecimal()))


def _acts(condition: Condition, task_id: int) -> list[Act]:
    """What an operator can do about it here. What has settled is retried by the button of the page, unless it halts a
    lane: then there are two ways."""
    evidence = condition.evidence
    if condition.kind == "paused":
        return [Act(action="queue.resume", label="Resume the queue", values={"queue": evidence["queue"]})]
    if condition.kind == "halted":
        return _ways_on(evidence["task"]["id"], evidence["queue"], evidence.get("lane", ""))
    if "halted" in evidence:
        return _ways_on(task_id, evidence["queue"], evidence["halted"])
    return []


def _ways_on(head: int, queue: str, lane: str) -> list[Act]:
    """How a halted lane continues: with the task that failed, or without it."""
    return [
        Act(action="task.retry", label=f"Retry task {head}", values={"id": head}),
        Act(action="lane.skip", label=f"Skip task {head}", values={"queue": queue, "lane": lane, "id": head}),
    ]

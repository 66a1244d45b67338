"""Why something waits, as the engine explains it: the same object in SQL, on the command line, in Python and in the
dashboard."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


def as_clause(words: str) -> str:
    """The words of a condition as the end of a sentence."""
    return words[:1].lower() + words[1:].removesuffix(".")


@dataclass(frozen=True, slots=True, kw_only=True)
class Condition:
    """One reason why a task waits or a dynamic table is late, or another fact about it.

    ``kind`` is its stable name. ``is_blocking`` is true if it holds the task or table back now. ``evidence`` has ids,
    states and times; ``words`` is a sentence for people. ``remedy`` lists shell commands that resolve it, one per
    line, each with a comment; if another task or table is the cause, it is the command that explains that one. If
    only time helps, there is no remedy.
    """

    kind: str
    is_blocking: bool
    evidence: Mapping[str, Any]
    words: str
    remedy: str | None


@dataclass(frozen=True, slots=True)
class Why:
    """Why a task waits: every cause, and further facts.

    A task without a blocking condition starts at the next claim, runs, or has settled.
    """

    task_id: int
    conditions: tuple[Condition, ...]

    @property
    def blocking(self) -> tuple[Condition, ...]:
        """The conditions that hold the task back."""
        return tuple(condition for condition in self.conditions if condition.is_blocking)

    @property
    def headline(self) -> str:
        """A summary of what the task is doing. ``str()`` of this object adds the conditions."""
        kinds = {condition.kind for condition in self.conditions}
        if self.blocking:
            return f"Task {self.task_id} waits."
        if "settled" in kinds:
            return f"Task {self.task_id} has settled."
        return f"Task {self.task_id} {'runs' if 'running' in kinds else 'can start'}."

    def __str__(self) -> str:
        return " ".join([self.headline, *(condition.words for condition in self.conditions)])

"""How a command ended that was run inline, with everything under it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from catchment.model.state import TaskState


@dataclass(slots=True)
class Run:
    """One task of the tree. ``payload``, ``result``, ``error`` and ``info`` are JSON values, as the engine keeps them.

    ``error`` has ``kind`` and ``message``, and ``child`` where a child is to blame. ``attempt`` counts starts,
    ``snoozes`` those that snoozed. ``follow_ups`` are those of the whole tree, at its root; they are cancelled if the
    root did not complete.
    """

    command: str
    payload: dict[str, Any]
    state: TaskState = TaskState.PENDING
    result: Any = None
    error: dict[str, Any] | None = None
    info: dict[str, Any] | None = None
    attempt: int = 0
    snoozes: int = 0
    children: list[Run] = field(default_factory=list["Run"])
    follow_ups: list[Run] = field(default_factory=list["Run"])

    def walk(self) -> Iterator[Run]:
        """This task, those under it, and those that follow, each parent before its children."""
        yield self
        for child in self.children:
            yield from child.walk()
        for follow_up in self.follow_ups:
            yield from follow_up.walk()

    def fail(self, state: TaskState, kind: str, message: str) -> None:
        """It ended without having run."""
        self.state = state
        self.error = {"kind": kind, "message": message}

"""The states of a task."""

from __future__ import annotations

from enum import StrEnum


class TaskState(StrEnum):
    """The state of a task. The last three are settled: their ``is_settled`` is true."""

    PENDING = "pending"
    PROCESSING = "processing"
    INTERRUPTED = "interrupted"
    WAITING = "waiting"
    COMPLETED = "completed"
    FAILED = "failed"
    CANCELLED = "cancelled"

    @property
    def is_settled(self) -> bool:
        """Has the task reached its end?"""
        return self in (TaskState.COMPLETED, TaskState.FAILED, TaskState.CANCELLED)

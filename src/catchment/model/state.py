"""The states of a task."""

from __future__ import annotations

from enum import StrEnum


class TaskState(StrEnum):
    """Where a task stands. The last three are settled: they have ``is_settled``."""

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

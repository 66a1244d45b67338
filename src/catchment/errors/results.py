"""Results that cannot be returned."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from typing import Any

from catchment.errors.base import CatchmentError


class ResultMissing(CatchmentError):
    """Base of the next three errors: a task has no result. Has ``task_id`` and ``command``."""

    def __init__(self, message: str, *, task_id: int, command: str, hint: str | None = None) -> None:
        super().__init__(message, hint=hint)
        self.task_id = task_id
        self.command = command


class TaskFailed(ResultMissing):
    """The task whose result was requested has failed: ``kind``, ``message``, and all that is stored in ``error``.

    If it failed by its children, ``child`` is the error of the one that explains it, at whatever depth: the
    ``TaskFailed`` of a failed child, or the ``TaskCancelled`` of a cancelled one. It is the ``__cause__`` too.
    Otherwise it is None.
    """

    def __init__(self, task_id: int, command: str, error: Mapping[str, Any], *, root_id: int | None = None) -> None:
        self.error = dict(error)
        self.kind = str(error.get("kind", "error"))
        self.message = str(error.get("message", ""))
        root_id = task_id if root_id is None else root_id
        self.child = _error_of_child(error.get("child"), root_id)
        shown_id = task_id if self.child is None else self.child.task_id
        what = f": {self.message}" if self.kind == "children" else f" with {self.kind}: {self.message}"
        hint = (
            f"'catchment task show {shown_id}' has the attempts; "
            f"'catchment task retry {root_id}' runs what failed again."
        )
        super().__init__(
            f"task {task_id} ({command}) failed{what}",
            task_id=task_id,
            command=command,
            hint=f"{_hint_of(self.child.error if isinstance(self.child, TaskFailed) else error)}{hint}",
        )
        self.__cause__ = self.child


class TaskCancelled(ResultMissing):
    """The task whose result was requested was cancelled; ``reason`` says why. The message also has the progress of its
    children."""

    def __init__(
        self, task_id: int, command: str, reason: str, *, children: str = "", root_id: int | None = None
    ) -> None:
        root_id = task_id if root_id is None else root_id
        super().__init__(
            f"task {task_id} ({command}) was cancelled: {reason}{f' ({children})' if children else ''}",
            task_id=task_id,
            command=command,
            hint=f"'catchment task show {task_id}' shows its history; "
            f"'catchment task retry {root_id}' runs what did not complete again.",
        )
        self.reason = reason


def _hint_of(error: Mapping[str, Any]) -> str:
    """The hint that is stored with an error, to be followed by another one; empty if there is none."""
    hint = error.get("hint")
    if not isinstance(hint, str) or not hint:
        return ""
    return f"{hint} " if hint.endswith(".") else f"{hint}; "


def _error_of_child(child: Any, root_id: int) -> TaskFailed | TaskCancelled | None:
    try:
        task_id, command = int(child["id"]), str(child["command"])
        if child["kind"] == "cancelled":
            return TaskCancelled(task_id, command, str(child["message"]), root_id=root_id)
        kept = {name: child[name] for name in ("kind", "message", "hint") if child.get(name) is not None}
        return TaskFailed(task_id, command, kept, root_id=root_id)
    except (TypeError, KeyError, ValueError):  # a handler may store any error by worker.fail_task
        return None


class ResultTimeout(ResultMissing, TimeoutError):
    """The task did not settle in time; ``state`` is its state. It continues to run. Also a ``TimeoutError``.

    If nothing can run it now, the message says why, and ``hint`` what to do: no live worker has its command, its queue
    is paused, or its lane is halted. If the server has stopped answering, ``state`` is the last one that was seen.
    Without any answer it is ``unknown``, and ``command`` is empty.
    """

    def __init__(
        self,
        task_id: int,
        command: str,
        state: str,
        waited: timedelta,
        *,
        is_answered: bool = True,
        reason: str | None = None,
        hint: str | None = None,
    ) -> None:
        task = f"task {task_id} ({command})" if command else f"task {task_id}"
        time = f"{waited.total_seconds():g} s"
        if not is_answered:
            message = f"no answer from the server about {task} after {time}, its last known state is {state}"
            hint = "Check the network between here and the server. The task itself continues."
        else:
            message = f"{task} is still {state} after {time}" + (f": {reason}" if reason else "")
            hint = hint or f"Wait longer, or see what it waits for: catchment task why {task_id}"
        super().__init__(message, task_id=task_id, command=command, hint=hint)
        self.state = state


class ValueUnreadable(CatchmentError):
    """A payload or result is JSON that PostgreSQL holds and Python cannot read: a number with more digits than Python
    reads, or deep nesting. Has ``task_id`` and ``command``."""

    def __init__(self, message: str, *, task_id: int, command: str, hint: str | None = None) -> None:
        super().__init__(message, hint=hint)
        self.task_id = task_id
        self.command = command

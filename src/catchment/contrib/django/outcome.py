"""A task of Catchment in the words of Django's tasks framework."""

# pyright: reportMissingTypeStubs=false, reportUnknownVariableType=false, reportUnknownMemberType=false
# Django has no stubs.
from __future__ import annotations

import re
from datetime import datetime
from typing import Any

from django.conf import settings
from django.utils import timezone

from catchment.contrib.django.framework import TaskError, TaskResultStatus
from catchment.model.state import TaskState

_STATUS = {
    TaskState.PENDING: TaskResultStatus.READY,
    TaskState.INTERRUPTED: TaskResultStatus.READY,
    TaskState.PROCESSING: TaskResultStatus.RUNNING,
    TaskState.WAITING: TaskResultStatus.RUNNING,
    TaskState.COMPLETED: TaskResultStatus.SUCCESSFUL,
    TaskState.FAILED: TaskResultStatus.FAILED,
    TaskState.CANCELLED: TaskResultStatus.FAILED,
}
# What an end without an exception counts as.
_ENDS = {"cancelled": "catchment.errors.TaskCancelled", "timeout": "builtins.TimeoutError"}
_OTHER_END = "catchment.errors.TaskFailed"


def fields_of(row: dict[str, Any]) -> dict[str, Any]:
    """The fields of a ``TaskResult`` that a row of ``task_outcome`` says, with ``return_value`` and ``due``."""
    attempts: list[dict[str, Any]] = row["attempts"] or []
    errors = [error_of(attempt["error"]) for attempt in attempts if attempt["state"] in ("failed", "cancelled")]
    status = _STATUS[TaskState(row["state"])]
    if status == TaskResultStatus.FAILED and not errors:
        errors = [error_of(row["error"] or {})]
    starts = [start for start in (*(attempt["started_at"] for attempt in attempts), row["started_at"]) if start]
    pids = [attempt["worker_pid"] for attempt in attempts] + [row["worker_pid"]]
    return {
        "args": row["payload"].get("args", []),
        "kwargs": row["payload"].get("kwargs", {}),
        "status": status,
        "enqueued_at": _moment(row["created_at"]),
        "started_at": _moment(min(starts, default=None)),
        "last_attempted_at": _moment(max(starts, default=None)),
        "finished_at": _moment(row["completed_at"]),
        "errors": errors,
        "worker_ids": [str(pid or 0) for pid in (pids * row["attempt"])[: row["attempt"]]],
        "return_value": row["result"],
        "due": _moment(row["scheduled_at"]),
    }


def error_of(error: dict[str, Any]) -> Any:
    """An error as it is stored with its task. The last line of its traceback has the module of its class."""
    kind, trace = str(error.get("kind", "")), str(error.get("context") or error.get("message") or "")
    lines = re.findall(rf"^((?:\w+\.)*{re.escape(kind)})(?::|$)", trace, re.MULTILINE) if kind else []
    name = lines[-1] if lines else _ENDS.get(kind, _OTHER_END)
    path = name if "." in name else f"builtins.{name}"
    return TaskError(exception_class_path=path, traceback=trace)


def _moment(text: str | None) -> datetime | None:
    """A time of PostgreSQL, which also has infinite ones."""
    if text is None or text.endswith("infinity"):
        return None
    moment = datetime.fromisoformat(text)
    return moment if settings.USE_TZ else timezone.make_naive(moment)

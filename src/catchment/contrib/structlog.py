"""structlog in handlers: ``add_task`` is a processor that names the task of each line."""

from __future__ import annotations

from collections.abc import MutableMapping
from typing import Any

from catchment.task.inside import task_fields


def add_task(logger: Any, method: str, event: MutableMapping[str, Any]) -> MutableMapping[str, Any]:  # noqa: ARG001 - as structlog calls it
    """Add ``command``, ``task_id``, ``attempt``, ``queue`` and ``worker_id`` to what a handler logs: in coroutines, in
    threads and in processes. Outside of a handler nothing is added."""
    for name, value in task_fields().items():
        event.setdefault(name, value)
    return event

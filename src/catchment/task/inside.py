"""Whether code runs in a handler of a worker, and for which task."""

from __future__ import annotations

from collections.abc import Mapping
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any, Protocol


class Running(Protocol):
    """The attempt that a handler runs for."""

    @property
    def id(self) -> int: ...
    @property
    def command(self) -> str: ...
    @property
    def attempt(self) -> int: ...


@dataclass(frozen=True, slots=True)
class Site:
    """Where handlers run: the worker as the database knows it, and the queues of its commands."""

    worker_id: int | None = None
    queues: Mapping[str, str] = field(default_factory=dict[str, str])


@dataclass(frozen=True, slots=True)
class _Elsewhere:
    """An attempt that another process holds."""

    id: int
    command: str
    attempt: int


# True in the context of every handler, and so in the tasks and threads that it starts.
IN_HANDLER: ContextVar[bool] = ContextVar("catchment_in_handler", default=False)
RUNNING: ContextVar[Running | None] = ContextVar("catchment_running", default=None)
SITE: ContextVar[Site | None] = ContextVar("catchment_site", default=None)

FIELDS = ("command", "task_id", "attempt", "queue", "worker_id")


def enter(fields: Mapping[str, Any]) -> None:
    """Continue here what runs in another process, which has these ``task_fields``."""
    IN_HANDLER.set(True)
    if fields:
        RUNNING.set(_Elsewhere(fields["task_id"], fields["command"], fields["attempt"]))
        SITE.set(Site(fields["worker_id"], {fields["command"]: fields["queue"]}))


def task_fields() -> dict[str, Any]:
    """What says in a log which task code runs for: see ``FIELDS``; empty outside of a handler."""
    running = RUNNING.get()
    if running is None:
        return {}
    site = SITE.get() or Site()
    return {
        "command": running.command,
        "task_id": running.id,
        "attempt": running.attempt,
        "queue": site.queues.get(running.command),
        "worker_id": site.worker_id,
    }

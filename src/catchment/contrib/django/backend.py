"""A backend for ``TASKS``: tasks of Django run as tasks of Catchment, in the same queues, by the same workers.

Each function is a command by the name of its path, such as ``shop.tasks.send_receipt``. Where a task may be put on
several queues, there is a command for each of the others, such as ``shop.tasks.send_receipt@reports``.
"""

# pyright: reportMissingTypeStubs=false, reportUnknownVariableType=false, reportUnknownMemberType=false
# Django has no stubs.
from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.core.checks import CheckMessage, Error
from django.utils import timezone
from django.utils.module_loading import import_string

from catchment.contrib.django.application import app
from catchment.contrib.django.framework import (
    BaseTaskBackend,
    Task,
    TaskResult,
    TaskResultDoesNotExist,
    TaskResultStatus,
    normalize_json,
    task_enqueued,
)
from catchment.contrib.django.outcome import fields_of
from catchment.contrib.django.run import as_handler
from catchment.contrib.django.settings import read_settings
from catchment.model.duration import Duration
from catchment.store.foreign.of_django import of
from catchment.store.outcome import read_outcome
from catchment.task.command import Command
from catchment.task.options import Retry

# Django runs larger numbers first, from -100 to 100; Catchment runs smaller ones first, and 100 is its default.
TURNED = 100
_OPTIONS = ("max_attempts", "retry", "timeout")


@dataclass(frozen=True, slots=True, kw_only=True)
class CatchmentTask(Task):
    """A task of this backend: ``@task(max_attempts=3, timeout=60)``, where the framework passes further options on.

    Options that a task does not have are those of ``OPTIONS`` in ``TASKS``.
    """

    max_attempts: int | None = None
    retry: Retry | None = None
    timeout: Duration | None = None

    def __post_init__(self) -> None:
        Task.__post_init__(self)
        backend: Any = self.get_backend()
        if isinstance(backend, TasksBackend):
            backend.define(self)


class TasksBackend(BaseTaskBackend):
    """``TASKS = {"default": {"BACKEND": "catchment.contrib.django.TasksBackend"}}``.

    A task is made on Django's connection, and is part of ``atomic()``. ``OPTIONS`` may have ``max_attempts``, ``retry``
    and ``timeout``, for tasks that do not say them.
    """

    task_class = CatchmentTask
    supports_defer = True
    supports_async_task = True
    supports_get_result = True
    supports_priority = True

    def define(self, task: Any) -> None:
        """Make the commands of a task: for its queue, and for the others that it may be put on."""
        for queue in (task.queue_name, *sorted(self.queues - {task.queue_name})):
            if _find(task, queue) is None:
                self._make(task, queue)

    def _make(self, task: Any, queue: str) -> Command[..., Any]:
        given = {name: getattr(task, name) for name in _OPTIONS if getattr(task, name) is not None}
        name = task.module_path if app.commands.find(task.module_path) is None else f"{task.module_path}@{queue}"
        # 'manage.py check' reports the others.
        options: dict[str, Any] = {name: self.options[name] for name in _OPTIONS if name in self.options} | given
        return app.command(name=name, queue=queue, description=_first_line(task.func), **options)(as_handler(task))

    def enqueue(self, task: Any, args: Any, kwargs: Any) -> Any:
        """Make a task on Django's connection. Raises what ``Command.enqueue`` raises."""
        self.validate_task(task)
        command = _find(task, task.queue_name) or self._make(task, task.queue_name)
        given = normalize_json({"args": list(args), "kwargs": kwargs})
        request: Any = command.sync.using(priority=TURNED - task.priority, at=_aware(task.run_after))
        result = TaskResult(
            task=task,
            id=str(request.enqueue(**given).id),
            status=TaskResultStatus.READY,
            enqueued_at=timezone.now(),
            started_at=None,
            last_attempted_at=None,
            finished_at=None,
            backend=self.alias,
            errors=[],
            worker_ids=[],
            **given,
        )
        task_enqueued.send(type(self), task_result=result)
        return result

    def get_result(self, result_id: str) -> Any:
        """The current state of a task, in the open transaction. Raises ``TaskResultDoesNotExist``."""
        text = str(result_id)
        row = read_outcome(of(read_settings().database), int(text)) if text.isdecimal() and len(text) < 19 else None
        task = None if row is None else _task_at(row["command"].partition("@")[0])
        if row is None or task is None:
            raise TaskResultDoesNotExist(result_id)
        fields = fields_of(row)
        value = fields.pop("return_value")
        named = task.using(
            priority=TURNED - row["priority"], queue_name=row["queue"], backend=self.alias, run_after=fields.pop("due")
        )
        result = TaskResult(task=named, id=text, backend=self.alias, **fields)
        object.__setattr__(result, "_return_value", value)  # as the framework's own backends do
        return result

    def check(self, **kwargs: Any) -> list[CheckMessage]:
        """What ``manage.py check`` says."""
        unknown = [name for name in self.options if name not in _OPTIONS]
        base: Any = super()
        messages: list[CheckMessage] = list(base.check(**kwargs))
        if unknown:
            text = f"OPTIONS of TASKS[{self.alias!r}] has {', '.join(unknown)}, expected {', '.join(_OPTIONS)}"
            messages.append(Error(text, id="catchment.E003"))
        return messages


def _find(task: Any, queue: str) -> Command[..., Any] | None:
    plain = app.commands.find(task.module_path)
    if plain is None or plain.options.queue == queue:
        return plain
    return app.commands.find(f"{task.module_path}@{queue}")


def _task_at(path: str) -> Any:
    """The task that a command was made of; None for any other command."""
    try:
        task = import_string(path)
    except ImportError:
        return None
    return task if isinstance(task, Task) else None


def _aware(moment: datetime | None) -> datetime | None:
    return moment if moment is None or timezone.is_aware(moment) else timezone.make_aware(moment)


def _first_line(fn: Any) -> str | None:
    return ((fn.__doc__ or "").strip().splitlines() or [None])[0]

"""The tasks framework: ``django.tasks`` in Django 6, the package django-tasks before. One class serves both."""

# pyright: reportMissingTypeStubs=false, reportUnknownVariableType=false, reportUnknownMemberType=false
# Django has no stubs.
from __future__ import annotations

from importlib import import_module
from typing import Any

import django
from django.core.exceptions import ImproperlyConfigured

IN_DJANGO = django.VERSION[0] >= 6
PACKAGE = "django.tasks" if IN_DJANGO else "django_tasks"


def _part(name: str) -> Any:
    try:
        return import_module(f"{PACKAGE}.{name}")
    except ModuleNotFoundError as error:
        if error.name != PACKAGE:
            raise
        raise ImproperlyConfigured(
            "TasksBackend needs django-tasks before Django 6: pip install django-tasks"
        ) from error


_base, _backends, _exceptions, _signals = (_part(name) for name in ("base", "backends.base", "exceptions", "signals"))
BaseTaskBackend: Any = _backends.BaseTaskBackend
Task: Any = _base.Task
TaskContext: Any = _base.TaskContext
TaskError: Any = _base.TaskError
TaskResult: Any = _base.TaskResult
TaskResultStatus: Any = _base.TaskResultStatus
TaskResultDoesNotExist: type[Exception] = _exceptions.TaskResultDoesNotExist
normalize_json: Any = import_module("django.utils.json" if IN_DJANGO else "django_tasks.utils").normalize_json
task_enqueued: Any = _signals.task_enqueued
task_started: Any = _signals.task_started
task_finished: Any = _signals.task_finished

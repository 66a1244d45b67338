"""Runs a task of Django's framework as a handler: its function, its context, and the signals that the framework has."""

# pyright: reportMissingTypeStubs=false, reportUnknownVariableType=false, reportUnknownMemberType=false
# Django has no stubs.
from __future__ import annotations

import os
from collections.abc import Callable
from inspect import iscoroutinefunction
from traceback import format_exception
from typing import Any

from django.utils import timezone

from catchment.contrib.django.framework import (
    TaskContext,
    TaskError,
    TaskResult,
    TaskResultStatus,
    normalize_json,
    task_finished,
    task_started,
)
from catchment.errors import GiveUp, RetryLater, Snoozed
from catchment.task.context import Context


def as_handler(task: Any) -> Callable[..., Any]:
    """A function that a command can be made of, with the name and the place of the task's."""
    if iscoroutinefunction(task.func):

        async def coroutine(ctx: Context, args: list[Any], kwargs: dict[str, Any]) -> Any:
            attempt = Attempt(task, ctx, args, kwargs)
            await task_started.asend_robust(attempt.sender, task_result=attempt.result)
            try:
                value = normalize_json(await task.func(*attempt.arguments, **kwargs))
            except BaseException as error:
                if attempt.fail(error):
                    await task_finished.asend_robust(attempt.sender, task_result=attempt.result)
                raise
            attempt.succeed(value)
            await task_finished.asend_robust(attempt.sender, task_result=attempt.result)
            return value

        handler: Callable[..., Any] = coroutine
    else:

        def plain(ctx: Context, args: list[Any], kwargs: dict[str, Any]) -> Any:
            attempt = Attempt(task, ctx, args, kwargs)
            task_started.send_robust(attempt.sender, task_result=attempt.result)
            try:
                value = normalize_json(task.func(*attempt.arguments, **kwargs))
            except BaseException as error:
                if attempt.fail(error):
                    task_finished.send_robust(attempt.sender, task_result=attempt.result)
                raise
            attempt.succeed(value)
            task_finished.send_robust(attempt.sender, task_result=attempt.result)
            return value

        handler = plain
    for name in ("__module__", "__name__", "__qualname__", "__doc__"):
        setattr(handler, name, getattr(task.func, name))
    return handler


class Attempt:
    """One run of a task, as receivers of the signals see it."""

    def __init__(self, task: Any, ctx: Context, args: list[Any], kwargs: dict[str, Any]) -> None:
        now = timezone.now()
        self._ctx = ctx
        self.sender = type(task.get_backend())
        self.result = TaskResult(
            task=task,
            id=str(ctx.task_id),
            status=TaskResultStatus.RUNNING,
            enqueued_at=None,
            started_at=now,
            last_attempted_at=now,
            finished_at=None,
            args=args,
            kwargs=kwargs,
            backend=task.backend,
            errors=[],
            worker_ids=[str(os.getpid())] * ctx.attempt,
        )
        context = [TaskContext(task_result=self.result)] if task.takes_context else []
        self.arguments = [*context, *args]

    def succeed(self, value: Any) -> None:
        """The function has returned."""
        self._end(TaskResultStatus.SUCCESSFUL)
        object.__setattr__(self.result, "_return_value", value)

    def fail(self, error: BaseException) -> bool:
        """The function has raised; is that the end of the task?"""
        path = f"{type(error).__module__}.{type(error).__qualname__}"
        self.result.errors.append(TaskError(exception_class_path=path, traceback="".join(format_exception(error))))
        if isinstance(error, Snoozed | RetryLater) or not (self._ctx.is_last_attempt or isinstance(error, GiveUp)):
            return False
        self._end(TaskResultStatus.FAILED)
        return True

    def _end(self, status: Any) -> None:
        object.__setattr__(self.result, "status", status)  # as the framework's own backends do
        object.__setattr__(self.result, "finished_at", timezone.now())

"""structlog in handlers: ``app.middleware(bind_task)``."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import structlog

from catchment.task.context import Context
from catchment.task.inside import task_fields


async def bind_task(ctx: Context, call: Callable[[], Awaitable[Any]]) -> Any:  # noqa: ARG001 - as middlewares are called
    """Bind ``command``, ``task_id``, ``attempt``, ``queue`` and ``worker_id`` while a handler runs.

    ``structlog.contextvars.merge_contextvars`` has to be one of the processors.
    """
    with structlog.contextvars.bound_contextvars(**task_fields()):
        return await call()

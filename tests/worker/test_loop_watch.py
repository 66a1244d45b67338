"""A coroutine that blocks the event loop is found, and one that would wait for ever there is refused."""

from __future__ import annotations

import asyncio
import contextvars
import time

import pytest

import catchment
from catchment.runtime.events import Event, Events
from catchment.runtime.loop_watch import LoopWatch
from catchment.task.inside import IN_HANDLER


def test_a_handler_that_blocks_the_event_loop_is_named_with_its_line() -> None:
    app = catchment.App(queue="loops")
    seen: list[Event] = []

    @app.command
    async def block() -> None:
        until = time.monotonic() + 60
        while not seen and time.monotonic() < until:
            time.sleep(0.05)  # noqa: ASYNC251 - what the test is about

    async def run() -> None:
        watch = LoopWatch(app.commands, Events(seen.append))
        watch.beat()
        await block.fn()
        watch.close()

    asyncio.run(run())
    (event,) = seen
    assert (event.name, event.fields["command"]) == ("worker.loop_blocked", "block")
    assert "test_loop_watch.py:" in event.fields["place"]


def test_a_blocking_wait_in_an_async_handler_is_refused() -> None:
    """The task would need the event loop that the wait blocks."""
    app = catchment.App(queue="loops", dsn="host=/nowhere")

    async def handler() -> None:
        app.sync.task(1).result(timeout=1)

    context = contextvars.copy_context()
    context.run(IN_HANDLER.set, True)
    with pytest.raises(catchment.RequestRefused, match="would block the event loop of the worker"):
        context.run(asyncio.run, handler())

"""One call on a cluster of Ray, for the event loop of a worker."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any

from catchment.runtime.ray.link import RayLink
from catchment.runtime.ray.waiting import Heard, Waiting


async def call_on_ray(
    link: RayLink, name: str, call: Mapping[str, Any], resources: Mapping[str, Any], *, starts: Callable[[], None]
) -> Heard:
    """Send a call, and wait for its answer, no longer than its limits say; cancelling ends its body.

    ``starts`` is called when the body has started. Raises what ``Waiting`` raises."""
    loop = asyncio.get_running_loop()
    inbox: asyncio.Queue[Heard] = asyncio.Queue()

    def hear(said: Heard) -> None:
        with suppress(RuntimeError):  # the loop has ended
            loop.call_soon_threadsafe(inbox.put_nowait, said)

    waiting = Waiting(link.settings, resources)
    sent = link.start(name, call, resources, hear)
    try:
        while True:
            try:
                async with asyncio.timeout(waiting.seconds):
                    said = await inbox.get()
            except TimeoutError:
                waiting.check()
                continue
            had_started = waiting.has_started
            answer = waiting.hear(said)
            if waiting.has_started and not had_started:
                starts()
            if answer is not None:
                return answer
    finally:
        sent.end()

"""The stream of events that a browser holds open: ``text/event-stream``."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime
from time import monotonic
from typing import Any

from starlette.requests import HTTPConnection
from starlette.responses import PlainTextResponse
from starlette.types import Receive, Scope, Send

from catchment.dashboard.auth.check import Checker
from catchment.dashboard.events.hub import Client, Hub, message

BEAT_SECONDS = 15.0
# A client whose connection takes nothing for so long is gone.
SEND_SECONDS = 20.0


class EventStream:
    """The ASGI endpoint. It ends when the browser goes, when the session ends, and when the server stops."""

    def __init__(self, hub: Hub, checker: Checker) -> None:
        self._hub = hub
        self._checker = checker

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if self._hub.is_full:
            answer = PlainTextResponse("There are too many open pages. Close some.", 503, {"Retry-After": "30"})
            await answer(scope, receive, send)
            return
        headers = [(b"content-type", b"text/event-stream; charset=utf-8"), (b"x-accel-buffering", b"no")]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        async with self._hub.client() as client:
            pumping = asyncio.create_task(self._pump(client, HTTPConnection(scope), send))
            ends: list[asyncio.Task[Any]] = [
                pumping,
                asyncio.create_task(_disconnected(receive)),
                asyncio.create_task(self._hub.closing.wait()),
            ]
            try:
                await asyncio.wait(ends, return_when=asyncio.FIRST_COMPLETED)
            finally:
                for task in ends:
                    task.cancel()
                await asyncio.gather(*ends, return_exceptions=True)
        if not pumping.cancelled() and isinstance(error := pumping.exception(), Exception):
            if not isinstance(error, TimeoutError | OSError):
                raise error
            return
        async with asyncio.timeout(SEND_SECONDS):
            await send({"type": "http.response.body", "body": b"", "more_body": False})

    async def _pump(self, client: Client, connection: HTTPConnection, send: Send) -> None:
        text = "retry: 2000\n\n"
        checked = monotonic()
        while not client.is_dropped:
            if monotonic() - checked > BEAT_SECONDS:
                checked = monotonic()
                if not await self._is_allowed(connection):
                    return
            async with asyncio.timeout(SEND_SECONDS):
                await send({"type": "http.response.body", "body": text.encode(), "more_body": True})
            try:
                async with asyncio.timeout(BEAT_SECONDS):
                    text = await client.get()
            except TimeoutError:
                text = message("beat", at=datetime.now(UTC).isoformat(timespec="milliseconds"))

    async def _is_allowed(self, connection: HTTPConnection) -> bool:
        """If finding the user fails, the stream ends: the browser asks again, and the answer to that says why."""
        try:
            return await self._checker.find(connection, is_use=False) is not None
        except Exception:
            return False


async def _disconnected(receive: Receive) -> None:
    event: dict[str, Any] = {"type": ""}
    while event["type"] != "http.disconnect":
        event = dict(await receive())

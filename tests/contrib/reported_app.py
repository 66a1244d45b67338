"""An app whose failures go to Sentry, and whose handlers log with structlog: both write to files that a test reads."""

from __future__ import annotations

import asyncio
import json
import os
from datetime import timedelta
from pathlib import Path
from typing import Any

import sentry_sdk
import structlog
from sentry_sdk.envelope import Envelope
from sentry_sdk.transport import Transport

from catchment import App, Context, Retry
from catchment.contrib.sentry import report_to_sentry
from catchment.contrib.structlog import add_task

FOLDER = Path(os.environ.get("REPORTED_FOLDER", "."))


class Kept(Transport):
    """Keeps events in a file instead of sending them."""

    def capture_envelope(self, envelope: Envelope) -> None:
        for item in envelope.items:
            with (FOLDER / "sentry.jsonl").open("a") as file:
                file.write(json.dumps({"item": item.type, **(item.payload.json or {})}, default=str) + "\n")


def write(_logger: Any, _name: str, event: Any) -> str:
    with (FOLDER / "structlog.jsonl").open("a") as file:
        file.write(json.dumps(event, default=str) + "\n")
    raise structlog.DropEvent


sentry_sdk.init(dsn="https://key@sentry.invalid/1", transport=Kept, environment="test")
structlog.configure(processors=[add_task, structlog.contextvars.merge_contextvars, write])
app = App(queue="reported")
report_to_sentry(app)
log = structlog.get_logger()
SOON = Retry(delay=timedelta(seconds=0.05))


@app.command(max_attempts=2, retry=SOON)
async def stumble(ctx: Context, text: str) -> None:
    log.info("tries", attempt_seen=ctx.attempt)
    raise LookupError(text)


@app.command(max_attempts=2, retry=SOON)
def recover(ctx: Context) -> None:
    log.info("tries in a thread")
    if ctx.attempt == 1:
        raise LookupError("not yet")


@app.command(timeout=0.1)
async def hang() -> None:
    await asyncio.sleep(60)


@app.command(executor="process")
def break_down() -> None:
    log.info("breaks down")
    raise ValueError("in a process")


@app.command
async def nap(ctx: Context) -> None:
    if ctx.attempt == 1:
        await ctx.snooze(0.05)


@app.command
async def tidy(works: bool = True) -> None:
    if not works:
        raise ValueError("cannot tidy")

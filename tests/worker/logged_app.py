"""An app whose handlers log, each kind in its own way, and whose runs are traced."""

from __future__ import annotations

import asyncio
import logging
from datetime import timedelta

from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider

from catchment import App, Context, Retry

trace.set_tracer_provider(TracerProvider())
app = App(queue="letters")
log = logging.getLogger("shop.mail")


@app.command
async def say(text: str) -> None:
    log.info("said %s", text, extra={"length": len(text)})


@app.command
async def say_later(text: str) -> None:
    """What it leaves running logs for its task, whichever task the event loop runs meanwhile."""
    await asyncio.sleep(0.01)
    log.info("said %s", text)


@app.command
def say_in_thread(text: str) -> None:
    log.info("said %s", text)


@app.command(executor="process")
def say_in_process(text: str) -> None:
    log.info("said %s", text)


@app.command(max_attempts=2, retry=Retry(delay=timedelta(seconds=0.05)))
async def stumble(ctx: Context, text: str) -> None:
    try:
        raise RuntimeError(text)
    except RuntimeError:
        log.exception("attempt %s failed", ctx.attempt)
        raise

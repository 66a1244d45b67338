"""What the worker itself does for a no-op, step by step and without a database: from a claimed row to its log line.

The time is that of the event loop's thread, the best of several rounds. What is missing are the calls to the server.
"""

from __future__ import annotations

import asyncio
import logging
import os
import time
from collections.abc import Callable
from typing import Any, cast

from bench.engine.harness import report
from bench.worker.app import no_op
from catchment.runtime.events import Events
from catchment.runtime.executor import Executor
from catchment.runtime.guarded import WorkerLoop
from catchment.runtime.held import Held, Holdings
from catchment.runtime.journal import Journal
from catchment.runtime.log import log_to_stderr
from catchment.runtime.metrics import Metrics
from catchment.store.array_text import numbers, texts
from catchment.store.attempt import Ending
from catchment.task.commands import Commands

BATCH = 500


def steps(*, quick: bool) -> None:
    batches = 10 if quick else 80
    handlers, level = logging.getLogger().handlers, logging.getLogger().level
    with open(os.devnull, "w", encoding="utf-8") as nowhere:
        log_to_stderr("text", "info")
        for handler in logging.getLogger().handlers:
            cast("logging.StreamHandler[Any]", handler).setStream(nowhere)
        with asyncio.Runner(loop_factory=WorkerLoop) as runner:
            rounds = [runner.run(_round(batches)) for _ in range(1 if quick else 5)]
    logging.getLogger().handlers = handlers
    logging.getLogger().setLevel(level)
    best = {name: min(spent[name] for spent in rounds) / (batches * BATCH) * 1e6 for name in rounds[0]}
    report("a no-op in the worker, without calls to the server", f"{sum(best.values()):.1f} us")
    for name, microseconds in best.items():
        report(f"  {name}", f"{microseconds:.2f} us")


async def _round(batches: int) -> dict[str, float]:
    """The seconds of each step."""
    commands = Commands()
    commands.add(no_op)
    metrics, events = Metrics([(no_op.name, no_op.options.queue)]), Events()
    ended: list[Ending] = []
    executor = Executor(
        commands,
        port=cast("Any", None),
        pools=cast("Any", None),
        metrics=metrics,
        events=events,
        finish=ended.append,
        drop=lambda _: None,
    )
    holdings = Holdings(lambda: None)
    journal = Journal(metrics, events, {no_op.name: no_op.options.queue})
    stopping = asyncio.Event()
    running = asyncio.create_task(executor.run(stopping))
    spent: dict[str, float] = {}

    def timed(name: str, step: Callable[[], Any]) -> Any:
        began = time.thread_time()
        made = step()
        spent[name] = spent.get(name, 0.0) + time.thread_time() - began
        return made

    for batch in range(batches):
        rows = [_row(batch * BATCH + n) for n in range(BATCH)]
        held = timed("attempts from rows", lambda rows=rows: [Held(row) for row in rows])
        timed("slots", lambda held=held: holdings.add(held))
        began = time.thread_time()
        executor.start(held)
        while len(ended) < BATCH:  # noqa: ASYNC110 - the executor has no event for it
            await asyncio.sleep(0)
        spent["handlers and their ends"] = spent.get("handlers and their ends", 0.0) + time.thread_time() - began
        timed("sizes", lambda: [(ending.is_large, ending.size) for ending in ended])
        timed("arrays for the server", lambda: _arrays(ended))
        timed("counts and log lines", lambda: journal.completed(ended))
        timed("slots", lambda: holdings.drop(cast("list[Held]", [ending.attempt for ending in ended])))
        ended.clear()
    timed("percentiles", metrics.slowest)
    stopping.set()
    await running
    return spent


def _row(number: int) -> tuple[Any, ...]:
    """As a claim returns it."""
    payload = f'{{"i": {number}}}'
    return (number, number, no_op.name, payload, 1, 0, None, None, 1, None, 0, 1, True, None, None)


def _arrays(ended: list[Ending]) -> None:
    numbers(ending.attempt.id for ending in ended)
    numbers(ending.attempt.fence for ending in ended)
    texts([ending.info for ending in ended])
    texts([ending.result for ending in ended])

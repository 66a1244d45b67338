"""Handlers that do everything a handler should not, and some that just work."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
import time
from collections.abc import Callable
from datetime import timedelta
from typing import Any

from catchment import App, Child, Context, Retry

app = App(queue="torture")


class Foreign(BaseException):
    """Not an Exception: what a library may use to unwind."""


class Unprintable(Exception):
    def __str__(self) -> str:
        raise RuntimeError("no text")

    __repr__ = __str__


def _nested(depth: int) -> list[Any]:
    value: list[Any] = []
    for _ in range(depth):
        value = [value]
    return value


def _cyclic() -> Exception:
    first, second = ValueError("first"), ValueError("second")
    first.__cause__, second.__cause__ = second, first
    return first


RAISED: dict[str, Callable[[], BaseException]] = {
    "value": lambda: ValueError("on purpose"),
    "foreign": lambda: Foreign("on purpose"),
    "generator_exit": GeneratorExit,
    "group": lambda: BaseExceptionGroup("all at once", [KeyboardInterrupt(), ValueError("one of two")]),
    "keyboard": KeyboardInterrupt,
    "exit": lambda: SystemExit(3),
    "cancelled": asyncio.CancelledError,
    "stop": StopIteration,
    "stop_async": StopAsyncIteration,
    "memory": MemoryError,
    "recursion": RecursionError,
    "unprintable": Unprintable,
    "surrogate": lambda: ValueError("half a pair: \ud800"),
    "nul": lambda: ValueError("a\0b"),
    "long": lambda: ValueError("x" * 5_000_000),
    "cyclic": _cyclic,
    "timeout": TimeoutError,
    "os": lambda: OSError(24, "Too many open files"),
}
RETURNED: dict[str, Callable[[], Any]] = {
    "surrogate": lambda: {"\ud800": "\udfff"},
    "nul": lambda: "a\0b",
    "nan": lambda: float("nan"),
    "infinite": lambda: [float("inf")],
    "huge": lambda: "x" * 20_000_000,
    "nested": lambda: _nested(50_000),
    "object": object,
    "function": lambda: _nested,
    "bytes": lambda: b"\xff\xfe",
    "number": lambda: 10**5000,
}
TOLD: dict[str, Callable[[Context], Any]] = {
    "surrogate": lambda ctx: ctx.progress(1, 2, "\ud800"),
    "nul": lambda ctx: ctx.progress(1, 2, "\0"),
    "huge": lambda ctx: ctx.progress(1, 2, "x" * 5_000_000),
    "nan": lambda ctx: ctx.progress(float("nan")),  # type: ignore[arg-type]
    "often": lambda ctx: [ctx.progress(n) for n in range(1000)],
}


@app.command(on_failure="continue")
async def throw(what: str, later: bool = False) -> None:
    if later:
        await asyncio.sleep(0.01)
    raise RAISED[what]()


@app.command(on_failure="continue")
def throw_in_thread(what: str) -> None:
    raise RAISED[what]()


@app.command(on_failure="continue", executor="process")
def throw_in_process(what: str) -> None:
    raise RAISED[what]()


@app.command(on_failure="continue")
async def throw_beside(what: str) -> None:
    """In a task of its own, where asyncio passes some exceptions to the loop itself."""

    async def beside() -> None:
        raise RAISED[what]()

    started = asyncio.create_task(beside())
    await asyncio.wait([started])


@app.command(on_failure="continue")
async def call_exit_soon() -> None:
    asyncio.get_running_loop().call_soon(sys.exit, 4)
    await asyncio.sleep(0.01)


@app.command(on_failure="continue")
async def give(what: str) -> Any:
    return RETURNED[what]()


@app.command(on_failure="continue", executor="process")
def give_from_process(what: str) -> Any:
    return RETURNED[what]()


@app.command(on_failure="continue")
async def tell(ctx: Context, what: str) -> str:
    TOLD[what](ctx)
    await asyncio.sleep(0.05)
    return "told"


@app.command(timeout=timedelta(seconds=0.5), on_failure="continue")
async def refuse_to_stop(seconds: float) -> None:
    """Swallow every cancellation for a while."""
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        try:
            await asyncio.sleep(0.1)
        except asyncio.CancelledError:
            continue


@app.command(on_failure="continue")
async def block(seconds: float) -> str:
    time.sleep(seconds)  # noqa: ASYNC251 - on purpose
    return "blocked"


@app.command(executor="process", on_failure="continue")
def die(how: str) -> None:
    if how == "exit":
        os._exit(9)
    os.kill(os.getpid(), signal.SIGKILL if how == "kill" else signal.SIGSEGV)


@app.command(on_failure="continue")
async def work(n: int, seconds: float = 0.0) -> int:
    await asyncio.sleep(seconds)
    return n


@app.command(on_failure="continue")
def work_in_thread(n: int, seconds: float = 0.0) -> int:
    time.sleep(seconds)
    return n


@app.command(timeout=timedelta(seconds=5), on_failure="continue")
async def write(ctx: Context, n: int, seconds: float = 0.05) -> int:
    """One row for each task that completes, and none for others. There are few connections for many of these."""
    async with ctx.transaction() as conn:
        await conn.execute("insert into torture.effect values (%s, %s)", [ctx.task_id, n])
        await asyncio.sleep(seconds)
    return n


@app.command(on_failure="continue", max_attempts=3, retry=Retry(delay=timedelta(milliseconds=20), jitter=0))
async def fail_twice(ctx: Context, n: int) -> int:
    if ctx.attempt < 3:
        raise Foreign("not yet")
    return n


@app.command(on_failure="continue")
async def tree(ctx: Context, n: int, width: int = 5) -> None:
    ctx.spawn_many([work.item(n=child, seconds=0.01) for child in range(width)])
    ctx.follow_up(work, n=n)


@tree.join
async def gather(children: list[Child], n: int) -> int:
    return n + sum(child.result for child in children)

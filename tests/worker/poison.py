"""Handlers that do what would end a worker that trusts them. Each is named by a word, so that tests can list them."""

from __future__ import annotations

import asyncio
import os
import socket
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from pydantic import BaseModel, field_serializer

from catchment import App, Child, ClaimLost, Context
from tests.worker import probe

app = App(queue="poison")
MEGABYTE = 1024 * 1024


class OwnBase(BaseException):
    """An exception that is not an ``Exception``."""


class Mute(Exception):
    def __str__(self) -> str:
        raise ValueError("no message")


class MuteBase(Exception):
    def __str__(self) -> str:
        raise OwnBase

    __repr__ = __str__


class NoHint(Exception):
    @property
    def __traceback__(self) -> Any:  # type: ignore[override]
        raise OwnBase

    @property
    def __class__(self) -> Any:  # type: ignore[override]
        raise OwnBase


def _cyclic() -> BaseException:
    one, two = ValueError("one"), ValueError("two")
    one.__cause__, two.__cause__ = two, one
    return one


def _deep_group() -> BaseException:
    error: Exception = ValueError("innermost")
    for _ in range(2_000):
        error = ExceptionGroup("a group in a group", [error])
    return error


RAISES: dict[str, Callable[[], BaseException]] = {
    "own_base": lambda: OwnBase("on purpose"),
    "generator_exit": lambda: GeneratorExit("on purpose"),
    "base_group": lambda: BaseExceptionGroup("on purpose", [OwnBase(), KeyboardInterrupt()]),
    "deep_group": _deep_group,
    "keyboard": lambda: KeyboardInterrupt("on purpose"),
    "exit": lambda: SystemExit("on purpose"),
    "cancelled": lambda: asyncio.CancelledError("on purpose"),
    "stop_iteration": lambda: StopIteration("on purpose"),
    "stop_async": lambda: StopAsyncIteration("on purpose"),
    "memory": lambda: MemoryError("on purpose"),
    "recursion": lambda: RecursionError("on purpose"),
    "surrogate": lambda: ValueError("half of a pair: \ud800"),
    "nul": lambda: ValueError("a\0b"),
    "mute": Mute,
    "mute_base": MuteBase,
    "no_hint": lambda: NoHint("on purpose"),
    "huge_message": lambda: ValueError("x" * 30 * MEGABYTE),
    "cyclic": _cyclic,
    "claim_lost": lambda: ClaimLost("on purpose"),
}


class Model(BaseModel):
    """Raises when it is written."""

    value: int = 0

    @field_serializer("value")
    def write(self, _: int) -> int:
        raise OwnBase


def _generator() -> Iterator[int]:
    yield 1
    raise KeyboardInterrupt


def _nested() -> list[Any]:
    nested: list[Any] = []
    for _ in range(100_000):
        nested = [nested]
    return nested


def _endless() -> list[Any]:
    endless: list[Any] = []
    endless.append(endless)
    return endless


VALUES: dict[str, Callable[[], Any]] = {
    "surrogate": lambda: "half of a pair: \ud800",
    "surrogate_key": lambda: {"\ud800": 1},
    "nul": lambda: {"a": "a\0b"},
    "bytes": lambda: b"\xff",
    "nested": _nested,
    "endless": _endless,
    "object": object,
    "model": Model,
    "generator": _generator,
    "large": lambda: "x" * 17 * MEGABYTE,
    "long_number": lambda: 10**200_000,
}


@app.command
async def raise_it(how: str) -> None:
    await asyncio.sleep(0)
    raise RAISES[how]()


@app.command
def raise_plainly(how: str) -> None:
    raise RAISES[how]()


@app.command(executor="process")
def raise_in_process(how: str) -> None:
    raise RAISES[how]()


@app.command
async def raise_in_join(ctx: Context, how: str) -> None:
    ctx.spawn(nap)


@raise_in_join.join
async def join_badly(how: str, children: list[Child]) -> None:
    raise RAISES[how]()


@app.command
async def give(what: str) -> Any:
    return VALUES[what]()


@app.command
def give_plainly(what: str) -> Any:
    return VALUES[what]()


@app.command(executor="process")
def give_in_process(what: str) -> Any:
    return VALUES[what]()


@app.command
async def inform(ctx: Context, what: str) -> None:
    ctx.info(value=VALUES[what]())


@app.command
async def inform_late(ctx: Context, what: str) -> None:
    """The value is fine when it is given, and changes afterwards."""
    values: list[Any] = []
    ctx.info(value=values)
    values.append(VALUES[what]())


@app.command
async def report(ctx: Context, what: str) -> str:
    ctx.progress(VALUES[what](), 1, "odd")
    return "done"


@app.command
async def stray(how: str) -> str:
    """Start what raises on the event loop, outside of the handler."""
    loop = asyncio.get_running_loop()

    async def leave() -> None:
        sys.exit(3)

    async def interrupt() -> None:
        raise KeyboardInterrupt

    async def raise_base() -> None:
        raise OwnBase

    def cancel_all_now() -> None:
        for task_there in asyncio.all_tasks():
            task_there.cancel()

    async def cancel_all() -> None:
        cancel_all_now()

    if how in ("exit_task", "interrupt_task", "base_task"):
        task = {"exit_task": leave, "interrupt_task": interrupt, "base_task": raise_base}[how]
        probe_task = asyncio.create_task(task())
        await asyncio.wait([probe_task])
        probe_task.exception()
    elif how == "exit_callback":
        loop.call_soon(sys.exit, 3)
    elif how == "stop_loop":
        loop.stop()
    elif how == "cancel_all":
        cancel_all_now()
    elif how == "cancel_all_in_task":
        await asyncio.create_task(cancel_all())
    elif how == "cancel_all_in_thread":
        threading.Thread(target=loop.call_soon_threadsafe, args=[cancel_all_now]).start()
        await asyncio.sleep(30)
    elif how == "close_generators":
        await loop.shutdown_asyncgens()
    elif how == "close_executor":
        await loop.shutdown_default_executor()
    elif how == "change_executor":
        loop.set_default_executor(ThreadPoolExecutor(1))
    elif how == "change_tasks":
        loop.set_task_factory(lambda *_, **__: sys.exit(3))
    elif how == "cancel_runner":
        task_here = asyncio.current_task()
        assert task_here is not None
        task_here.cancel()
    await asyncio.sleep(0.01) if how != "cancel_runner" else None
    return how


@app.command(executor="process")
def disturb(how: str) -> str:
    """Use the connection of the process to its worker."""
    number = int(sys.argv[1])
    if how == "write":
        os.write(number, b"hello\n")
    elif how == "forge":
        os.write(number, b'{"result": "1", "token": "guessed"}\n')
    elif how == "close":
        os.close(number)
    elif how == "hang_up":
        socket.socket(fileno=os.dup(number)).shutdown(socket.SHUT_RDWR)
        while True:
            pass
    elif how == "flood":
        with socket.socket(fileno=os.dup(number)) as line:
            line.sendall(b"x" * 40 * MEGABYTE)
    return how


@app.command
async def nap(seconds: float = 0.01) -> str:
    await asyncio.sleep(seconds)
    return "rested"


@app.command(timeout=0.3, max_attempts=1)
async def stubborn(ctx: Context, key: str, gate: str = "gate") -> str:
    """Swallow every cancellation until the gate opens, then try to write through the context."""
    with probe.span(key):
        while not probe.is_open(gate):
            try:
                await asyncio.sleep(0.01)
            except asyncio.CancelledError:
                probe.write("swallowed", key=key)
        for name, write in (
            ("progress", lambda: ctx.progress(1)),
            ("spawn", lambda: ctx.spawn(nap)),
            ("transaction", ctx.transaction),
        ):
            try:
                write()
                probe.write("allowed", verb=name)
            except Exception as error:
                probe.write("refused", verb=name, error=str(error))
    return "finished"


@app.command(timeout=0.3)
async def stubborn_writer(ctx: Context, key: str, gate: str = "gate") -> str:
    """The same inside a transaction."""
    async with ctx.transaction() as conn:
        await conn.execute("insert into probe.effect values (%s, %s)", [ctx.task_id, key])
        with probe.span(key):
            while not probe.is_open(gate):
                try:
                    await asyncio.sleep(0.01)
                except asyncio.CancelledError:
                    probe.write("swallowed", key=key)
        await conn.execute("insert into probe.effect values (%s, %s)", [ctx.task_id, f"{key} later"])
    return "finished"


@app.command
async def write(ctx: Context, note: str) -> str:
    async with ctx.transaction() as conn:
        await conn.execute("insert into probe.effect values (%s, %s)", [ctx.task_id, note])
    return "written"

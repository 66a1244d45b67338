"""The app that the workers of these tests run. Handlers do what their payload says and tell the probe."""

from __future__ import annotations

import asyncio
import hashlib
import os
import threading
import time
from datetime import datetime, timedelta
from typing import Any, Literal

from catchment import App, CancelRequested, Child, Context, GiveUp, Retry, RetryLater
from tests.worker import probe

SOON = Retry(delay=timedelta(seconds=0.05), jitter=0)

app = App(queue="work")


@app.command(on_failure="continue")
async def step(key: str = "", seq: int = 0, seconds: float = 0.0, filler: str = "") -> int:
    """Take some time and return the number given."""
    with probe.span(key, seq):
        if seconds:
            await asyncio.sleep(seconds)
    return seq


@app.command
async def hold(key: str = "", seq: int = 0, gate: str = "gate") -> int:
    """Run until the test opens a gate."""
    with probe.span(key, seq):
        await probe.wait_for_gate(gate)
    return seq


@app.command(max_attempts=5, retry=SOON)
async def flaky(ctx: Context, key: str = "", seq: int = 0, failures: int = 0) -> int:
    """Fail some times, then return the number of the attempt."""
    with probe.span(key, seq):
        await asyncio.sleep(0.002)
        if ctx.attempt <= failures:
            raise RuntimeError(f"attempt {ctx.attempt} fails")
    return ctx.attempt


@app.command
async def mark(ctx: Context, key: str, seq: int) -> bool:
    """Commit a row as the last act, and tell whether the row of the number before was there."""
    async with ctx.transaction() as conn:
        cursor = await conn.execute("select count(*) from probe.mark where key = %s and seq = %s", [key, seq - 1])
        ((before,),) = await cursor.fetchall()
        await conn.execute("insert into probe.mark values (%s, %s)", [key, seq])
    return seq == 0 or before == 1


@app.command
async def block(seconds: float, key: str = "", gate: str = "") -> None:
    """Keep the event loop busy, as no async handler should, until a gate is open if one is named."""
    began = time.monotonic()
    with probe.span(key):
        while not (gate and probe.is_open(gate)) and (left := began + seconds - time.monotonic()) > 0:
            time.sleep(min(left, 0.05) if gate else left)  # noqa: ASYNC251 - on purpose


@app.command(timeout=0.2, on_failure="continue")
async def end_badly(how: Literal["raise", "hang", "cancel_itself", "exit", "stop"]) -> None:
    if how == "raise":
        raise ValueError("on purpose")
    if how == "hang":
        await asyncio.sleep(3600)
    _raise_oddly(how)


@app.command(timeout=0.05, on_failure="continue")
async def end_soon(key: str, how: Literal["raise", "hang", "cancel_itself"]) -> None:
    """The same with little time."""
    await end_badly.fn(how)


@app.command
def end_plainly(how: Literal["cancel_itself", "exit", "stop"]) -> None:
    _raise_oddly(how)


def _raise_oddly(how: str) -> None:
    """Raise what is meant for somebody else than the caller of a handler."""
    if how == "cancel_itself":
        raise asyncio.CancelledError
    if how == "exit":
        raise SystemExit(2)
    raise StopIteration


@app.command
async def poll(
    ctx: Context, key: str, how: Literal["call", "swallow", "group", "transaction", "after transaction", "raise"]
) -> int:
    """Snooze until the test opens the gate of this key; leaves a child and a row when it completes, and only then."""
    ctx.spawn(step, key=f"{key} child")
    async with ctx.transaction() as conn:
        await conn.execute("insert into probe.effect values (%s, %s)", [ctx.task_id, key])
        if how == "transaction" and not probe.is_open(key):
            await ctx.snooze(0.1, "in a transaction")
    if probe.is_open(key):
        return ctx.attempt
    if how == "swallow":
        try:
            await ctx.snooze(0.1)
        except BaseException:
            return -1
    if how == "group":
        async with asyncio.TaskGroup() as group:
            group.create_task(_snooze(ctx))
    if how == "raise":
        raise RetryLater(0.1, "not yet", uses_attempt=False)
    try:
        await ctx.snooze(timedelta(seconds=0.1))
    except Exception as error:
        raise RuntimeError("a snooze is no error") from error


async def _snooze(ctx: Context) -> None:
    await ctx.snooze(0.1)


@app.command
def poll_plainly(ctx: Context, key: str) -> int:
    if not probe.is_open(key):
        raise RetryLater(0.1, "not yet", uses_attempt=False)
    return ctx.attempt


@app.command(executor="process")
def poll_in_process(key: str) -> str:
    if not probe.is_open(key):
        raise RetryLater(0.1, "not yet", uses_attempt=False)
    return "there"


@app.command
async def wait_until_time(ctx: Context, when: datetime) -> int:
    await ctx.sleep_until(when)
    return ctx.attempt


@app.command
def wait_until_time_plainly(ctx: Context, when: datetime) -> int:
    ctx.sleep_until(when)
    return ctx.attempt


@app.command
async def snooze_badly(ctx: Context, seconds: float) -> None:
    await ctx.snooze(seconds)


@app.command
def plain(key: str = "", seconds: float = 0.0) -> str:
    """A plain function: returns the name of its thread."""
    with probe.span(key):
        time.sleep(seconds)
    return threading.current_thread().name


@app.command
def patient(ctx: Context, key: str = "", heeds: bool = True) -> str:
    """A plain function that runs until it is told to stop, and then does (or finishes all the same)."""
    with probe.span(key):
        while not ctx.cancelled:
            time.sleep(0.01)
        if heeds:
            raise CancelRequested("it was told to stop")
    return "finished"


@app.command(timeout=0.3)
def overdue(gate: str, key: str = "") -> None:
    """A plain function that outlasts its timeout: nobody can stop its thread."""
    with probe.span(key):
        _wait_for(gate)


@app.command(executor="process")
def digest(text: str, rounds: int) -> dict[str, Any]:
    value = text.encode()
    for _ in range(rounds):
        value = hashlib.sha256(value).digest()
    return {"pid": os.getpid(), "digest": value.hex()}


@app.command(executor="process", timeout=1)
def spin(key: str) -> None:
    """Never ends by itself."""
    with probe.span(key):
        while True:
            pass


@app.command(executor="process")
def crash(how: Literal["exit", "raise"]) -> None:
    if how == "exit":
        os._exit(3)
    raise LookupError("not in the process")


@app.command(max_attempts=3, retry=SOON)
async def steered(ctx: Context, how: Literal["later", "give_up"], key: str = "") -> int:
    with probe.span(key, ctx.attempt):
        if how == "give_up":
            raise GiveUp("it makes no sense")
        if ctx.attempt == 1:
            raise RetryLater(0.3, "not yet")
    return ctx.attempt


@app.command(timeout=timedelta(seconds=1), max_attempts=2, retry=SOON)
async def slow_at_first(ctx: Context) -> int:
    if ctx.attempt == 1:
        await asyncio.sleep(3600)
    return ctx.attempt


@app.command
async def failing(key: str = "", seq: int = 0, seconds: float = 0.0) -> None:
    with probe.span(key, seq):
        await asyncio.sleep(seconds)
        raise ValueError("a child fails")


@app.command
async def parent(
    ctx: Context,
    key: str,
    count: int = 0,
    mode: Literal["concurrent", "serial"] = "concurrent",
    on_failure: Literal["wait", "cancel_siblings"] = "wait",
    fails_at: int = -1,
    seconds: float = 0.05,
) -> None:
    """Spawn steps, one of them failing if asked to, and a follow-up."""
    with probe.span(f"{key} parent"), ctx.scope(mode=mode, on_child_failure=on_failure):
        for seq in range(count):
            ctx.spawn(failing if seq == fails_at else step, key=f"{key} child", seq=seq, seconds=seconds)
        ctx.follow_up(step, key=f"{key} after")


@parent.join
async def add_up(ctx: Context, key: str, children: list[Child]) -> int:
    with probe.span(f"{key} join"):
        return sum(child.result for child in children)


@app.command
def plain_parent(ctx: Context, key: str, values: list[int]) -> None:
    """A plain function with a plain join."""
    ctx.spawn_many([step.item(key=key, seq=value) for value in values])


@plain_parent.join
def collect(children: list[Child]) -> list[int]:
    return [child.result for child in children]


@app.command
async def fail_after_spawn(ctx: Context, key: str) -> None:
    ctx.spawn(step, key=f"{key} child")
    raise ValueError("spawned in vain")


@app.command
async def tell(ctx: Context, gate: str, is_odd: bool = False) -> None:
    """Tell of progress; an odd message cannot be stored."""
    ctx.progress(1, 2, "half\0way" if is_odd else "half way")
    await probe.wait_for_gate(gate)


@app.command
async def tell_often(ctx: Context, key: str) -> None:
    """Tell of progress all the time, until stopped."""
    with probe.span(key):
        done = 0
        while True:
            done += 1
            ctx.progress(done)
            await asyncio.sleep(0)


@app.command
async def spawn_lots(ctx: Context, count: int, filler: str = "") -> None:
    """Spawn more children than one statement takes."""
    ctx.spawn_many([idle_child.item(n=n, filler=filler) for n in range(count)])


@spawn_lots.join
async def count_lots(children: list[Child]) -> int:
    return len(children)


@app.command
async def hold_tree(ctx: Context, count: int) -> None:
    """Spawn children that wait for the gate."""
    ctx.spawn_many([hold.item(seq=n) for n in range(count)])


@hold_tree.join
async def count_held(children: list[Child]) -> int:
    return len(children)


@app.command
async def idle_child(n: int, filler: str = "") -> None:
    """Do nothing."""


@app.command
async def odd(what: Literal["nul", "object", "inf", "huge"]) -> Any:
    """Return what a database or JSON may not take."""
    return {"nul": "a\0b", "object": object(), "inf": float("inf"), "huge": "x" * 2_000_000}[what]


@app.command
async def swallow(key: str) -> str:
    """Refuse to be cancelled."""
    with probe.span(key):
        try:
            await asyncio.sleep(3600)
        except asyncio.CancelledError:
            return "finished all the same"
    return "never"


@app.command
async def group() -> None:
    """Fail inside a task group, which cancels itself to get out."""

    async def fail() -> None:
        raise LookupError("in the group")

    async with asyncio.TaskGroup() as tasks:
        tasks.create_task(fail())
        await asyncio.sleep(3600)


@app.command(timeout=5)
async def nap_in_transaction(ctx: Context, key: str, seconds: float) -> int:
    """Ask the server to wait, when the test opens the gate of this key; returns the number of the attempt."""
    async with ctx.transaction() as conn:
        with probe.span(key):
            await probe.wait_for_gate(key)
            await conn.execute("select pg_sleep(%s)", [seconds])
    return ctx.attempt


@app.command
async def put(
    ctx: Context, note: str, then: Literal["return", "raise", "wait", "catch", "spawn", "await_standby"] = "return"
) -> str:
    """Write a row in a transaction that commits with the task."""
    with probe.span(note):
        try:
            async with ctx.transaction() as conn:
                await conn.execute("insert into probe.effect values (%s, %s)", [ctx.task_id, note])
                if then == "catch":
                    raise ValueError("inside the block")
                if then == "await_standby":
                    await conn.execute("set local synchronous_commit = on")
        except ValueError:
            return "caught"
        if then == "raise":
            raise ValueError("after the block")
        if then == "wait":
            await probe.wait_for_gate("gate")
        if then == "spawn":
            ctx.spawn(step, key=f"{note} child", seq=4)
    return "written"


@app.command
def put_plain(ctx: Context, note: str, then: Literal["return", "raise", "wait", "catch"] = "return") -> str:
    """The same in a plain function."""
    with probe.span(note):
        try:
            with ctx.transaction() as conn:
                conn.execute("insert into probe.effect values (%s, %s)", [ctx.task_id, note])
                if then == "catch":
                    raise ValueError("inside the block")
        except ValueError:
            return "caught"
        if then == "raise":
            raise ValueError("after the block")
        while then == "wait" and not probe.is_open("gate"):
            time.sleep(0.01)
    return "written"


def _wait_for(gate: str) -> None:
    while not probe.is_open(gate):
        time.sleep(0.01)


@app.command(timeout=2, max_attempts=2, retry=SOON)
def put_too_late(ctx: Context, note: str) -> str:
    """The first attempt outlasts its time limit in its transaction and continues writing when nobody waits for it."""
    with probe.span(note, ctx.attempt), ctx.transaction() as conn:
        if ctx.attempt == 1:
            _wait_for(note)
        conn.execute("insert into probe.effect values (%s, %s)", [ctx.task_id, f"{note} {ctx.attempt}"])
    return note


@app.command(timeout=3, max_attempts=2, retry=SOON)
def begin_too_late(ctx: Context, note: str) -> str:
    """The first attempt begins its transaction while the second is in its own."""
    with probe.span(note, ctx.attempt):
        try:
            if ctx.attempt == 1:
                _wait_for(f"{note} second")
            with ctx.transaction() as conn:
                conn.execute("insert into probe.effect values (%s, %s)", [ctx.task_id, f"{note} {ctx.attempt}"])
                if ctx.attempt == 2:
                    probe.open_gate(f"{note} second")
                    _wait_for(f"{note} first")
        finally:
            if ctx.attempt == 1:
                probe.open_gate(f"{note} first")
    return note

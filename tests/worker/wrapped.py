"""An app with middlewares. It knows fewer commands than its queue has."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from catchment import App, Child, Context
from tests.worker import probe

app = App(queue="work")
Call = Callable[[], Awaitable[Any]]


@app.middleware
async def outer(ctx: Context, call: Call) -> Any:
    probe.write("outer before", task=ctx.task_id, join=ctx.is_join)
    try:
        return await call()
    except ValueError:
        return "rescued"
    finally:
        probe.write("outer after", task=ctx.task_id)


@app.middleware
async def inner(ctx: Context, call: Call) -> Any:
    probe.write("inner before", task=ctx.task_id)
    value = await call()
    probe.write("inner after", task=ctx.task_id)
    return value if value is None else f"<{value}>"


@app.command
async def greet(name: str) -> str:
    if not name:
        raise ValueError("nobody")
    probe.write("handler", name=name)
    return name


@app.command
def greet_plainly(name: str) -> str:
    return name


@app.command
async def greet_all(ctx: Context, names: list[str]) -> None:
    for name in names:
        ctx.spawn(greet, name=name)


@greet_all.join
async def gather(children: list[Child]) -> str:
    return " ".join(child.result for child in children)

"""Joins that were forgotten, values that a join would hide, and groups of exceptions: said in words that help."""

from __future__ import annotations

import asyncio
from typing import Any, cast

import pytest

from catchment import App, Child, Context, DefinitionRefused, RetryLater, TaskState
from catchment.testing import run_inline


def test_a_forgotten_join_is_noticed_before_the_first_task() -> None:
    app = App("host=/nowhere")

    @app.command
    def lost(ctx: Context) -> int:
        return ctx.result_of_join()

    with pytest.raises(DefinitionRefused, match=r"lost leaves its result to its join.* and has no join") as refused:
        app.commands.definitions()
    assert "@lost.join" in (refused.value.hint or "")

    @lost.join
    def found(children: list[Child[int]]) -> int:
        return len(children)

    assert app.commands.definitions()[0]["join_procedure"].endswith("found")


@pytest.mark.parametrize("spawns", [False, True])
def test_a_join_that_is_missing_at_run_time_is_named(spawns: bool) -> None:
    app = App("host=/nowhere")
    app.command(name="leaf")(lambda: None)

    def leave(ctx: Context) -> Any:
        if spawns:
            ctx.spawn("leaf")
        return ctx.result_of_join()

    @app.command
    def lost(ctx: Context) -> int:
        return leave(ctx)  # its own code does not show it

    run = run_inline(app, lost)
    assert run.error is not None
    assert "lost leaves its result to its join, by ctx.result_of_join(), and has no join" in run.error["message"]


def test_children_without_join_leave_no_result() -> None:
    app = App("host=/nowhere")
    app.command(name="leaf")(lambda: None)

    @app.command
    def lost(ctx: Context) -> int:
        ctx.spawn("leaf")
        return cast("int", None)

    @app.command
    def fine(ctx: Context) -> int | None:
        ctx.spawn("leaf")
        return None

    run = run_inline(app, lost)
    assert run.error is not None
    assert "returned None, expected int: return the result, or define a join that does, @lost.join" in str(run.error)
    assert run_inline(app, fine).state is TaskState.COMPLETED


@pytest.mark.parametrize(("pages", "is_lost"), [(0, False), (1, True)])
def test_a_value_beside_a_join_is_not_lost(pages: int, is_lost: bool) -> None:
    app = App("host=/nowhere")
    app.command(name="leaf")(lambda: None)

    @app.command
    def tree(ctx: Context, pages: int) -> int:
        ctx.spawn_many("leaf", [{}] * pages)
        return 7

    @tree.join
    def count(children: list[Child[None]]) -> int:
        return len(children)

    run = run_inline(app, tree, pages=pages)
    assert run.state is (TaskState.FAILED if is_lost else TaskState.COMPLETED)
    assert is_lost == ("return ctx.result_of_join()" in str(run.error))
    assert is_lost or run.result == 7


def test_retry_later_in_a_task_group_is_heard() -> None:
    app = App("host=/nowhere")

    async def ask(ctx: Context, n: int) -> None:
        await asyncio.sleep(0)
        if ctx.attempt <= 2:
            raise RetryLater(n, "busy", uses_attempt=ctx.attempt == 2)

    @app.command(max_attempts=2)
    async def both(ctx: Context) -> int:
        async with asyncio.TaskGroup() as group:
            group.create_task(ask(ctx, 1))
            group.create_task(ask(ctx, 2))
        return ctx.attempt

    run = run_inline(app, both)
    assert (run.state, run.result, run.snoozes) == (TaskState.COMPLETED, 3, 1)

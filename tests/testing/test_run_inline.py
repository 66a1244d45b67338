"""A command and everything under it, in this process and without a database."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from catchment import (
    App,
    ArgumentsInvalid,
    Child,
    CommandNotRegistered,
    Context,
    GiveUp,
    RequestRefused,
    RetryLater,
    TaskState,
)
from catchment.testing import Run, run_inline, run_inline_async


@pytest.fixture
def app() -> App:
    return App("host=nowhere.invalid")


def commands(run: Run) -> list[str]:
    return [task.command for task in run.walk()]


def test_the_result_of_a_handler_is_a_json_value(app: App) -> None:
    @app.command
    async def double(n: int) -> tuple[int, timedelta]:
        return 2 * n, timedelta(seconds=1)

    run = run_inline(app, double, n=21)
    assert (run.state, run.payload, run.result, run.attempt) == (TaskState.COMPLETED, {"n": 21}, [42, "PT1S"], 1)


def test_plain_functions_run_in_a_thread(app: App) -> None:
    @app.command
    def where() -> bool:
        return threading.current_thread() is threading.main_thread()

    assert run_inline(app, where).result is False


def test_children_run_after_their_parent_and_the_join_gets_their_results(app: App) -> None:
    order: list[str] = []

    @app.command
    async def square(n: int) -> int:
        order.append(f"square {n}")
        return n * n

    @app.command
    async def total(ctx: Context, numbers: list[int]) -> None:
        for n in numbers:
            ctx.spawn(square, n=n)
        order.append("total")

    @total.join
    async def add(children: list[Child]) -> int:
        return sum(child.result for child in children)

    run = run_inline(app, "total", {"numbers": [1, 2, 3]})
    assert run.result == 14
    assert [child.result for child in run.children] == [1, 4, 9]
    assert order == ["total", "square 1", "square 2", "square 3"]


def test_children_run_by_priority_and_then_in_order(app: App) -> None:
    ran: list[int] = []

    @app.command
    async def leaf(n: int) -> None:
        ran.append(n)

    @app.command
    async def tree(ctx: Context) -> None:
        ctx.spawn(leaf, n=1)
        ctx.spawn(leaf.using(priority=5), n=2)
        ctx.spawn(leaf, n=3)

    run_inline(app, tree)
    assert ran == [2, 1, 3]


def test_a_sibling_joins_the_children_of_its_parent(app: App) -> None:
    @app.command
    async def leaf(ctx: Context, n: int) -> None:
        if n:
            ctx.spawn_sibling(leaf, n=n - 1)

    @app.command
    async def tree(ctx: Context) -> None:
        ctx.spawn(leaf, n=2)

    assert [child.payload["n"] for child in run_inline(app, tree).children] == [2, 1, 0]


def test_a_parent_fails_when_a_child_did_and_the_others_still_run(app: App) -> None:
    @app.command
    async def leaf(n: int) -> None:
        if n == 1:
            raise ValueError("one is odd")

    @app.command
    async def tree(ctx: Context) -> None:
        ctx.spawn_many([leaf.item(n=n) for n in range(3)])

    run = run_inline(app, tree)
    assert [child.state for child in run.children] == ["completed", "failed", "completed"]
    assert run.state is TaskState.FAILED
    assert run.error is not None
    assert run.error["message"].startswith("1 of 3 children failed: ")


def test_a_scope_may_cancel_the_siblings_of_a_child_that_fails(app: App) -> None:
    @app.command
    async def leaf(n: int) -> None:
        if n == 1:
            raise ValueError("one is odd")

    @app.command
    async def tree(ctx: Context) -> None:
        with ctx.scope(mode="serial", on_child_failure="cancel_siblings"):
            ctx.spawn_many([leaf.item(n=n) for n in range(3)])

    assert [child.state for child in run_inline(app, tree).children] == ["completed", "failed", "cancelled"]


def test_the_error_of_a_handler_is_kept_and_not_raised(app: App) -> None:
    @app.command
    async def stumble() -> None:
        raise ValueError("no good")

    run = run_inline(app, stumble)
    assert run.state is TaskState.FAILED
    assert run.error is not None
    assert (run.error["kind"], run.error["message"]) == ("ValueError", "no good")


def test_a_failed_attempt_leaves_no_children_and_is_tried_again_at_once(app: App) -> None:
    @app.command
    async def leaf() -> None: ...

    @app.command(max_attempts=3)
    async def flaky(ctx: Context) -> int:
        ctx.spawn(leaf)
        if ctx.attempt < 3:
            raise RetryLater(3600)
        return ctx.attempt

    run = run_inline(app, flaky)
    assert (run.result, run.attempt, run.error, len(run.children)) == (3, 3, None, 1)


def test_giving_up_ends_the_attempts(app: App) -> None:
    @app.command(max_attempts=3)
    async def stubborn() -> None:
        raise GiveUp("no use")

    assert run_inline(app, stubborn).attempt == 1


def test_follow_ups_run_after_the_whole_tree_and_can_be_followed(app: App) -> None:
    ran: list[str] = []

    @app.command
    async def note(ctx: Context, text: str) -> None:
        ran.append(text)
        if text == "after":
            ctx.follow_up(note, text="long after")

    @app.command
    async def child(ctx: Context) -> None:
        ctx.follow_up(note, text="after")
        ran.append("child")

    @app.command
    async def tree(ctx: Context) -> None:
        ctx.spawn(child)

    run = run_inline(app, tree)
    assert ran == ["child", "after", "long after"]
    assert commands(run) == ["tree", "child", "note", "note"]
    assert run.follow_ups[0].follow_ups[0].payload == {"text": "long after"}


def test_follow_ups_of_a_tree_that_failed_are_cancelled(app: App) -> None:
    @app.command
    async def stumble() -> None:
        raise ValueError

    @app.command
    async def tree(ctx: Context) -> None:
        ctx.spawn(stumble)
        ctx.follow_up(stumble)

    (follow_up,) = run_inline(app, tree).follow_ups
    assert (follow_up.state, follow_up.attempt) == (TaskState.CANCELLED, 0)


def test_middlewares_are_around_every_handler(app: App) -> None:
    seen: list[str] = []

    @app.middleware
    async def around(ctx: Context, call: Callable[[], Awaitable[Any]]) -> Any:
        seen.append(ctx.command)
        return await call()

    @app.command
    async def leaf() -> None: ...

    @app.command
    async def tree(ctx: Context) -> None:
        ctx.spawn(leaf)

    run_inline(app, tree)
    assert seen == ["tree", "leaf"]


def test_a_payload_that_does_not_fit_is_refused(app: App) -> None:
    @app.command
    async def double(n: int) -> int:
        return 2 * n

    with pytest.raises(ArgumentsInvalid):
        run_inline(app, double, n="many")


def test_a_command_of_another_app_is_refused_with_what_to_use(app: App) -> None:
    @app.command
    async def tree(ctx: Context) -> None:
        ctx.spawn("sql_command", {})

    with pytest.raises(CommandNotRegistered, match="sql_command") as caught:
        run_inline(app, tree)
    assert "drain" in (caught.value.hint or "")


def test_a_transaction_needs_a_database(app: App) -> None:
    @app.command
    async def write(ctx: Context) -> None:
        async with ctx.transaction():
            pass

    error = run_inline(app, write).error
    assert error is not None
    assert error["kind"] == "RequestRefused"
    assert "drain" in error["hint"]


def test_inside_an_event_loop_the_twin_is_to_be_used(app: App) -> None:
    @app.command
    async def leaf() -> int:
        return 1

    async def test() -> Run:
        with pytest.raises(RequestRefused, match="event loop") as caught:
            run_inline(app, leaf)
        assert "run_inline_async" in (caught.value.hint or "")
        return await run_inline_async(app, leaf)

    assert asyncio.run(test()).result == 1


def test_a_task_that_snoozes_goes_on_at_once_and_its_clock_is_put_forward(app: App) -> None:
    opens = datetime.now(UTC) + timedelta(days=1)

    @app.command
    async def open_shop(ctx: Context) -> int:
        if ctx.attempt == 1:
            await ctx.snooze(5)
        await ctx.sleep_until(opens)
        if ctx.attempt < 4:
            raise RetryLater(60, uses_attempt=False)
        return ctx.attempt

    run = run_inline(app, open_shop)
    assert (run.state, run.result, run.attempt, run.snoozes) == (TaskState.COMPLETED, 4, 4, 3)


def test_a_task_that_snoozes_forever_is_detected(app: App) -> None:
    @app.command
    async def wait(ctx: Context) -> None:
        await ctx.snooze(5)

    with pytest.raises(RequestRefused, match="wait has snoozed 1000 times"):
        run_inline(app, wait)

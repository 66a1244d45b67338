"""How exceptions are stored with a task, and middlewares around handlers."""

from __future__ import annotations

import asyncio
import codecs
import json
from collections.abc import Awaitable, Callable
from datetime import timedelta
from typing import Any

import pytest

from catchment import App, ArgumentsInvalid, Context, GiveUp, RetryLater, TaskFailed
from catchment.cli.dev.log import fields_line
from catchment.errors import LakeOutOfMemory
from catchment.task.command import Command
from catchment.task.encode import encode
from catchment.task.failure import describe_error
from catchment.task.middleware import compose
from catchment.task.options import CommandOptions
from catchment.testing import run_inline


def caught(error: BaseException) -> BaseException:
    try:
        raise error
    except BaseException as raised:
        return raised


def test_an_error_has_kind_message_where_and_context() -> None:
    described = describe_error(caught(ValueError("no such order")))
    assert (described["kind"], described["message"]) == ("ValueError", "no such order")
    assert __file__ in described["where"]
    assert described["where"].endswith(" caught")
    assert "raise error" in described["context"]
    assert "retryable" not in described


def test_the_place_of_an_error_is_outside_catchment() -> None:
    def handler(n: int) -> None: ...

    with pytest.raises(ArgumentsInvalid) as raised:
        Command(handler, CommandOptions(), App("host=/nowhere")).payload.load("{}")
    assert __file__ in describe_error(raised.value)["where"]


def test_the_place_of_an_error_is_a_file_that_can_be_opened() -> None:
    with pytest.raises(UnicodeDecodeError) as raised:
        codecs.getincrementaldecoder("utf-8")().decode(b"\xff")  # fails in a module frozen into Python
    assert __file__ in describe_error(raised.value)["where"]


@pytest.mark.parametrize("error", [GiveUp("no use"), ArgumentsInvalid("bad")])
def test_some_errors_end_the_retries(error: Exception) -> None:
    assert describe_error(caught(error))["retryable"] is False


def test_a_handler_that_cannot_be_called_is_not_retried() -> None:
    def handler() -> None: ...

    command = Command(handler, CommandOptions(), App("host=/nowhere"))
    with pytest.raises(TypeError) as raised:
        command(1)  # type: ignore[call-arg]
    # The frame of this test stands for the worker's own, which is inside the package.
    own = raised.value.with_traceback(raised.value.__traceback__ and raised.value.__traceback__.tb_next)
    assert describe_error(own)["retryable"] is False


def test_a_type_error_inside_a_handler_is_an_error_like_others() -> None:
    assert "retryable" not in describe_error(caught(TypeError("1 + 'a'")))


@pytest.mark.parametrize(("delay", "seconds"), [(30, 30), (timedelta(milliseconds=1500), 1.5), (0, 0)])
def test_retry_later_says_when(delay: Any, seconds: float) -> None:
    described = describe_error(caught(RetryLater(delay, "busy")))
    assert described["retry_after"] == seconds
    assert described["message"] == "busy"


def test_a_group_names_what_it_holds_and_where_the_first_of_it_arose() -> None:
    inner = ExceptionGroup("inner", [caught(KeyError("no such order"))])
    described = describe_error(caught(ExceptionGroup("outer", [caught(ValueError("too late")), inner])))
    assert described["kind"] == "ExceptionGroup"
    assert described["message"] == "outer (2 sub-exceptions): ValueError: too late; KeyError: 'no such order'"
    assert described["where"].endswith(" caught")
    many = ExceptionGroup("many", [ValueError("é" * 9_000) for _ in range(8)])
    assert describe_error(many)["message"].endswith("; and 3 more")
    assert len(describe_error(many)["message"].encode()) <= 2_000


def test_a_group_of_retry_later_alone_says_when_and_one_with_a_give_up_ends_the_retries() -> None:
    early, late = RetryLater(3, "busy", uses_attempt=False), RetryLater(5, "very busy", uses_attempt=False)
    group = BaseExceptionGroup("all", [early, asyncio.CancelledError(), ExceptionGroup("inner", [late])])
    described = describe_error(group)
    assert (described["kind"], described["message"], described["retry_after"]) == ("RetryLater", "very busy", 5)
    assert described["uses_attempt"] is False
    counted = describe_error(ExceptionGroup("all", [late, RetryLater(1)]))
    assert "uses_attempt" not in counted
    mixed = describe_error(ExceptionGroup("all", [early, ValueError("no")]))
    assert mixed["kind"] == "ExceptionGroup"
    assert "retry_after" not in mixed
    assert "retryable" not in mixed
    assert describe_error(ExceptionGroup("all", [early, GiveUp("no use")]))["retryable"] is False


@pytest.mark.parametrize("is_async", [True, False])
def test_a_traceback_begins_with_the_handler(is_async: bool) -> None:
    app = App("host=/nowhere")

    @app.middleware
    async def around(ctx: Context, call: Callable[[], Awaitable[Any]]) -> Any:
        return await call()

    @app.command
    async def handler(ctx: Context) -> None:
        ctx.spawn_sibling("child")

    @app.command
    def plain_handler(ctx: Context) -> None:
        ctx.spawn_sibling("child")

    error = run_inline(app, handler if is_async else plain_handler).error
    assert error is not None
    frames = [line for line in error["context"].splitlines() if line.startswith("  File ")]
    assert __file__ in frames[0]
    assert " in around" in frames[0]
    assert "/catchment/task/" in frames[-1], "where the error arose is kept"


def test_a_traceback_shows_the_hint_as_it_is_last() -> None:
    error = GiveUp("no use")
    assert "__notes__" not in error.__dict__
    refused = ArgumentsInvalid("bad", hint="first")
    refused.hint = "Do this."
    assert describe_error(caught(refused))["context"].endswith("ArgumentsInvalid: bad\nDo this.\n")


def test_notes_of_an_error_are_its_hint_where_its_end_is_shown() -> None:
    error = ValueError("no paper")
    error.add_note("Buy some\n  in town.")
    error.add_note("x" * 1000)
    described = describe_error(ExceptionGroup("all", [caught(error)]))
    assert described["hint"].startswith("Buy some in town. xxx")
    assert len(described["hint"]) == 300
    assert describe_error(ArgumentsInvalid("bad", hint="Do this."))["hint"] == "Do this."
    assert "hint" not in describe_error(ValueError("plain"))
    stored = {"kind": "ValueError", "message": "no paper", "hint": "Buy some."}
    assert str(TaskFailed(7, "print", stored).hint).startswith("Buy some. 'catchment task show 7' has")
    ended = {"state": "failed", "command": "print", "task_id": 7, "is_join": False, "error": "no paper"}
    assert fields_line({**ended, "hint": "Buy some."}, at="12:00:00").endswith("  no paper; hint: Buy some.")


def test_a_long_error_is_cut() -> None:
    described = describe_error(caught(ValueError("é" * 100_000)))
    assert len(described["message"].encode()) <= 2_000
    assert len(described["context"].encode()) <= 8_000
    assert described["message"].endswith("...")


def test_a_deep_traceback_keeps_its_innermost_frames() -> None:
    def fall(n: int) -> None:
        if n == 0:
            raise ValueError("bottom")
        fall(n - 1)

    with pytest.raises(ValueError) as raised:
        fall(200)
    described = describe_error(raised.value)
    assert described["context"].rstrip().endswith("ValueError: bottom")
    assert len(described["context"].splitlines()) < 80


def test_text_that_jsonb_refuses_is_made_storable() -> None:
    text = json.dumps(describe_error(caught(ValueError("a\0b\ud800"))))
    assert "\\u0000" not in text
    assert "\\ud800" not in text.replace("\\\\ud800", "")


def test_an_error_that_cannot_be_shown_is_still_described() -> None:
    class Odd(Exception):
        def __str__(self) -> str:
            raise RuntimeError

    assert describe_error(caught(Odd()))["message"] == "its message cannot be shown: RuntimeError"


def test_the_first_middleware_is_the_outermost() -> None:
    app = App()
    seen: list[str] = []

    def note(name: str) -> None:
        @app.middleware
        async def around(ctx: Context, call: Callable[[], Awaitable[Any]]) -> Any:
            seen.append(f"{name} in")
            value = await call()
            seen.append(f"{name} out")
            return value + 1

    async def handler() -> int:
        seen.append("handler")
        return 1

    note("a")
    note("b")
    call = compose(app.commands.middlewares, Context.local(), handler)
    assert asyncio.run(_await(call)) == 3
    assert seen == ["a in", "b in", "handler", "b out", "a out"]


def test_without_middlewares_the_call_is_left_alone() -> None:
    async def handler() -> None: ...

    assert compose([], Context.local(), handler) is handler


async def _await(call: Callable[[], Awaitable[Any]]) -> Any:
    return await call()


def test_an_error_with_a_code_is_stored_with_it() -> None:
    assert describe_error(LakeOutOfMemory("too much"))["code"] == "MEMORY"
    assert describe_error(LakeOutOfMemory("too much", code="ODD"))["code"] == "ODD"
    assert "code" not in describe_error(GiveUp("enough"))
    assert "code" not in describe_error(SystemExit("a text"))


def test_a_fixed_limit_names_no_setting() -> None:
    with pytest.raises(GiveUp, match=r"progress takes 5 bytes as JSON, the limit is 2$"):
        encode("abc", "progress", limit=2, setting=None)
    with pytest.raises(GiveUp, match="CATCHMENT_MAX_RESULT_BYTES"):
        encode("abc", "the result", limit=2)


def test_a_number_that_python_cannot_read_again_is_refused() -> None:
    with pytest.raises(GiveUp, match="the result contains a number"):
        encode({"number": 10**5_000}, "the result")
    assert encode("1" * 5_000, "the result") == f'"{"1" * 5_000}"'

"""Values that no call can take are refused before anything is sent, with what was given and what is expected."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable
from typing import Any

import pytest

from catchment import App, Context
from catchment.errors import ArgumentsInvalid, DefinitionRefused, RequestRefused
from catchment.model.check import check_task_id
from catchment.task.item import check_command_name, check_item
from tests.client.support import Shop

HUGE = 10**5000
HALF = "a\ud800b"
NUL = "a\0b"
TEXT = "without NUL and lone surrogates"
Verbs = Any

BAD_TASKS: list[tuple[dict[str, Any], str]] = [
    ({"priority": 2**31}, "priority is 2147483648, expected an integer from -2147483648 to 2147483647"),
    ({"priority": HUGE}, "priority is a number of thousands of digits, expected an integer"),
    ({"at": dt.date(2030, 1, 1)}, r"at is datetime\.date\(2030, 1, 1\), expected an aware datetime"),
    ({"at": "tomorrow"}, "at is 'tomorrow', expected an aware datetime"),
    ({"at": dt.datetime(2030, 1, 1)}, "a time without a zone"),
    ({"delay": dt.timedelta.max}, "delay is 999999999 days, .* expected at most 100 years"),
    ({"delay": HUGE}, "delay is a number of thousands of digits seconds, expected at most 100 years"),
    ({"delay": "5"}, "delay is '5', expected a number of seconds or a timedelta"),
    ({"lane": HALF}, rf"lane is 'a\\ud800b', expected .* {TEXT}"),
    ({"lane": NUL}, rf"lane is 'a\\x00b', expected .* {TEXT}"),
    ({"lane": 5}, "lane is 5, expected a text of 1 to 500 characters"),
]
BAD_COMMANDS: list[tuple[Any, str]] = [
    (HALF, rf"command is 'a\\ud800b', expected a text {TEXT}"),
    (NUL, rf"command is 'a\\x00b', expected a text {TEXT}"),
    (None, "command is None, expected a command or its name"),
    (print, "command is <built-in function print>, expected a command or its name"),
]
BAD_IDS: list[tuple[Any, str]] = [
    (2**63, "the task id is 9223372036854775808, expected an integer of at most 9223372036854775807"),
    (HUGE, "the task id is a number of thousands of digits, expected an integer"),
    (1.5, r"the task id is 1\.5, expected an integer"),
    ("1", "the task id is '1', expected an integer"),
    (None, "the task id is None, expected an integer"),
    (True, "the task id is True, expected an integer"),
]


@pytest.fixture(params=["async", "sync"])
def verbs(request: pytest.FixtureRequest, shop: Shop) -> Verbs:
    """The verbs of the app, blocking: those of ``app.sync``, and those of the app itself run in a loop."""
    if request.param == "sync":
        return shop.app.sync

    class Blocking:
        def __getattr__(self, name: str) -> Callable[..., Any]:
            return lambda *args, **kwargs: shop.run(lambda: getattr(shop.app, name)(*args, **kwargs))

    return Blocking()


def test_options_that_no_task_can_have_are_refused(shop: Shop, verbs: Verbs) -> None:
    for options, says in BAD_TASKS:
        with pytest.raises(RequestRefused, match=says):
            shop.send.using(**options)
        with pytest.raises(RequestRefused, match=says):
            verbs.enqueue("send", {"to": "ann"}, **options)
        many = says if options != {"lane": 5} else "lane is 5, expected one text, a sequence of them"
        with pytest.raises(RequestRefused, match=many):
            verbs.enqueue_many("send", [{"to": "ann"}], **options)
    assert shop.column("id") == []


def test_what_is_no_command_is_refused(shop: Shop, verbs: Verbs) -> None:
    for command, says in BAD_COMMANDS:
        with pytest.raises(RequestRefused, match=says):
            verbs.enqueue(command)
        with pytest.raises(RequestRefused, match=says):
            verbs.enqueue_many(command, [{}])


def test_a_command_that_was_called_is_no_command() -> None:
    async def leaf(n: int) -> int:
        return n

    with pytest.raises(RequestRefused) as refused:
        check_command_name(leaf(n=1))
    assert refused.value.hint == "Do not call the command, write: leaf, n=1"
    with pytest.raises(RequestRefused) as refused:
        check_item(leaf(n=1))
    assert refused.value.hint == "Do not call the command, write: leaf.item(n=1)"


def test_payloads_that_are_no_mappings_are_refused(shop: Shop, verbs: Verbs) -> None:
    with pytest.raises(ArgumentsInvalid, match="the arguments of send are a list, expected a mapping"):
        verbs.enqueue("send", [1])
    with pytest.raises(ArgumentsInvalid, match="the arguments of send are None, expected a mapping"):
        verbs.enqueue_many("send", [{"to": "ann"}, None])
    with pytest.raises(RequestRefused, match="arguments is None, expected a sequence of mappings"):
        verbs.enqueue_many("send", None)
    with pytest.raises(RequestRefused, match="batch_size is '7', expected an integer of 1 or more"):
        verbs.enqueue_many("send", [{"to": "ann"}], batch_size="7")
    assert shop.column("id") == []


def test_a_command_itself_is_refused_with_how_to_call_it(shop: Shop, verbs: Verbs) -> None:
    with pytest.raises(RequestRefused, match="the command send is given, expected the name of a command") as caught:
        verbs.enqueue(shop.send, to="ann", lane="x")
    assert "send.enqueue(…)" in (caught.value.hint or "")
    with pytest.raises(RequestRefused, match="to is no option of enqueue, expected at, conn, delay, lane") as caught:
        verbs.enqueue("send", to="ann", lane="x")
    assert caught.value.hint == "The arguments of 'send' are a mapping: {'to': …}."


def test_ids_that_no_task_can_have_are_refused(shop: Shop) -> None:
    shop.send.sync.enqueue(to="ann")
    shop.send.sync.enqueue(to="ben")
    for task_id, says in BAD_IDS:
        with pytest.raises(RequestRefused, match=says):
            shop.app.task(task_id)
        with pytest.raises(RequestRefused, match=says):
            shop.app.sync.task(task_id)
    assert shop.column("state") == ["pending", "pending"]


def test_reasons_that_no_text_can_hold_are_refused(shop: Shop) -> None:
    task = shop.send.sync.enqueue(to="ann").id
    for reason in (5, 0, HALF, NUL):
        with pytest.raises(RequestRefused, match=f"reason is .*, expected a text {TEXT}"):
            shop.app.sync.task(task).cancel(reason)
        with pytest.raises(RequestRefused, match=f"reason is .*, expected a text {TEXT}"):
            shop.run(lambda reason=reason: shop.app.task(task).cancel(reason))
    assert shop.column("state") == ["pending"]
    assert shop.app.sync.task(task).cancel("") == "cancelled"


def test_an_integer_of_another_kind_is_an_id() -> None:
    class Number:
        def __index__(self) -> int:
            return 7

    assert check_task_id(Number()) == 7


def test_children_are_checked_as_tasks_are(shop: Shop) -> None:
    said: list[str] = []

    @shop.app.command(queue="mail")
    def parent(ctx: Context) -> None:
        for command, _ in BAD_COMMANDS:
            for spawn in (ctx.spawn, ctx.follow_up):
                with pytest.raises(RequestRefused) as caught:
                    spawn(command, {})
                said.append(str(caught.value))

    from catchment.testing import run_inline

    run_inline(shop.app, parent)
    assert len(said) == 2 * len(BAD_COMMANDS)


@pytest.mark.parametrize("text", [HALF, NUL])
def test_definitions_that_no_text_can_hold_are_refused(text: str) -> None:
    app = App("host=/nowhere")
    for options in ({"name": text}, {"queue": text}, {"description": text}):
        with pytest.raises(DefinitionRefused, match=TEXT):
            app.command(**options)(lambda: None)  # pyright: ignore[reportCallIssue, reportArgumentType]
    with pytest.raises(DefinitionRefused, match=TEXT):
        app.queue(text)
    with pytest.raises(RequestRefused, match="pool_size is '4', expected an integer of 1 or more"):
        App(pool_size="4")  # pyright: ignore[reportArgumentType]

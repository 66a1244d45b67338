"""The context: what its verbs record, and what they refuse."""

from __future__ import annotations

import asyncio
import json
import time
from contextlib import AbstractAsyncContextManager, AbstractContextManager, contextmanager
from datetime import UTC, datetime, timedelta
from typing import Any, cast

import pytest
from psycopg import AsyncConnection, Connection

from catchment import (
    App,
    ArgumentsInvalid,
    CancelRequested,
    Context,
    InfoRefused,
    ParentMissing,
    RequestRefused,
    ScopeClosed,
    ScopePolicyFixed,
    Snoozed,
)

app = App()


@app.command
async def send(to: str, body: str = "") -> None: ...


def spawns(context: Context) -> list[dict[str, Any]]:
    assert context.recorded is not None
    return [entry for array in context.recorded.spawns_json() for entry in json.loads(array)]


def follow_ups(context: Context) -> list[dict[str, Any]]:
    assert context.recorded is not None
    return json.loads(context.recorded.follow_ups_json() or "[]")


def test_a_fresh_context_has_recorded_nothing() -> None:
    assert Context.local().recorded is None


def test_a_spawn_is_recorded_with_its_whole_payload() -> None:
    context = Context.local()
    context.spawn(send, to="a")
    assert spawns(context) == [{"command": "send", "payload": {"to": "a", "body": ""}}]


def test_a_spawn_takes_priority_and_time() -> None:
    context = Context.local()
    at = datetime(2030, 1, 1, tzinfo=UTC)
    context.spawn(send.using(priority=5, at=at), to="a")
    assert spawns(context)[0]["priority"] == 5
    assert datetime.fromisoformat(spawns(context)[0]["scheduled_at"]) == at


def test_a_delay_counts_from_now() -> None:
    context = Context.local()
    context.spawn(send.using(delay=60), to="a")
    due = datetime.fromisoformat(spawns(context)[0]["scheduled_at"])
    assert timedelta(seconds=50) < due - datetime.now(UTC) <= timedelta(seconds=60)


def test_arguments_can_be_given_by_their_places() -> None:
    context = Context.local()
    context.spawn(send, "a", body="b")
    assert spawns(context)[0]["payload"] == {"to": "a", "body": "b"}
    with pytest.raises(ArgumentsInvalid, match="to of send is given twice"):
        context.spawn(send, "a", to="b")
    with pytest.raises(ArgumentsInvalid, match="send takes 2 positional arguments, and 3 were given"):
        context.spawn(send, "a", "b", "c")


def test_options_among_the_arguments_are_refused_with_where_they_belong() -> None:
    context = Context.local()
    with pytest.raises(ArgumentsInvalid, match="lane is not a parameter") as caught:
        context.follow_up(send, to="a", lane="x")
    assert ".using(lane=…)" in (caught.value.hint or "")


@pytest.mark.parametrize("options", [{"lane": "x"}, {"conn": object()}])
def test_a_child_has_neither_a_lane_nor_a_connection(options: dict[str, Any]) -> None:
    (name,) = options
    with pytest.raises(RequestRefused, match=f"{name} is"):
        Context.local().spawn(send.using(**options), to="a")


def test_items_of_several_commands_are_spawned_together() -> None:
    context = Context.local()
    context.spawn_many([send.item(to="a"), send.using(priority=1).item(to="b")])
    assert [spawn.get("priority") for spawn in spawns(context)] == [None, 1]
    with pytest.raises(RequestRefused, match=r"an item is \{'to': 'a'\}, expected what command.item"):
        context.spawn_many([{"to": "a"}])  # type: ignore[list-item]
    with pytest.raises(RequestRefused, match=r"command is <function send.*, expected a command or its name") as caught:
        context.spawn(send.fn, to="a")  # type: ignore[call-overload]
    assert caught.value.hint == "A function becomes a command by @app.command."
    with pytest.raises(RequestRefused, match="spawn_many is given send, expected items of it"):
        context.spawn_many(send)  # type: ignore[call-overload]


def test_a_command_given_by_name_takes_any_payload() -> None:
    context = Context.local()
    context.spawn('odd "name"', {"note": "x"})
    assert spawns(context) == [{"command": 'odd "name"', "payload": {"note": "x"}}]


def test_an_invalid_payload_is_refused_at_the_call() -> None:
    context = Context.local()
    with pytest.raises(ArgumentsInvalid, match="to is missing"):
        context.spawn(send)
    with pytest.raises(ArgumentsInvalid):
        context.spawn_many([send.item(to="a"), send.item(to=1)])
    assert context.recorded is None or context.recorded.spawns_json() == ()


def test_many_are_recorded_in_order() -> None:
    context = Context.local()
    context.spawn_many(send.using(priority=7).item(to=str(n)) for n in range(3))
    assert [s["payload"]["to"] for s in spawns(context)] == ["0", "1", "2"]
    assert {s["priority"] for s in spawns(context)} == {7}


def test_a_child_has_no_lane() -> None:
    with pytest.raises(RequestRefused, match="lane is not an option of a child"):
        Context.local().spawn("other", lane="w")


def test_a_child_has_no_app() -> None:
    other = send.using(app=App("host=/nonexistent"))
    context = Context.local()
    for record in (
        lambda: context.spawn(other, to="a"),
        lambda: context.spawn_many([other.item(to="a")]),
        lambda: context.follow_up(other, to="a"),
    ):
        with pytest.raises(RequestRefused, match="app is given for send"):
            record()


def test_children_are_concurrent_and_waited_for_by_default() -> None:
    context = Context.local()
    context.spawn(send, to="a")
    assert context.recorded is not None
    assert (context.recorded.child_mode, context.recorded.on_child_failure) == ("concurrent", "wait")


def test_a_block_sets_the_policy_of_the_scope() -> None:
    context = Context.local()
    with context.scope(mode="serial", on_child_failure="cancel_siblings"):
        context.spawn(send, to="a")
    context.spawn(send, to="b")
    assert context.recorded is not None
    assert (context.recorded.child_mode, context.recorded.on_child_failure) == ("serial", "cancel_siblings")


def test_a_second_block_with_another_policy_is_refused() -> None:
    context = Context.local()
    with context.scope(mode="serial"):
        context.spawn(send, to="a")
    with context.scope(mode="serial"):
        context.spawn(send, to="b")
    with (
        pytest.raises(ScopePolicyFixed, match="the scope of this task is serial / wait, not concurrent / wait"),
        context.scope(),
    ):
        pass


def test_a_block_cannot_change_what_the_first_spawn_fixed() -> None:
    context = Context.local()
    context.spawn(send, to="a")
    with pytest.raises(ScopePolicyFixed), context.scope(mode="serial"):
        pass


def test_a_scope_without_children_is_none() -> None:
    context = Context.local()
    with context.scope(mode="serial"):
        pass
    assert context.recorded is not None
    assert context.recorded.child_mode is None
    assert context.recorded.spawns_json() == ()


def test_an_unknown_policy_is_refused() -> None:
    with pytest.raises(RequestRefused, match="mode of a scope is 'parallel'"):
        Context.local().scope(mode=cast(Any, "parallel"))


def test_a_child_can_spawn_a_sibling() -> None:
    context = Context.local(parent_id=1)
    context.spawn_sibling(send, to="a")
    assert spawns(context) == [{"command": "send", "payload": {"to": "a", "body": ""}, "is_sibling": True}]
    assert context.recorded is not None
    assert context.recorded.child_mode is None


def test_a_task_without_parent_has_no_siblings() -> None:
    with pytest.raises(ParentMissing, match="has no parent, so send cannot be its sibling"):
        Context.local().spawn_sibling(send, to="a")


def test_a_follow_up_is_recorded_with_its_lane() -> None:
    context = Context.local()
    context.follow_up(send.using(lane='w "1"', priority=3), to="a")
    payload = {"to": "a", "body": ""}
    assert follow_ups(context) == [{"command": "send", "payload": payload, "priority": 3, "lane": 'w "1"'}]


def test_a_join_follows_up_and_does_not_spawn() -> None:
    context = Context.local(is_join=True, parent_id=1)
    context.follow_up(send, to="a")
    for spawn in (context.spawn, context.spawn_sibling):
        with pytest.raises(ScopeClosed, match="cannot spawn send"):
            spawn(send, to="a")
    with pytest.raises(ScopeClosed):
        context.spawn_many([])


def test_figures_are_kept_and_the_newer_value_wins() -> None:
    context = Context.local()
    context.info(rows=1, files=2)
    context.info(rows=3)
    assert context.recorded is not None
    assert json.loads(context.recorded.info_json() or "") == {"rows": 3, "files": 2}


def test_figures_that_json_cannot_hold_are_refused() -> None:
    with pytest.raises(InfoRefused, match="info cannot be written"):
        Context.local().info(rows=object())


@pytest.mark.parametrize(("attempt", "is_last"), [(1, False), (2, False), (3, True)])
def test_the_last_attempt_is_the_one_whose_failure_is_final(attempt: int, is_last: bool) -> None:
    assert Context.local(attempt=attempt, max_attempts=3).is_last_attempt is is_last


class Told:
    """A port that remembers what it was told."""

    def __init__(self) -> None:
        self.progress_told: list[str] = []
        self.ended: list[object] = []

    def progress(self, context: Context) -> None:
        assert context.newest_progress is not None
        self.progress_told.append(json.dumps(context.newest_progress.members()))

    def transaction(self, context: Context) -> AbstractAsyncContextManager[AsyncConnection[Any]]:
        raise AssertionError(context)

    def transaction_sync(self, context: Context) -> AbstractContextManager[Connection[Any]]:
        @contextmanager
        def block() -> Any:
            try:
                yield "a connection"
            except BaseException as error:
                self.ended.append(error)
                raise
            self.ended.append(context.command)

        return block()


def test_progress_goes_to_the_port() -> None:
    port = Told()
    context = Context.local(port=port)
    context.progress(1, 10, "begun")
    context.progress(2)
    assert [json.loads(text) for text in port.progress_told] == [
        {"done": 1, "total": 10, "message": "begun"},
        {"done": 2},
    ]


def test_a_local_context_keeps_the_newest_progress() -> None:
    context = Context.local()
    context.progress(1, 2)
    assert context.newest_progress is not None
    assert context.newest_progress.done == 1


def test_progress_stops_a_plain_handler_that_was_cancelled() -> None:
    context = Context.local(is_async=False)
    context.progress(1)
    context.mark_cancelled("no longer needed")
    assert context.cancelled
    with pytest.raises(CancelRequested, match="no longer needed"):
        context.progress(2)


def test_a_transaction_comes_from_the_port_and_ends_with_its_block() -> None:
    port = Told()
    with Context.local(port=port, is_async=False).transaction() as conn:
        assert cast(Any, conn) == "a connection"
    assert port.ended == ["local"]
    error = ValueError()
    with pytest.raises(ValueError), Context.local(port=port, is_async=False).transaction():
        raise error
    assert port.ended == ["local", error]


def test_there_is_one_transaction_per_attempt() -> None:
    context = Context.local()
    context.transaction()
    with pytest.raises(RequestRefused, match="has had its transaction"):
        context.transaction()


def test_an_async_handler_uses_async_with() -> None:
    with pytest.raises(RequestRefused, match="an async function"), Context.local().transaction():
        pass


def test_a_local_context_has_no_transaction() -> None:
    with (
        pytest.raises(RequestRefused, match="the local context of local has no transaction"),
        Context.local(is_async=False).transaction(),
    ):
        pass


def _seconds_of_info(count: int) -> float:
    context = Context.local()
    began = time.process_time()
    for n in range(count):
        context.info(**{f"key_{n}": n})
    return time.process_time() - began


def test_figures_with_many_names_cost_the_same_each() -> None:
    """If each cost as much as there are already, sixteen times as many would take 256 times as long."""
    few = min(_seconds_of_info(1_500) for _ in range(3))
    assert _seconds_of_info(24_000) < 80 * few


def test_a_snooze_leaves_the_handler_and_is_no_exception() -> None:
    context = Context.local()
    with pytest.raises(Snoozed) as caught:
        asyncio.run(context.snooze(90, "no answer yet"))
    assert not isinstance(caught.value, Exception)
    assert (caught.value.delay, caught.value.until) == (timedelta(seconds=90), None)
    assert str(caught.value) == "snoozes for 90 s: no answer yet"
    assert context.snoozed is caught.value


def test_a_plain_function_gets_an_error_that_says_how_to_snooze() -> None:
    context = Context.local(is_async=False)
    with pytest.raises(RequestRefused, match="a plain function and cannot await it") as refused:
        asyncio.run(context.snooze(90))
    assert "raise catchment.RetryLater(delay, reason, uses_attempt=False)" in (refused.value.hint or "")
    assert context.snoozed is None


async def _sleep(context: Context, when: datetime) -> str:
    await context.sleep_until(when)
    return "awake"


def test_sleep_until_returns_when_the_time_has_come() -> None:
    now = datetime.now(UTC)
    assert asyncio.run(_sleep(Context.local(), now - timedelta(seconds=1))) == "awake"
    with pytest.raises(Snoozed) as caught:
        asyncio.run(_sleep(Context.local(), now + timedelta(hours=1)))
    assert caught.value.until == now + timedelta(hours=1)

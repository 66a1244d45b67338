"""A task as its caller holds it: its result has the type that the handler returns."""

from __future__ import annotations

import datetime as dt
import json
from dataclasses import dataclass
from typing import Any

import psycopg
import pytest
from psycopg.types.json import Jsonb
from pydantic import BaseModel

from catchment import App, Child, Command, Context, Task, TaskNotFound, TaskState, ValueUnreadable
from catchment.testing import run_inline
from tests.client.support import QUEUE, Shop
from tests.fixtures.often import some


class Receipt(BaseModel):
    to: str
    at: dt.datetime


@dataclass
class Page:
    n: int
    raw: bytes = b""


RECEIPT = Receipt(to="ada", at=dt.datetime(2026, 1, 2, tzinfo=dt.UTC))


def complete(shop: Shop, command: Command[..., Any], value: Any) -> None:
    """What a worker does with the value that the handler of the only pending task has returned."""
    hand = shop.hand
    text = command.returns.dump(value)
    hand.complete(hand.claim_one(QUEUE), p_result=None if text is None else Jsonb(json.loads(text)))


@pytest.mark.parametrize(
    "value", some([RECEIPT, Page(3, b"\xff"), [RECEIPT], dt.timedelta(days=1), b"\xff\x00", float("inf"), 7], one_in=2)
)
def test_a_result_comes_back_as_the_annotation_says(shop: Shop, value: Any) -> None:
    async def make() -> Any: ...

    make.__annotations__["return"] = list[Receipt] if isinstance(value, list) else type(value)
    command = shop.app.command(queue=QUEUE)(make)
    task = command.sync.enqueue()
    complete(shop, command, value)
    assert task.result(timeout=20) == value
    assert command.sync.task(task.id).result() == value

    async def wait() -> Any:
        return await command.task(task.id).result(timeout=20)

    assert shop.run(wait) == value
    assert shop.app.sync.task(task.id).result() == task.info().result


def test_a_handle_of_a_command_takes_no_task_of_another(shop: Shop) -> None:
    made = shop.send.sync.enqueue(to="a")
    handle, mine = shop.gather.sync.task(made.id), shop.send.sync.task(made.id)
    refused = pytest.raises(TaskNotFound, match=f"no task {made.id} of gather .*: task {made.id} is one of send")
    for verb in (handle.result, handle.info, handle.cancel, handle.retry, handle.why, lambda: handle.result(timeout=0)):
        with refused as caught:
            verb()
    assert f"app.task({made.id})" in (caught.value.hint or "")
    other = shop.gather.task(made.id)
    for ask in (other.result, other.info, other.cancel, other.retry, other.why, lambda: other.result(timeout=0)):
        with refused:
            shop.run(ask)
    assert mine.info() == shop.app.sync.task(made.id).info()
    assert mine.info().state is TaskState.PENDING, "nothing has happened to it"
    assert mine.cancel() == "cancelled"


def test_a_task_of_an_open_transaction_is_said_to_be_uncommitted(shop: Shop, db: str) -> None:
    with psycopg.connect(db) as conn:
        task = shop.send.sync.using(conn=conn).enqueue(to="a")
        with pytest.raises(TaskNotFound, match=f"there is no task {task.id}, or it is not committed yet"):
            task.result(timeout=5)


def test_a_result_that_does_not_fit_the_annotation_is_named(shop: Shop) -> None:
    task = shop.send.sync.enqueue(to="a")
    hand = shop.hand
    hand.complete(hand.claim_one(QUEUE), p_result=Jsonb({"n": 1}))
    with pytest.raises(ValueUnreadable, match=r"\(send\) cannot be read: it does not fit the return annotation int"):
        task.result()
    assert shop.app.sync.task(task.id).result() == {"n": 1}


def test_a_task_is_its_id(shop: Shop) -> None:
    first = shop.gather.sync.enqueue(customer=1, items=[1])
    second = shop.gather.sync.enqueue(customer=1, items=[2])
    assert first == second == shop.gather.sync.task(first.id)
    assert len({first, second}) == 1
    assert repr(first) == f"<SyncTask {first.id}>"
    assert first != shop.send.sync.enqueue(to="a")
    assert isinstance(shop.app.task(first.id), Task)


def test_tasks_of_two_databases_are_not_equal(shop: Shop, db: str) -> None:
    task = shop.app.task(1)
    assert task == shop.app.sync.task(1) == App(db).task(1)
    assert task != App("host=/nowhere").task(1)
    assert len({task, App(db).task(1), App("host=/nowhere").task(1)}) == 2


def test_a_handle_stops_repeats_and_looks(shop: Shop) -> None:
    async def scenario() -> None:
        task = await shop.send.enqueue(to="a")
        assert await task.cancel("not needed") == "cancelled"
        assert (await task.info()).state is TaskState.CANCELLED
        assert await task.retry() == "pending"

    shop.run(scenario)


def test_a_request_never_changes(shop: Shop) -> None:
    late = shop.send.using(delay=60)
    both = late.using(lane="w")
    for request in (shop.send, late, both):
        request.sync.enqueue(to="a")
    assert shop.column("lane") == [None, None, "w"]
    assert shop.column("scheduled_at is not null") == [False, True, True]


def test_another_app_takes_the_task(shop: Shop, db: str) -> None:
    elsewhere = App("host=/nowhere")
    send = elsewhere.command(queue=QUEUE)(shop.send.fn)
    task = send.sync.using(app=shop.app).enqueue(to="a")
    assert shop.engine.task(task.id)["payload"]["to"] == "a"


def book(app: App) -> Any:
    @app.command
    def write(n: int) -> Page:
        return Page(n, bytes([n, 255]))

    @app.command
    async def bind(ctx: Context, pages: int) -> list[Page]:
        ctx.spawn_many(write.item(n=n) for n in range(pages))
        return ctx.result_of_join()

    @bind.join
    def sew(ctx: Context, children: list[Child[Page]]) -> list[Page]:
        assert ctx.is_join
        return [child.result for child in children]

    return bind


@pytest.mark.parametrize("pages", [0, 2])
def test_a_join_gets_results_of_their_type_and_gives_the_result_also_without_children(pages: int) -> None:
    app = App("host=/nowhere")
    run = run_inline(app, book(app), pages=pages)
    assert (run.state, run.error) == (TaskState.COMPLETED, None)
    assert [page["n"] for page in run.result] == list(range(pages))


def test_what_the_database_keeps_is_what_the_handler_gets(shop: Shop) -> None:
    """jsonb has numbers of another kind than Python, and orders keys."""

    def take(a: float, b: int, c: dict[str, Any], d: bytes, e: dt.datetime, f: float) -> None: ...

    command = shop.app.command(queue=QUEUE)(take)
    given = {"a": 1e300, "b": -(10**30), "c": {"b": 1.5, "a": [None]}, "d": b"\xff", "e": RECEIPT.at, "f": -0.0}
    task = command.sync.enqueue(**given)
    text = shop.engine.value("select payload::text from worker.tasks where id = %s", task.id)
    assert command.payload.load(text) == given
    assert str(command.payload.load(text)["f"]) == "0.0"

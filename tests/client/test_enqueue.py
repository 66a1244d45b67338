"""Enqueue one task: what is stored, what is refused, and whose transaction it belongs to."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta
from typing import Any

import psycopg
import pytest
from psycopg import AsyncConnection
from psycopg.rows import dict_row

from catchment import App, ArgumentsInvalid, CommandNotRegistered, PayloadRefused, RequestRefused
from tests.client.support import Shop, until


def test_a_task_has_the_payload_of_its_call(shop: Shop) -> None:
    task = shop.run(lambda: shop.send.enqueue(to="a"))
    row = shop.engine.task(task)
    assert (row["command"], row["queue"], row["state"]) == ("send", "mail", "pending")
    assert row["payload"] == {"to": "a", "body": ""}
    assert row["max_attempts"] == 3


def test_a_task_has_the_options_of_its_call(shop: Shop) -> None:
    at = datetime(2100, 1, 1, tzinfo=UTC)
    task = shop.run(lambda: shop.send.using(lane="w", priority=7, at=at).enqueue(to="a"))
    row = shop.engine.task(task)
    assert (row["lane"], row["priority"]) == ("w", 7)
    assert datetime.fromisoformat(row["scheduled_at"]) == at


@pytest.mark.parametrize("delay", [3600, timedelta(hours=1)])
def test_a_delay_counts_by_the_clock_of_the_server(shop: Shop, delay: Any) -> None:
    task = shop.run(lambda: shop.send.using(delay=delay).enqueue(to="a"))
    assert shop.engine.value(
        "select scheduled_at between now() + interval '59 minutes' and now() + interval '1 hour'"
        " from worker.tasks where id = %s",
        task,
    )


def test_a_payload_can_be_given_as_a_whole(shop: Shop) -> None:
    task = shop.run(lambda: shop.send.enqueue(to="a", body="b"))
    assert shop.engine.task(task)["payload"] == {"to": "a", "body": "b"}


def test_a_registered_command_can_be_given_by_name(shop: Shop) -> None:
    shop.app.sync.register()
    task = shop.run(lambda: shop.app.enqueue("send", {"to": "a"}))
    assert shop.engine.task(task)["payload"] == {"to": "a", "body": ""}


def test_a_command_of_another_app_takes_any_object(shop: Shop, db: str) -> None:
    shop.app.sync.register()
    other = App(db)
    task = other.sync.enqueue("send", {"x": [1]}).id
    other.sync.close()
    assert shop.engine.task(task)["payload"] == {"x": [1]}


def test_an_unknown_name_is_refused(shop: Shop) -> None:
    with pytest.raises(CommandNotRegistered, match="unknown command 'nowhere'"):
        shop.run(lambda: shop.app.enqueue("nowhere"))
    with pytest.raises(CommandNotRegistered) as caught:
        shop.run(lambda: shop.app.enqueue("sned"))
    assert caught.value.hint == "Did you mean send?"


def test_an_invalid_payload_reaches_no_server(shop: Shop) -> None:
    with pytest.raises(ArgumentsInvalid, match="to is missing"):
        shop.run(lambda: shop.send.enqueue())
    assert shop.column("id") == []


def test_text_that_jsonb_cannot_hold_is_refused(shop: Shop) -> None:
    with pytest.raises(PayloadRefused):
        shop.run(lambda: shop.send.enqueue(to="a\0b"))


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"at": datetime(2030, 1, 1)}, "a time without a zone"),
        ({"at": datetime(2030, 1, 1, tzinfo=UTC), "delay": 1}, "both at and delay"),
        ({"delay": -1}, "delay is .*, expected zero or more"),
        ({"delay": "soon"}, "delay is 'soon'"),
        ({"priority": 1.5}, "priority is 1.5"),
        ({"priority": 2**31}, "priority is 2147483648"),
        ({"lane": ""}, "lane is ''"),
        ({"lane": "w" * 501}, "lane is 'www"),
    ],
)
def test_options_that_make_no_sense_are_refused(shop: Shop, options: dict[str, Any], reason: str) -> None:
    with pytest.raises(RequestRefused, match=reason):
        shop.send.using(**options)


def test_a_duplicate_merges_into_the_pending_task(shop: Shop) -> None:
    async def twice() -> tuple[int, int]:
        first = (await shop.gather.enqueue(customer=1, items=[1])).id
        return first, (await shop.gather.enqueue(customer=1, items=[2])).id

    first, second = shop.run(twice)
    assert first == second
    assert shop.engine.task(first)["payload"] == {"customer": 1, "items": [1, 2]}


def test_a_task_on_a_callers_connection_exists_when_that_commits(shop: Shop, db: str) -> None:
    async def scenario() -> tuple[int, int]:
        async with await AsyncConnection.connect(db) as conn:
            task = (await shop.send.using(conn=conn).enqueue(to="a")).id
            before = shop.engine.value("select count(*) from worker.tasks")
        return task, before

    task, before = shop.run(scenario)
    assert before == 0
    assert shop.engine.state(task) == "pending"


def test_a_task_on_a_callers_connection_goes_when_that_rolls_back(shop: Shop, db: str) -> None:
    async def scenario() -> None:
        async with await AsyncConnection.connect(db) as conn:
            await shop.send.using(conn=conn).enqueue(to="a")
            await conn.rollback()

    shop.run(scenario)
    assert shop.column("id") == []


def test_a_command_registered_in_a_rolled_back_transaction_is_registered_again(shop: Shop, db: str) -> None:
    async def scenario() -> int:
        async with await AsyncConnection.connect(db) as conn:
            for _ in range(2):
                await shop.send.using(conn=conn).enqueue(to="a")
            await conn.rollback()
        return (await shop.send.enqueue(to="b")).id

    assert shop.engine.task(shop.run(scenario))["payload"]["to"] == "b"


def test_a_callers_connection_may_have_its_own_row_factory(shop: Shop, db: str) -> None:
    async def scenario() -> list[int]:
        async with await AsyncConnection.connect(db, row_factory=dict_row) as conn:
            one = (await shop.send.using(conn=conn).enqueue(to="a")).id
            return [one, *[task.id for task in await shop.send.using(conn=conn).enqueue_many([shop.send.item(to="b")])]]

    assert shop.run(scenario) == shop.column("id")


def test_a_sync_connection_is_refused_with_what_to_use(shop: Shop, db: str) -> None:
    with (
        psycopg.connect(db) as conn,
        pytest.raises(RequestRefused, match="psycopg Connection, which blocks") as caught,
    ):
        shop.run(lambda: shop.send.using(conn=conn).enqueue(to="a"))
    assert "app.sync" in (caught.value.hint or "")


def test_many_callers_share_a_few_connections(shop: Shop) -> None:
    async def crowd() -> list[int]:
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(shop.send.enqueue(to=str(n))) for n in range(50)]
        used = shop.engine.value(
            "select count(*) from pg_stat_activity where application_name = 'catchment client'"
            " and datname = current_database()"
        )
        assert used <= 4
        return [task.result().id for task in tasks]

    assert sorted(shop.run(crowd)) == shop.column("id")


def test_a_connection_that_the_server_closed_is_replaced(shop: Shop) -> None:
    async def scenario() -> int:
        await shop.send.enqueue(to="a")
        shop.engine.conn.execute(
            "select pg_terminate_backend(pid, 5000) from pg_stat_activity"
            " where application_name = 'catchment client' and datname = current_database()"
        )
        return (await shop.send.enqueue(to="b")).id

    assert shop.engine.state(shop.run(scenario)) == "pending"


def test_an_app_works_in_one_event_loop_after_another(shop: Shop) -> None:
    async def enqueue() -> int:
        return (await shop.send.enqueue(to="a")).id

    ids = [asyncio.run(enqueue()), asyncio.run(enqueue())]
    ids.append(shop.run(enqueue))
    assert ids == shop.column("id")


def test_a_cancelled_enqueue_leaves_the_app_usable(shop: Shop) -> None:
    async def scenario() -> int:
        await shop.send.enqueue(to="a")
        shop.engine.conn.execute("begin; lock table worker.task in exclusive mode")
        blocked = asyncio.create_task(shop.send.enqueue(to="b"))
        await until(lambda: shop.engine.value("select exists (select from pg_locks where not granted)"))
        blocked.cancel()
        with pytest.raises(asyncio.CancelledError):
            await blocked
        shop.engine.conn.execute("rollback")
        return (await shop.send.enqueue(to="c")).id

    task = shop.run(scenario)
    assert shop.column("payload ->> 'to'") == ["a", "c"]
    assert shop.engine.state(task) == "pending"

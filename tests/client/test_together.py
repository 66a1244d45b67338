"""Calls that meet share a statement and a commit, and each has the outcome that it would have alone."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest
from psycopg import AsyncConnection

from catchment import CommandNotRegistered, MergeRefused
from catchment.client.line import MOST_CALLS, MOST_CHARACTERS
from catchment.errors import OutcomeUnknown
from tests.client.meeting import FIRST, SECOND, Meeting, made, meet, prepare, statements, waits_for
from tests.client.support import QUEUE, Shop, until


@pytest.fixture(autouse=True)
def waits(shop: Shop) -> None:
    prepare(shop)


def test_calls_that_meet_share_a_statement_in_their_order(shop: Shop) -> None:
    async def scenario(meeting: Meeting, release: Callable[[str], Any]) -> None:
        for n in range(5):
            meeting.add(shop.send.enqueue(to=str(n)))
        await asyncio.sleep(0)
        release(FIRST)

    ids = meet(shop, scenario)
    assert ids == sorted(ids)
    assert ids == shop.column("id")
    assert made(shop) == ["first", "0", "1", "2", "3", "4"]
    assert statements(shop) == 2


def test_a_statement_has_a_bounded_number_of_calls(shop: Shop) -> None:
    async def scenario(meeting: Meeting, release: Callable[[str], Any]) -> None:
        for n in range(MOST_CALLS + 1):
            meeting.add(shop.send.enqueue(to=str(n)))
        await asyncio.sleep(0)
        release(FIRST)

    meet(shop, scenario)
    assert made(shop) == ["first", *map(str, range(MOST_CALLS + 1))]
    assert statements(shop) == 3


def test_each_call_has_its_own_options(shop: Shop) -> None:
    async def scenario(meeting: Meeting, release: Callable[[str], Any]) -> None:
        meeting.add(shop.send.using(lane='a,"b"\n').enqueue(to="lane"))
        meeting.add(shop.send.using(priority=7).enqueue(to="urgent"))
        meeting.add(shop.send.using(delay=3600).enqueue(to="later"))
        meeting.add(shop.gather.enqueue(customer=1, items=[1]))
        meeting.add(shop.gather.enqueue(customer=1, items=[2]))
        meeting.add(shop.send.enqueue(to="plain"))
        await asyncio.sleep(0)
        release(FIRST)

    ids = meet(shop, scenario)
    assert ids[4] == ids[5], "both went into one task"
    rows = [shop.engine.task(task) for task in ids]
    assert [row["lane"] for row in rows] == [None, 'a,"b"\n', None, None, None, None, None]
    assert [row["priority"] for row in rows] == [100, 100, 7, 100, 100, 100, 100]
    assert [row["scheduled_at"] is not None for row in rows] == [False, False, False, True, False, False, False]
    assert rows[4]["payload"] == {"customer": 1, "items": [1, 2]}


@pytest.mark.parametrize("bad", [0, 3, 6])
def test_an_error_is_that_of_the_call_that_caused_it(shop: Shop, bad: int) -> None:
    async def scenario(meeting: Meeting, release: Callable[[str], Any]) -> None:
        for n in range(7):
            if n == bad:
                meeting.add(shop.app.enqueue("nobody_has_this", {"to": str(n)}))
            else:
                meeting.add(shop.send.enqueue(to=str(n)))
        await asyncio.sleep(0)
        release(FIRST)

    outcomes = meet(shop, scenario)
    assert isinstance(outcomes[bad + 1], CommandNotRegistered)
    others = [str(n) for n in range(7) if n != bad]
    assert made(shop) == ["first", *others]
    assert [outcome for n, outcome in enumerate(outcomes) if n != bad + 1] == shop.column("id")


def test_several_errors_among_calls_that_meet_are_distinguished(shop: Shop) -> None:
    async def scenario(meeting: Meeting, release: Callable[[str], Any]) -> None:
        shop.engine.conn.execute(
            "update worker.command_registry set merge = '{\"items\": \"sum\"}' where command = 'gather'"
        )
        meeting.add(shop.gather.enqueue(customer=1, items=[1]))
        meeting.add(shop.send.enqueue(to="a"))
        meeting.add(shop.app.enqueue("nobody_has_this", {}))
        meeting.add(shop.send.enqueue(to="b"))
        await asyncio.sleep(0)
        release(FIRST)

    outcomes = meet(shop, scenario)
    assert isinstance(outcomes[1], MergeRefused)
    assert isinstance(outcomes[3], CommandNotRegistered)
    assert made(shop) == ["first", "a", "b"]


def test_a_cancelled_call_that_leads_neither_loses_nor_repeats_the_others(shop: Shop) -> None:
    async def scenario(meeting: Meeting, release: Callable[[str], Any]) -> None:
        leads = meeting.add(shop.send.enqueue(to="leads"))
        meeting.add(shop.send.enqueue(to="waits", body=SECOND))
        meeting.add(shop.send.enqueue(to="c"))
        await asyncio.sleep(0)
        release(FIRST)
        await until(waits_for(shop, SECOND))
        leads.cancel()
        await asyncio.wait([leads])
        release(SECOND)

    outcomes = meet(shop, scenario, SECOND)
    assert isinstance(outcomes[1], asyncio.CancelledError)
    assert made(shop) == ["first", "waits", "c"]
    assert [outcomes[0], *outcomes[2:]] == shop.column("id")


@pytest.mark.parametrize("is_sent", [False, True])
def test_a_cancelled_call_does_not_cancel_those_that_it_met(shop: Shop, is_sent: bool) -> None:
    async def scenario(meeting: Meeting, release: Callable[[str], Any]) -> None:
        meeting.add(shop.send.enqueue(to="a", body=SECOND))
        cancelled = meeting.add(shop.send.enqueue(to="b"))
        meeting.add(shop.send.enqueue(to="c"))
        await asyncio.sleep(0)
        if is_sent:
            release(FIRST)
            await until(waits_for(shop, SECOND))
        cancelled.cancel()
        await asyncio.wait([cancelled])
        release(FIRST)
        release(SECOND)

    outcomes = meet(shop, scenario, SECOND)
    assert isinstance(outcomes[2], asyncio.CancelledError)
    assert made(shop) == (["first", "a", "b", "c"] if is_sent else ["first", "a", "c"])


def test_the_call_after_a_cancelled_one_leads(shop: Shop) -> None:
    async def scenario(meeting: Meeting, release: Callable[[str], Any]) -> None:
        a, b = (meeting.add(shop.send.enqueue(to=to)) for to in "ab")
        meeting.add(shop.send.enqueue(to="c"))
        await asyncio.sleep(0)
        meeting.calls[0].add_done_callback(lambda _: (a.cancel(), b.cancel()))
        release(FIRST)

    outcomes = meet(shop, scenario)
    assert isinstance(outcomes[1], asyncio.CancelledError)
    assert made(shop)[-1] == "c"


def test_a_cancelled_call_alone_hands_over(shop: Shop) -> None:
    async def scenario(meeting: Meeting, release: Callable[[str], Any]) -> None:
        meeting.add(shop.send.enqueue(to="a"))
        await asyncio.sleep(0)
        meeting.calls[0].cancel()
        await asyncio.wait(meeting.calls)
        release(FIRST)

    meet(shop, scenario)
    assert made(shop) == ["a"]


def test_calls_of_a_lost_connection_each_say_that_their_outcome_is_unknown(shop: Shop) -> None:
    async def scenario(meeting: Meeting, release: Callable[[str], Any]) -> None:
        meeting.add(shop.send.enqueue(to="a", body=SECOND))
        meeting.add(shop.send.enqueue(to="b"))
        await asyncio.sleep(0)
        release(FIRST)
        await until(waits_for(shop, SECOND))
        shop.engine.value(
            "select count(pg_terminate_backend(pid)) from pg_stat_activity"
            " where datname = current_database() and application_name = 'catchment client' and wait_event_type = 'Lock'"
        )
        await asyncio.wait(meeting.calls)
        release(SECOND)
        meeting.add(shop.send.enqueue(to="c"))

    _, one, two, _ = meet(shop, scenario, SECOND)
    assert isinstance(one, OutcomeUnknown)
    assert isinstance(two, OutcomeUnknown)
    assert one is not two
    assert (str(one), one.hint) == (str(two), two.hint)
    assert made(shop) == ["first", "c"]


def test_calls_in_a_transaction_of_the_caller_and_large_ones_wait_for_no_other(shop: Shop, db: str) -> None:
    async def scenario(meeting: Meeting, release: Callable[[str], Any]) -> None:
        async with await AsyncConnection.connect(db) as conn:
            await shop.send.using(conn=conn).enqueue(to="in a transaction")
        await shop.send.enqueue(to="x" * (MOST_CHARACTERS + 1))
        release(FIRST)

    meet(shop, scenario)
    assert len(made(shop)) == 3


def test_calls_meet_without_prepared_statements_too(shop: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CATCHMENT_PREPARE", "false")
    shop.app.sync.close()

    async def scenario(meeting: Meeting, release: Callable[[str], Any]) -> None:
        for to in "abc":
            meeting.add(shop.send.enqueue(to=to))
        await asyncio.sleep(0)
        release(FIRST)

    meet(shop, scenario)
    assert made(shop) == ["first", "a", "b", "c"]
    assert statements(shop) == 2
    assert shop.hand.claim_one(QUEUE)

"""Calls that meet share a statement and a commit, and each has the outcome that it would have alone."""

from __future__ import annotations

import asyncio
import ctypes
import os
import signal
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

import pytest
from psycopg import AsyncConnection

from catchment import CommandNotRegistered, MergeRefused, Task
from catchment.client.line import MOST_CALLS, MOST_CHARACTERS
from catchment.errors import OutcomeUnknown
from tests.client.support import QUEUE, Shop, until
from tests.fixtures.worker import wait_until

# A task whose body is a number waits for that advisory lock while it is made.
WAIT = """
create function public.wait_for_lock() returns trigger language plpgsql as $$
begin
  perform pg_advisory_xact_lock_shared((new.payload ->> 'body')::bigint);
  return new;
end; $$;
create trigger wait_for_lock before insert on worker.task
  for each row when (new.payload ->> 'body' <> '') execute function public.wait_for_lock();
"""
HERE = "datname = current_database()"
SESSIONS_AT_WORK = f"""
select count(*) from pg_stat_activity
 where {HERE} and application_name = 'catchment client' and state <> 'idle'
"""
FIRST, SECOND = "1", "2"


@pytest.fixture(autouse=True)
def waits(shop: Shop) -> None:
    shop.app.sync.register()
    shop.engine.conn.execute(WAIT)  # pyright: ignore[reportArgumentType]


@contextmanager
def held(shop: Shop, *locks: str) -> Iterator[Callable[[str], Any]]:
    """Hold these locks; the value releases one."""
    for lock in locks:
        shop.engine.value("select pg_advisory_lock(%s::bigint)", lock)
    yield lambda lock: shop.engine.value("select pg_advisory_unlock(%s::bigint)", lock)
    shop.engine.value("select pg_advisory_unlock_all()")


def waits_for(shop: Shop, lock: str) -> Callable[[], Any]:
    """Is a statement under way that waits for the lock?"""
    return lambda: shop.engine.value(
        "select exists (select from pg_locks where locktype = 'advisory' and not granted and objid = %s::bigint"
        " and database = (select oid from pg_database where datname = current_database()))",
        lock,
    )


def made(shop: Shop) -> list[str]:
    return shop.column("payload ->> 'to'")


def statements(shop: Shop) -> int:
    """The number of transactions that made the tasks."""
    return shop.engine.value("select count(distinct xmin::text) from worker.task")


class Meeting:
    """Calls in one event loop. The first is under way, and waits for the lock ``FIRST``; others gather meanwhile."""

    def __init__(self, shop: Shop) -> None:
        self.shop = shop
        self.calls: list[asyncio.Task[Task[Any]]] = []

    async def begin(self) -> None:
        self.add(self.shop.send.enqueue(to="first", body=FIRST))
        await until(waits_for(self.shop, FIRST))

    def add(self, call: Any) -> asyncio.Task[Task[Any]]:
        self.calls.append(asyncio.create_task(call))
        return self.calls[-1]

    async def outcomes(self) -> list[Any]:
        """The id of each task, or the error of its call."""
        ends = await asyncio.gather(*self.calls, return_exceptions=True)
        return [end.id if isinstance(end, Task) else end for end in ends]


def meet(shop: Shop, scenario: Callable[[Meeting, Callable[[str], Any]], Any], *more: str) -> list[Any]:
    async def run() -> list[Any]:
        meeting = Meeting(shop)
        with held(shop, FIRST, *more) as release:
            await meeting.begin()
            await scenario(meeting, release)
            return await meeting.outcomes()

    return shop.run(run)


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


def test_calls_of_threads_share_statements(shop: Shop) -> None:
    with ThreadPoolExecutor(20) as threads, held(shop, FIRST) as release:
        calls = [threads.submit(shop.send.sync.enqueue, to="first", body=FIRST)]
        wait_until(waits_for(shop, FIRST))
        calls += [threads.submit(shop.send.sync.enqueue, to=str(n)) for n in range(9)]
        bad = threads.submit(shop.app.sync.enqueue, "nobody_has_this", {})
        later = threads.submit(shop.send.sync.using(lane="a").enqueue, to="9")
        wait_until(lambda: _waiting(shop) == 11)
        release(FIRST)
        ids = [call.result(60).id for call in [*calls, later]]
        with pytest.raises(CommandNotRegistered):
            bad.result(60)
    assert sorted(ids) == shop.column("id")
    assert sorted(made(shop)[1:]) == [str(n) for n in range(10)]
    assert statements(shop) < 11
    shop.app.sync.close()


def _waiting(shop: Shop) -> int:
    calls = shop.app.connections.calls()
    assert calls is not None
    return len(calls._line()._waiting)  # pyright: ignore[reportPrivateUsage]


class Stop(Exception):
    """Raised into a thread from outside, as by a time limit."""


def test_an_exception_from_outside_is_that_of_the_call_that_leads_and_nothing_is_repeated(shop: Shop) -> None:
    begun = threading.Event()
    ident = 0

    def lead() -> None:
        nonlocal ident
        ident = threading.get_ident()
        begun.set()
        shop.send.sync.enqueue(to="leads", body=SECOND)

    with ThreadPoolExecutor(4) as threads, held(shop, FIRST, SECOND) as release:
        first = threads.submit(shop.send.sync.enqueue, to="first", body=FIRST)
        wait_until(waits_for(shop, FIRST))
        leads = threads.submit(lead)
        wait_until(lambda: begun.is_set() and _waiting(shop) == 1)
        others = [threads.submit(shop.send.sync.enqueue, to=to) for to in "ab"]
        wait_until(lambda: _waiting(shop) == 3)
        release(FIRST)
        wait_until(waits_for(shop, SECOND))
        ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(ident), ctypes.py_object(Stop))
        with pytest.raises(Stop):
            leads.result(60)
        for other in others:
            with pytest.raises(OutcomeUnknown):
                other.result(60)
        first.result(60)
        release(SECOND)
        wait_until(lambda: not shop.engine.value(SESSIONS_AT_WORK))
        threads.submit(shop.send.sync.enqueue, to="later").result(60)
    assert sorted(made(shop)) == ["a", "b", "first", "later", "leads"]
    shop.app.sync.close()


def test_exceptions_of_signal_handlers_are_those_of_the_main_thread_alone(shop: Shop) -> None:
    """They come between any two steps of its calls; the other threads neither wait for ever nor repeat anything."""
    made_by: dict[int, list[int]] = {}
    is_armed, is_over = False, threading.Event()

    def stop(*_: object) -> None:
        nonlocal is_armed
        if is_armed:
            is_armed = False
            raise Stop

    def sting() -> None:
        for _ in range(60):  # each may leave a connection that the server has yet to accept
            if is_over.wait(0.003):
                return
            os.kill(os.getpid(), signal.SIGUSR1)

    def call(thread: int) -> None:
        made_by[thread] = [shop.send.sync.enqueue(to=f"thread {thread}").id for _ in range(100)]

    before = signal.signal(signal.SIGUSR1, stop)
    threads = [threading.Thread(target=call, args=[n]) for n in range(4)]
    stinger = threading.Thread(target=sting)
    stopped = 0
    try:
        for thread in (stinger, *threads):
            thread.start()
        while any(thread.is_alive() for thread in threads):
            try:
                is_armed = True
                shop.send.sync.enqueue(to="main")
                is_armed = False
            except Stop:
                stopped += 1
    finally:
        is_over.set()
        stinger.join()
        signal.signal(signal.SIGUSR1, before)
    assert stopped > 0
    assert len(made_by) == 4
    rows = list(zip(shop.column("id"), made(shop), strict=True))
    for thread, ids in made_by.items():
        assert [task_id for task_id, to in rows if to == f"thread {thread}"] == ids
    shop.app.sync.close()


def test_a_forked_child_that_closes_the_app_leaves_the_connections_of_its_parent(shop: Shop) -> None:
    sessions = "select array_agg(pid) from pg_stat_activity where application_name = 'catchment client' and " + HERE
    shop.app.sync.close()
    shop.send.sync.enqueue(to="first")
    before = shop.engine.value(sessions)
    child = os.fork()
    if child == 0:
        try:
            shop.app.sync.close()
        finally:
            os._exit(0)
    assert os.waitpid(child, 0)[1] == 0
    shop.send.sync.enqueue(to="second")
    assert shop.engine.value(sessions) == before
    assert made(shop) == ["first", "second"]


def test_threads_and_event_loops_at_once_lose_nothing(shop: Shop) -> None:
    def sync(thread: int) -> None:
        for n in range(20):
            shop.send.sync.using(lane=f"t{thread}").enqueue(to=str(n))

    def loop(number: int) -> None:
        async def caller(one: int) -> None:
            for n in range(20):
                await shop.send.using(lane=f"l{number}.{one}").enqueue(to=str(n))

        async def run() -> None:
            await asyncio.gather(*map(caller, range(8)))
            await shop.app.close()

        asyncio.run(run())

    threads = [threading.Thread(target=sync, args=[n]) for n in range(8)]
    threads += [threading.Thread(target=loop, args=[n]) for n in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    lanes: dict[str, list[str]] = {}
    for lane, to in shop.engine.conn.execute("select lane, payload ->> 'to' from worker.tasks order by id"):
        lanes.setdefault(lane, []).append(to)
    assert len(lanes) == 24
    assert all(lane == [str(n) for n in range(20)] for lane in lanes.values()), "each caller's calls are in order"
    shop.app.sync.close()


def test_a_fork_while_a_call_is_under_way_leaves_the_child_free(shop: Shop) -> None:
    with held(shop, FIRST) as release:
        calling = threading.Thread(target=lambda: shop.send.sync.enqueue(to="first", body=FIRST))
        calling.start()
        wait_until(waits_for(shop, FIRST))
        child = os.fork()
        if child == 0:
            try:
                shop.send.sync.enqueue(to="child")
            finally:
                os._exit(0)
        assert os.waitpid(child, 0)[1] == 0
        assert made(shop) == ["child"]
        release(FIRST)
        calling.join()
    assert sorted(made(shop)) == ["child", "first"]


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

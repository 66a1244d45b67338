"""Calls of threads that meet, and what signals, exceptions from outside and forks do to them: nothing to the others."""

from __future__ import annotations

import asyncio
import ctypes
import os
import signal
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from catchment import CommandNotRegistered
from catchment.errors import OutcomeUnknown
from tests.client.meeting import FIRST, HERE, SECOND, SESSIONS_AT_WORK, held, made, prepare, statements, waits_for
from tests.client.support import Shop
from tests.fixtures.worker import wait_until


@pytest.fixture(autouse=True)
def waits(shop: Shop) -> None:
    prepare(shop)


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

"""Links that stop forwarding but acknowledge every packet: no call of a client waits for ever."""

from __future__ import annotations

import asyncio
import gc
import socket
import threading
import time
from collections.abc import Awaitable, Callable, Iterator
from concurrent.futures import Future
from contextlib import ExitStack
from functools import partial
from typing import Any

import pytest

from catchment import App, ResultTimeout
from catchment.errors import OutcomeUnknown, ServerUnavailable
from catchment.store import answer, connect
from catchment.store.connect import connect_as
from tests.client.support import QUEUE, Shop, open_shop, until
from tests.fixtures.engine import Engine
from tests.fixtures.often import some
from tests.fixtures.proxy import Proxy, proxied
from tests.fixtures.server import Connect
from tests.fixtures.worker import wait_until

TIMEOUT = 3.0
# It is to end within a second. A slow machine needs more; psycopg by itself takes ten seconds, or never ends.
IN_TIME = TIMEOUT + 5

CALLS = ("enqueue", "enqueue_many", "cancel", "retry", "info", "register")


@pytest.fixture
def proxy(db: str) -> Iterator[Proxy]:
    with proxied(db) as made:
        yield made


@pytest.fixture
def shop(proxy: Proxy, connect: Connect) -> Iterator[Shop]:
    """An app whose connections go through the proxy; the test's own do not."""
    made = open_shop(proxy.dsn, Engine(connect()))
    yield made
    made.app.sync.close()


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(answer, "CALL_SECONDS", 0.5)
    monkeypatch.setattr(answer, "LOOK_SECONDS", 0.5)


def _warm_up(app: App) -> None:
    """Two idle connections in the pool."""
    pool = app.sync._connections.threads()  # pyright: ignore[reportPrivateUsage]
    with pool.connection() as one, pool.connection() as two:
        assert one is not two


def _call(verbs: Any, name: str, shop: Shop, task: int) -> Any:
    """One of the verbs of the app or of ``app.sync``."""
    match name:
        case "enqueue":
            return verbs.enqueue("send", {"to": "b"})
        case "enqueue_many":
            return verbs.enqueue_many("send", [{"to": "b"}] * 3, batch_size=1)
        case "register":
            return verbs.register()
        case _:
            return getattr(verbs.task(task), name)()


def _hand_over(shop: Shop) -> None:
    hand = shop.hand
    hand.complete(hand.claim_one(QUEUE), p_result={"n": 1})


def test_a_result_times_out_when_its_link_freezes(shop: Shop, proxy: Proxy) -> None:
    task = shop.send.sync.enqueue(to="a").id
    waiting = _start(lambda: shop.app.sync.task(task).result(timeout=TIMEOUT))
    wait_until(lambda: _has_looked(shop))
    proxy.freeze_all(new=True)
    began = time.monotonic()
    with pytest.raises(ResultTimeout, match=rf"no answer .* task {task} \(send\) .* state is pending") as caught:
        waiting.result(60)
    assert caught.value.state == "pending"
    assert time.monotonic() - began < IN_TIME


def test_an_awaited_result_times_out_when_its_link_freezes(shop: Shop, proxy: Proxy) -> None:
    async def scenario() -> float:
        task = (await shop.send.enqueue(to="a")).id
        waiting = asyncio.create_task(shop.app.task(task).result(timeout=TIMEOUT))
        await until(lambda: _has_looked(shop))
        proxy.freeze_all(new=True)
        began = time.monotonic()
        with pytest.raises(ResultTimeout, match=r"its last known state is pending"):
            await waiting
        return time.monotonic() - began

    assert shop.run(scenario) < IN_TIME


@pytest.mark.parametrize("timeout", [0, TIMEOUT])
def test_a_result_times_out_when_no_connection_can_be_made(shop: Shop, proxy: Proxy, timeout: float) -> None:
    proxy.freeze_all(new=True)
    for wait in (
        lambda: _start(lambda: shop.app.sync.task(1).result(timeout=timeout)).result(60),
        lambda: shop.run(lambda: shop.app.task(1).result(timeout=timeout)),
    ):
        began = time.monotonic()
        with pytest.raises(ResultTimeout, match="no answer from the server about task 1 after") as caught:
            wait()
        assert time.monotonic() - began < IN_TIME
        assert (caught.value.state, caught.value.command) == ("unknown", "")


def test_a_result_times_out_while_all_connections_are_in_use(shop: Shop) -> None:
    task = shop.send.sync.enqueue(to="a").id
    pool = shop.app.sync._connections.threads()  # pyright: ignore[reportPrivateUsage]
    met, over = threading.Barrier(5), threading.Event()

    def use() -> None:
        with pool.connection():
            met.wait(60)
            over.wait(60)

    using = [_start(use) for _ in range(4)]
    met.wait(60)
    with pytest.raises(ResultTimeout, match="state is unknown"):
        _start(lambda: shop.app.sync.task(task).result(timeout=0.2)).result(60)
    over.set()
    for thread in using:
        thread.result(60)


@pytest.mark.usefixtures("impatient")
def test_a_result_arrives_although_its_link_has_frozen(shop: Shop, proxy: Proxy) -> None:
    task = shop.send.sync.enqueue(to="a").id
    _warm_up(shop.app)
    waiting = _start(lambda: shop.app.sync.task(task).result())
    wait_until(lambda: _has_looked(shop))
    proxy.freeze_all()
    _hand_over(shop)
    assert waiting.result(60) == {"n": 1}


@pytest.mark.usefixtures("impatient")
def test_an_awaited_result_arrives_although_its_link_has_frozen(shop: Shop, proxy: Proxy) -> None:
    async def scenario() -> Any:
        task = (await shop.send.enqueue(to="a")).id
        waiting = [asyncio.create_task(shop.app.task(task).result()) for _ in range(3)]
        await until(lambda: _has_looked(shop))
        proxy.freeze_all()
        _hand_over(shop)
        async with asyncio.timeout(60):
            return await asyncio.gather(*waiting)

    assert shop.run(scenario) == [{"n": 1}] * 3


def test_a_cancelled_wait_for_a_result_ends_at_once_on_a_frozen_link(shop: Shop, proxy: Proxy) -> None:
    async def scenario() -> float:
        task = (await shop.send.enqueue(to="a")).id
        proxy.freeze_all(new=True)
        began = time.monotonic()
        with pytest.raises(TimeoutError) as caught:
            async with asyncio.timeout(TIMEOUT):
                await shop.app.task(task).result()
        assert not isinstance(caught.value, ResultTimeout)
        return time.monotonic() - began

    assert shop.run(scenario) < IN_TIME


@pytest.mark.usefixtures("impatient")
@pytest.mark.parametrize("name", some(CALLS, one_in=2))
def test_a_call_without_an_answer_raises_and_the_next_one_succeeds(shop: Shop, proxy: Proxy, name: str) -> None:
    task = shop.send.sync.enqueue(to="a").id
    _warm_up(shop.app)
    proxy.freeze_all()
    with pytest.raises(OutcomeUnknown, match="may or may not have taken effect"):
        _start(lambda: _call(shop.app.sync, name, shop, task)).result(60)
    assert shop.app.sync.task(task).info().id == task


@pytest.mark.usefixtures("impatient")
@pytest.mark.parametrize("name", some(CALLS, one_in=2))
def test_an_awaited_call_without_an_answer_raises_and_the_next_one_succeeds(
    shop: Shop, proxy: Proxy, name: str
) -> None:
    async def scenario() -> None:
        task = (await shop.send.enqueue(to="a")).id
        await asyncio.gather(*[shop.app.task(task).info() for _ in range(3)])
        proxy.freeze_all()
        call: Awaitable[Any] = _call(shop.app, name, shop, task)
        with pytest.raises(OutcomeUnknown, match="may or may not have taken effect"):
            async with asyncio.timeout(60):
                await call
        assert (await shop.app.task(task).info()).id == task

    shop.run(scenario)


@pytest.mark.usefixtures("impatient")
def test_a_call_raises_when_the_server_cannot_be_asked_either(
    shop: Shop, proxy: Proxy, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(answer, "connect_as", partial(connect_as, seconds=2))
    task = shop.send.sync.enqueue(to="a").id
    proxy.freeze_all(new=True)
    with pytest.raises(OutcomeUnknown, match="may or may not have taken effect"):
        _start(lambda: shop.app.sync.task(task).cancel()).result(60)


@pytest.mark.usefixtures("impatient")
def test_the_session_of_a_call_without_an_answer_is_ended(shop: Shop, proxy: Proxy) -> None:
    """It may hold locks: here it has begun a transaction."""
    pool = shop.app.sync._connections.threads()  # pyright: ignore[reportPrivateUsage]

    def work() -> None:
        with pool.connection() as conn, conn.transaction():
            conn.execute("select pg_advisory_xact_lock(7)")
            proxy.freeze_all()
            conn.execute("select 1")

    with pytest.raises(ServerUnavailable):
        _start(work).result(60)
    wait_until(lambda: shop.engine.value("select pg_try_advisory_lock(7)"))


@pytest.mark.usefixtures("impatient")
@pytest.mark.parametrize("is_async", [False, True])
def test_a_call_that_waits_for_a_lock_is_not_taken_for_one_that_hangs(
    shop: Shop, connect: Connect, monkeypatch: pytest.MonkeyPatch, is_async: bool
) -> None:
    asked = threading.Semaphore(0)
    kind = answer.AsyncClientConnection if is_async else answer.ClientConnection
    ask = kind._is_at_work  # pyright: ignore[reportPrivateUsage]

    def counted(conn: Any) -> Any:
        asked.release()
        return ask(conn)

    monkeypatch.setattr(kind, "_is_at_work", counted)
    task = shop.send.sync.enqueue(to="a").id
    holder = connect()
    with holder.transaction():
        holder.execute("select worker.cancel(%s, 'first')", [task])
        waiting = _start(
            lambda: shop.run(lambda: shop.app.task(task).cancel()) if is_async else shop.app.sync.task(task).cancel()
        )
        # The third question is asked only if the first two were answered with yes.
        assert all(asked.acquire(timeout=30) for _ in range(3))
        assert not waiting.done()
    assert waiting.result(60) == "cancelled"


def _start(call: Callable[[], Any]) -> Future[Any]:
    """Call it in a thread that nothing waits for if it hangs."""
    called: Future[Any] = Future()

    def run() -> None:
        try:
            called.set_result(call())
        except BaseException as error:
            called.set_exception(error)

    threading.Thread(target=run, daemon=True).start()
    return called


def _has_looked(shop: Shop) -> bool:
    """Has a client seen how its task stands, and asked again?"""
    return shop.engine.value(
        "select exists (select from pg_stat_activity where application_name = 'catchment client'"
        " and datname = current_database() and strpos(query, 'result_settled') > 0)"
    )


_END_CLIENTS = (
    "select count(pg_terminate_backend(pid)) from pg_stat_activity"
    " where datname = current_database() and application_name = 'catchment client' and wait_event_type = 'Lock'"
)


@pytest.mark.parametrize("is_async", [False, True])
def test_a_call_whose_connection_is_lost_says_that_its_outcome_is_unknown(
    shop: Shop, connect: Connect, is_async: bool
) -> None:
    task = shop.send.sync.enqueue(to="a").id
    holding = connect(autocommit=False)
    holding.execute("lock table worker.task")
    call = _start(
        (lambda: shop.run(lambda: shop.send.enqueue(to="b"))) if is_async else (lambda: shop.send.sync.enqueue(to="b"))
    )
    wait_until(lambda: shop.engine.value(_END_CLIENTS))
    with pytest.raises(OutcomeUnknown, match="was lost: the call may or may not have taken effect"):
        call.result(60)
    holding.rollback()
    assert shop.app.sync.task(task).info().id == task


def test_attempts_at_a_silent_server_leave_no_socket_open(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whether or not the garbage collector comes by."""
    options = connect._options
    monkeypatch.setattr(connect, "_options", lambda *given: options(*given[:3], 2))

    async def connect_async(dsn: str) -> None:
        await connect.connect_async(dsn)

    with ExitStack() as stack:
        silent = stack.enter_context(socket.create_server(("127.0.0.1", 0)))
        dsn = f"host=127.0.0.1 port={silent.getsockname()[1]} user=x dbname=x sslmode=disable"
        stack.callback(gc.enable)
        gc.disable()
        for attempt in (connect.connect_ours, lambda dsn: asyncio.run(connect_async(dsn))):
            with pytest.raises(ServerUnavailable):
                attempt(dsn)
            line = stack.enter_context(silent.accept()[0])
            line.settimeout(30)
            while line.recv(4096):  # the start of the session, then the end
                pass

"""Calls that meet: what they wait for, and what has come of them."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from catchment import Task
from tests.client.support import Shop, until

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


def prepare(shop: Shop) -> None:
    """Let tasks wait for locks while they are made."""
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

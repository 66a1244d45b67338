"""The connection that handlers share for progress and the children of joins."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from typing import Any

from catchment.model.task import TaskId
from catchment.runtime.events import Events
from catchment.runtime.port import WorkerPort
from catchment.runtime.pulse import Pulse
from catchment.runtime.transactions import Transactions
from catchment.runtime.turns import Turns


def _port(dsn: str) -> WorkerPort:
    def ignore(*_: Any) -> None:
        pass

    seconds = timedelta(seconds=10)
    turns = Turns(1, seconds)
    pulse = Pulse(dsn, Events(), patience=seconds)
    transactions = Transactions(dsn, pulse=pulse, turns=turns, limit=seconds, committed=ignore, waits=ignore)
    return WorkerPort(dsn, transactions, turns, Events(), limit=seconds)


def test_a_join_cancelled_while_it_waits_for_the_connection_harms_no_other(db: str) -> None:
    """Both wait before there is a connection; the first one gives up."""

    async def wait_and_give_up() -> list[Any]:
        port = _port(db)
        first, second = (asyncio.create_task(port.children(TaskId(n))) for n in (1, 2))
        await asyncio.sleep(0)
        first.cancel()
        await asyncio.wait([first])
        stopping = asyncio.Event()
        serving = asyncio.create_task(port.run(stopping))
        done, _ = await asyncio.wait([second, serving], timeout=20, return_when=asyncio.FIRST_COMPLETED)
        assert done == {second}
        serving.cancel()
        await asyncio.wait([serving])
        return second.result()

    assert asyncio.run(wait_and_give_up()) == []

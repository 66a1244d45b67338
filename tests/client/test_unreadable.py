"""JSON that PostgreSQL holds and Python cannot read keeps nobody from reading the rest."""

from __future__ import annotations

import asyncio
import json

import pytest

from catchment.errors import ValueUnreadable
from catchment.store.json_text import JsonText, loads_for_people
from tests.client.support import QUEUE, Shop

LONG = "1" + "0" * 5000
DEEP = "[" * 20_000 + "]" * 20_000
DIGITS = "more digits than Python reads"


def _enqueue(shop: Shop, value: str) -> int:
    """A task of ``send`` whose payload is made in SQL."""
    shop.app.sync.register()
    query = "select worker.enqueue('send', pg_catalog.format('{\"to\": %%s}', %s::text)::jsonb)"
    ((task,),) = shop.engine.conn.execute(query, [value])
    return task


def _complete(shop: Shop, task: int, result: str) -> None:
    claim = shop.hand.claim_one(QUEUE)
    assert claim.id == task
    shop.engine.conn.execute("select worker.complete_task(%s, %s, p_result => %s::jsonb)", [task, claim.fence, result])


@pytest.mark.parametrize("is_sync", [True, False])
def test_a_payload_that_python_cannot_read_is_an_error_that_names_the_task(shop: Shop, is_sync: bool) -> None:
    task = _enqueue(shop, LONG)
    with pytest.raises(
        ValueUnreadable, match=rf"the payload of task {task} \(send\) cannot be read: .*{DIGITS}"
    ) as caught:
        shop.app.sync.task(task).info() if is_sync else shop.run(lambda: shop.app.task(task).info())
    assert caught.value.task_id == task
    assert caught.value.hint == f"'catchment task show {task}' prints it as text."


@pytest.mark.parametrize("is_sync", [True, False])
def test_a_result_that_python_cannot_read_is_an_error_that_names_the_task(shop: Shop, is_sync: bool) -> None:
    task = _enqueue(shop, '"ann"')
    _complete(shop, task, LONG)
    with pytest.raises(ValueUnreadable, match=rf"the result of task {task} \(send\) cannot be read: .*{DIGITS}"):
        shop.app.sync.task(task).result() if is_sync else shop.run(lambda: shop.app.task(task).result())


def test_a_result_that_python_cannot_read_is_an_error_for_those_alone_who_wait_for_it(shop: Shop) -> None:
    bad = _enqueue(shop, '"ann"')
    _complete(shop, bad, LONG)
    good = _enqueue(shop, '"ben"')
    _complete(shop, good, "7")

    async def both() -> list[object]:
        waits = (shop.app.task(task).result(timeout=30) for task in (bad, good))
        return await asyncio.gather(*waits, return_exceptions=True)

    refused, result = shop.run(both)
    assert isinstance(refused, ValueUnreadable)
    assert result == 7


def test_nesting_beyond_what_is_printed_is_kept_as_text() -> None:
    found = loads_for_people(DEEP.encode())
    assert isinstance(found, JsonText)
    assert str(found) == DEEP
    brackets = json.dumps("[" * 5000)
    assert loads_for_people(brackets) == "[" * 5000
    flat = json.dumps([[1]] * 5000)
    assert loads_for_people(flat) == [[1]] * 5000
